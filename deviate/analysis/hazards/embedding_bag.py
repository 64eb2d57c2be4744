"""Bags of embeddings reduced by their maximum."""

from deviate.analysis.hazards.kernels import kernels
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey

BAG_MODE_PLACE = {"torch.nn.EmbeddingBag": 5, "torch.nn.functional.embedding_bag": 6}


@hazard("embedding-bag", "kernels")
def embedding_bag(survey: Survey) -> Matches:
    """Bags of embeddings reduced by their maximum.

    On a GPU the gradient of `EmbeddingBag` with `mode="max"` adds in the order in which threads come. PyTorch has no
    deterministic kernel for it: a variant that holds `kernels` stops there, unless `--warn-only` is given.

    Example:
        import torch.nn as nn
        bag = nn.EmbeddingBag(1000, 64, mode="max")

    Instead:
        import torch.nn as nn
        bag = nn.EmbeddingBag(1000, 64, mode="mean")

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`.
    """
    for call in kernels(survey, BAG_MODE_PLACE):
        if "max" in survey.texts(call.argument(BAG_MODE_PLACE[call.name], "mode"), call.function):
            yield call.node, "the gradient of a maximum over bags adds in no fixed order on a GPU"
