"""Regions of images pooled for detection: `roi_align` and its relatives."""

from deviate.analysis.hazards.kernels import find_differentiated, held_by_script
from deviate.analysis.hazards.names import under
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey

REGION_POOLING = under(
    ("torchvision.ops.",),
    "RoIAlign RoIPool PSRoIAlign PSRoIPool MultiScaleRoIAlign DeformConv2d roi_align roi_pool ps_roi_align ps_roi_pool "
    "deform_conv2d",
)


@hazard("region-pooling", "kernels")
def region_pooling(survey: Survey) -> Matches:
    """Regions of images pooled for detection: `roi_align` and its relatives.

    On a GPU the gradient adds to places that several regions share in the order in which threads come. Only
    `roi_align` has a deterministic version, in torchvision from 0.16 and compiled: with the others a variant that
    holds `kernels` stops, unless `--warn-only` is given.

    Example:
        from torchvision.ops import RoIAlign
        pool = RoIAlign((7, 7), spatial_scale=0.25, sampling_ratio=2)

    Instead:
        import torch
        from torchvision.ops import RoIAlign
        torch.use_deterministic_algorithms(True)
        pool = RoIAlign((7, 7), spatial_scale=0.25, sampling_ratio=2)

    Source: torchvision, issues 1058 and 7579 and pull request 7587; torchvision source, roi_align_kernel.cu.
    """
    if "torch" in held_by_script(survey):
        return
    for call in find_differentiated(survey, REGION_POOLING):
        yield call.node, f"the gradient of {call.last} adds in no fixed order on a GPU"
