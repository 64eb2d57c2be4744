"""Hazards of indexing, counting and adding up by index: kernels that write to one place from several threads."""

from collections.abc import Iterator

import libcst as cst

from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import dotted_name, index_of, keywords, walk
from deviate.analysis.survey import Called, Survey, is_true
from deviate.model.metric_vocabulary import split_identifier, word_set
from deviate.sources.catalogue import Matches, hazard
from deviate.sources.kernels import held_by_script, kernels
from deviate.sources.names import TENSORFLOW, TORCH_PARAMETERS, under

COUNTING_FUNCTIONS = frozenset({"torch.bincount"}) | under(TENSORFLOW, "math.bincount bincount")


@hazard("histogram", "kernels")
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
    for call in kernels(survey, ["torch.histc"]):
        yield call.node, "histc has no deterministic kernel on a GPU"
    for call in kernels(survey, COUNTING_FUNCTIONS):
        if call.argument(1, "weights") is not None:
            yield call.node, "weights are added in nondeterministic order on a GPU"


@hazard("running-sum", "kernels")
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
    if "torch" in held_by_script(survey):
        return
    for call in survey.methods(["cumsum"], ("torch.",)):
        if call.name.startswith("torch.") and not _is_integer_sum(call, survey):
            yield call.node, "cumsum has no deterministic kernel on a GPU"


def _is_integer_sum(call: Called, survey: Survey) -> bool:
    """Whether integers are summed: a mask, or values that are compared or converted to integers."""
    text = survey.nodes.code(call.node)
    return any(word in text for word in ("mask", "int", "long", "==", "<", ">", "len", "arange", "ones"))


SCATTERING = word_set("index_add_ index_add scatter_add_ scatter_add scatter_reduce_ scatter_reduce index_reduce_")
ACCUMULATING = ("index_put_", "index_put", "put_")
SCATTER_LIBRARIES = ("torch.",)
TORCH_SCATTER = under(
    ("torch_scatter.",),
    "scatter scatter_add scatter_sum scatter_mean scatter_mul scatter_softmax scatter_std scatter_log_softmax",
)
GRAPH_LAYERS = under(
    ("torch_geometric.utils.", "torch_geometric.nn.", "torch_geometric.nn.pool.", "torch_geometric.nn.glob."),
    "scatter softmax global_add_pool global_mean_pool",
) | frozenset({"torch_geometric.nn.MessagePassing"})
TENSORFLOW_SEGMENTS = under(
    TENSORFLOW,
    "math.unsorted_segment_sum math.unsorted_segment_mean math.unsorted_segment_prod math.unsorted_segment_sqrt_n "
    "math.segment_sum math.segment_prod math.segment_mean unsorted_segment_sum segment_sum segment_mean scatter_add "
    "scatter_nd_add tensor_scatter_nd_add tensor_scatter_nd_sub tensor_scatter_add",
)
JAX_SEGMENTS = word_set("jax.ops.segment_sum jax.ops.segment_prod jax.lax.scatter_add jax.lax.scatter_mul")
JAX_UPDATES = ("add", "multiply", "subtract", "divide")


@hazard("scatter", "kernels")
def scatter(survey: Survey) -> Matches:
    """Values added to elements of a tensor by index.

    On a GPU many threads add to one element in varying order: the last bits differ between runs. The same holds for
    `index_put_(…, accumulate=True)` and `put_` with several CPU threads. deviate requests deterministic kernels if a
    variant holds `kernels`; `torch_scatter` has none.

    Example:
        import torch
        total = torch.zeros(10).index_add_(0, index, values)

    Instead:
        import torch
        torch.use_deterministic_algorithms(True)
        total = torch.zeros(10).index_add_(0, index, values)

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`; pytorch_scatter, issue 226; TensorFlow RFC
    20210119, "Determinism"; JAX_SEGMENTS documentation of `jax.lax.scatter_add` and of the XLA operation Scatter.
    """
    is_free = "torch" not in held_by_script(survey)
    for call in survey.methods(SCATTERING, SCATTER_LIBRARIES) if is_free else ():
        yield call.node, f"{call.last} adds in nondeterministic order on a GPU"
    for call in survey.methods(ACCUMULATING, SCATTER_LIBRARIES) if is_free else ():
        if is_true(call.argument(2, "accumulate")):
            yield call.node, f"{call.last} adds in nondeterministic order with several CPU threads"
    for call in survey.calls(_of_graphs(survey)) if is_free else ():
        yield call.node, f"{call.last} adds in nondeterministic order on a GPU"
    for call in survey.calls(TORCH_SCATTER):
        yield call.node, f"{call.last} adds in nondeterministic order on a GPU, in every mode of PyTorch"
    for call in kernels(survey, TENSORFLOW_SEGMENTS | JAX_SEGMENTS):
        yield call.node, f"{call.last} adds in nondeterministic order on a GPU"
    if "jax" in survey.graph.imported_packages and "jax" not in held_by_script(survey):
        for call in survey.methods(JAX_UPDATES, ("jax.",)):
            if _is_at(call.node) and "unique_indices" not in keywords(call.node):
                yield call.node, f"at[…].{call.last} adds in nondeterministic order on a GPU"


def _of_graphs(survey: Survey) -> Iterator[str]:
    """Functions and layers of PyTorch Geometric that sum messages; all layers called a convolution count."""
    for name in survey.names:
        if name.startswith("torch_geometric.") and (name in GRAPH_LAYERS or name.endswith("Conv")):
            yield name


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


@hazard("gather", "kernels")
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

    Instead:
        import torch
        torch.use_deterministic_algorithms(True)
        weight = torch.randn(17, 64, requires_grad=True)
        index = torch.randint(17, (65536,))
        (weight[index] * values).sum().backward()

    Source: PyTorch documentation of `torch.use_deterministic_algorithms`: `index_select` "when attempting to
    differentiate a CUDA tensor", `Tensor.__getitem__` "when attempting to differentiate a CPU tensor and the index
    is a list of tensors".
    """
    if "torch" not in survey.graph.imported_packages or "torch" in held_by_script(survey):
        return
    scatters = "torch_scatter" in survey.graph.imported_packages or any(
        survey.method_calls(name) for name in SCATTERING
    )
    for call in survey.methods(["index_select"], ("torch.",)) if scatters else ():
        if survey.is_model(call.function.owner) and not survey.is_without_gradient(call.node, call.function):
            yield call.node, "the gradient of index_select adds in nondeterministic order on a GPU"
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
