"""Uses of inputs: whether a reading of the clock, a listing or the like can change what a script computes."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import libcst as cst

from deviate.analysis.resolve.index import Module
from deviate.analysis.resolve.script import call_graph
from deviate.analysis.resolve.tree import last_name, walk
from deviate.errors import InputError
from deviate.model.analysis import InputUse
from deviate.sources.flow import ORDER_INSENSITIVE_CALLS, Flow, is_load, is_sorted
from deviate.sources.survey import Survey
from deviate.sources.values import ValueUse, strongest

ORDERS = frozenset({"listing", "set-order", "completion"})
"""Sources whose values are orders."""
ITERATORS = frozenset({"as_completed", "imap_unordered"})
"""Functions whose results a loop takes in order of completion."""


@dataclass(frozen=True, slots=True)
class InputPlace:
    """A place where an input enters: its source, what was called there, and the line."""

    source: str
    call: str
    file: str
    line: int


def input_uses(script: Path, root: Path, places: Iterable[InputPlace]) -> dict[InputPlace, InputUse]:
    """What the program does with its inputs, from the source; `unknown` where it cannot be read."""
    places = tuple(places)
    uses: dict[InputPlace, InputUse] = dict.fromkeys(places, "unknown")
    try:
        with call_graph(script, root) as graph:
            survey = Survey(graph)
            modules = {module.file: module for module in graph.project.modules.values()}
            for place in places:
                if place.file in modules:
                    uses[place] = _use(place, modules[place.file], survey)
    except InputError:
        pass
    return uses


def _use(place: InputPlace, module: Module, survey: Survey) -> InputUse:
    calls = list(_calls_at(place, module, survey))
    if not calls:
        return "unknown"
    if place.source in ORDERS:
        return "sorted" if all(_is_order_lost(call, survey) for call in calls) else "unknown"
    return strongest([ValueUse(survey, place.source).of(call) for call in calls])


def _calls_at(place: InputPlace, module: Module, survey: Survey) -> Iterator[cst.BaseExpression]:
    """Calls of this name that begin on the line, or stand in the simple statement that begins there."""
    name = place.call.partition("(")[0].partition("[")[0].rpartition(".")[2].strip()
    for function in module.scopes:
        for call in function.calls:
            is_there = place.line in (survey.nodes.line(call), survey.nodes.statement_line(call))
            if is_there and last_name(call.func) == name:
                yield call


def _is_order_lost(node: cst.BaseExpression, survey: Survey) -> bool:
    """Whether the program sorts what it receives, or stores results of parallel work by keys."""
    if isinstance(node, cst.Call) and last_name(node.func) in ITERATORS:
        return not Flow(survey).order_matters(node, is_set=False)
    return _is_sorted_at_once(node, survey)


def _is_sorted_at_once(node: cst.BaseExpression, survey: Survey) -> bool:
    """Whether the order of a listing or a set is removed where it enters, or in the variable that takes it."""
    parents = survey.nodes.parents
    parent = parents.get(node)
    call = parents.get(parent) if isinstance(parent, cst.Arg) else None
    if isinstance(call, cst.Call) and last_name(call.func) in ORDER_INSENSITIVE_CALLS:
        return True
    if is_sorted(node, survey.nodes):
        return True
    if isinstance(parent, cst.Assign) and isinstance(target := parent.targets[0].target, cst.Name):
        scope, _ = survey.resolver.find(target.value, survey.nodes.function_of(target))
        loads = [name for name in walk(scope.node) if type(name) is cst.Name and name.value == target.value]
        loads = [name for name in loads if is_load(name, survey.nodes)]
        return bool(loads) and is_sorted(loads[0], survey.nodes)
    return False
