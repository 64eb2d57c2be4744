"""Kernels chosen by a race."""

import libcst as cst

from deviate.analysis.hazards.kernels import held_by_script
from deviate.analysis.hazards.names import LIGHTNING_TRAINERS
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey, is_false, is_true

AUTOTUNING_SWITCHES = (
    "torch.backends.cudnn.benchmark",
    "torch._inductor.config.max_autotune",
    "torch._inductor.config.coordinate_descent_tuning",
)


@hazard("autotuning", "kernels")
def autotuning(survey: Survey) -> Matches:
    """Kernels chosen by a race.

    With `cudnn.benchmark` and compilers that tune themselves, the kernel that is fastest at that moment is taken;
    different kernels round differently. deviate switches it off where a variant holds `autotune`.

    Example:
        import torch
        torch.backends.cudnn.benchmark = True

    Instead:
        import torch
        torch.backends.cudnn.benchmark = False

    Source: PyTorch documentation, "Reproducibility", CUDA convolution benchmarking: "different algorithms may be
    selected on subsequent runs"; documentation of `torch.compile`, mode "max-autotune".
    """
    for name in AUTOTUNING_SWITCHES:
        for target, value, _ in survey.assignments_to(name):
            if not is_false(value) and not (isinstance(value, cst.Integer) and value.value == "0"):
                yield target, "the kernel that is fastest in this run is taken"
    for call in survey.calls(LIGHTNING_TRAINERS):
        if is_true(call.argument(None, "benchmark")):
            yield call.node, "the kernel that is fastest in this run is taken"
    for call in survey.calls(["torch.compile"]):
        modes = survey.texts(call.argument(None, "mode"), call.function)
        if any(mode.startswith("max-autotune") for mode in modes) and "torch" not in held_by_script(survey):
            yield call.node, "the kernel that is fastest in this run is taken"
