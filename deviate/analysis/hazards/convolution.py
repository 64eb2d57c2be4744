"""Convolutions on a GPU."""

from deviate.analysis.hazards.kernels import kernels
from deviate.analysis.hazards.names import KERAS, TENSORFLOW, TORCH_LAYERS, under
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey
from deviate.model.metric_vocabulary import split_identifier, word_set

CONVOLUTIONS = under(TORCH_LAYERS, "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d") | under(
    ("torch.nn.functional.",), "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d"
)
MERGING_CONVOLUTIONS = word_set("fuse fused fusion export onnx")
"""Words of functions that make a model ready for use after training."""

CONVOLVING_FUNCTIONS = (
    under(
        KERAS,
        "layers.Conv1D layers.Conv2D layers.Conv3D layers.Conv2DTranspose layers.Convolution2D layers.DepthwiseConv2D "
        "layers.SeparableConv2D",
    )
    | under(TENSORFLOW, "nn.conv2d nn.conv1d nn.conv3d nn.conv2d_transpose layers.conv2d")
    | frozenset({"flax.linen.Conv", "flax.nnx.Conv", "flax.linen.ConvTranspose", "haiku.Conv2D"})
)


@hazard("convolution", "kernels", is_reported_once=True)
def convolution(survey: Survey) -> Matches:
    """Convolutions on a GPU.

    cuDNN and XLA have several kernels for a convolution and its gradients; some add in the order in which threads
    come, and which of them is taken can differ between runs. deviate asks for deterministic ones where a variant
    holds `kernels`. One place of a file stands for all.

    Example:
        import torch.nn as nn
        layer = nn.Conv2d(3, 64, 3)

    Instead:
        import torch
        import torch.nn as nn
        torch.backends.cudnn.deterministic = True
        layer = nn.Conv2d(3, 64, 3)

    Source: PyTorch documentation, "Reproducibility", CUDA convolution determinism; NVIDIA,
    framework-reproducibility, on TensorFlow: cuDNN convolution; JAX discussion 10674.
    """
    for call in kernels(survey, CONVOLUTIONS, also="cudnn"):
        if not MERGING_CONVOLUTIONS.intersection(split_identifier(call.function.name)):
            yield call.node, "cuDNN may take kernels that add in no fixed order"
    for call in kernels(survey, CONVOLVING_FUNCTIONS):
        yield call.node, "on a GPU kernels may be taken that add in no fixed order"
