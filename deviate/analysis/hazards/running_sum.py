"""Running sums of numbers with a fraction on a GPU."""

from deviate.analysis.hazards.kernels import held_by_script
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Called, Survey


@hazard("running-sum", "kernels")
def running_sum(survey: Survey) -> Matches:
    """Running sums of numbers with a fraction on a GPU.

    `torch.cumsum` adds parts in an order that depends on which block of threads is done first. PyTorch has no
    deterministic kernel for it: a variant that holds `kernels` stops there, unless `--warn-only` is given. Whole
    numbers are not concerned.

    Example:
        import torch
        total = torch.cumsum(probabilities, dim=-1)

    Instead:
        import numpy as np
        total = np.cumsum(probabilities, axis=-1)

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`: `cumsum` "when called on a CUDA tensor
    when dtype is floating point or complex".
    """
    if "torch" in held_by_script(survey):
        return
    for call in survey.methods(["cumsum"], ("torch.",)):
        if call.name.startswith("torch.") and not _is_integer_sum(call, survey):
            yield call.node, "cumsum has no deterministic kernel on a GPU"


def _is_integer_sum(call: Called, survey: Survey) -> bool:
    """Whether integers are summed: a mask, or values that are compared or converted to integers."""
    text = survey.nodes.code(call.node)
    return any(word in text for word in ("mask", "int", "long", "==", "<", ">", "len", "arange", "ones"))
