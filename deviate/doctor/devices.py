"""What deviate can control on each type of devices: the answers for the CPU, and where those for others differ."""

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from deviate.doctor.children import ChildFacts
from deviate.doctor.claims import Claims, no, nothing, partly, yes
from deviate.model.diagnosis import Control, DeviceType
from deviate.model.plan import Stream

STREAMS = " ".join(get_args(Stream))
CPU_ALONE = "the search for the fastest kernel runs on GPUs only"
UNTESTED = "not tested on this device type"
CHECK = "check that the runs of control are equal on the device before you trust other variants"
DRAW_ON_HOST = "draw on the CPU and move the tensors; runs report a model on the device"


def _untested(factors: str, why: str, advice: str = CHECK) -> Claims:
    return partly(factors, f"{why}; {UNTESTED}", advice)


_XLA_ON_TPU = "deviate knows no switch of XLA for TPUs that makes kernels deterministic or fixes their choice"
_PLUGIN = {
    **no("init dropout other", "deviate does not route the generator of this device", DRAW_ON_HOST),
    **_untested("shuffle augment split", "draws on the CPU are routed, draws on the device are not"),
    **_untested("kernels", "the plug-in decides what deterministic algorithms of PyTorch change"),
    **no("autotune precision", "deviate knows no switch of this plug-in", CHECK),
    **nothing("onednn", "the switch of oneDNN concerns the CPU"),
}
DIFFERENCES: Mapping[tuple[str, str], Claims] = {
    ("torch", "cpu"): nothing("autotune", CPU_ALONE),
    ("torch", "cuda"): yes("autotune"),
    ("torch", "rocm"): _untested("autotune precision", "PyTorch passes the switches of cuDNN and TF32 on to ROCm"),
    ("torch", "xpu"): {
        **_untested("kernels", "PyTorch lists operations without a deterministic version for CUDA first"),
        **_untested("precision", "the precision of matrix products is set, other switches are those of CUDA"),
        **nothing("autotune", "deviate knows no search for kernels there"),
    },
    ("torch", "mps"): {
        **_untested("kernels", "PyTorch lists operations without a deterministic version for CUDA first"),
        **nothing("autotune", "deviate knows no search for kernels there"),
        **nothing("precision", "deviate knows no reduced precision there that a script does not ask for"),
    },
    ("tensorflow", "CPU"): nothing("autotune", CPU_ALONE),
    ("tensorflow", "GPU"): _untested(
        "autotune", "op determinism holds it together with kernels", "vary impl, which varies both"
    ),
    ("tensorflow", "TPU"): {
        **_untested(STREAMS, "seeds of operations are routed; how TPUs use them is not known"),
        **no("kernels autotune precision", _XLA_ON_TPU, CHECK),
    },
    ("jax", "cpu"): nothing("kernels autotune", "XLA has no known nondeterministic kernels on a CPU"),
    ("jax", "rocm"): _untested("kernels autotune", "the flags of XLA for GPUs apply where ROCm supports them"),
    ("jax", "tpu"): no("kernels autotune", _XLA_ON_TPU, CHECK),
    ("torch_xla", "xla"): {},
    ("jax", "METAL"): no("kernels autotune", "the flags of XLA for GPUs do not reach Metal", CHECK),
}
"""Factors with another answer than that of the framework's row, by framework and type of device."""
PLUGINS: Mapping[str, Claims] = {
    "torch": _PLUGIN,
    "tensorflow": {
        **_untested("kernels", "the plug-in decides what op determinism changes"),
        **no("autotune precision", "deviate knows no switch of this plug-in", CHECK),
    },
    "jax": no("kernels autotune", "the flags of XLA for GPUs do not reach this plug-in", CHECK),
}
"""The same for types that come with a plug-in."""
TESTED_ON = {
    ("torch", "cpu"): "CPUs",
    ("torch_xla", "xla"): "a CPU as the device",
    ("tensorflow", "CPU"): "CPUs",
    ("jax", "cpu"): "CPUs",
}
"""Where docs/reference/devices.md shows what is said."""
GPU_FLAGS = ("cuda", "gpu")


def device_types(
    name: str, facts: ChildFacts, answers: Mapping[str, ChildFacts], controls: Sequence[Control]
) -> tuple[DeviceType, ...]:
    """The types of devices that a framework knows.

    Args:
        facts, answers: as in `judge`.
        controls: what holds for the framework on this machine.
    """
    return tuple(
        DeviceType(
            kind,
            n,
            is_built,
            "" if name == "torch_xla" and facts.text("backend") != "CPU" else TESTED_ON.get((name, kind), ""),
            note,
            tuple(_controls_on(name, kind, answers, controls)),
        )
        for kind, n, is_built, note in _list_types(name, facts, answers)
    )


def _list_types(
    name: str, facts: ChildFacts, answers: Mapping[str, ChildFacts]
) -> Iterator[tuple[str, int | None, bool, str]]:
    """Name, number, whether the build has it, and a note."""
    if name == "torch_xla":
        started = answers.get("torch_xla.devices", ChildFacts())
        kind = facts.text("backend") or "of unknown kind"
        why = started.faults.get("n_devices", "") or ("" if started.is_whole else f"no answer while {started.doing}")
        yield "xla", started.count("n_devices"), True, "; ".join(filter(None, [f"PJRT device {kind}", why]))
        return
    for entry in facts.tables("device_types"):
        n, is_built = entry.get("n"), entry.get("is_built") is True
        why = str(entry.get("why") or "") or ("" if is_built else "not in this build")
        yield str(entry.get("name")), n if isinstance(n, int) else None, is_built, why[:LONGEST_NOTE]


LONGEST_NOTE = 160


def _controls_on(
    name: str, kind: str, answers: Mapping[str, ChildFacts], controls: Sequence[Control]
) -> Iterator[Control]:
    differences = DIFFERENCES.get((name, kind))
    if differences is None:
        differences = PLUGINS.get(name, {})
        if name == "jax" and kind in GPU_FLAGS:
            accepts = answers.get("jax.accepts", ChildFacts()).is_true("accepts")
            differences = yes("kernels autotune") if accepts else {}
    for control in controls:
        other = differences.get(control.factor)
        # What this version cannot control at all, it controls on no device.
        is_out = control.answer == "no" and other is not None and other.answer in {"yes", "partly"}
        yield control if other is None or is_out else other
