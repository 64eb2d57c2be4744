"""Flow of values into reports, through parameters and loops over containers."""

import libcst as cst

from deviate.analysis.resolve.abstract_values import Edge
from deviate.analysis.resolve.index import Binding, Function
from deviate.analysis.resolve.message_items import Substitute
from deviate.analysis.resolve.resolve import Resolver
from deviate.analysis.resolve.tree import last_name

PEELED = ("sorted", "list", "tuple", "reversed", "iter", "tqdm", "map")


def arguments_of(edge: Edge) -> dict[tuple[Function, str], Substitute]:
    """The expression behind each parameter of a function in one call of it."""
    callee = edge.callee
    arguments: dict[tuple[Function, str], Substitute] = {}
    for name, bindings in callee.bindings.items():
        if bindings[0].how == "parameter" and name != callee.receiver:
            argument, default = edge.argument(name), bindings[0].value
            if argument is not None:
                arguments[callee, name] = argument
            elif isinstance(default, cst.BaseExpression):
                arguments[callee, name] = default, callee
    return arguments


def looped_parameter(binding: Binding, scope: Function, resolver: Resolver) -> tuple[Function, str] | None:
    """The parameter whose items a loop variable takes; None if the loop is over something else."""
    root = binding.value
    while isinstance(root, cst.Call):
        if last_name(root.func) in ("items", "values", "keys") and isinstance(root.func, cst.Attribute):
            root = root.func.value
        elif root.args and last_name(root.func) in (*PEELED, "enumerate", "zip"):
            root = root.args[0].value
        else:
            return None
    if not isinstance(root, cst.Name):
        return None
    owner, bindings = resolver.find(root.value, scope)
    is_open = bool(bindings) and bindings[0].how == "parameter" and root.value != owner.receiver
    return (owner, root.value) if is_open and len(bindings) == 1 else None
