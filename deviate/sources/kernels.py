"""Kernels that add in no fixed order, mostly on a GPU, and settings of the script that allow them."""

from collections.abc import Collection, Iterable, Iterator, Mapping

import libcst as cst

from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import (
    constant_number,
    constant_text,
    dotted_name,
    identifiers,
    index_of,
    keywords,
    positional,
    walk,
)
from deviate.model.metric_vocabulary import split_identifier, word_set
from deviate.sources.catalogue import Matches, source
from deviate.sources.cures import instead, with_arguments
from deviate.sources.names import KERAS, LIGHTNING_TRAINERS, TENSORFLOW, TORCH, TORCH_PARAMETERS
from deviate.sources.survey import Called, Survey, is_false, is_true

GPU = "gpu"
DETERMINISTIC = "torch.use_deterministic_algorithms(True)"
ADDS = "{} adds in nondeterministic order on a GPU"
GRADIENT = "the gradient of {} adds in nondeterministic order on a GPU"

DATA = word_set("img imgs image images im ims mask masks target targets label labels gt")
"""Words for model inputs, which have no gradient."""

TRAINING = word_set("train training trains")

ASKING = rf"{TENSORFLOW}config\.experimental\.enable_op_determinism"


def kernels(survey: Survey, names: Iterable[str] | str, *, also: str = "") -> Iterator[Called]:
    """Calls by full name, except of frameworks that the script itself sets to deterministic mode.

    Args:
        also: another switch that is sufficient: "cudnn".
    """
    switches = held_by_script(survey)
    for call in survey.calls(names):
        if call.name.partition(".")[0] not in switches and also not in switches:
            yield call


def differentiated(survey: Survey, names: Iterable[str] | str) -> Iterator[Called]:
    """Calls of kernels whose gradient is not deterministic: layers, and functions where a gradient is computed."""
    for call in kernels(survey, names):
        is_layer = call.last[:1].isupper()
        if is_layer or _has_gradient(call, survey):
            yield call


def _has_gradient(call: Called, survey: Survey) -> bool:
    """Whether a function is called in a model or training step, and not on the input data."""
    arguments = positional(call.node)
    of_data = bool(arguments) and not DATA.isdisjoint(split_identifier(" ".join(identifiers(arguments[0]))))
    in_model = survey.is_in_model(call.function) and not _is_for_use(call.node, survey)
    return in_model and not of_data and not survey.is_without_gradient(call.node, call.function)


def _is_for_use(node: cst.CSTNode, survey: Survey) -> bool:
    """Whether a node is in a branch for inference: it returns early and its condition does not mention training."""
    for parent, _ in survey.nodes.around(node):
        if isinstance(parent, cst.If) and node is not parent.test:
            returns = any(isinstance(part, cst.Return) for part in walk(parent.body))
            if returns and TRAINING.isdisjoint(split_identifier(" ".join(identifiers(parent.test)))):
                return True
    return False


def held_by_script(survey: Survey) -> frozenset[str]:
    """The frameworks (and "cudnn") that the script sets to deterministic kernels, whatever its options."""
    requests = (*_of_torch(survey), *_of_others(survey))
    return frozenset(name for node, names in requests if not survey.is_conditional(node) for name in names)


def _of_torch(survey: Survey) -> Iterator[tuple[cst.CSTNode, tuple[str, ...]]]:
    for call in survey.calls(["torch.use_deterministic_algorithms", "torch.set_deterministic"]):
        mode = call.argument(0, "mode", "d")
        warns = keywords(call.node).get("warn_only")
        if is_true(mode) and not is_true(warns):
            yield call.node, ("torch",)
    for call in survey.calls(["torch.set_deterministic_debug_mode"]):
        mode = call.argument(0, "debug_mode")
        if mode is not None and (constant_text(mode) == "error" or constant_number(mode) == 2):
            yield call.node, ("torch",)
    for target, value, _ in survey.assignments_to("torch.backends.cudnn.deterministic"):
        if is_true(value):
            yield target, ("cudnn",)


def _of_others(survey: Survey) -> Iterator[tuple[cst.CSTNode, tuple[str, ...]]]:
    for call in survey.calls(ASKING):
        yield call.node, ("tensorflow", "keras", "tf_keras")
    for name in ("TF_DETERMINISTIC_OPS", "TF_CUDNN_DETERMINISTIC"):
        for item, value in survey.environment.get(name, ()):
            if not is_false(value) and constant_text(value) != "0":
                yield item, ("tensorflow", "keras", "tf_keras")
    for item, value in survey.environment.get("XLA_FLAGS", ()):
        if "deterministic" in (constant_text(value) or ""):
            yield item, ("jax", "flax")


def on_gpu(  # one argument for each kind of condition
    survey: Survey,
    names: Iterable[str] | str,
    message: str,
    *,
    has_gradient: bool = False,
    also: str = "",
    option: str = "",
    values: Collection[str] = (),
    places: Mapping[str, int] | None = None,
) -> Matches:
    """Calls of kernels that are not deterministic on a GPU.

    Args:
        message: with the name of the function, or the value of its option, in place of `{}`.
        has_gradient: only calls whose gradient is computed; `also`: as of `kernels`.
        option: an argument, by its name and `places`, that has to have one of `values`.
    """
    for call in differentiated(survey, names) if has_gradient else kernels(survey, names, also=also):
        argument = call.argument((places or {}).get(call.name), option) if option else None
        chosen = survey.texts(argument, call.function).intersection(values)
        if chosen or not option:
            yield call.node, message.format(min(chosen, default=call.last)), GPU


# ------------------------------------------------------------ layers and losses


FUSED_ATTENTION = (
    r"torch\.nn\.(functional\.scaled_dot_product_attention|Transformer((En|De)coderLayer)?)"
    r"|xformers\.ops\.memory_efficient_attention"
)
FLASH_ATTENTION = r"flash_attn\.flash_attn_(qkvpacked_|varlen_)?func"


@source("attention", "kernels", held="kernels", line=DETERMINISTIC)
def attention(survey: Survey) -> Matches:
    """Fused attention on a GPU.

    The fast attention kernels (memory-efficient, flash) add gradients in varying order by default. deviate requests
    deterministic kernels if a variant holds `kernels`.

    Example:
        import torch.nn.functional as F
        y = F.scaled_dot_product_attention(q, k, v)
        y.sum().backward()

    Source: PyTorch documentation of `scaled_dot_product_attention`: "may select a nondeterministic algorithm"; PyTorch
    source, attention_backward.cu; flash-attention: parameter `deterministic` of `flash_attn_func`.
    """
    yield from on_gpu(
        survey, FUSED_ATTENTION, "fast kernels add gradients in nondeterministic order on a GPU", has_gradient=True
    )
    for call in differentiated(survey, FLASH_ATTENTION):
        if not is_true(call.argument(None, "deterministic")):
            yield call.node, "without deterministic=True gradients are added in nondeterministic order", GPU


CUDNN = "cuDNN may choose kernels that add in nondeterministic order"
CONVOLUTIONS = rf"{TORCH}(Conv|conv)(Transpose|_transpose)?[123]d"
MERGING_CONVOLUTIONS = word_set("fuse fused fusion export onnx")
"""Words of functions that make a model ready for use after training."""
CONVOLVING_FUNCTIONS = (
    rf"{KERAS}layers\.(Conv[123]D|Conv2DTranspose|Convolution2D|(Depthwise|Separable)Conv2D)"
    rf"|{TENSORFLOW}(nn\.conv([123]d|2d_transpose)|layers\.conv2d)|(flax\.(linen|nnx)\.Conv(Transpose)?|haiku\.Conv2D)"
)


@source(
    "convolution", "kernels", held="kernels", line="torch.backends.cudnn.deterministic = True", is_reported_once=True
)
def convolution(survey: Survey) -> Matches:
    """Convolutions on a GPU.

    cuDNN and XLA have several kernels for a convolution and its gradients. Some add in varying order, and the chosen
    kernel can differ between runs. deviate requests deterministic kernels if a variant holds `kernels`. Only the first
    place in each file is listed.

    Example:
        import torch.nn as nn
        layer = nn.Conv2d(3, 64, 3)

    Source: PyTorch documentation, "Reproducibility", CUDA convolution determinism; NVIDIA,
    framework-reproducibility, on TensorFlow: cuDNN convolution; JAX discussion 10674.
    """
    for call in kernels(survey, CONVOLUTIONS, also="cudnn"):
        if not MERGING_CONVOLUTIONS.intersection(split_identifier(call.function.name)):
            yield call.node, CUDNN, GPU
    yield from on_gpu(survey, CONVOLVING_FUNCTIONS, "kernels on a GPU may add in nondeterministic order")


CTC_LOSSES = (
    rf"torch\.(nn\.CTCLoss|(nn\.functional\.)?ctc_loss)|{TENSORFLOW}nn\.ctc_loss|{KERAS}backend\.ctc_batch_cost"
)


@source("ctc-loss", "kernels", held="kernels", line=DETERMINISTIC)
def ctc_loss(survey: Survey) -> Matches:
    """The CTC loss on a GPU.

    Its gradient adds in varying order. PyTorch has no deterministic kernel for it, so a variant that holds `kernels`
    raises an error, unless `--warn-only` is set.

    Example:
        import torch.nn as nn
        criterion = nn.CTCLoss(blank=0)

    Source: PyTorch documentation of `torch.nn.CTCLoss` and `torch.use_deterministic_algorithms`; TensorFlow RFC
    20210119, "Determinism".
    """
    yield from on_gpu(survey, CTC_LOSSES, GRADIENT.format("the CTC loss"))


BAG_MODE_PLACE = {"torch.nn.EmbeddingBag": 5, "torch.nn.functional.embedding_bag": 6}


@source("embedding-bag", "kernels", held="kernels", cure=with_arguments(mode="'mean'"))
def embedding_bag(survey: Survey) -> Matches:
    """Bags of embeddings reduced by their maximum.

    On a GPU the gradient of `EmbeddingBag` with `mode="max"` adds in varying order. PyTorch has no deterministic kernel
    for it, so a variant that holds `kernels` raises an error, unless `--warn-only` is set.

    Example:
        import torch.nn as nn
        bag = nn.EmbeddingBag(1000, 64, mode="max")

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`.
    """
    message = GRADIENT.format("a maximum over bags")
    yield from on_gpu(survey, BAG_MODE_PLACE, message, option="mode", values=("max",), places=BAG_MODE_PLACE)


@source("grid-sample", "kernels", held="kernels")
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
    for call in kernels(survey, r"torch\.(nn\.functional\.grid_sample|grid_sampler)"):
        if survey.is_in_model(call.function) and not survey.is_without_gradient(call.node, call.function):
            yield call.node, GRADIENT.format("grid_sample"), GPU


PADDING_LAYERS = r"torch\.nn\.(Reflection|Replication)Pad[123]d"


@source("padding", "kernels", held="kernels")
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
    yield from on_gpu(survey, PADDING_LAYERS, GRADIENT, has_gradient=True)
    message, pad = GRADIENT.format("{} padding"), {"torch.nn.functional.pad": 2}
    modes = ("reflect", "replicate")
    yield from on_gpu(survey, pad, message, has_gradient=True, option="mode", values=modes, places=pad)


SPATIAL_LOSSES = rf"{TORCH}(NLLLoss2d|nll_loss2d)"
CLASS_LOSSES = rf"{TORCH}(CrossEntropyLoss|NLLLoss|cross_entropy|nll_loss)"
IGNORED_CLASSES = (250, 255)


@source("pixel-loss", "kernels", held="kernels")
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
    message = ADDS.format("a loss per pixel")
    yield from on_gpu(survey, SPATIAL_LOSSES, message)
    for call in kernels(survey, CLASS_LOSSES):
        label = call.argument(None, "ignore_index")
        values = survey.values(label, call.function) if label is not None else ()
        if any(constant_number(value) in IGNORED_CLASSES for value, _ in values):
            yield call.node, message, GPU


ADAPTIVE_AVERAGES = rf"{TORCH}(AdaptiveAvgPool|adaptive_avg_pool)[23]d"
OTHER_POOLING = (
    rf"{TORCH}(AdaptiveMaxPool2d|adaptive_max_pool2d|(FractionalMaxPool|fractional_max_pool)[23]d"
    r"|(Avg|Max)Pool3d|(avg|max)_pool3d)"
)
UNPOOLING = rf"{TORCH}(MaxUnpool|max_unpool)[123]d"


@source("pooling", "kernels", held="kernels")
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
    for call in differentiated(survey, ADAPTIVE_AVERAGES):
        if not _is_mean(call):
            yield call.node, GRADIENT.format(call.last), GPU
    yield from on_gpu(survey, OTHER_POOLING, GRADIENT, has_gradient=True)
    yield from on_gpu(survey, UNPOOLING, "{} writes in nondeterministic order if indices repeat", has_gradient=True)


def _is_mean(call: Called) -> bool:
    """Whether the output of an adaptive average is a single value."""
    size = call.argument(0 if call.last[0].isupper() else 1, "output_size")
    parts = [item.value for item in size.elements] if isinstance(size, cst.Tuple | cst.List) else [size]
    return all(isinstance(part, cst.Integer) and part.value == "1" for part in parts)


@source(
    "recurrent",
    "kernels",
    held="kernels",
    line='os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"',
    is_reported_once=True,
)
def recurrent(survey: Survey) -> Matches:
    """Recurrent layers on a GPU.

    Recurrent layers of cuDNN can differ between runs with some versions of CUDA, unless the cuBLAS workspace is
    configured before the process starts. deviate does that if a variant holds `kernels`. Only the first place in each
    file is listed.

    Example:
        import torch.nn as nn
        rnn = nn.LSTM(64, 128)

    Source: PyTorch documentation of `torch.nn.LSTM`: "There are known non-determinism issues for RNN functions on some
    versions of cuDNN and CUDA".
    """
    if "CUBLAS_WORKSPACE_CONFIG" not in survey.environment:
        message = "{} can differ between runs on a GPU without CUBLAS_WORKSPACE_CONFIG"
        yield from on_gpu(survey, r"torch\.nn\.(LSTM|GRU|RNN)", message)


REGION_POOLING = (
    r"torchvision\.ops\.((PS)?RoI(Align|Pool)|MultiScaleRoIAlign|(ps_)?roi_(align|pool)|DeformConv2d|deform_conv2d)"
)


@source("region-pooling", "kernels", held="kernels", line=DETERMINISTIC)
def region_pooling(survey: Survey) -> Matches:
    """Region pooling for detection: `roi_align` and similar operations.

    On a GPU the gradient adds to elements shared by several regions in varying order. Only `roi_align` has a
    deterministic version, compiled, in torchvision from 0.16. With the others, a variant that holds `kernels` raises an
    error, unless `--warn-only` is set.

    Example:
        from torchvision.ops import RoIAlign
        pool = RoIAlign((7, 7), spatial_scale=0.25, sampling_ratio=2)

    Source: torchvision, issues 1058 and 7579 and pull request 7587; torchvision source, roi_align_kernel.cu.
    """
    if "torch" not in held_by_script(survey):
        yield from on_gpu(survey, REGION_POOLING, GRADIENT, has_gradient=True)


RESIZES = {
    "torch.nn.functional.interpolate": 3,
    "torch.nn.functional.upsample": 3,
    "torch.nn.Upsample": 2,
    "torch.nn.modules.upsampling.Upsample": 2,
}
BILINEAR_RESIZES = rf"{TORCH}(upsample_bilinear|UpsamplingBilinear2d)"
KERAS_RESIZES = rf"{KERAS}layers\.(UpSampling2D|Resizing)"
RESIZE_MODES = word_set("linear bilinear bicubic trilinear")


@source("resize", "kernels", held="kernels", cure=with_arguments(mode="'nearest'"))
def resize(survey: Survey) -> Matches:
    """Images and sequences resized by interpolation inside a model.

    On a GPU the gradient of linear, bilinear, bicubic and trilinear interpolation adds to neighbouring elements in
    varying order. PyTorch has no deterministic kernel for it, so a variant that holds `kernels` raises an error, unless
    `--warn-only` is set.

    Example:
        import torch.nn as nn
        up = nn.Upsample(scale_factor=2, mode="bilinear")

    Source: PyTorch documentation of `torch.use_deterministic_algorithms` and `torch.nn.functional.interpolate`;
    TensorFlow RFC 20210119, "Determinism": `tf.image.resize` gradient.
    """
    message = GRADIENT.format("{} interpolation")
    for names, option, places in ((RESIZES, "mode", RESIZES), (KERAS_RESIZES, "interpolation", None)):
        yield from on_gpu(survey, names, message, has_gradient=True, option=option, values=RESIZE_MODES, places=places)
    yield from on_gpu(survey, BILINEAR_RESIZES, message.format("bilinear"), has_gradient=True)


TENSORFLOW_SOFTMAX_LOSSES = rf"{TENSORFLOW}nn\.(sparse_)?softmax_cross_entropy_with_logits(_v2)?"
KERAS_SOFTMAX_LOSSES = rf"{KERAS}losses\.((Sparse)?CategoricalCrossentropy|(sparse_)?categorical_crossentropy)"


@source("softmax-loss", "kernels", held="kernels", line="tf.config.experimental.enable_op_determinism()")
def softmax_loss(survey: Survey) -> Matches:
    """The softmax cross-entropy of TensorFlow.

    On a GPU it uses a nondeterministic algorithm by default. deviate enables op determinism if a variant holds
    `kernels`.

    Example:
        import tensorflow as tf
        loss = tf.nn.softmax_cross_entropy_with_logits(labels, logits)

    Source: TensorFlow documentation of `tf.config.experimental.enable_op_determinism`: it "uses a nondeterministic
    algorithm on GPUs by default".
    """
    yield from on_gpu(survey, TENSORFLOW_SOFTMAX_LOSSES, ADDS)
    for call in kernels(survey, KERAS_SOFTMAX_LOSSES):
        if is_true(call.argument(None, "from_logits")):
            yield call.node, ADDS.format(f"{call.last} of logits"), GPU


# ------------------------------------------------------------ indexing, counting and adding up by index


COUNTING_FUNCTIONS = rf"torch\.bincount|{TENSORFLOW}(math\.)?bincount"


@source("histogram", "kernels", held="kernels")
def histogram(survey: Survey) -> Matches:
    """Histograms on a GPU, and counts with weights.

    `torch.histc`, and `bincount` with weights, add in varying order. PyTorch has no deterministic GPU kernel for them,
    so a variant that holds `kernels` raises an error, unless `--warn-only` is set.

    Example:
        import torch
        mass = torch.bincount(classes, weights=confidences)

    Instead:
        import torch
        mass = torch.bincount(classes)

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`; TensorFlow RFC 20210119, "Determinism".
    """
    yield from on_gpu(survey, r"torch\.histc", "histc has no deterministic kernel on a GPU")
    for call in kernels(survey, COUNTING_FUNCTIONS):
        if call.argument(1, "weights") is not None:
            yield call.node, "weights are added in nondeterministic order on a GPU", GPU


@source("running-sum", "kernels", held="kernels")
def running_sum(survey: Survey) -> Matches:
    """Cumulative sums of floating-point numbers on a GPU.

    `torch.cumsum` adds partial sums in an order that depends on which block of threads finishes first. PyTorch has no
    deterministic kernel for it, so a variant that holds `kernels` raises an error, unless `--warn-only` is set.
    Integers are not affected.

    Example:
        import torch
        total = torch.cumsum(probabilities, dim=-1)

    Instead:
        import numpy as np
        total = np.cumsum(probabilities, axis=-1)

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`: `cumsum` "when called on a CUDA tensor
    when dtype is floating point or complex".
    """
    for call in survey.methods(["cumsum"], ("torch.",)) if "torch" not in held_by_script(survey) else ():
        if call.name.startswith("torch.") and not _is_integer_sum(call, survey):
            yield call.node, "cumsum has no deterministic kernel on a GPU", GPU


def _is_integer_sum(call: Called, survey: Survey) -> bool:
    """Whether integers are summed: a mask, or values that are compared or converted to integers."""
    text = survey.nodes.code(call.node)
    return any(word in text for word in ("mask", "int", "long", "==", "<", ">", "len", "arange", "ones"))


SCATTERING = word_set("index_add_ index_add scatter_add_ scatter_add scatter_reduce_ scatter_reduce index_reduce_")
ACCUMULATING = ("index_put_", "index_put", "put_")
SCATTER_LIBRARIES = ("torch.",)
TORCH_SCATTER = r"torch_scatter\.scatter(_(add|sum|mean|mul|softmax|std|log_softmax))?"
GRAPH_LAYERS = (
    r"torch_geometric\.(utils|nn|nn\.pool|nn\.glob)\.(scatter|softmax|global_(add|mean)_pool)"
    r"|torch_geometric\.(nn\.MessagePassing|.*Conv)"
)
SEGMENTS = (
    rf"{TENSORFLOW}((math\.)?(unsorted_)?segment_(sum|mean|prod|sqrt_n)|scatter(_nd)?_add|tensor_scatter_(nd_)?(add|sub))"
    r"|jax\.(ops\.segment_(sum|prod)|lax\.scatter_(add|mul))"
)
JAX_UPDATES = ("add", "multiply", "subtract", "divide")


@source("scatter", "kernels", line=DETERMINISTIC, held="kernels")
def scatter(survey: Survey) -> Matches:
    """Values added to elements of a tensor by index.

    On a GPU many threads add to one element in varying order: the last bits differ between runs. The same holds for
    `index_put_(…, accumulate=True)` and `put_` with several CPU threads. deviate requests deterministic kernels if a
    variant holds `kernels`; `torch_scatter` has none.

    Example:
        import torch
        total = torch.zeros(10).index_add_(0, index, values)

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`; pytorch_scatter, issue 226; TensorFlow RFC
    20210119, "Determinism"; JAX_SEGMENTS documentation of `jax.lax.scatter_add` and of the XLA operation Scatter.
    """
    is_free = "torch" not in held_by_script(survey)
    for call in survey.methods(SCATTERING, SCATTER_LIBRARIES) if is_free else ():
        yield call.node, ADDS.format(call.last), GPU
    for call in survey.methods(ACCUMULATING, SCATTER_LIBRARIES) if is_free else ():
        if is_true(call.argument(2, "accumulate")):
            yield call.node, f"{call.last} adds in nondeterministic order with several CPU threads"
    yield from on_gpu(survey, GRAPH_LAYERS, ADDS)
    for call in survey.calls(TORCH_SCATTER):
        yield call.node, f"{ADDS.format(call.last)}, in every mode of PyTorch", GPU
    yield from on_gpu(survey, SEGMENTS, ADDS)
    if "jax" in survey.graph.imported_packages and "jax" not in held_by_script(survey):
        for call in survey.methods(JAX_UPDATES, ("jax.",)):
            if _is_at(call.node) and "unique_indices" not in keywords(call.node):
                yield call.node, ADDS.format(f"at[…].{call.last}"), GPU


def _is_at(call: cst.Call) -> bool:
    """Whether the method belongs to `array.at[index]`."""
    match call.func:
        case cst.Attribute(value=cst.Subscript(value=cst.Attribute(attr=cst.Name(value="at")))):
            return True
    return False


TENSOR_MAKERS = word_set(
    "torch.randn torch.rand torch.zeros torch.ones torch.empty torch.tensor torch.full torch.normal"
)
INDEX_WORDS = word_set("idx idxs index indices ids inds")


@source("gather", "kernels", line=DETERMINISTIC, held="kernels")
def gather(survey: Survey) -> Matches:
    """Elements of a tensor selected by index, with a gradient.

    The gradient adds to the selected elements, in varying order if an index repeats: on a GPU for `index_select`, on a
    CPU with several threads for `tensor[index]`. deviate requests deterministic kernels if a variant holds `kernels`.
    Listed are selections from parameters, and selections in models that also scatter, such as graph networks; indices
    seldom repeat elsewhere.

    Example:
        import torch
        weight = torch.randn(17, 64, requires_grad=True)
        index = torch.randint(17, (65536,))
        (weight[index] * values).sum().backward()

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`: `index_select` "when attempting to
    differentiate a CUDA tensor", `Tensor.__getitem__` "when attempting to differentiate a CPU tensor and the index
    is a list of tensors".
    """
    if "torch" not in survey.graph.imported_packages or "torch" in held_by_script(survey):
        return
    scatters = "torch_scatter" in survey.graph.imported_packages or any(map(survey.method_calls, SCATTERING))
    for call in survey.methods(["index_select"], ("torch.",)) if scatters else ():
        if survey.is_model(call.function.owner) and not survey.is_without_gradient(call.node, call.function):
            yield call.node, GRADIENT.format("index_select"), GPU
    tensors = [call for call in survey.calls(TENSOR_MAKERS) if is_true(call.argument(None, "requires_grad"))]
    for subscript in _subscripts_of([*tensors, *survey.calls(TORCH_PARAMETERS)], survey):
        yield subscript, "the gradient of indexing adds in nondeterministic order with several CPU threads"


def _subscripts_of(calls: list[Called], survey: Survey) -> Iterator[cst.Subscript]:
    """Subscripts by a tensor of indices, of the values that these calls create."""
    names: dict[cst.CSTNode, set[str]] = {}
    for call in calls:
        statement = survey.nodes.parents.get(call.node)
        if isinstance(statement, cst.Assign):
            target, owner = statement.targets[0].target, call.function.owner
            in_class = owner is not None and isinstance(target, cst.Attribute)
            names.setdefault(owner.node if owner and in_class else call.function.node, set()).add(dotted_name(target))
    for scope, scope_names in names.items():
        for node in walk(scope):
            if type(node) is cst.Subscript and dotted_name(node.value) in scope_names and _is_by_tensor(node, survey):
                function = survey.nodes.function_of(node)
                if not survey.is_without_gradient(node, function):
                    yield node


def _is_by_tensor(node: cst.Subscript, survey: Survey) -> bool:
    index = index_of(node)
    if index is None:
        return False
    function = survey.nodes.function_of(node)
    if any(name.startswith("torch.") for name in survey.resolver.names(index, function)):
        return True
    return isinstance(index, cst.Name) and _is_unknown_index(index, function, survey)


def _is_unknown_index(name: cst.Name, function: Function, survey: Survey) -> bool:
    """Whether a parameter is named like an index; a loop counter is a number and does not count."""
    _, bindings = survey.resolver.find(name.value, function)
    is_given = bool(bindings) and all(binding.how == "parameter" for binding in bindings)
    return is_given and bool(INDEX_WORDS.intersection(split_identifier(name.value)))


# ------------------------------------------------------------ settings of the script


AUTOTUNING_SWITCHES = (
    "torch.backends.cudnn.benchmark",
    "torch._inductor.config.max_autotune",
    "torch._inductor.config.coordinate_descent_tuning",
)


@source("autotuning", "kernels", held="autotune")
def autotuning(survey: Survey) -> Matches:
    """Kernels chosen by measured speed.

    `cudnn.benchmark` and self-tuning compilers choose the kernel that is fastest at that moment; different kernels
    round differently. deviate disables the search if a variant holds `autotune`.

    Example:
        import torch
        torch.backends.cudnn.benchmark = True

    Instead:
        import torch
        torch.backends.cudnn.benchmark = False

    Source: PyTorch documentation, "Reproducibility", CUDA convolution benchmarking: "different algorithms may be
    selected on subsequent runs"; documentation of `torch.compile`, mode "max-autotune".
    """
    message = "the fastest kernel in this run is used"
    for name in AUTOTUNING_SWITCHES:
        for target, value, _ in survey.assignments_to(name):
            if not is_false(value) and constant_number(value) != 0:
                yield target, message
    for call in survey.calls(LIGHTNING_TRAINERS):
        if is_true(call.argument(None, "benchmark")):
            yield call.node, message
    for call in survey.calls(["torch.compile"]) if "torch" not in held_by_script(survey) else ():
        if any(mode.startswith("max-autotune") for mode in survey.texts(call.argument(None, "mode"), call.function)):
            yield call.node, message


@source("determinism-off", "kernels", held="kernels", cure=instead(DETERMINISTIC))
def determinism_off(survey: Survey) -> Matches:
    """Determinism disabled, or requested with warnings only.

    This undoes what the rest of the script, a library or the environment requests. deviate overrides it if a variant
    holds `kernels`, and records that it did.

    Example:
        import torch
        torch.use_deterministic_algorithms(False)

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`: "If False, allows nondeterministic
    operations"; with `warn_only` such operations "will throw a warning instead of an error".
    """
    for call in survey.calls(("torch.use_deterministic_algorithms", "torch.set_deterministic")):
        if is_false(call.argument(0, "mode", "d")):
            yield call.node, "deterministic kernels are disabled"
        elif is_true(call.argument(None, "warn_only")):
            yield call.node, "kernels without a deterministic version are used, with a warning"
    for call in survey.calls(["torch.set_deterministic_debug_mode"]):
        mode = call.argument(0, "debug_mode")
        if mode is not None and (constant_text(mode) in ("default", "warn") or constant_number(mode) in (0, 1)):
            yield call.node, "kernels without a deterministic version are used"
    for target, value, _ in survey.assignments_to("torch.backends.cudnn.deterministic"):
        if is_false(value):
            yield target, CUDNN, GPU
    for call in survey.calls(LIGHTNING_TRAINERS):
        if is_false(call.argument(None, "deterministic")):
            yield call.node, "deterministic kernels are disabled"
