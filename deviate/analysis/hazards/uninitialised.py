"""Parameters made from memory that nobody filled."""

import libcst as cst

from deviate.analysis.hazards.names import TORCH_PARAMETERS
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey
from deviate.analysis.resolve.index import Class, Function
from deviate.analysis.resolve.tree import dotted_name, last_name, positional, walk
from deviate.model.metric_vocabulary import word_set

EMPTY_TENSORS = word_set("torch.empty torch.Tensor torch.FloatTensor torch.cuda.FloatTensor")
ALL_PARAMETERS = ("parameters", "named_parameters", "modules")
INITIALIZERS = word_set(
    "uniform_ normal_ fill_ zero_ constant_ ones_ zeros_ xavier_uniform_ xavier_normal_ kaiming_uniform_ "
    "kaiming_normal_ orthogonal_ trunc_normal_ eye_ xavier_uniform kaiming_uniform uniform normal constant"
)
FILLING_METHODS = ("parameters", "named_parameters", "apply", "load_state_dict")


@hazard("uninitialised", "seeds")
def find_uninitialised(survey: Survey) -> Matches:
    """Parameters made from memory that nobody filled.

    `torch.empty(…)` and `torch.Tensor(…)` with sizes hold what happened to be in memory. As a parameter that no
    initializer fills, it starts another model in each run. Where a variant holds `kernels`, PyTorch fills such
    memory with NaN, so that the mistake shows.

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

    Instead:
        import torch
        import torch.nn as nn
        class Scale(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.ones(8))
            def forward(self, x):
                return x * self.weight
        model = Scale()

    Source: PyTorch documentation of `torch.empty`: "filled with uninitialized data"; of
    `torch.utils.deterministic.fill_uninitialized_memory`.
    """
    fills_all = any(_fills_all(function) for function in survey.functions)
    for call in survey.calls(TORCH_PARAMETERS):
        inner = next(iter(positional(call.node)), None)
        name = _attribute_of_parameter(call.node, survey)
        owner = call.function.owner
        if not isinstance(inner, cst.Call) or name is None or owner is None or fills_all:
            continue
        is_empty = survey.resolver.qualified_name(inner.func, call.function) in EMPTY_TENSORS and _is_of_sizes(inner)
        if is_empty and not _is_filled(name, owner):
            yield call.node, f"{name} is never filled: it starts with what was in memory"


def _attribute_of_parameter(node: cst.CSTNode, survey: Survey) -> str | None:
    parent = survey.nodes.parents.get(node)
    if isinstance(parent, cst.Assign) and isinstance(parent.targets[0].target, cst.Attribute):
        return dotted_name(parent.targets[0].target)
    return None


def _is_of_sizes(call: cst.Call) -> bool:
    """Whether the arguments are sizes rather than values."""
    return last_name(call.func) == "empty" or not any(
        isinstance(argument.value, cst.List | cst.ListComp) for argument in call.args
    )


def _is_filled(name: str, owner: Class) -> bool:
    """Whether code other than the forward pass uses the parameter, or the class initialises all its parameters."""
    for method in owner.methods.values():
        for part in walk(method.node):
            if isinstance(part, cst.Call) and last_name(part.func) in FILLING_METHODS:
                return True
            if method.name != "forward" and isinstance(part, cst.Call):
                touched = [node for argument in part.args for node in walk(argument.value)]
                touched += [part.func.value] if isinstance(part.func, cst.Attribute) else []
                if any(isinstance(node, cst.Attribute) and dotted_name(node).startswith(name) for node in touched):
                    return True
    return False


def _fills_all(function: Function) -> bool:
    """Whether a function iterates over all parameters and initialises them."""
    called = {last_name(call.func) for call in function.calls}
    return bool(called & {*ALL_PARAMETERS}) and bool(called & INITIALIZERS)
