"""Repeats: a variable reported by a second sink under the same name, as when a result is printed and saved."""

from collections.abc import Sequence

import libcst as cst

from deviate.analysis.metrics.collect import Judged
from deviate.analysis.metrics.contexts import Context
from deviate.analysis.metrics.naming import NameParts
from deviate.analysis.resolve.index import Nodes
from deviate.analysis.resolve.tree import dotted_name, walk

LOOPS = (cst.For, cst.While)
BARRIERS = (cst.FunctionDef, cst.Lambda, cst.CompFor)


def find_repeats(
    metrics: Sequence[tuple[Judged, Context]], name_parts: Sequence[NameParts], nodes: Nodes
) -> dict[int, int]:
    """Number of each metric that repeats an earlier one, and the number of that one.

    Both report the same local variable on one call path and under the same words, the second one whenever the first was
    reported, and nothing gives the variable another value in between. So the two would always have the same score: as
    two metrics they would leave open which of them decides, and count twice where p-values are adjusted.
    """
    repeats: dict[int, int] = {}
    first: dict[tuple[object, ...], int] = {}
    for number, ((judged, context), words) in enumerate(zip(metrics, name_parts, strict=True)):
        value = judged.candidate.value
        if not isinstance(value.source, cst.Name) or value.form != "value" or value.path or judged.candidate.label:
            continue
        key = (value.function, value.source.value, context.path, context.label, tuple(words.text))
        earlier = first.setdefault(key, number)
        if metrics[earlier][0].candidate.sink != judged.candidate.sink and _is_same(metrics[earlier][0], judged, nodes):
            repeats[number] = earlier
    return repeats


def _is_same(earlier: Judged, later: Judged, nodes: Nodes) -> bool:
    one, other = earlier.candidate.value, later.candidate.value
    bindings = other.function.bindings.get(dotted_name(other.source), [])
    if not bindings:  # of another scope: any function called in between may change it
        return False
    source = other.function.source
    begin, end = source.start(one.node).line, source.start(other.node).line
    if begin > end or any(
        begin <= source.start(binding.node).line <= end for binding in bindings if binding.how != "parameter"
    ):
        return False
    return _is_followed(one.node, other.node, nodes)


def _is_followed(one: cst.CSTNode, other: cst.CSTNode, nodes: Nodes) -> bool:
    """Whether the first site has always reported its last value before the second site runs.

    The second is after it in one block, or, in no loop itself, after the loop whose every iteration ends with the
    first.
    """
    blocks = _blocks(one, nodes, is_beyond_loops=not nodes.loops_around(other))
    for parent in nodes.ancestors(other):
        if parent in blocks:
            return True
        if isinstance(parent, BARRIERS + LOOPS):
            return False
    return False


def _blocks(one: cst.CSTNode, nodes: Nodes, *, is_beyond_loops: bool) -> set[cst.CSTNode]:
    """The blocks that reach the statement of a node whenever they run."""
    source = nodes.source(one)
    blocks: set[cst.CSTNode] = set()
    for parent in nodes.ancestors(one):
        if isinstance(parent, cst.IndentedBlock | cst.Module):
            blocks.add(parent)
        elif isinstance(parent, (*BARRIERS, cst.If, cst.Try, cst.Else)):
            break
        elif isinstance(parent, LOOPS):
            leaves = (leave for leave in walk(parent.body) if isinstance(leave, cst.Break | cst.Continue))
            if not is_beyond_loops or any(source.start(leave).line < source.start(one).line for leave in leaves):
                break
    return blocks
