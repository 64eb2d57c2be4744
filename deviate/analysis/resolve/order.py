"""Order of statements: what runs after what, mutually exclusive branches, and unreachable code."""

import libcst as cst

from deviate.analysis.resolve.calls import Frame
from deviate.analysis.resolve.index import Nodes
from deviate.analysis.resolve.tree import dotted_name, last_name
from deviate.model.metric_vocabulary import word_set

REGISTERING = word_set("set_defaults add_command add_typer add_parser register")
EXITS = ("sys.exit", "exit", "quit", "os._exit")


def runs_after(frame: Frame, earlier: Frame, nodes: Nodes) -> bool:
    """Whether the node of a frame follows that of another frame of the same function, and may run after it.

    It may not if the two are on mutually exclusive branches, if the branch of the earlier one leaves the function, or
    if both are alternative commands: lambdas and registered functions.
    """
    if frame.function is not earlier.function or (_is_registered(frame) and _is_registered(earlier)):
        return False
    chosen = _lambda_around(frame.node, nodes), _lambda_around(earlier.node, nodes)
    if None not in chosen and chosen[0] is not chosen[1]:
        return False
    last = earlier.node.body if isinstance(earlier.node, cst.For | cst.While) else earlier.node
    source = frame.function.source
    where, end = source.start(frame.node), source.end(last)
    if (where.line, where.column) < (end.line, end.column):
        return False
    branches = dict(_branches(frame.node, nodes))
    return all(
        branches[statement] is branch if statement in branches else not _leaves(branch)
        for statement, branch in _branches(earlier.node, nodes)
    )


def is_dead(node: cst.CSTNode, nodes: Nodes) -> bool:
    """Whether a node follows a statement of an enclosing block that always leaves it (`return`, `sys.exit()`)."""
    answer = nodes.dead.get(node)
    if answer is None:
        answer = nodes.dead[node] = _find_is_dead(node, nodes)
    return answer


def _find_is_dead(node: cst.CSTNode, nodes: Nodes) -> bool:
    parent = nodes.parents.get(node)
    if parent is None:
        return False
    if isinstance(parent, cst.BaseSuite | cst.Module) and node in _behind_exit(parent, nodes):
        return True
    return not isinstance(parent, cst.FunctionDef) and is_dead(parent, nodes)


def _behind_exit(block: cst.BaseSuite | cst.Module, nodes: Nodes) -> frozenset[cst.CSTNode]:
    """The statements of a block after one that leaves it."""
    if block not in nodes.behind_exit:
        exits = (place for place, statement in enumerate(block.body, 1) if _is_exit(statement))
        nodes.behind_exit[block] = frozenset(block.body[next(exits, len(block.body)) :])
    return nodes.behind_exit[block]


def _branches(node: cst.CSTNode, nodes: Nodes) -> list[tuple[cst.CSTNode, cst.CSTNode]]:
    """The branches of `if` statements in which a node stands: (statement, branch)."""
    branches: list[tuple[cst.CSTNode, cst.CSTNode]] = []
    below = node
    for parent in nodes.ancestors(node):
        if type(parent) is cst.If:
            branches.append((parent, below))
        if type(parent) is cst.FunctionDef:
            break
        below = parent
    return branches


def _is_registered(frame: Frame) -> bool:
    """Whether a function is only registered, to be called on request."""
    if frame.edge is None or not frame.edge.is_handed:
        return False
    return not isinstance(frame.node, cst.Call) or last_name(frame.node.func) in REGISTERING


def _lambda_around(node: cst.CSTNode, nodes: Nodes) -> cst.Lambda | None:
    return next((parent for parent in nodes.ancestors(node) if type(parent) is cst.Lambda), None)


def _leaves(branch: cst.CSTNode) -> bool:
    """Whether a branch ends by leaving the function, or the program."""
    body = branch.body if isinstance(branch, cst.Else) else branch
    return isinstance(body, cst.BaseSuite) and any(_is_exit(statement) for statement in body.body)


def _is_exit(statement: cst.CSTNode) -> bool:
    parts = statement.body if isinstance(statement, cst.SimpleStatementLine) else (statement,)
    return any(
        isinstance(part, cst.Return | cst.Raise)
        or (isinstance(part, cst.Expr) and isinstance(part.value, cst.Call) and dotted_name(part.value.func) in EXITS)
        for part in parts
    )
