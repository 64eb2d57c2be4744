"""Values added to places of a tensor by index."""

from collections.abc import Iterator

import libcst as cst

from deviate.analysis.hazards.kernels import held_by_script, kernels
from deviate.analysis.hazards.names import TENSORFLOW, under
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey, is_true
from deviate.analysis.resolve.tree import keywords
from deviate.model.metric_vocabulary import word_set

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
    """Values added to places of a tensor by index.

    On a GPU many threads add to one place at a time, in the order in which they come: the last bits differ between
    runs. So do `index_put_(…, accumulate=True)` and `put_` with several threads of a CPU. deviate asks for
    deterministic kernels where a variant holds `kernels`; `torch_scatter` has none.

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
        yield call.node, f"{call.last} adds in no fixed order on a GPU"
    for call in survey.methods(ACCUMULATING, SCATTER_LIBRARIES) if is_free else ():
        if is_true(call.argument(2, "accumulate")):
            yield call.node, f"{call.last} adds in no fixed order on several threads of a CPU"
    for call in survey.calls(_of_graphs(survey)) if is_free else ():
        yield call.node, f"{call.last} adds in no fixed order on a GPU"
    for call in survey.calls(TORCH_SCATTER):
        yield call.node, f"{call.last} adds in no fixed order on a GPU, in every mode of PyTorch"
    for call in kernels(survey, TENSORFLOW_SEGMENTS | JAX_SEGMENTS):
        yield call.node, f"{call.last} adds in no fixed order on a GPU"
    if "jax" in survey.graph.imported_packages and "jax" not in held_by_script(survey):
        for call in survey.methods(JAX_UPDATES, ("jax.",)):
            if _is_at(call.node) and "unique_indices" not in keywords(call.node):
                yield call.node, f"at[…].{call.last} adds in no fixed order on a GPU"


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
