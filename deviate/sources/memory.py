"""Memory: arrays that nothing has filled, and order by address."""

import ast
import re

import libcst as cst

from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import dotted_name, last_name, positional, walk
from deviate.model.metric_vocabulary import word_set
from deviate.sources.catalogue import Matches, source
from deviate.sources.names import TORCH_PARAMETERS
from deviate.sources.survey import Called, Survey

EMPTY_TENSORS = word_set("torch.empty torch.Tensor torch.FloatTensor torch.cuda.FloatTensor")
EMPTY_ARRAYS = word_set("numpy.empty numpy.empty_like numpy.ndarray torch.empty torch.empty_like")
ALL_PARAMETERS = ("parameters", "named_parameters", "modules")
INITIALIZERS = word_set(
    "uniform_ normal_ fill_ zero_ constant_ ones_ zeros_ xavier_uniform_ xavier_normal_ kaiming_uniform_ "
    "kaiming_normal_ orthogonal_ trunc_normal_ eye_ xavier_uniform kaiming_uniform uniform normal constant"
)
FILLING = re.compile(r"init|_\(")
FILLING_ALL = re.compile(r"(parameters|apply|load_state_dict)\(")


EMPTY = re.compile(r"\b(?:(?:Float)?Tensor|ndarray|empty)(_like)?\(")


def _with_zeros(node: ast.expr) -> str:
    code, n_replaced = EMPTY.subn(r"zeros\1(", ast.unparse(node))
    return code if n_replaced else ""


@source("uninitialised", group="state", held="kernels", cure=_with_zeros)
def uninitialised(survey: Survey) -> Matches:
    """Memory that nothing has filled.

    `torch.empty(…)`, `torch.Tensor(…)` with sizes and `numpy.empty(…)` contain arbitrary memory. A parameter that no
    initializer fills, or an array that is computed with before it is filled, then differs between runs. If a variant
    holds `kernels`, PyTorch fills such memory with NaN, which reveals the mistake.

    Example:
        import torch
        import torch.nn as nn
        class Scale(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.empty(8))
            def forward(self, x):
                return x * self.weight
        model = Scale()

    Source: PyTorch documentation of `torch.empty`: "filled with uninitialized data"; of
    `torch.utils.deterministic.fill_uninitialized_memory`.
    """
    fills_all = any(_fills_all(function) for function in survey.functions)
    for call in survey.calls(TORCH_PARAMETERS):
        inner = next(iter(positional(call.node)), None)
        name = next(map(dotted_name, survey.targets(call.node)), "")
        owner = call.function.owner
        if not isinstance(inner, cst.Call) or not name or fills_all:
            continue
        is_empty = survey.resolver.qualified_name(inner.func, call.function) in EMPTY_TENSORS and _is_of_sizes(inner)
        methods = owner.methods.values() if owner else [call.function]
        if is_empty and not any(_is_filled(name, method, survey) for method in methods if method.name != "forward"):
            yield call.node, f"{name} is never initialised: it starts with arbitrary memory"
    for call in survey.calls(EMPTY_ARRAYS):
        target = next(iter(survey.targets(call.node)), None)
        if isinstance(target, cst.Name) and _is_read_first(target, call, survey):
            yield call.node, f"{target.value} is computed with before it is filled: it starts with arbitrary memory"
        elif isinstance(target, cst.Name) and _is_filled_in_part(target.value, call, survey):
            yield call.node, f"{target.value} is filled in part: the rest of it is arbitrary memory"


def _is_filled_in_part(name: str, call: Called, survey: Survey) -> bool:
    """Whether a function fills an array by one statement alone, outside of loops, and only between two bounds."""
    filled = [
        node.target
        for node in walk(call.function.node)
        if isinstance(node, cst.AssignTarget)
        and isinstance(node.target, cst.Subscript)
        and survey.nodes.code(node.target.value) == name
    ]
    if len(filled) != 1 or any(isinstance(above, cst.For | cst.While) for above in survey.nodes.ancestors(filled[0])):
        return False
    slices = [part.slice for part in filled[0].slice if isinstance(part.slice, cst.Slice)]
    return any(part.lower is not None or part.upper is not None for part in slices)


def _is_read_first(target: cst.Name, call: Called, survey: Survey) -> bool:
    """Whether the first use of an array after its creation computes with its values."""
    names = [node for node in walk(call.function.node) if isinstance(node, cst.Name) and node.value == target.value]
    for node in names[names.index(target) + 1 :]:
        parent = survey.nodes.parents.get(node)
        if isinstance(parent, cst.AssignTarget):
            statement = survey.nodes.parents[parent]
            value = statement.value if isinstance(statement, cst.Assign) else statement
            if any(part in names for part in walk(value)):
                continue
            return False
        is_changed = isinstance(parent, cst.AugAssign) and node is parent.target
        return is_changed or isinstance(parent, cst.BinaryOperation | cst.UnaryOperation)
    return False


def _is_of_sizes(call: cst.Call) -> bool:
    """Whether the arguments are sizes rather than values."""
    return last_name(call.func) == "empty" or not any(
        isinstance(argument.value, cst.List | cst.ListComp) for argument in call.args
    )


def _is_filled(name: str, function: Function, survey: Survey) -> bool:
    """Whether a function passes a parameter to an initializer, or all parameters to anything."""
    codes = [survey.nodes.code(call) for call in function.calls]
    return any(FILLING_ALL.search(code) or (name in code and FILLING.search(code)) for code in codes)


def _fills_all(function: Function) -> bool:
    """Whether a function iterates over all parameters and initialises them."""
    called = {last_name(call.func) for call in function.calls}
    return bool(called & {*ALL_PARAMETERS}) and bool(called & INITIALIZERS)


@source("memory-address", group="state", observed=("address",))
def memory_address() -> None:
    """Addresses of objects: `id()`, and the hash and order of objects that define no hash.

    The system places memory at other addresses in each run, which no variable fixes.

    Advice: sort by an attribute of the objects, or use a dict or a list

    Source: Python documentation of `id` and `object.__hash__`.
    """
