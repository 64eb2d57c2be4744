"""Padding that repeats or mirrors the border."""

from deviate.analysis.hazards.kernels import find_differentiated
from deviate.analysis.hazards.names import TORCH_LAYERS, under
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey
from deviate.model.metric_vocabulary import word_set

PADDING_LAYERS = under(
    TORCH_LAYERS,
    "ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d",
)
PADDING_MODES = word_set("reflect replicate")


@hazard("padding", "kernels")
def padding(survey: Survey) -> Matches:
    """Padding that repeats or mirrors the border.

    On a GPU its gradient adds to the border in the order in which threads come. PyTorch has a deterministic kernel for
    repeated borders only: with mirrored ones a variant that holds `kernels` stops, unless `--warn-only` is given.

    Example:
        import torch.nn as nn
        pad = nn.ReflectionPad2d(3)

    Instead:
        import torch.nn as nn
        pad = nn.ZeroPad2d(3)

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`.
    """
    for call in find_differentiated(survey, PADDING_LAYERS):
        yield call.node, f"the gradient of {call.last} adds in no fixed order on a GPU"
    for call in find_differentiated(survey, ["torch.nn.functional.pad"]):
        modes = PADDING_MODES & survey.texts(call.argument(2, "mode"), call.function)
        if modes:
            yield call.node, f"the gradient of {min(modes)} padding adds in no fixed order on a GPU"
