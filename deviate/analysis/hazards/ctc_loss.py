"""The CTC loss."""

from deviate.analysis.hazards.kernels import kernels
from deviate.analysis.hazards.names import KERAS, TENSORFLOW, under
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey

CTC_LOSSES = (
    frozenset({"torch.nn.CTCLoss", "torch.nn.functional.ctc_loss", "torch.ctc_loss"})
    | under(TENSORFLOW, "nn.ctc_loss")
    | under(KERAS, "backend.ctc_batch_cost")
)


@hazard("ctc-loss", "kernels")
def ctc_loss(survey: Survey) -> Matches:
    """The CTC loss.

    On a GPU its gradient adds in the order in which threads come. PyTorch has no deterministic kernel for it: a variant
    that holds `kernels` stops there, unless `--warn-only` is given.

    Example:
        import torch.nn as nn
        criterion = nn.CTCLoss(blank=0)

    Instead:
        import torch
        import torch.nn as nn
        torch.use_deterministic_algorithms(True)
        criterion = nn.CTCLoss(blank=0)

    Source: PyTorch documentation of `torch.nn.CTCLoss` and `torch.use_deterministic_algorithms`; TensorFlow RFC
    20210119, "Determinism".
    """
    for call in kernels(survey, CTC_LOSSES):
        yield call.node, "the gradient of the CTC loss adds in no fixed order on a GPU"
