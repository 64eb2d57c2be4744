"""Images sampled at computed places: `grid_sample`."""

from deviate.analysis.hazards.kernels import kernels
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey


@hazard("grid-sample", "kernels")
def grid_sample(survey: Survey) -> Matches:
    """Images sampled at computed places: `grid_sample`.

    On a GPU its gradient adds to neighbouring places in the order in which threads come. PyTorch has no deterministic
    kernel for it: a variant that holds `kernels` stops there, unless `--warn-only` is given.

    Example:
        import torch.nn.functional as F
        warped = F.grid_sample(image, grid)
        F.mse_loss(warped, target).backward()

    Instead:
        import torch
        import torch.nn.functional as F
        with torch.no_grad():
            warped = F.grid_sample(image, grid)

    Source: PyTorch documentation of `torch.nn.functional.grid_sample`: "may induce nondeterministic behavior in its
    backward pass".
    """
    for call in kernels(survey, ["torch.nn.functional.grid_sample", "torch.grid_sampler"]):
        if survey.is_in_model(call.function) and not survey.is_without_gradient(call.node, call.function):
            yield call.node, "the gradient of grid_sample adds in no fixed order on a GPU"
