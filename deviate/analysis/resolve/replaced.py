"""Which values of a variable another one has replaced, always, where the variable is used."""

from collections.abc import Callable, Sequence

import libcst as cst

from deviate.analysis.resolve.index import Binding, Nodes


def latest_assignment(bindings: Sequence[Binding], use: cst.CSTNode, nodes: Nodes) -> cst.CSTNode | None:
    """The last assignment of a whole value that always runs before a use of the variable; None if there is none."""
    assigned = {binding.node for binding in bindings if binding.whole("assign") is not None}
    if not assigned or use not in nodes.parents:
        return None
    latest: cst.CSTNode | None = None
    for parent, below in nodes.around(use):
        for statement in parent.body if isinstance(parent, cst.IndentedBlock | cst.Module) else ():
            if statement is below:
                break
            parts = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
            latest = next((part for part in parts if part in assigned), latest)
        if latest is not None:
            break
    return latest


def replaced_by(latest: cst.CSTNode | None, use: cst.CSTNode, nodes: Nodes) -> Callable[[cst.CSTNode], bool]:
    """Whether what a statement does to a variable is undone, always, by its latest assignment before a use."""
    if latest is None:
        return lambda _: False
    begin, end = nodes.line(latest), nodes.line(use)
    shared = set(nodes.loops_around(use)) - set(nodes.loops_around(latest))

    def is_replaced(node: cst.CSTNode) -> bool:
        line = nodes.line(node)
        return line < begin or (line > end and shared.isdisjoint(nodes.loops_around(node)))

    return is_replaced
