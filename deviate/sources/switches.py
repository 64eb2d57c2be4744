"""Hazards of switches: settings of the script that allow nondeterministic kernels."""

import libcst as cst

from deviate.analysis.resolve.tree import constant_number, constant_text
from deviate.analysis.survey import Survey, is_false, is_true
from deviate.sources.catalogue import Matches, hazard
from deviate.sources.kernels import held_by_script
from deviate.sources.names import LIGHTNING_TRAINERS

AUTOTUNING_SWITCHES = (
    "torch.backends.cudnn.benchmark",
    "torch._inductor.config.max_autotune",
    "torch._inductor.config.coordinate_descent_tuning",
)


@hazard("autotuning", "kernels")
def autotuning(survey: Survey) -> Matches:
    """Kernels chosen by measured speed.

    `cudnn.benchmark` and self-tuning compilers choose the kernel that is fastest at that moment; different kernels
    round differently. deviate disables the search if a variant holds `autotune`.

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
                yield target, "the fastest kernel in this run is used"
    for call in survey.calls(LIGHTNING_TRAINERS):
        if is_true(call.argument(None, "benchmark")):
            yield call.node, "the fastest kernel in this run is used"
    for call in survey.calls(["torch.compile"]):
        modes = survey.texts(call.argument(None, "mode"), call.function)
        if any(mode.startswith("max-autotune") for mode in modes) and "torch" not in held_by_script(survey):
            yield call.node, "the fastest kernel in this run is used"


DETERMINISM_SWITCHES = ("torch.use_deterministic_algorithms", "torch.set_deterministic")


@hazard("determinism-off", "kernels")
def determinism_off(survey: Survey) -> Matches:
    """Determinism disabled, or requested with warnings only.

    This undoes what the rest of the script, a library or the environment requests. deviate overrides it if a variant
    holds `kernels`, and records that it did.

    Example:
        import torch
        torch.use_deterministic_algorithms(False)

    Instead:
        import torch
        torch.use_deterministic_algorithms(True)

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`: "If False, allows nondeterministic
    operations"; with `warn_only` such operations "will throw a warning instead of an error".
    """
    for call in survey.calls(DETERMINISM_SWITCHES):
        if is_false(call.argument(0, "mode", "d")):
            yield call.node, "deterministic kernels are disabled"
        elif is_true(call.argument(None, "warn_only")):
            yield call.node, "kernels without a deterministic version are used, with a warning"
    for call in survey.calls(["torch.set_deterministic_debug_mode"]):
        mode = call.argument(0, "debug_mode")
        if mode is not None and (constant_text(mode) in ("default", "warn") or constant_number(mode) in (0, 1)):
            yield call.node, "kernels without a deterministic version are used"
    for target, value, _ in survey.assignments_to("torch.backends.cudnn.deterministic"):
        if is_false(value):
            yield target, "cuDNN may choose kernels that add in nondeterministic order"
    for call in survey.calls(LIGHTNING_TRAINERS):
        if is_false(call.argument(None, "deterministic")):
            yield call.node, "deterministic kernels are disabled"
