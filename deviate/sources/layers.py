"""Hazards of layers and losses: their gradients, or the algorithms that compute them, are not fixed on a GPU."""

import libcst as cst

from deviate.analysis.resolve.tree import constant_number
from deviate.analysis.survey import Called, Survey, is_true
from deviate.model.metric_vocabulary import split_identifier, word_set
from deviate.sources.catalogue import Matches, hazard
from deviate.sources.kernels import find_differentiated, held_by_script, kernels
from deviate.sources.names import KERAS, TENSORFLOW, TORCH_LAYERS, under

FUSED_ATTENTION = word_set("torch.nn.functional.scaled_dot_product_attention xformers.ops.memory_efficient_attention")
ATTENTION_LAYERS = under(TORCH_LAYERS, "Transformer TransformerEncoderLayer TransformerDecoderLayer")
FLASH_ATTENTION = word_set(
    "flash_attn.flash_attn_func flash_attn.flash_attn_qkvpacked_func flash_attn.flash_attn_varlen_func"
)


@hazard("attention", "kernels")
def attention(survey: Survey) -> Matches:
    """Fused attention on a GPU.

    The fast attention kernels (memory-efficient, flash) add gradients in varying order by default. deviate requests
    deterministic kernels if a variant holds `kernels`.

    Example:
        import torch.nn.functional as F
        y = F.scaled_dot_product_attention(q, k, v)
        y.sum().backward()

    Instead:
        import torch
        import torch.nn.functional as F
        torch.use_deterministic_algorithms(True)
        y = F.scaled_dot_product_attention(q, k, v)
        y.sum().backward()

    Source: PyTorch documentation of `scaled_dot_product_attention`: "may select a nondeterministic algorithm"; PyTorch
    source, attention_backward.cu; flash-attention: parameter `deterministic` of `flash_attn_func`.
    """
    for call in find_differentiated(survey, FUSED_ATTENTION | ATTENTION_LAYERS):
        yield call.node, "fast kernels add gradients in nondeterministic order on a GPU"
    for call in find_differentiated(survey, FLASH_ATTENTION):
        if not is_true(call.argument(None, "deterministic")):
            yield call.node, "without deterministic=True gradients are added in nondeterministic order"


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

    cuDNN and XLA have several kernels for a convolution and its gradients. Some add in varying order, and the chosen
    kernel can differ between runs. deviate requests deterministic kernels if a variant holds `kernels`. Only the first
    place in each file is listed.

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
            yield call.node, "cuDNN may choose kernels that add in nondeterministic order"
    for call in kernels(survey, CONVOLVING_FUNCTIONS):
        yield call.node, "kernels on a GPU may add in nondeterministic order"


CTC_LOSSES = (
    frozenset({"torch.nn.CTCLoss", "torch.nn.functional.ctc_loss", "torch.ctc_loss"})
    | under(TENSORFLOW, "nn.ctc_loss")
    | under(KERAS, "backend.ctc_batch_cost")
)


@hazard("ctc-loss", "kernels")
def ctc_loss(survey: Survey) -> Matches:
    """The CTC loss on a GPU.

    Its gradient adds in varying order. PyTorch has no deterministic kernel for it, so a variant that holds `kernels`
    raises an error, unless `--warn-only` is set.

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
        yield call.node, "the gradient of the CTC loss adds in nondeterministic order on a GPU"


BAG_MODE_PLACE = {"torch.nn.EmbeddingBag": 5, "torch.nn.functional.embedding_bag": 6}


@hazard("embedding-bag", "kernels")
def embedding_bag(survey: Survey) -> Matches:
    """Bags of embeddings reduced by their maximum.

    On a GPU the gradient of `EmbeddingBag` with `mode="max"` adds in varying order. PyTorch has no deterministic kernel
    for it, so a variant that holds `kernels` raises an error, unless `--warn-only` is set.

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
            yield call.node, "the gradient of a maximum over bags adds in nondeterministic order on a GPU"


@hazard("grid-sample", "kernels")
def grid_sample(survey: Survey) -> Matches:
    """Images sampled at computed positions: `grid_sample`.

    On a GPU its gradient adds to neighbouring pixels in varying order. PyTorch has no deterministic kernel for it, so a
    variant that holds `kernels` raises an error, unless `--warn-only` is set.

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
            yield call.node, "the gradient of grid_sample adds in nondeterministic order on a GPU"


PADDING_LAYERS = under(
    TORCH_LAYERS,
    "ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d",
)
PADDING_MODES = word_set("reflect replicate")


@hazard("padding", "kernels")
def padding(survey: Survey) -> Matches:
    """Padding that replicates or reflects the border.

    On a GPU its gradient adds to the border in varying order. PyTorch has a deterministic kernel for replication only.
    With reflection, a variant that holds `kernels` raises an error, unless `--warn-only` is set.

    Example:
        import torch.nn as nn
        pad = nn.ReflectionPad2d(3)

    Instead:
        import torch.nn as nn
        pad = nn.ZeroPad2d(3)

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`.
    """
    for call in find_differentiated(survey, PADDING_LAYERS):
        yield call.node, f"the gradient of {call.last} adds in nondeterministic order on a GPU"
    for call in find_differentiated(survey, ["torch.nn.functional.pad"]):
        modes = PADDING_MODES & survey.texts(call.argument(2, "mode"), call.function)
        if modes:
            yield call.node, f"the gradient of {min(modes)} padding adds in nondeterministic order on a GPU"


SPATIAL_LOSSES = under(TORCH_LAYERS, "NLLLoss2d functional.nll_loss2d")
CLASS_LOSSES = under(TORCH_LAYERS, "CrossEntropyLoss NLLLoss functional.cross_entropy functional.nll_loss")
IGNORED_CLASSES = (250, 255)


@hazard("pixel-loss", "kernels")
def pixel_loss(survey: Survey) -> Matches:
    """A classification loss per pixel.

    On a GPU the spatial negative log likelihood, as used in segmentation, adds in varying order. PyTorch has no
    deterministic kernel for it, so a variant that holds `kernels` raises an error, unless `--warn-only` is set. It is
    recognised by its name or by `ignore_index=255`, the usual label of ignored pixels in segmentation.

    Example:
        import torch.nn as nn
        criterion = nn.CrossEntropyLoss(ignore_index=255)

    Instead:
        import torch.nn as nn
        criterion = nn.CrossEntropyLoss()

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`: `NLLLoss` on a CUDA tensor; PyTorch source,
    NLLLoss2d.cu, holds the check.
    """
    message = "a loss per pixel adds in nondeterministic order on a GPU"
    for call in kernels(survey, SPATIAL_LOSSES):
        yield call.node, message
    for call in kernels(survey, CLASS_LOSSES):
        label = call.argument(None, "ignore_index")
        values = survey.values(label, call.function) if label is not None else ()
        if any(constant_number(value) in IGNORED_CLASSES for value, _ in values):
            yield call.node, message


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
    """Adaptive, fractional, three-dimensional and inverse pooling.

    On a GPU the gradient of these operations adds to elements shared by several windows in varying order. PyTorch has
    no deterministic kernel for them, so a variant that holds `kernels` raises an error, unless `--warn-only` is set.
    Adaptive average pooling to a single value is an ordinary mean and not listed.

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
            yield call.node, f"the gradient of {call.last} adds in nondeterministic order on a GPU"
    for call in find_differentiated(survey, OTHER_POOLING):
        yield call.node, f"the gradient of {call.last} adds in nondeterministic order on a GPU"
    for call in find_differentiated(survey, UNPOOLING):
        yield call.node, f"{call.last} writes in nondeterministic order if indices repeat"


def _is_mean(call: Called) -> bool:
    """Whether the output of an adaptive average is a single value."""
    size = call.argument(0 if call.last[0].isupper() else 1, "output_size")
    parts = [item.value for item in size.elements] if isinstance(size, cst.Tuple | cst.List) else [size]
    return all(isinstance(part, cst.Integer) and part.value == "1" for part in parts)


@hazard("recurrent", "kernels", is_reported_once=True)
def recurrent(survey: Survey) -> Matches:
    """Recurrent layers on a GPU.

    Recurrent layers of cuDNN can differ between runs with some versions of CUDA, unless the cuBLAS workspace is
    configured before the process starts. deviate does that if a variant holds `kernels`. Only the first place in each
    file is listed.

    Example:
        import torch.nn as nn
        rnn = nn.LSTM(64, 128)

    Instead:
        import os
        os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
        import torch.nn as nn
        rnn = nn.LSTM(64, 128)

    Source: PyTorch documentation of `torch.nn.LSTM`: "There are known non-determinism issues for RNN functions on some
    versions of cuDNN and CUDA".
    """
    if "CUBLAS_WORKSPACE_CONFIG" in survey.environment:
        return
    for call in kernels(survey, under(TORCH_LAYERS, "LSTM GRU RNN")):
        yield call.node, f"{call.last} can differ between runs on a GPU without CUBLAS_WORKSPACE_CONFIG"


REGION_POOLING = under(
    ("torchvision.ops.",),
    "RoIAlign RoIPool PSRoIAlign PSRoIPool MultiScaleRoIAlign DeformConv2d roi_align roi_pool ps_roi_align ps_roi_pool "
    "deform_conv2d",
)


@hazard("region-pooling", "kernels")
def region_pooling(survey: Survey) -> Matches:
    """Region pooling for detection: `roi_align` and similar operations.

    On a GPU the gradient adds to elements shared by several regions in varying order. Only `roi_align` has a
    deterministic version, compiled, in torchvision from 0.16. With the others, a variant that holds `kernels` raises an
    error, unless `--warn-only` is set.

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
        yield call.node, f"the gradient of {call.last} adds in nondeterministic order on a GPU"


RESIZE_MODE_PLACE = {
    "torch.nn.functional.interpolate": 3,
    "torch.nn.functional.upsample": 3,
    "torch.nn.Upsample": 2,
    "torch.nn.modules.upsampling.Upsample": 2,
}
BILINEAR_RESIZES = word_set("torch.nn.functional.upsample_bilinear torch.nn.UpsamplingBilinear2d")
KERAS_RESIZES = under(KERAS, "layers.UpSampling2D layers.Resizing")
RESIZE_MODES = word_set("linear bilinear bicubic trilinear")


@hazard("resize", "kernels")
def resize(survey: Survey) -> Matches:
    """Images and sequences resized by interpolation inside a model.

    On a GPU the gradient of linear, bilinear, bicubic and trilinear interpolation adds to neighbouring elements in
    varying order. PyTorch has no deterministic kernel for it, so a variant that holds `kernels` raises an error, unless
    `--warn-only` is set.

    Example:
        import torch.nn as nn
        up = nn.Upsample(scale_factor=2, mode="bilinear")

    Instead:
        import torch.nn as nn
        up = nn.Upsample(scale_factor=2, mode="nearest")

    Source: PyTorch documentation of `torch.use_deterministic_algorithms` and `torch.nn.functional.interpolate`;
    TensorFlow RFC 20210119, "Determinism": `tf.image.resize` gradient.
    """
    message = "the gradient of {} interpolation adds in nondeterministic order on a GPU"
    for call in find_differentiated(survey, RESIZE_MODE_PLACE):
        modes = RESIZE_MODES & survey.texts(call.argument(RESIZE_MODE_PLACE[call.name], "mode"), call.function)
        if modes:
            yield call.node, message.format(min(modes))
    for call in find_differentiated(survey, BILINEAR_RESIZES):
        yield call.node, message.format("bilinear")
    for call in find_differentiated(survey, KERAS_RESIZES):
        modes = RESIZE_MODES & survey.texts(call.argument(None, "interpolation"), call.function)
        if modes:
            yield call.node, message.format(min(modes))


TENSORFLOW_SOFTMAX_LOSSES = under(
    TENSORFLOW,
    "nn.softmax_cross_entropy_with_logits nn.softmax_cross_entropy_with_logits_v2 "
    "nn.sparse_softmax_cross_entropy_with_logits",
)
KERAS_SOFTMAX_LOSSES = under(
    KERAS,
    "losses.CategoricalCrossentropy losses.SparseCategoricalCrossentropy losses.categorical_crossentropy "
    "losses.sparse_categorical_crossentropy",
)


@hazard("softmax-loss", "kernels")
def softmax_loss(survey: Survey) -> Matches:
    """The softmax cross-entropy of TensorFlow.

    On a GPU it uses a nondeterministic algorithm by default. deviate enables op determinism if a variant holds
    `kernels`.

    Example:
        import tensorflow as tf
        loss = tf.nn.softmax_cross_entropy_with_logits(labels, logits)

    Instead:
        import tensorflow as tf
        tf.config.experimental.enable_op_determinism()
        loss = tf.nn.softmax_cross_entropy_with_logits(labels, logits)

    Source: TensorFlow documentation of `tf.config.experimental.enable_op_determinism`: it "uses a nondeterministic
    algorithm on GPUs by default".
    """
    for call in kernels(survey, TENSORFLOW_SOFTMAX_LOSSES):
        yield call.node, f"{call.last} adds in nondeterministic order on a GPU"
    for call in kernels(survey, KERAS_SOFTMAX_LOSSES):
        if is_true(call.argument(None, "from_logits")):
            yield call.node, f"{call.last} of logits adds in nondeterministic order on a GPU"
