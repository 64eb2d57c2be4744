"""Values taken from places of a tensor by index, with a gradient."""

from collections.abc import Iterator

import libcst as cst

from deviate.analysis.hazards.kernels import held_by_script
from deviate.analysis.hazards.names import TORCH_PARAMETERS
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.scatter import SCATTERING
from deviate.analysis.hazards.survey import Called, Survey, is_true
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import dotted_name, index_of, walk
from deviate.model.metric_vocabulary import split_identifier, word_set

TENSOR_MAKERS = word_set(
    "torch.randn torch.rand torch.zeros torch.ones torch.empty torch.tensor torch.full torch.normal"
)
INDEX_WORDS = word_set("idx idxs index indices ids inds")


@hazard("gather", "kernels")
def gather(survey: Survey) -> Matches:
    """Values taken from places of a tensor by index, with a gradient.

    The gradient adds to the places that were taken, and where places repeat, in the order in which threads come: on
    a GPU for `index_select`, on a CPU with several threads for `tensor[index]`. deviate asks for deterministic
    kernels where a variant holds `kernels`. Listed are takings from parameters, and in models that also scatter, as
    those of graphs do: elsewhere places seldom repeat.

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
            yield call.node, "the gradient of index_select adds in no fixed order on a GPU"
    tensors = [call for call in survey.calls(TENSOR_MAKERS) if is_true(call.argument(None, "requires_grad"))]
    for subscript in _subscripts_of([*tensors, *survey.calls(TORCH_PARAMETERS)], survey):
        yield subscript, "the gradient of an index adds in no fixed order on several threads of a CPU"


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
