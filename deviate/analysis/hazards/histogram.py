"""Histograms counted on a GPU, and counts with weights."""

from deviate.analysis.hazards.kernels import kernels
from deviate.analysis.hazards.names import TENSORFLOW, under
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey

COUNTING_FUNCTIONS = frozenset({"torch.bincount"}) | under(TENSORFLOW, "math.bincount bincount")


@hazard("histogram", "kernels")
def histogram(survey: Survey) -> Matches:
    """Histograms counted on a GPU, and counts with weights.

    `torch.histc`, and `bincount` with weights, add in the order in which threads come. PyTorch has no deterministic
    kernel for them on a GPU: a variant that holds `kernels` stops there, unless `--warn-only` is given.

    Example:
        import torch
        mass = torch.bincount(classes, weights=confidences)

    Instead:
        import torch
        mass = torch.bincount(classes)

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`; TensorFlow RFC 20210119, "Determinism".
    """
    for call in kernels(survey, ["torch.histc"]):
        yield call.node, "histc has no deterministic kernel on a GPU"
    for call in kernels(survey, COUNTING_FUNCTIONS):
        if call.argument(1, "weights") is not None:
            yield call.node, "weights are added in no fixed order on a GPU"
