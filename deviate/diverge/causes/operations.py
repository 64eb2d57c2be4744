"""Operations of PyTorch that are known to be nondeterministic, and on which devices.

Entries for GPUs follow the documentation of PyTorch. Entries for CPUs were also tested: each operation a dozen times on
the same input with PyTorch 2.13 and two threads. Of the 34 tested operations, only indexing gave different bits.
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
        names: operations without namespace, overload and underscores around them, as a regular expression.
        devices: devices on which they are nondeterministic; "gpu" for every accelerator of CUDA or ROCm.
        hazards: hazards of the static analysis that find them.
        has_version: whether PyTorch has a deterministic version, so that requesting it does not raise an error.
        merely_possible_on: of these devices, those without documentation, or where only some uses of the name are
            nondeterministic.
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
ASK = "request the deterministic version from PyTorch"
NONE = "PyTorch has no deterministic version: use another operation, or compute this one on the CPU"

FAMILIES: tuple[Family, ...] = (
    Family(
        id="index-put",
        title="index_put adds in nondeterministic thread order",
        names=r"(unsafe_)?index_put(_impl)?|put|index_copy",
        devices=EVERYWHERE,
        hazards=("gather",),
        reason="The gradient of `table[index]` adds into the indexed rows. With several CPU threads, the order of "
        "these additions varies. Without `accumulate`, several values for one element are a race. CUDA sorts the sum "
        "first, so only the race remains there.",
        cure=ASK + " (none for `put_` without `accumulate`), or index with torch.nn.functional.embedding, whose "
        "gradient adds in a fixed order on a CPU",
        source=ALGORITHMS + ", https://github.com/pytorch/pytorch/issues/51366, "
        "https://github.com/pytorch/pytorch/pull/55827",
        merely_possible_on=GPU,
    ),
    Family(
        id="scatter",
        title="scatter_add, index_add and similar operations use atomic additions",
        names=r"scatter(_add|_reduce)?|index_(add|reduce)|gather_backward|index_select_backward|segment_reduce_backward",
        hazards=("scatter", "gather"),
        reason="GPU threads add into one element in varying order. So do the gradients of `gather`, `index_select` and "
        "`repeat_interleave`.",
        cure=ASK + " (sum and mean; none for prod)",
    ),
    Family(
        id="embedding-bag",
        title="the gradient of EmbeddingBag uses atomic additions",
        names=r"embedding_bag_(dense_)?backward|embedding_bag_per_sample_weights_backward",
        hazards=("embedding-bag",),
        reason="With `mode='max'`, GPU threads add the gradient into rows in varying order.",
        cure="use mode='sum' or 'mean'; PyTorch has no deterministic version for 'max'",
        code="torch.nn.EmbeddingBag(n, d, mode='mean')",
        has_version=False,
    ),
    Family(
        id="embedding",
        title="the gradient of an embedding on a GPU",
        names=r"embedding(_dense|_sparse)?_backward",
        hazards=(),
        reason="Gradients of examples that share a row are added. PyTorch sorts them first and is not known to be "
        "nondeterministic here; other backends use atomic additions, such as TensorFlow for the gradient of "
        "`tf.gather`.",
        cure="repeat the step on the CPU, which adds in a fixed order, to test whether the embedding is the cause",
        code="",
        source="https://github.com/pytorch/pytorch/pull/12217",
        merely_possible_on=GPU,
    ),
    Family(
        id="interpolate",
        title="the gradient of interpolate uses atomic additions",
        names=r"upsample_(linear1d|bilinear2d|bicubic2d|trilinear3d)(_aa)?_backward",
        hazards=("resize",),
        reason="Several output pixels depend on one input pixel, and GPU threads add its gradient in varying order. "
        "Mode `nearest` has no such sum in PyTorch.",
        cure="use mode='nearest', or a transposed convolution; PyTorch has no deterministic version",
        code="torch.nn.functional.interpolate(x, scale_factor=2, mode='nearest')",
        has_version=False,
    ),
    Family(
        id="pooling",
        title="the gradient of pooling with overlapping windows uses atomic additions",
        names=r"(adaptive_(avg|max)_pool[23]d|fractional_max_pool[23]d|avg_pool3d|max_pool3d_with_indices)_backward"
        r"|adaptive_(avg|max)_pool[23]d_backward",
        hazards=("pooling",),
        reason="GPU threads add the gradient of a pixel in several windows in varying order.",
        cure=NONE + "; MaxPool3d has one",
        has_version=False,
    ),
    Family(
        id="max-unpool",
        title="max_unpool writes several values to one element",
        names=r"max_unpool[23]d",
        devices=EVERYWHERE,
        hazards=("pooling",),
        reason="If windows overlap, two values are written to one element, which is a race.",
        cure=NONE,
        code="",
        has_version=False,
    ),
    Family(
        id="padding",
        title="the gradient of reflection padding uses atomic additions",
        names=r"reflection_pad[123]d_backward",
        hazards=("padding",),
        reason="A border pixel is repeated, and GPU threads add the gradients of all copies in varying order.",
        cure="pad with zeros, or with mode='replicate', which has a deterministic version",
        code="torch.nn.functional.pad(x, (1, 1, 1, 1), mode='constant')",
        has_version=False,
    ),
    Family(
        id="replication",
        title="the gradient of replication padding uses atomic additions",
        names=r"replication_pad[123]d_backward",
        hazards=("padding",),
        reason="A border pixel is repeated, and GPU threads add the gradients of all copies in varying order.",
        cure=ASK,
    ),
    Family(
        id="grid-sample",
        title="the gradient of grid_sample uses atomic additions",
        names=r"(cudnn_)?grid_sampler(_[23]d)?_backward",
        hazards=("grid-sample", "region-pooling"),
        reason="Several points of the grid read one pixel, and GPU threads add its gradient in varying order.",
        cure=NONE,
        code="",
        has_version=False,
    ),
    Family(
        id="ctc-loss",
        title="the gradient of the CTC loss uses atomic additions",
        names=r"(cudnn_)?ctc_loss(_backward)?",
        hazards=("ctc-loss",),
        reason="GPU threads add alignments that share a symbol in varying order.",
        cure=NONE,
        code="",
        has_version=False,
    ),
    Family(
        id="pixel-loss",
        title="the per-pixel classification loss uses atomic additions",
        names=r"nll_loss2d(_forward|_backward)?",
        hazards=("pixel-loss",),
        reason="GPU threads add the losses of the pixels of an image in varying order.",
        cure="flatten the pixels first: the loss over a flat list of examples adds in a fixed order",
        code="F.cross_entropy(y.permute(0, 2, 3, 1).reshape(-1, n_classes), target.reshape(-1))",
        has_version=False,
    ),
    Family(
        id="histogram",
        title="histc, and bincount with weights, use atomic additions",
        names=r"histc|bincount",
        hazards=("histogram",),
        reason="GPU threads add to the bins in varying order.",
        cure="count on the CPU",
        code="torch.bincount(x.cpu(), weights=w.cpu())",
        has_version=False,
    ),
    Family(
        id="running-sum",
        title="cumulative sums, and medians with indices, are nondeterministic on a GPU",
        names=r"cumsum|nanmedian|median",
        hazards=("running-sum",),
        reason="Partial sums are joined in the order in which they are ready. The index among several equal medians is "
        "a race.",
        cure=NONE,
        code="",
        has_version=False,
    ),
    Family(
        id="attention",
        title="the gradient of fused attention uses atomic additions",
        names=r"scaled_dot_product_(flash|efficient|cudnn|fused)_attention\w*backward|(flash|efficient)_attention_backward",
        hazards=("attention",),
        reason="The gradients of queries, keys and values are sums over many blocks, added in the order in which they "
        "are ready.",
        cure=ASK + ", or compute attention without the fused kernels",
        source="https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
    ),
    Family(
        id="convolution",
        title="cuDNN may use a nondeterministic kernel for the gradient of a convolution",
        names=r"(cudnn_|miopen_)?(convolution|conv_transpose)\w*backward\w*|conv_depthwise[23]d_backward",
        hazards=("convolution",),
        reason="cuDNN may choose kernels with atomic additions for the gradients of weights and inputs.",
        cure="allow only deterministic kernels of cuDNN",
        code="torch.backends.cudnn.deterministic = True",
        source=CUDNN,
    ),
    Family(
        id="recurrent",
        title="recurrent layers of cuDNN are nondeterministic in some releases",
        names=r"cudnn_rnn(_backward)?|miopen_rnn(_backward)?",
        hazards=("recurrent",),
        reason="With some releases of cuDNN and CUDA, recurrent layers differ between runs unless a cuBLAS workspace "
        "is configured or kernel launches are serial.",
        cure="set CUBLAS_WORKSPACE_CONFIG before the process starts",
        code="CUBLAS_WORKSPACE_CONFIG=:4096:8 python train.py",
        source="https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html",
    ),
    Family(
        id="sparse",
        title="products with sparse matrices use atomic additions",
        names=r"bmm_sparse\w*|sparse_(addmm|mm|sum)\w*|(coalesce|sparse_coo_tensor_coalesce)",
        hazards=(),
        reason="GPU threads add the entries of a row in varying order.",
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
"""Operations that create tensors from values that PyTorch did not compute."""
FROM_WORKER = "aten.set_.source_Storage_storage_offset"
"""The operation that reads a batch from the shared memory of a data-loader worker."""


def base_name(name: str) -> str:
    """Name of an operation without namespace, overload and surrounding underscores.

    >>> base_name("aten._index_put_impl_.default")
    'index_put_impl'
    """
    return (name.split(".")[1] if name.count(".") else name).strip("_")


def is_one_of(name: str, pattern: str) -> bool:
    return re.fullmatch(pattern, base_name(name)) is not None
