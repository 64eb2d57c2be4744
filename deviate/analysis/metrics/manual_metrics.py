"""Sites that the user adds by file, line and expression, where the analysis found no metric."""

import dataclasses
import difflib

import libcst as cst

from deviate.analysis.loops.main_loop import loop_value
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Nodes
from deviate.analysis.resolve.project import Project
from deviate.analysis.resolve.source import SourceFile, read_source
from deviate.analysis.resolve.statements import normalise
from deviate.analysis.resolve.tree import constant_number, walk
from deviate.errors import InputError
from deviate.model.analysis import Analysis, Loop, Site, TapForm
from deviate.model.places import place_text

ADDED = "named in deviate.toml"
MOST_SHOWN = 6


def add_site(analysis: Analysis, file: str, line: int, expression: str) -> tuple[Analysis, Site]:
    """The analysis with a site for an expression that stands in the statement at a line.

    Raises:
        InputError: there is no such file, statement or expression; near misses are shown.
    """
    graph = CallGraph(Project(read_source(analysis.root / analysis.script, analysis.script), analysis.root))
    if file not in graph.project.modules:
        graph.project.add(read_source(analysis.root / file, file))
    source, nodes = graph.project.modules[file].source, graph.nodes
    if line > len(source.lines):
        raise InputError(
            f"{place_text(file, line)} is beyond the end of the file, which has {len(source.lines)} lines",
            "Name the line of the statement that reports the value.",
        )
    start = _statement_start(source, line)
    candidates = [node for node in walk(source.tree) if _is_value(node, nodes)]
    on_line = [node for node in candidates if nodes.statement_line(node) == start]
    wanted = normalise(expression)
    matches = [node for node in on_line if normalise(source.code(node)) == wanted]
    if not matches:
        raise _not_found(nodes, file, line, expression, on_line, candidates)
    node = matches[0]
    field = nodes.parents[node]
    is_shown = isinstance(field, cst.FormattedStringExpression) and field.equal is not None
    number = 1 + max((site.id for site in analysis.sites), default=-1)
    form: TapForm = "shown" if is_shown else "value"
    site = Site(number, file, start, source.span(node), source.code(node), ADDED, form)
    loops = _with_loops(analysis, node, graph)
    return dataclasses.replace(analysis, sites=(*analysis.sites, site), loops=loops), site


def _statement_start(source: SourceFile, line: int) -> int:
    """First line of the statement that a line belongs to."""
    statements = (node for node in walk(source.tree) if isinstance(node, STATEMENTS))
    starts = [source.line(node) for node in statements]
    return max((start for start in starts if start <= line), default=line)


STATEMENTS = (cst.BaseSmallStatement, cst.BaseCompoundStatement)
NAMING = (
    cst.Param,
    cst.ImportAlias,
    cst.AsName,
    cst.NameItem,
    cst.FunctionDef,
    cst.ClassDef,
    cst.AssignTarget,
    cst.Del,
)


def _is_value(node: cst.CSTNode, nodes: Nodes) -> bool:
    """Whether a node is an expression that is evaluated, not a bound name or a part of one."""
    if node not in nodes.parents or not isinstance(node, cst.BaseExpression) or constant_number(node) is not None:
        return False
    parent = nodes.parents.get(node)
    if isinstance(parent, cst.Attribute) and node is parent.attr:
        return False
    if isinstance(parent, cst.Arg) and node is parent.keyword:
        return False
    if (
        isinstance(parent, cst.For | cst.CompFor | cst.AugAssign | cst.AnnAssign | cst.NamedExpr)
        and node is parent.target
    ):
        return False
    inside = (node, *nodes.ancestors(node))
    return not isinstance(parent, NAMING) and not any(isinstance(part, cst.Import | cst.ImportFrom) for part in inside)


def _not_found(
    nodes: Nodes, file: str, line: int, expression: str, on_line: list[cst.CSTNode], everywhere: list[cst.CSTNode]
) -> InputError:
    wanted = normalise(expression)
    elsewhere = [node for node in everywhere if normalise(nodes.code(node)) == wanted]
    if elsewhere:
        lines = sorted({nodes.statement_line(node) for node in elsewhere})
        listing = ", ".join(place_text(file, number) for number in lines[:MOST_SHOWN])
        return InputError(
            f"{expression} does not stand in the statement at {place_text(file, line)}", f"It stands at {listing}."
        )
    spelled = list(dict.fromkeys(nodes.code(node) for node in on_line))
    near = difflib.get_close_matches(expression, spelled, MOST_SHOWN, 0.3) or spelled[:MOST_SHOWN]
    if not near:
        return InputError(
            f"{place_text(file, line)} holds no expression", "Name the line of the statement that reports the value."
        )
    listing = "".join(f"\n  {text}" for text in near)
    return InputError(
        f"no expression {expression} in the statement at {place_text(file, line)}; it holds:{listing}",
        "Spell it as in the script, and name the line of its statement.",
    )


def _with_loops(analysis: Analysis, node: cst.CSTNode, graph: CallGraph) -> tuple[Loop, ...]:
    """The loops of the analysis, and those on the call paths to a node that are missing there."""
    loops = list(analysis.loops)
    listed = {(loop.file, loop.span) for loop in loops}
    for call_path in graph.call_paths(node):
        for frame in call_path:
            for loop_node in graph.nodes.loops_around(frame.node):
                loop = loop_value(loop_node, len(loops), graph.nodes)
                if loop is not None and (loop.file, loop.span) not in listed:
                    listed.add((loop.file, loop.span))
                    loops.append(loop)
    return tuple(loops)
