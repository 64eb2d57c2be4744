"""Operations of PyTorch that are known to be nondeterministic, and on which devices.

What is said of a GPU is what PyTorch documents; what is said of a CPU was also tried: each operation here a dozen times
on the same input with PyTorch 2.13 and two threads. Of the 34 that were tried only indexing gave other bits there.
"""

import re
from dataclasses import dataclass

ALGORITHMS = "https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html"
CUDNN = "https://docs.nvidia.com/deeplearning/cudnn/latest/developer/misc.html"
GPU = ("cuda",)


@dataclass(frozen=True, slots=True)
class Family:
    """Operations that are nondeterministic for the same reason.

    Attributes:
        names: of operations without namespace, overload and underscores around them, as a regular expression.
        devices: on which they are nondeterministic; "gpu" for every accelerator of CUDA or ROCm.
        hazards: of the static analysis that tell of them.
        has_version: whether PyTorch has a deterministic version, so that asking for it does not end in an error.
        merely_possible_on: of these devices, those where nobody says so, or only in a case that its name does not tell.
    """

    id: str
    title: str
    names: str
    hazards: tuple[str, ...]
    reason: str
    cure: str
    code: str = "torch.use_deterministic_algorithms(True)"
    devices: tuple[str, ...] = GPU
    source: str = ALGORITHMS
    has_version: bool = True
    merely_possible_on: tuple[str, ...] = ()


EVERYWHERE = ("cpu", "cuda", "mps", "xpu")
ASK = "ask PyTorch for its deterministic version"
NONE = "PyTorch has no deterministic version: take another operation, or compute this one on the CPU"

FAMILIES: tuple[Family, ...] = (
    Family(
        id="index-put",
        title="index_put adds up in the order in which threads arrive",
        names=r"(unsafe_)?index_put(_impl)?|put|index_copy",
        devices=EVERYWHERE,
        hazards=("gather",),
        reason="The gradient of `table[index]` adds into the rows that the index names, and with several threads of a "
        "CPU the order of these additions is another one each time. Without `accumulate`, which of several values for "
        "one place stays is a race. On CUDA the sum is sorted first, so that only the race is left.",
        cure=ASK + " (none for `put_` without `accumulate`), or take rows with torch.nn.functional.embedding, whose "
        "gradient adds in one order on a CPU",
        source=ALGORITHMS + ", https://github.com/pytorch/pytorch/issues/51366, "
        "https://github.com/pytorch/pytorch/pull/55827",
        merely_possible_on=GPU,
    ),
    Family(
        id="scatter",
        title="scatter_add, index_add and their relatives add by atomics",
        names=r"scatter(_add|_reduce)?|index_(add|reduce)|gather_backward|index_select_backward|segment_reduce_backward",
        hazards=("scatter", "gather"),
        reason="Threads of a GPU add into one place in the order in which they come. The gradients of `gather`, "
        "`index_select` and `repeat_interleave` do the same.",
        cure=ASK + " (sum and mean; none for prod)",
    ),
    Family(
        id="embedding-bag",
        title="the gradient of EmbeddingBag adds by atomics",
        names=r"embedding_bag_(dense_)?backward|embedding_bag_per_sample_weights_backward",
        hazards=("embedding-bag",),
        reason="With `mode='max'` the gradient adds into rows in the order in which threads of a GPU come.",
        cure="take mode='sum' or 'mean'; PyTorch has no deterministic version for 'max'",
        code="torch.nn.EmbeddingBag(n, d, mode='mean')",
        has_version=False,
    ),
    Family(
        id="embedding",
        title="the gradient of an embedding on a GPU",
        names=r"embedding(_dense|_sparse)?_backward",
        hazards=(),
        reason="Gradients of examples that share a row are added up. PyTorch sorts them first and is not known to be "
        "nondeterministic here; other backends add by atomics, TensorFlow's gradient of `tf.gather` among them.",
        cure="repeat the step on the CPU, where it adds in one order, to see whether the embedding is to blame",
        code="",
        source="https://github.com/pytorch/pytorch/pull/12217",
        merely_possible_on=GPU,
    ),
    Family(
        id="interpolate",
        title="the gradient of interpolate adds by atomics",
        names=r"upsample_(linear1d|bilinear2d|bicubic2d|trilinear3d)(_aa)?_backward",
        hazards=("resize",),
        reason="Several pixels of the output come from one of the input, whose gradient threads of a GPU add up in the "
        "order in which they come. Mode `nearest` has no such sum in PyTorch.",
        cure="take mode='nearest', or a transposed convolution; PyTorch has no deterministic version",
        code="torch.nn.functional.interpolate(x, scale_factor=2, mode='nearest')",
        has_version=False,
    ),
    Family(
        id="pooling",
        title="the gradient of pooling with overlapping windows adds by atomics",
        names=r"(adaptive_(avg|max)_pool[23]d|fractional_max_pool[23]d|avg_pool3d|max_pool3d_with_indices)_backward"
        r"|adaptive_(avg|max)_pool[23]d_backward",
        hazards=("pooling",),
        reason="Windows overlap, and the gradient of a pixel that lies in several is added up in the order in which "
        "threads of a GPU come.",
        cure=NONE + "; for MaxPool3d it has one",
        has_version=False,
    ),
    Family(
        id="max-unpool",
        title="max_unpool writes several values to one place",
        names=r"max_unpool[23]d",
        devices=EVERYWHERE,
        hazards=("pooling",),
        reason="Where windows overlap, two values go to one place, and which of them stays is a race.",
        cure=NONE,
        code="",
        has_version=False,
    ),
    Family(
        id="padding",
        title="the gradient of reflection padding adds by atomics",
        names=r"reflection_pad[123]d_backward",
        hazards=("padding",),
        reason="A border pixel is repeated, and its gradient is the sum of all copies, added up in the order in which "
        "threads of a GPU come.",
        cure="pad with zeros, or with mode='replicate', which has a deterministic version",
        code="torch.nn.functional.pad(x, (1, 1, 1, 1), mode='constant')",
        has_version=False,
    ),
    Family(
        id="replication",
        title="the gradient of replication padding adds by atomics",
        names=r"replication_pad[123]d_backward",
        hazards=("padding",),
        reason="A border pixel is repeated, and its gradient is the sum of all copies, added up in the order in which "
        "threads of a GPU come.",
        cure=ASK,
    ),
    Family(
        id="grid-sample",
        title="the gradient of grid_sample adds by atomics",
        names=r"(cudnn_)?grid_sampler(_[23]d)?_backward",
        hazards=("grid-sample", "region-pooling"),
        reason="Several places of the grid read one pixel, whose gradient threads of a GPU add up in the order in "
        "which they come.",
        cure=NONE,
        code="",
        has_version=False,
    ),
    Family(
        id="ctc-loss",
        title="the gradient of the CTC loss adds by atomics",
        names=r"(cudnn_)?ctc_loss(_backward)?",
        hazards=("ctc-loss",),
        reason="Alignments that share a symbol are added up in the order in which threads of a GPU come.",
        cure=NONE,
        code="",
        has_version=False,
    ),
    Family(
        id="pixel-loss",
        title="the classification loss of every pixel adds by atomics",
        names=r"nll_loss2d(_forward|_backward)?",
        hazards=("pixel-loss",),
        reason="The loss of an image is the sum over its pixels, added up in the order in which threads of a GPU come.",
        cure="flatten the pixels first: the loss of a plain list of examples adds in one order",
        code="F.cross_entropy(y.permute(0, 2, 3, 1).reshape(-1, n_classes), target.reshape(-1))",
        has_version=False,
    ),
    Family(
        id="histogram",
        title="counts by atomics: histc, and bincount with weights",
        names=r"histc|bincount",
        hazards=("histogram",),
        reason="Threads of a GPU add to the bins in the order in which they come.",
        cure="count on the CPU",
        code="torch.bincount(x.cpu(), weights=w.cpu())",
        has_version=False,
    ),
    Family(
        id="running-sum",
        title="running sums, and medians with indices, have no fixed order on a GPU",
        names=r"cumsum|nanmedian|median",
        hazards=("running-sum",),
        reason="Parts of a running sum are joined in the order in which they are ready; which of several equal "
        "medians is named is a race.",
        cure=NONE,
        code="",
        has_version=False,
    ),
    Family(
        id="attention",
        title="the gradient of fused attention adds by atomics",
        names=r"scaled_dot_product_(flash|efficient|cudnn|fused)_attention\w*backward|(flash|efficient)_attention_backward",
        hazards=("attention",),
        reason="The gradients of queries, keys and values come from many blocks, added up in the order in which they "
        "are ready.",
        cure=ASK + ", or compute attention without the fused kernels",
        source="https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
    ),
    Family(
        id="convolution",
        title="the gradient of a convolution is computed by a nondeterministic kernel of cuDNN",
        names=r"(cudnn_|miopen_)?(convolution|conv_transpose)\w*backward\w*|conv_depthwise[23]d_backward",
        hazards=("convolution",),
        reason="cuDNN has kernels for the gradients of weights and of inputs that add by atomics, and may take them.",
        cure="allow deterministic kernels of cuDNN alone",
        code="torch.backends.cudnn.deterministic = True",
        source=CUDNN,
    ),
    Family(
        id="recurrent",
        title="recurrent layers of cuDNN",
        names=r"cudnn_rnn(_backward)?|miopen_rnn(_backward)?",
        hazards=("recurrent",),
        reason="With some releases of cuDNN and CUDA the kernels of recurrent layers differ between runs, unless "
        "cuBLAS is given a workspace of its own or launches are serial.",
        cure="set CUBLAS_WORKSPACE_CONFIG before the process starts",
        code="CUBLAS_WORKSPACE_CONFIG=:4096:8 python train.py",
        source="https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html",
    ),
    Family(
        id="sparse",
        title="products with sparse matrices add by atomics",
        names=r"bmm_sparse\w*|sparse_(addmm|mm|sum)\w*|(coalesce|sparse_coo_tensor_coalesce)",
        hazards=(),
        reason="Entries of one row are added up in the order in which threads of a GPU come.",
        cure=ASK + " (bmm), or multiply dense matrices",
        source=ALGORITHMS,
        merely_possible_on=GPU,
    ),
)

MATRIX = r"(add)?(mm|bmm|mv)|baddbmm|linear|matmul|int_mm|scaled_mm"
CONVOLUTION = r"(cudnn_|miopen_|mkldnn_)?convolution(_overrideable)?|conv_depthwise[23]d|slow_conv\w*"
COLLECTIVE = r"all_?reduce\w*|reduce(_scatter)?\w*"
DRAW = (
    r"native_dropout|bernoulli|rand(int|n|perm)?(_like)?|normal|uniform|multinomial|exponential|geometric|poisson|"
    r"log_normal|cauchy|random|rrelu\w*|alpha_dropout|binomial|standard_gamma"
)
ENTRY = r"lift_fresh(_copy)?|to_copy|copy|scalar_tensor|fill|full(_like)?|new_full|from_file|tensor|set"
"""Operations by which values come in that PyTorch did not compute …"""
FROM_WORKER = "aten.set_.source_Storage_storage_offset"
"""… and the one by which a process takes what a worker of a loader put into shared memory."""


def base_name(name: str) -> str:
    """Name of an operation without namespace, overload and surrounding underscores.

    >>> base_name("aten._index_put_impl_.default")
    'index_put_impl'
    """
    return (name.split(".")[1] if name.count(".") else name).strip("_")


def is_one_of(name: str, pattern: str) -> bool:
    return re.fullmatch(pattern, base_name(name)) is not None
