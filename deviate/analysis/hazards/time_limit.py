"""Training that ends when its time is up."""

from collections.abc import Iterator

import libcst as cst

from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Called, Survey
from deviate.analysis.resolve.origins import CLOCKS
from deviate.analysis.resolve.tree import dotted_name, last_name, walk

EXITS = ("sys.exit", "exit", "quit")


@hazard("time-limit", "timing")
def time_limit(survey: Survey) -> Matches:
    """Training that ends when its time is up.

    How many steps fit into a time differs between runs and machines, and with it the result. deviate cannot hold it
    in any variant.

    Example:
        import time
        start = time.time()
        for step in range(10000):
            train(step)
            if time.time() - start > 3600:
                break

    Instead:
        for step in range(10000):
            train(step)
            if step > 5000:
                break

    Source: Python documentation of `time.time`.
    """
    for call in survey.calls(CLOCKS):
        for test in _clock_tests(call, survey):
            yield test, "how many steps fit into the time differs between runs"


def _clock_tests(call: Called, survey: Survey) -> Iterator[cst.CSTNode]:
    """Conditions on the elapsed time that end a loop."""
    previous: cst.CSTNode = call.node
    for parent in survey.nodes.ancestors(call.node):
        if isinstance(parent, cst.Assign):
            yield from _later_tests(parent, call, survey)
            return
        is_test = isinstance(parent, cst.If | cst.While) and previous is parent.test
        if is_test and _is_limit(previous, parent, survey):
            yield previous
        if isinstance(parent, cst.BaseStatement | cst.BaseSmallStatement):
            return
        previous = parent


def _later_tests(statement: cst.Assign, call: Called, survey: Survey) -> Iterator[cst.CSTNode]:
    """Such conditions on an elapsed time that was first stored in a variable."""
    target = statement.targets[0].target
    if not isinstance(statement.value, cst.BinaryOperation) or not isinstance(target, cst.Name):
        return
    for node in walk(call.function.node):
        if isinstance(node, cst.If | cst.While) and _is_limit(node.test, node, survey):
            names = (part.value for part in walk(node.test) if isinstance(part, cst.Name))
            if target.value in names:
                yield node.test


def _is_limit(test: cst.CSTNode, statement: cst.CSTNode, survey: Survey) -> bool:
    if not any(isinstance(part, cst.Comparison) for part in walk(test)):
        return False
    if isinstance(statement, cst.While):
        called = {last_name(part.func) for part in walk(statement.body) if isinstance(part, cst.Call)}
        return not called & {"sleep", "poll", "wait"}
    body = statement.body if isinstance(statement, cst.If) else statement
    leaves = any(
        isinstance(part, cst.Break) or (isinstance(part, cst.Call) and dotted_name(part.func) in EXITS)
        for part in walk(body)
    )
    return leaves and bool(survey.nodes.loops_around(statement))
