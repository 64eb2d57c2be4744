"""Reach: whether a value can be reported in the training or after it, as far as the calls in the source show."""

from collections.abc import Sequence

import libcst as cst

from deviate.analysis.loops.main_loop import Training
from deviate.analysis.metrics.judge import Objection
from deviate.analysis.resolve.calls import CallGraph, CallPath, Frame
from deviate.analysis.resolve.index import Nodes, is_exit
from deviate.model.analysis import RejectionReason


def objection_to_place(node: cst.CSTNode, trainings: Sequence[Training], graph: CallGraph) -> Objection | None:
    """Why a node is not reached in the training or after it; None where it is, or where nothing trains."""
    call_paths = graph.call_paths(node)
    if not call_paths or _is_of_script(node, graph):
        return Objection(RejectionReason.NEVER_CALLED)
    alive = [path for path in call_paths if not any(graph.nodes.is_dead(frame.node) for frame in path)]
    if not alive:
        return Objection(RejectionReason.BEHIND_EXIT)
    if not trainings or any(_is_inside(path, trainings, graph) or _is_after(path, trainings, graph) for path in alive):
        return None
    return Objection(RejectionReason.EARLY)


def _is_of_script(node: cst.CSTNode, graph: CallGraph) -> bool:
    """Whether a node runs only where its file is a script of its own, which it is not here."""
    function = graph.nodes.function_of(node)
    if not function.is_module or function.module is graph.project.entry:
        return False
    return not set(function.module.guards).isdisjoint(graph.nodes.ancestors(node))


def _is_inside(call_path: CallPath, trainings: Sequence[Training], graph: CallGraph) -> bool:
    """Whether a call path leads through a training."""
    for training in trainings:
        if not training.is_managed and any(
            training.node in graph.nodes.loops_around(frame.node) for frame in call_path
        ):
            return True
        if training.is_managed and any(frame.edge is not None and frame.edge.is_handed for frame in call_path):
            return True  # the framework calls it, and it drives the training too
    return False


def _is_after(call_path: CallPath, trainings: Sequence[Training], graph: CallGraph) -> bool:
    return any(
        _runs_after(frame, earlier, graph.nodes)
        for training in trainings
        for training_path in graph.call_paths(training.node)
        for earlier in training_path
        for frame in call_path
    )


def _runs_after(frame: Frame, earlier: Frame, nodes: Nodes) -> bool:
    """Whether the node of a frame follows that of another frame of the same function, and may run after it.

    It may not if the two are on mutually exclusive branches, or if the branch of the earlier one leaves the function.
    """
    if frame.function is not earlier.function:
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


def _branches(node: cst.CSTNode, nodes: Nodes) -> list[tuple[cst.CSTNode, cst.CSTNode]]:
    """The branches of `if` statements in which a node stands: (statement, branch)."""
    return [(parent, below) for parent, below in nodes.around(node) if type(parent) is cst.If]


def _leaves(branch: cst.CSTNode) -> bool:
    """Whether a branch ends by leaving the function, or the program."""
    body = branch.body if isinstance(branch, cst.Else) else branch
    return isinstance(body, cst.BaseSuite) and any(is_exit(statement) for statement in body.body)
