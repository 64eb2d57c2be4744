"""Analysis of a training script: main loop, metrics with evidence, rejected values with reasons, seeds, outputs."""

from dataclasses import dataclass
from pathlib import Path

import libcst as cst

from deviate.errors import InputError
from deviate.model import Analysis, Loop, Metric, Rejected, Site

from .calls import CallGraph, Way
from .collect import Collector, Judged
from .contexts import Context, contexts, reach
from .hazards import output_paths, seed_calls
from .index import LoopNode
from .judge import Judge
from .labels import tells_keys
from .loops import LoopFinder, Training, loop_value
from .managed import history_keys
from .naming import give_names
from .origin import Origins
from .project import Project
from .reports import GRAPH_SUMMARY
from .source import read_source
from .titles import wanted
from .tree import identifiers
from .words import direction_of, words

UNTOLD = "nothing marks it"
UNTAPPABLE = ("name:", "constant", "object:", "ignored:")


@dataclass(frozen=True, slots=True)
class _Found:
    """A metric before it has a name and a number."""

    judged: Judged
    site: int | None
    context: Context


def analyze(script: Path, root: Path) -> Analysis:
    """Find what a script trains and reports. Nothing of the script is run.

    Args:
        script: the entry script.
        root: the project folder; files are named relative to it.

    Raises:
        InputError: the script is missing, outside the project, or no Python.
    """
    file = _relative(script, root)
    source = read_source(script, file)
    try:
        return _analyze(CallGraph(Project(source, root)), root, file)
    except RecursionError:
        raise InputError(f"{file}: expressions are nested too deeply to be read", "Split the deepest one.") from None


def _relative(script: Path, root: Path) -> str:
    try:
        return script.absolute().relative_to(root.absolute()).as_posix()
    except ValueError:
        pass
    try:
        return script.resolve().relative_to(root.resolve()).as_posix()
    except (ValueError, OSError, RuntimeError):
        raise InputError(f"{script} is outside the project {root}", "Run deviate in the project's folder.") from None


def _analyze(graph: CallGraph, root: Path, file: str) -> Analysis:
    judged = Collector(graph, Judge(Origins(graph))).collect()
    trainings = _trainings(graph, judged)
    sites: list[Site] = []
    found: list[_Found] = []
    rejected: list[Rejected] = []
    ways: list[Way] = []
    for item in judged:
        node = item.candidate.value.node
        is_drawn = item.candidate.sink == GRAPH_SUMMARY  # declared before the loop that writes it
        reached = reach(node, () if is_drawn else trainings, graph)
        ways += graph.ways(node)
        reason = item.decision.reason
        if not reason or reason.startswith(UNTOLD):
            reason = reached.reason or reason
        site = _site(item, len(sites)) if _is_tappable(item, reason) and not is_drawn else None
        if is_drawn and not reason:
            found.append(_Found(item, None, Context(reached.ways[0], (), item.candidate.value.name)))
        elif site is not None and not reason:
            told = contexts(item, reached.ways, graph)
            if all(context.label is None for context in told) and not tells_keys(site.label, item.candidate, graph):
                site = _without_label(site)
            found += [_Found(item, site.id, context) for context in told]
        elif site is not None:
            site = _without_label(site)
        if site is not None:
            sites.append(site)
        if reason:
            value, line = item.candidate.value, item.candidate.line
            where = value.function.module.file
            rejected.append(Rejected(value.spelled, where, line, reason, site.id if site else None))
    loops = _loops(trainings[0] if trainings else None, ways, graph)
    return Analysis(
        root=root,
        script=file,
        main_loop=next((loop for loop in loops if loop.is_main), None),
        loops=loops,
        metrics=_metrics(found, trainings, graph),
        rejected=tuple(rejected),
        sites=tuple(sites),
        seeds=seed_calls(graph),
        outputs=output_paths(graph),
        files=graph.project.files(),
        notices=tuple(graph.project.notices),
    )


def _trainings(graph: CallGraph, judged: list[Judged]) -> list[Training]:
    inside: dict[cst.CSTNode, list[Judged]] = {}
    for item in judged:
        ways = graph.ways(item.candidate.value.node)
        for loop in {loop for way in ways for frame in way for loop in graph.nodes.loops_around(frame.node)}:
            inside.setdefault(loop, []).append(item)

    def reported(loop: cst.CSTNode) -> tuple[set[str], int]:
        items = inside.get(loop, [])
        counting = [item for item in items if item.decision.reason.startswith("counter")]
        counters = {name for item in counting for name in identifiers(item.candidate.value.source)}
        return counters, sum(item.decision.role is not None for item in items)

    return LoopFinder(graph, reported).find()


def _is_tappable(item: Judged, reason: str) -> bool:
    value = item.candidate.value
    if not value.is_tappable or any(isinstance(arg, cst.BaseString) for arg in [value.node]):
        return False
    return not item.decision.reason.startswith(UNTAPPABLE) and not reason.startswith("ignored:")


def _site(item: Judged, number: int) -> Site:
    candidate, value = item.candidate, item.candidate.value
    return Site(
        id=number,
        file=value.function.module.file,
        line=candidate.line,
        span=value.function.source.span(value.node),
        expression=value.spelled,
        sink=candidate.sink,
        form=value.form,
        label=candidate.label,
        fields=value.fields,
    )


def _without_label(site: Site) -> Site:
    return Site(site.id, site.file, site.line, site.span, site.expression, site.sink, site.form, None, site.fields)


def _loops(main: Training | None, ways: list[Way], graph: CallGraph) -> tuple[Loop, ...]:
    """The main loop, and all loops on the ways to sites and around the main loop, in source order."""
    nodes: dict[LoopNode | cst.Call, None] = {}
    if main is not None:
        nodes[main.node] = None
        nodes.update(dict.fromkeys(graph.nodes.loops_around(main.node)))
    for way in ways:
        for frame in way:
            nodes.update(dict.fromkeys(graph.nodes.loops_around(frame.node)))
    order = {file: number for number, file in enumerate(graph.project.files())}

    def place(node: cst.CSTNode) -> tuple[int, int, int]:
        source = graph.nodes.source(node)
        return order[source.file], source.start(node).line, source.start(node).column

    ordered = sorted(nodes, key=place)
    loops: list[Loop] = []
    for node in ordered:
        made = loop_value(node, len(loops), graph.nodes, is_main=main is not None and node is main.node)
        if made is not None:
            loops.append(made)
    return tuple(loops)


def _metrics(found: list[_Found], trainings: list[Training], graph: CallGraph) -> tuple[Metric, ...]:
    names = give_names(wanted([(item.judged, item.context) for item in found]))
    metrics = [_metric(item, name) for item, name in zip(found, names, strict=True)]
    for training in trainings:
        if isinstance(training.node, cst.Call):
            metrics += _managed_metrics(training.node, {metric.name for metric in metrics}, graph)
    order = {file: number for number, file in enumerate(graph.project.files())}
    metrics.sort(key=lambda metric: (order[metric.file], metric.line))
    return tuple(_numbered(metric, number) for number, metric in enumerate(metrics))


def _metric(item: _Found, name: str) -> Metric:
    candidate, decision, context = item.judged.candidate, item.judged.decision, item.context
    evidence = decision.evidence
    if context.label is not None and item.site is not None:
        evidence = (*evidence, f'where {candidate.label} is "{context.label}"')
    if context.path:
        evidence = (*evidence, f"reached by the calls at lines {' → '.join(str(place.line) for place in context.path)}")
    return Metric(
        id=-1,
        name=name,
        expression=candidate.value.spelled,
        file=candidate.value.function.module.file,
        line=candidate.line,
        sink=candidate.sink,
        role=decision.role or "other",
        direction=decision.direction,
        evidence=evidence,
        site=item.site,
        path=context.path,
        label=context.label,
    )


def _managed_metrics(call: cst.Call, taken: set[str], graph: CallGraph) -> list[Metric]:
    place = graph.nodes.place(call)
    keys = [key for key in history_keys(call, graph) if key not in taken]
    evidence = ("reported by Keras in the history of fit()", "predicted from compile() and the validation data")
    return [
        Metric(-1, key, key, place.file, place.line, "history", "quality", direction_of(words(key)), evidence, None)
        for key in keys
    ]


def _numbered(metric: Metric, number: int) -> Metric:
    return Metric(
        number, metric.name, metric.expression, metric.file, metric.line, metric.sink, metric.role, metric.direction,
        metric.evidence, metric.site, metric.path, metric.label,
    )  # fmt: skip
