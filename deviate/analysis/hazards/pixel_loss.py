"""A classification loss for every pixel."""

from deviate.analysis.hazards.kernels import kernels
from deviate.analysis.hazards.names import TORCH_LAYERS, under
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey
from deviate.analysis.resolve.tree import constant_number

SPATIAL_LOSSES = under(TORCH_LAYERS, "NLLLoss2d functional.nll_loss2d")
CLASS_LOSSES = under(TORCH_LAYERS, "CrossEntropyLoss NLLLoss functional.cross_entropy functional.nll_loss")
IGNORED_CLASSES = (250, 255)


@hazard("pixel-loss", "kernels")
def pixel_loss(survey: Survey) -> Matches:
    """A classification loss for every pixel.

    On a GPU the spatial form of the negative log likelihood, as in segmentation, adds in the order in which threads
    come. PyTorch has no deterministic kernel for it: a variant that holds `kernels` stops there, unless
    `--warn-only` is given. It is told from the ordinary loss by its name or by the label that segmentation leaves
    out, 255.

    Example:
        import torch.nn as nn
        criterion = nn.CrossEntropyLoss(ignore_index=255)

    Instead:
        import torch.nn as nn
        criterion = nn.CrossEntropyLoss()

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`: `NLLLoss` on a CUDA tensor; PyTorch source,
    NLLLoss2d.cu, holds the check.
    """
    message = "a loss for every pixel adds in no fixed order on a GPU"
    for call in kernels(survey, SPATIAL_LOSSES):
        yield call.node, message
    for call in kernels(survey, CLASS_LOSSES):
        label = call.argument(None, "ignore_index")
        values = survey.values(label, call.function) if label is not None else ()
        if any(constant_number(value) in IGNORED_CLASSES for value, _ in values):
            yield call.node, message
