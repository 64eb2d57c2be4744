"""Kernels that add in no fixed order, mostly on a GPU, and settings of the script that allow them.

Operations on a GPU are those of the documentation of PyTorch. On a CPU each was also run a dozen times on the same
input (PyTorch 2.13, two threads): of 34 operations and gradients only those of indexing gave different bits.
"""

import functools
from collections.abc import Callable, Iterable, Mapping

import libcst as cst

from deviate.analysis.resolve.tree import constant_text, identifiers, keywords, positional
from deviate.model.metric_vocabulary import split_identifier, word_set
from deviate.sources.catalogue import Pattern, source
from deviate.sources.cures import instead
from deviate.sources.names import KERAS, LIGHTNING_TRAINERS, TENSORFLOW, TORCH
from deviate.sources.patterns import ABSENT, Condition, assigned, has, has_not, named
from deviate.sources.survey import Called, Survey

GPU = "gpu"
DETERMINISTIC = "torch.use_deterministic_algorithms(True)"
WORKSPACE = 'os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"'
OP_DETERMINISM = "tf.config.experimental.enable_op_determinism()"
ADDS = "{} adds in nondeterministic order on a GPU"
PER_PIXEL = "a loss per pixel adds in nondeterministic order on a GPU"
GRADIENT = "the gradient of {} adds in nondeterministic order on a GPU"

DATA = word_set("img imgs image images im ims mask masks target targets label labels gt")
"""Words for model inputs, which have no gradient."""

# ------------------------------------------------------------ what the script itself makes deterministic


def _variable(name: str, is_so: Callable[[str], bool]) -> Pattern:
    """Assignments to an environment variable of a value for which this holds."""
    return lambda survey: ((item, "") for item, text in survey.environment.get(name, ()) if is_so(text))


OF_TORCH, OF_TENSORFLOW, OF_XLA = ("torch", "torchvision"), ("tensorflow", "keras", "tf_keras"), ("jax", "flax")
REQUESTS = ("torch.use_deterministic_algorithms", "torch.set_deterministic")
DEBUG_MODE = ("torch.set_deterministic_debug_mode",)
SWITCHES = (
    (OF_TORCH, named(REQUESTS, "", has(0, mode=True), has_not(warn_only=True))),
    (OF_TORCH, named(DEBUG_MODE, "", has(0, debug_mode=("error", 2)))),
    (("cudnn",), assigned("torch.backends.cudnn.deterministic", "", lambda value: value is True)),
    (OF_TENSORFLOW, named(rf"{TENSORFLOW}config\.experimental\.enable_op_determinism", "")),
    (OF_TENSORFLOW, _variable("TF_DETERMINISTIC_OPS", lambda text: text != "0")),
    (OF_TENSORFLOW, _variable("TF_CUDNN_DETERMINISTIC", lambda text: text != "0")),
    (OF_XLA, _variable("XLA_FLAGS", lambda text: "deterministic" in text)),
)
"""Packages, and what sets them to deterministic kernels."""


@functools.lru_cache(maxsize=1)
def held_by_script(survey: Survey) -> frozenset[str]:
    """The packages (and "cudnn") that the script sets to deterministic kernels, whatever its options."""
    return frozenset(
        name
        for names, find in SWITCHES
        for node, *_ in find(survey)
        if not survey.is_conditional(node)
        for name in names
    )


# ------------------------------------------------------------ calls of kernels

kernel_source = functools.partial(source, group="kernels", held="kernels")


def kernels(
    names: Iterable[str] | str,
    message: str,
    *conditions: Condition,
    methods_of: str = "",
    also: str = "",
    device: str = GPU,
) -> Pattern:
    """Calls of kernels that are not deterministic, except of frameworks that the script sets to deterministic mode.

    Args:
        methods_of: the names are of methods of objects of this package, or of unknown ones.
        also: another switch that is sufficient: "cudnn".
    """

    def is_free(call: Called, survey: Survey) -> bool:
        return held_by_script(survey).isdisjoint({call.name.partition(".")[0], methods_of, also})

    packages = [methods_of] if methods_of else []
    return named(names, message, is_free, *conditions, methods_of=packages, device=device)


def with_mode(option: str, *values: str, places: Mapping[str, int] | None = None) -> Condition:
    """Calls of which an option, by its name and place, can have one of these values."""

    def is_so(call: Called, survey: Survey) -> bool:
        mode = call.argument((places or {}).get(call.name), option)
        modes = survey.values(mode, call.function) if mode is not None else ()
        return any(constant_text(value) in values for value, _ in modes)

    return is_so


def has_gradient(call: Called, survey: Survey) -> bool:
    """Whether a gradient is computed: of a layer, or of a function in a model or training step, not of input data."""
    arguments = positional(call.node)
    of_data = bool(arguments) and not DATA.isdisjoint(split_identifier(" ".join(identifiers(arguments[0]))))
    is_trained = survey.is_in_model(call.function) and not survey.is_without_gradient(call.node, call.function)
    return call.last[:1].isupper() or (is_trained and not of_data)


# ------------------------------------------------------------ layers and losses


@kernel_source(
    "attention",
    kernels(
        r"torch\.nn\.(functional\.scaled_dot_product_attention|Transformer((En|De)coderLayer)?)"
        r"|xformers\.ops\.memory_efficient_attention",
        "fast kernels add gradients in nondeterministic order on a GPU",
        has_gradient,
    ),
    kernels(
        r"flash_attn\.flash_attn_(qkvpacked_|varlen_)?func",
        "without deterministic=True gradients are added in nondeterministic order",
        has_gradient,
        has_not(deterministic=True),
    ),
    operations=r"scaled_dot_product_(flash|efficient|cudnn|fused)_attention\w*backward"
    r"|(flash|efficient)_attention_backward",
    line=DETERMINISTIC,
)
def attention() -> None:
    """Fused attention on a GPU.

    The fast attention kernels (memory-efficient, flash) add gradients in varying order by default.

    Example:
        import torch.nn.functional as F
        y = F.scaled_dot_product_attention(q, k, v)
        y.sum().backward()

    Source: PyTorch documentation of `scaled_dot_product_attention`: "may select a nondeterministic algorithm"; PyTorch
    source, attention_backward.cu; flash-attention: parameter `deterministic` of `flash_attn_func`.
    """


CUDNN = "cuDNN may choose kernels that add in nondeterministic order"


@kernel_source(
    "convolution",
    kernels(
        rf"{TORCH}(Conv|conv)(Transpose|_transpose)?[123]d",
        CUDNN,
        also="cudnn",
    ),
    kernels(
        rf"{KERAS}layers\.(Conv[123]D|Conv2DTranspose|Convolution2D|(Depthwise|Separable)Conv2D)"
        rf"|{TENSORFLOW}(nn\.conv([123]d|2d_transpose)|layers\.conv2d)|(flax\.(linen|nnx)\.Conv(Transpose)?|haiku\.Conv2D)",
        "kernels on a GPU may add in nondeterministic order",
    ),
    operations=r"(cudnn_|miopen_)?(convolution|conv_transpose)\w*backward\w*|conv_depthwise[23]d_backward",
    line="torch.backends.cudnn.deterministic = True",
    is_reported_once=True,
)
def convolution() -> None:
    """Convolutions on a GPU.

    cuDNN and XLA have several kernels for a convolution and its gradients. Some add in varying order, and the chosen
    kernel can differ between runs.

    Example:
        import torch.nn as nn
        layer = nn.Conv2d(3, 64, 3)

    Source: PyTorch documentation, "Reproducibility", CUDA convolution determinism; NVIDIA,
    framework-reproducibility, on TensorFlow: cuDNN convolution; JAX discussion 10674.
    """


@kernel_source(
    "recurrent",
    kernels(
        r"torch\.nn\.(LSTM|GRU|RNN)",
        "{} can differ between runs on a GPU without CUBLAS_WORKSPACE_CONFIG",
        lambda _, survey: "CUBLAS_WORKSPACE_CONFIG" not in survey.environment,
    ),
    operations=r"(cudnn|miopen)_rnn(_backward)?",
    line=WORKSPACE,
    is_reported_once=True,
)
def recurrent() -> None:
    """Recurrent layers on a GPU.

    Recurrent layers of cuDNN can differ between runs with some versions of CUDA, unless the cuBLAS workspace is
    configured before the process starts.

    Example:
        import torch.nn as nn
        rnn = nn.LSTM(64, 128)

    Source: PyTorch documentation of `torch.nn.LSTM`: "There are known non-determinism issues for RNN functions on some
    versions of cuDNN and CUDA".
    """


WITHOUT_VERSION = "|".join(
    (
        r"torch\.nn\.(Reflection|Replication)Pad[123]d|torch\.(nn\.functional\.grid_sample|grid_sampler)",
        rf"{TORCH}(AdaptiveMaxPool2d|adaptive_max_pool2d|(FractionalMaxPool|fractional_max_pool)[23]d)",
        rf"{TORCH}((Avg|Max)Pool3d|(avg|max)_pool3d|upsample_bilinear|UpsamplingBilinear2d)",
        r"torchvision\.ops\.((PS)?RoI(Align|Pool)|MultiScaleRoIAlign|(ps_)?roi_(align|pool)|DeformConv2d|deform_conv2d)",
    )
)
LOSSES = (
    rf"torch\.(nn\.CTCLoss|(nn\.functional\.)?ctc_loss)|{TENSORFLOW}nn\.ctc_loss|{KERAS}backend\.ctc_batch_cost"
    rf"|{TORCH}(NLLLoss2d|nll_loss2d)"
)
WITH_MODE = {
    "torch.nn.EmbeddingBag": 5,
    "torch.nn.functional.embedding_bag": 6,
    "torch.nn.functional.pad": 2,
    "torch.nn.functional.interpolate": 3,
    "torch.nn.functional.upsample": 3,
    "torch.nn.Upsample": 2,
    "torch.nn.modules.upsampling.Upsample": 2,
}
"""Operations with deterministic kernels for some modes, and the position of the mode."""
MODES = word_set("max reflect replicate linear bilinear bicubic trilinear")


def _is_no_mean(call: Called, survey: Survey) -> bool:
    """Whether the output of an adaptive average is more than a single value, and has a gradient."""
    size = call.argument(0 if call.last[0].isupper() else 1, "output_size")
    parts = [item.value for item in size.elements] if isinstance(size, cst.Tuple | cst.List) else [size]
    is_mean = all(isinstance(part, cst.Integer) and part.value == "1" for part in parts)
    return not is_mean and has_gradient(call, survey)


def _is_of_floats(call: Called, survey: Survey) -> bool:
    """Whether no integers are summed: a mask, or values that are compared or converted to integers."""
    text = survey.nodes.code(call.node)
    integers = ("mask", "int", "long", "==", "<", ">", "len", "arange", "ones")
    return call.name.startswith("torch.") and not any(word in text for word in integers)


@kernel_source(
    "no-deterministic-kernel",
    kernels(WITHOUT_VERSION, GRADIENT, has_gradient),
    kernels(LOSSES, GRADIENT),
    kernels(WITH_MODE, GRADIENT, has_gradient, with_mode("mode", *MODES, places=WITH_MODE)),
    kernels(rf"{KERAS}layers\.(UpSampling2D|Resizing)", GRADIENT, with_mode("interpolation", *MODES)),
    kernels(rf"{TORCH}(CrossEntropyLoss|NLLLoss|cross_entropy|nll_loss)", PER_PIXEL, has(ignore_index=(250, 255))),
    kernels(rf"{TORCH}(AdaptiveAvgPool|adaptive_avg_pool)[23]d", GRADIENT, _is_no_mean),
    kernels(rf"{TORCH}(MaxUnpool|max_unpool)[123]d", "{} writes in any order if indices repeat", has_gradient),
    kernels(["torch.histc"], ADDS),
    kernels(rf"torch\.bincount|{TENSORFLOW}(math\.)?bincount", ADDS, has_not(1, weights=ABSENT)),
    kernels(["cumsum"], ADDS, _is_of_floats, methods_of="torch"),
    operations=r"(cudnn_)?(ctc_loss(_backward)?|grid_sampler(_[23]d)?_backward)|nll_loss2d(_forward|_backward)?"
    r"|embedding_bag_((dense_)?|per_sample_weights_)backward|(reflection|replication)_pad[123]d_backward"
    r"|(adaptive_(avg|max)_pool[23]d|fractional_max_pool[23]d|avg_pool3d|max_pool3d_with_indices)_backward"
    r"|max_unpool[23]d|(ps_)?roi_(align|pool)_backward|deform_conv2d_backward|histc|bincount|cumsum|nanmedian|median"
    r"|upsample_(linear1d|bilinear2d|bicubic2d|trilinear3d)(_aa)?_backward",
    operations_on_cpu=r"max_unpool[23]d",
)
def no_deterministic_kernel() -> None:
    """An operation for which PyTorch has no deterministic kernel on a GPU.

    Many threads add to one element in varying order: in gradients of the CTC loss, of images sampled or resized by
    interpolation, of padding by the border, of adaptive, three-dimensional and region pooling and of the maximum of a
    bag of embeddings; in losses per pixel, weighted counts, and cumulative sums of floating-point numbers.

    Advice: use another operation (padding with zeros, the nearest pixel, a mean, a loss over flat pixels), or compute
        this one on the CPU

    Example:
        import torch.nn as nn
        pad = nn.ReflectionPad2d(3)

    Instead:
        import torch.nn as nn
        pad = nn.ZeroPad2d(3)

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`, which lists them; torchvision, issues 1058
    and 7579; TensorFlow RFC 20210119, "Determinism".
    """


# ------------------------------------------------------------ indexing, counting and adding up by index


SCATTERING = word_set("index_add_ index_add scatter_add_ scatter_add scatter_reduce_ scatter_reduce index_reduce_")


def _updates_array(call: Called, survey: Survey) -> bool:
    """Whether the method belongs to `array.at[index]` of JAX, whose indices may repeat."""
    match call.node.func:
        case cst.Attribute(value=cst.Subscript(value=cst.Attribute(attr=cst.Name(value="at")))):
            return "jax" in survey.graph.imported_packages and "unique_indices" not in keywords(call.node)
    return False


@kernel_source(
    "scatter",
    kernels(SCATTERING, ADDS, methods_of="torch"),
    kernels(
        ("index_put_", "index_put", "put_"),
        "{} adds in nondeterministic order with several CPU threads",
        has(2, accumulate=True),
        methods_of="torch",
        device="",
    ),
    kernels(
        r"torch_geometric\.(utils|nn|nn\.pool|nn\.glob)\.(scatter|softmax|global_(add|mean)_pool)"
        r"|torch_geometric\.(nn\.MessagePassing|.*Conv)",
        ADDS,
    ),
    kernels(
        r"torch_scatter\.scatter(_(add|sum|mean|mul|softmax|std|log_softmax))?", f"{ADDS}, in every mode of PyTorch"
    ),
    kernels(
        rf"{TENSORFLOW}((math\.)?(unsorted_)?segment_(sum|mean|prod|sqrt_n)|scatter(_nd)?_add"
        r"|tensor_scatter_(nd_)?(add|sub))|jax\.(ops\.segment_(sum|prod)|lax\.scatter_(add|mul))",
        ADDS,
    ),
    kernels(("add", "multiply", "subtract", "divide"), ADDS.format("at[…].{}"), _updates_array, methods_of="jax"),
    operations=r"scatter(_add|_reduce)?|index_(add|reduce)|segment_reduce_backward",
    line=DETERMINISTIC,
)
def scatter() -> None:
    """Values added to elements of a tensor by index.

    On a GPU many threads add to one element in varying order: the last bits differ between runs. The same holds for
    `index_put_(…, accumulate=True)` and `put_` with several CPU threads. `torch_scatter` has no deterministic kernel.

    Example:
        import torch
        total = torch.zeros(10).index_add_(0, index, values)

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`; pytorch_scatter, issue 226; TensorFlow RFC
    20210119, "Determinism"; JAX documentation of `jax.lax.scatter_add` and of the XLA operation Scatter.
    """


INDEX_PUT = r"(unsafe_)?index_put(_impl)?|put|index_copy"


@kernel_source(
    "gather", operations=rf"{INDEX_PUT}|(gather|index_select)_backward", operations_on_cpu=INDEX_PUT, line=DETERMINISTIC
)
def gather() -> None:
    """Elements of a tensor selected by index, with a gradient.

    The gradient adds to the selected elements, in varying order if an index repeats: on a GPU for `index_select`, on a
    CPU with several threads for `tensor[index]`.

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`: `index_select` "when attempting to
    differentiate a CUDA tensor", `Tensor.__getitem__` "when attempting to differentiate a CPU tensor and the index
    is a list of tensors".
    """


# ------------------------------------------------------------ settings of the script


FASTEST = "the fastest kernel in this run is used"


def _is_on(value: object) -> bool:
    return value not in (False, 0)


@kernel_source(
    "autotuning",
    assigned("torch.backends.cudnn.benchmark", FASTEST, _is_on),
    assigned("torch._inductor.config.max_autotune", FASTEST, _is_on),
    assigned("torch._inductor.config.coordinate_descent_tuning", FASTEST, _is_on),
    named(LIGHTNING_TRAINERS, FASTEST, has(benchmark=True)),
    kernels(["torch.compile"], FASTEST, with_mode("mode", "max-autotune", "max-autotune-no-cudagraphs"), device=""),
    operations=r"(cudnn_|miopen_|mkldnn_)?convolution(_overrideable|_backward\w*)?|conv_depthwise[23]d|slow_conv\w*",
    held="autotune",
)
def autotuning() -> None:
    """Kernels chosen by measured speed.

    `cudnn.benchmark` and self-tuning compilers choose the kernel that is fastest at that moment; different kernels
    round differently.

    Advice: switch the search off, as `torch.backends.cudnn.benchmark = False` does

    Example:
        import torch
        torch.backends.cudnn.benchmark = True

    Instead:
        import torch
        torch.backends.cudnn.benchmark = False

    Source: PyTorch documentation, "Reproducibility", CUDA convolution benchmarking: "different algorithms may be
    selected on subsequent runs"; documentation of `torch.compile`, mode "max-autotune".
    """


DISABLED = "deterministic kernels are disabled"
USED = "kernels without a deterministic version are used"


@kernel_source(
    "determinism-off",
    named(REQUESTS, DISABLED, has(0, mode=False)),
    named(REQUESTS, f"{USED}, with a warning", has(warn_only=True)),
    named(DEBUG_MODE, USED, has(0, debug_mode=("default", "warn", 0, 1))),
    assigned("torch.backends.cudnn.deterministic", CUDNN, lambda value: value is False, GPU),
    named(LIGHTNING_TRAINERS, DISABLED, has(deterministic=False)),
    cure=instead(DETERMINISTIC),
)
def determinism_off() -> None:
    """Determinism disabled, or requested with warnings only.

    This undoes what the rest of the script, a library or the environment requests.

    Example:
        import torch
        torch.use_deterministic_algorithms(False)

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`: "If False, allows nondeterministic
    operations"; with `warn_only` such operations "will throw a warning instead of an error".
    """


# ------------------------------------------------------------ what only a run shows


@kernel_source("torch-kernels", operations=".*", line=DETERMINISTIC)
def torch_kernels() -> None:
    """A kernel of PyTorch on a GPU that may be nondeterministic.

    No list of such kernels is complete, least of all for products of sparse matrices, custom kernels and other
    libraries.

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`; PyTorch documentation, "CUDA streams".
    """


@kernel_source("tensorflow-kernels", line=OP_DETERMINISM)
def tensorflow_kernels() -> None:
    """Kernels of TensorFlow on a GPU.

    Many gradients of TensorFlow use atomic additions: gather and embeddings, segment sums, resizing, softmax losses,
    convolutions. TensorFlow does not report the operation.

    Source: TensorFlow documentation of `tf.config.experimental.enable_op_determinism`; TensorFlow RFC 20210119.
    """


@kernel_source("xla-kernels", line='os.environ["XLA_FLAGS"] = "--xla_gpu_deterministic_ops=true"')
def xla_kernels() -> None:
    """Kernels of XLA on a GPU.

    XLA scatters with atomic additions and chooses kernels by timing. Its flag for deterministic operations has had
    defects (jaxlib 0.5.3 wrote wrong numbers): check that results change by rounding only.

    Source: JAX discussion 10674 and issues 17844, 27324 and 27796; XLA pull requests 12520 and 31063.
    """


@kernel_source(
    "matrix-products", operations=r"(add)?(mm|bmm|mv)|baddbmm|linear|matmul|int_mm|scaled_mm", line=WORKSPACE
)
def matrix_products() -> None:
    """Matrix products on a GPU with several streams.

    With several streams, cuBLAS chooses among workspaces, and with them among kernels, unless CUBLAS_WORKSPACE_CONFIG
    is set before the process starts.

    Source: NVIDIA, cuBLAS documentation, "Results reproducibility".
    """


@kernel_source("collectives", held="", operations=r"all_?reduce\w*|reduce(_scatter)?\w*")
def collectives() -> None:
    """Gradients of several processes that are added in varying order.

    NCCL chooses algorithm, protocol and channels by size and topology, and each choice adds in a different order. With
    the same choice the result is usually the same in each run, except if switches add (NVLS, on NVLink).

    Advice: fix the algorithm (`NCCL_ALGO=Ring NCCL_PROTO=Simple`), and keep the same ranks on the same devices

    Source: NVIDIA, NCCL documentation, "Environment variables"; NCCL issues 1055 and 1497.
    """


@kernel_source("thread-sums", held="threads", line="torch.set_num_threads(1)")
def thread_sums() -> None:
    """Numbers that several threads of a library add up.

    The order of additions follows the timing of the threads, and each order rounds differently.

    Source: Intel oneMKL documentation, "Reproducibility conditions"; scikit-learn documentation, "Parallelism".
    """
