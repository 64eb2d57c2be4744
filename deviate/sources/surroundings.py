"""What is around the runs: seeds that deviate gave them, devices, libraries, and settings of the environment."""

from deviate.sources.catalogue import source
from deviate.sources.variables import CODE_PATHS

PATHS = f"{CODE_PATHS} DNNL_MAX_CPU_ISA MKL_DEBUG_CPU_TYPE TF_ENABLE_ONEDNN_OPTS XLA_FLAGS"
COUNTS = (
    "OMP_NUM_THREADS MKL_NUM_THREADS OPENBLAS_NUM_THREADS NUMEXPR_NUM_THREADS TF_NUM_INTEROP_THREADS "
    "TF_NUM_INTRAOP_THREADS VECLIB_MAXIMUM_THREADS"
)


def _variables(names: str) -> tuple[str, ...]:
    """The facts that tell the values of environment variables."""
    return tuple(f"variable {name}" for name in names.split())


@source("given-seeds", group="state")
def given_seeds() -> None:
    """Seeds that deviate gave the runs, and that differ by design.

    A variant gives each run other seeds for the streams that it varies. Runs of two variants, or of two values of
    `--seed`, have different seeds, too.

    Advice: compare two runs of one variant that holds the stream, with one `--seed`

    Source: this manual, "Variants".
    """


@source("devices", group="state", facts=("GPU", "AMD driver", "CUDA of the driver", "NVIDIA driver"))
def devices() -> None:
    """Different devices.

    Different processors add in different orders and use different kernels. No library promises bitwise equal results
    across devices.

    Advice: compare with a tolerance (`--ulps 16`) instead of bitwise

    Source: PyTorch documentation, "Reproducibility"; NVIDIA, cuDNN documentation, "Reproducibility".
    """


@source(
    "software",
    group="state",
    facts=("interpreter", "packages", "torch", "torch build", "tensorflow", "keras", "jax", "jaxlib", "flax", "numpy"),
)
def software() -> None:
    """Different versions of the interpreter or of libraries.

    Kernels, their selection, and the numbers drawn from a seed may change with every release and every build.

    Advice: install the same versions and builds: pin them, or use one container image

    Source: PyTorch documentation, "Reproducibility".
    """


@source("code-paths", group="state", facts=("CPU", "torch oneDNN", *_variables(PATHS)))
def code_paths() -> None:
    """A different processor, with different code of oneDNN, MKL or OpenBLAS.

    Libraries choose code by the available vector instructions, and each code path adds in a different order.

    Advice: select a code path that both processors support (`ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2
        MKL_CBWR=COMPATIBLE`); it may be slower

    Source: Intel oneMKL documentation, "Reproducibility conditions".
    """


@source("thread-count", group="state", facts=("torch threads", *_variables(COUNTS)))
def thread_count() -> None:
    """A different number of threads.

    Work is divided by the number of threads, and sums of different parts round differently.

    Advice: set the number of threads (`OMP_NUM_THREADS=2 MKL_NUM_THREADS=2`)

    Source: Intel oneMKL documentation, "Reproducibility conditions".
    """


@source("precision", group="state",
    facts=(
        "torch TF32 in cuDNN", "torch TF32 in matmul", "torch float32 matmul precision", "TensorFlow TF32",
        "jax_default_matmul_precision", *_variables("NVIDIA_TF32_OVERRIDE"),
    ),
    line="torch.set_float32_matmul_precision('highest'); torch.backends.cudnn.allow_tf32 = False",
)  # fmt: skip
def precision() -> None:
    """Reduced precision (TF32) in one run only.

    TF32 has ten bits of fraction: matrix products and convolutions differ from the third digit on.

    Source: PyTorch documentation, "TensorFloat-32 (TF32) on Ampere and later devices".
    """


@source(
    "switches",
    group="state",
    facts=("torch deterministic algorithms", "torch cuDNN deterministic", "torch cuDNN benchmark"),
    line="torch.use_deterministic_algorithms(True)",
)
def switches() -> None:
    """Determinism that is requested in one run only.

    Deterministic kernels round differently from the kernels that they replace.

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`.
    """
