"""Pooling whose windows are adapted, random, in three dimensions, or undone."""

import libcst as cst

from deviate.analysis.hazards.kernels import find_differentiated
from deviate.analysis.hazards.names import TORCH_LAYERS, under
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Called, Survey

POOLING_FUNCTIONS = ("torch.nn.functional.",)
ADAPTIVE_AVERAGES = under(TORCH_LAYERS, "AdaptiveAvgPool2d AdaptiveAvgPool3d") | under(
    POOLING_FUNCTIONS, "adaptive_avg_pool2d adaptive_avg_pool3d"
)
OTHER_POOLING = under(
    TORCH_LAYERS, "AdaptiveMaxPool2d FractionalMaxPool2d FractionalMaxPool3d AvgPool3d MaxPool3d"
) | under(POOLING_FUNCTIONS, "adaptive_max_pool2d fractional_max_pool2d fractional_max_pool3d avg_pool3d max_pool3d")
UNPOOLING = under(TORCH_LAYERS, "MaxUnpool1d MaxUnpool2d MaxUnpool3d") | under(
    POOLING_FUNCTIONS, "max_unpool1d max_unpool2d max_unpool3d"
)


@hazard("pooling", "kernels")
def pooling(survey: Survey) -> Matches:
    """Pooling whose windows are adapted, random, in three dimensions, or undone.

    On a GPU the gradient of these poolings adds to places that several windows share in the order in which threads
    come. PyTorch has no deterministic kernel for them: a variant that holds `kernels` stops there, unless
    `--warn-only` is given. Adaptive average pooling to a single value is an ordinary mean, and not listed.

    Example:
        import torch.nn as nn
        pool = nn.AdaptiveAvgPool2d((7, 7))

    Instead:
        import torch.nn as nn
        pool = nn.AdaptiveAvgPool2d(1)

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`; PyTorch source,
    AdaptiveAveragePooling.cpp: size 1 is computed as a mean.
    """
    for call in find_differentiated(survey, ADAPTIVE_AVERAGES):
        if not _is_mean(call):
            yield call.node, f"the gradient of {call.last} adds in no fixed order on a GPU"
    for call in find_differentiated(survey, OTHER_POOLING):
        yield call.node, f"the gradient of {call.last} adds in no fixed order on a GPU"
    for call in find_differentiated(survey, UNPOOLING):
        yield call.node, f"{call.last} writes in no fixed order where indices repeat"


def _is_mean(call: Called) -> bool:
    """Whether the output of an adaptive average is a single value."""
    size = call.argument(0 if call.last[0].isupper() else 1, "output_size")
    parts = [item.value for item in size.elements] if isinstance(size, cst.Tuple | cst.List) else [size]
    return all(isinstance(part, cst.Integer) and part.value == "1" for part in parts)
