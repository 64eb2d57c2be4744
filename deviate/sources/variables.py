"""Environment variables that interfere with controls, or make runs of another shell differ."""

import re
import shlex
from collections.abc import Iterator, Mapping

LIMITING = "CUDA_VISIBLE_DEVICES HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES ZE_AFFINITY_MASK"
CODE_PATHS = "MKL_CBWR OPENBLAS_CORETYPE ATEN_CPU_CAPABILITY ONEDNN_MAX_CPU_ISA"
JAX = "JAX_DEFAULT_MATMUL_PRECISION JAX_ENABLE_X64 JAX_DEFAULT_PRNG_IMPL JAX_THREEFRY_PARTITIONABLE"
SET, ON = ".*", "1|true|yes|on"
MOVING = rf"{ON}|(dynamic|guided).*"
UNDONE = r".*xla_gpu_(deterministic_ops|exclude_nondeterministic_ops)=false.*"
FREE = "deviate removes it in variants with free kernels; unchanged in as-is"
HELD = "deviate sets its own value if kernels are held and removes it if they are free; unchanged in as-is"
TF32 = "it sets TF32 for every program, also in variants with free precision"
AUTOTUNE = "kernels are chosen by measured time; deviate removes it in variants that hold autotuning"
XLA = "unchanged in all variants; on a GPU deviate appends its own flags"
PATHS = "selects the code path for the processor, which changes the last bits; unchanged in all variants"
ONEDNN = "changes the last bits of TensorFlow; unchanged in all variants except config"
SAME = "use the same value in all compared experiments"
VARIABLES = (
    (LIMITING, SET, "only these devices are visible to frameworks", ""),
    ("OMP_DYNAMIC OMP_SCHEDULE", MOVING, "the work of each thread may change between runs", "unset {}"),
    ("TF_DETERMINISTIC_OPS TF_CUDNN_DETERMINISTIC", ON, FREE, ""),
    ("CUBLAS_WORKSPACE_CONFIG", SET, HELD, ""),
    ("NVIDIA_TF32_OVERRIDE TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", SET, TF32, "unset {}, and set TF32 in the script"),
    ("TORCHINDUCTOR_MAX_AUTOTUNE PYTORCH_TUNABLEOP_ENABLED", ON, AUTOTUNE, ""),
    ("XLA_FLAGS", UNDONE, "it disables deterministic kernels", "unset {}"),
    ("XLA_FLAGS", f"(?!{UNDONE}).*", XLA, ""),
    ("PYTHONHASHSEED", SET, "applies to as-is; every other variant sets its own value", SAME),
    (CODE_PATHS, SET, PATHS, SAME),
    ("TF_ENABLE_ONEDNN_OPTS", SET, ONEDNN, SAME),
    (JAX, SET, "changes computations of JAX; deviate neither sets nor clears it", SAME),
)
"""Names, values with an effect, what that is, and advice with the name in place of `{}`; most urgent first."""


def variables_that_matter(environment: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Name and value, why, and advice for each variable with an effect."""
    for names, values, why, advice in VARIABLES:
        for name in names.split():
            value = environment.get(name)
            if value is not None and re.fullmatch(values, value, re.IGNORECASE | re.DOTALL):
                yield f"{name}={shlex.quote(value) if name == 'XLA_FLAGS' else value}", why, advice.format(name)
