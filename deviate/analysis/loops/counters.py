"""The counter that a script reports of a loop, such as `epoch + 1`: what a reader of its output calls a step."""

from collections.abc import Container, Iterator

import libcst as cst

from deviate.analysis.loops.main_loop import RANGES, counter_of, iterated_expressions
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.tree import constant_number, keywords, last_name, positional
from deviate.model.analysis import LoopCounter

LARGEST = 1_000_000
"""Offsets and strides beyond it are no way to count steps."""


def reported_counter(loop: cst.For, reported: Container[str], graph: CallGraph) -> LoopCounter | None:
    """The counter of a loop over a range with constant start and stride; None where the script does not report it.

    Args:
        reported: expressions that are reported inside the loop and count something.
    """
    variable = counter_of(loop)
    numbers = _first_and_stride(loop, graph)
    if variable is None or numbers is None:
        return None
    first, stride = numbers
    for offset, spellings in _spellings(variable):
        if any(spelling in reported for spelling in spellings):
            return LoopCounter(variable, first + offset, stride)
    return None


def _spellings(variable: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """What a script writes for its counter, the number from 1 first: where it reports both, people read that one."""
    yield 1, (f"{variable} + 1", f"1 + {variable}", f"{variable}+1", f"1+{variable}")
    yield 0, (variable,)


def _first_and_stride(loop: cst.For, graph: CallGraph) -> tuple[int, int] | None:
    """What the first target of the loop is at first, and by how much it rises; None if that is not constant."""
    is_tuple = isinstance(loop.target, cst.Tuple)
    for part in iterated_expressions(loop.iter, graph.nodes.function_of(loop), graph):
        if not isinstance(part, cst.Call):
            continue
        name, arguments = last_name(part.func), positional(part)
        if name == "enumerate" and is_tuple:
            start = keywords(part).get("start", arguments[1] if len(arguments) > 1 else None)
            first = 0 if start is None else _whole(start)
            return None if first is None else (first, 1)
        if name in RANGES & {"range", "trange"} and not is_tuple and arguments:
            bounds = [_whole(argument) for argument in arguments]
            first = 0 if len(bounds) == 1 else bounds[0]
            stride = bounds[2] if len(bounds) > 2 else 1
            return None if first is None or not stride or stride < 0 else (first, stride)
    return None


def _whole(node: cst.BaseExpression) -> int | None:
    number = constant_number(node)
    return int(number) if number is not None and number == int(number) and abs(number) <= LARGEST else None
