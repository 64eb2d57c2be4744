"""Flow of values into reports, through parameters and loops over containers."""

import libcst as cst

from deviate.analysis.resolve.abstract_values import Edge
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.message_items import Substitute


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
