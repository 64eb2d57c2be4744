"""Analysis of a training script: main loop, metrics with evidence, rejected values with reasons, seeds, outputs."""

from dataclasses import dataclass
from pathlib import Path

import libcst as cst

from deviate.errors import InputError
from deviate.model import Analysis, Loop, Metric, Place, Rejected, Site

from .calls import CallGraph, Way
from .collect import Judged, collect
from .contexts import Context, contexts, reach
from .hazards import output_paths, seed_calls
from .index import Index, LoopNode
from .judge import Judge
from .loops import LoopFinder, Training, counter_of
from .managed import history_keys
from .naming import Wanted, expression_words, give_names, phase_of, text_words
from .origin import Origins
from .source import read_source
from .words import direction_of, words

UNTAPPABLE = ("name:", "constant", "object:", "ignored:")


@dataclass(frozen=True, slots=True)
class _Found:
    """A metric before it has a name and a number."""

    judged: Judged
    site: int
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
        return _analyze(Index(source), root, file)
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


def _analyze(index: Index, root: Path, file: str) -> Analysis:
    graph = CallGraph(index)
    judge = Judge(index, Origins(index, graph))
    judged = collect(index, graph, judge)
    trainings = _trainings(index, graph, judge, judged)
    sites: list[Site] = []
    found: list[_Found] = []
    rejected: list[Rejected] = []
    ways: list[Way] = []
    for item in judged:
        reached = reach(item.candidate.value.node, trainings, index, graph)
        ways += graph.ways(item.candidate.value.node)
        reason = reached.reason or item.decision.reason
        if item.decision.role is not None and not item.candidate.value.is_tappable:
            reason = "not tappable: the template takes it out of a dict by itself; report it by its own expression"
        site = _site(item, len(sites), index) if _is_tappable(item, reason) else None
        if site is not None and not reason:
            told = contexts(item, reached.ways, index, graph, judge)
            if all(context.label is None for context in told):
                site = _without_label(site)
            found += [_Found(item, site.id, context) for context in told]
        elif site is not None:
            site = _without_label(site)
        if site is not None:
            sites.append(site)
        if reason:
            value, line = item.candidate.value, item.candidate.line
            rejected.append(Rejected(value.spelled, file, line, reason, site.id if site else None))
    main = trainings[0] if trainings else None
    return Analysis(
        root=root,
        script=file,
        main_loop=(loops := _loops(main, ways, index))[0],
        loops=loops[1],
        metrics=_metrics(found, trainings, index),
        rejected=tuple(rejected),
        sites=tuple(sites),
        seeds=seed_calls(index),
        outputs=output_paths(index),
        files=(file,),
    )


def _trainings(index: Index, graph: CallGraph, judge: Judge, judged: list[Judged]) -> list[Training]:
    paths = [(item, graph.ways(item.candidate.value.node)) for item in judged]

    def reported(loop: cst.CSTNode) -> tuple[set[str], int]:
        counters: set[str] = set()
        n_metrics = 0
        for item, ways in paths:
            if any(loop in index.loops_around(frame.node) for way in ways for frame in way):
                if item.decision.role is not None:
                    n_metrics += 1
                elif item.decision.reason.startswith("counter"):
                    counters.update(part for part in _names(item.candidate.value.source))
        return counters, n_metrics

    return LoopFinder(index, graph, reported).find()


def _names(node: cst.CSTNode) -> list[str]:
    from .tree import identifiers

    return list(identifiers(node))


def _is_tappable(item: Judged, reason: str) -> bool:
    value = item.candidate.value
    if not value.is_tappable or any(isinstance(arg, cst.BaseString) for arg in [value.node]):
        return False
    return not item.decision.reason.startswith(UNTAPPABLE) and not reason.startswith("ignored:")


def _site(item: Judged, number: int, index: Index) -> Site:
    candidate, value = item.candidate, item.candidate.value
    return Site(
        id=number,
        file=index.source.file,
        line=candidate.line,
        span=index.source.span(value.node),
        expression=value.spelled,
        sink=candidate.sink,
        form=value.form,  # type: ignore[arg-type]
        label=candidate.label,
        fields=value.fields,
    )


def _without_label(site: Site) -> Site:
    return Site(site.id, site.file, site.line, site.span, site.expression, site.sink, site.form, None, site.fields)


def _loops(main: Training | None, ways: list[Way], index: Index) -> tuple[Loop | None, tuple[Loop, ...]]:
    """The main loop, and all loops on the ways, in source order."""
    nodes: dict[cst.CSTNode, None] = {}
    if main is not None:
        nodes[main.node] = None
        for node in index.loops_around(main.node):
            nodes[node] = None
    for way in ways:
        for frame in way:
            nodes.update(dict.fromkeys(index.loops_around(frame.node)))
    plain = [node for node in nodes if not isinstance(node, cst.For) or node.asynchronous is None]
    ordered = sorted(plain, key=lambda node: (index.source.line(node), index.source.ranges[node].start.column))
    loops = []
    for number, node in enumerate(ordered):
        is_main = main is not None and node is main.node
        assert isinstance(node, cst.For | cst.While | cst.Call)
        loops.append(_loop(node, number, is_main, index))
    return next((loop for loop in loops if loop.is_main), None), tuple(loops)


def _loop(node: LoopNode | cst.Call, number: int, is_main: bool, index: Index) -> Loop:
    source = index.source
    if isinstance(node, cst.Call):
        end = source.ranges[node].end.line
        return Loop(number, source.file, source.line(node), end, "managed", None, source.span(node), is_main)
    repeated = node.iter if isinstance(node, cst.For) else node.test
    kind = "for" if isinstance(node, cst.For) else "while"
    end = source.ranges[node.body].end.line
    if source.ranges[node.body].end.column == 0:
        end -= 1
    variable = counter_of(node, index)
    return Loop(number, source.file, source.line(node), end, kind, variable, source.span(repeated), is_main)  # type: ignore[arg-type]


def _metrics(found: list[_Found], trainings: list[Training], index: Index) -> tuple[Metric, ...]:
    names = give_names([_wanted(item) for item in found])
    metrics = [_metric(item, name, index) for item, name in zip(found, names, strict=True)]
    for training in trainings:
        if isinstance(training.node, cst.Call):
            metrics += _managed_metrics(training.node, {metric.name for metric in metrics}, index)
    metrics.sort(key=lambda metric: (metric.file, metric.line))
    return tuple(_numbered(metric, number) for number, metric in enumerate(metrics))


def _wanted(item: _Found) -> Wanted:
    candidate, context = item.judged.candidate, item.context
    value = candidate.value
    phases = {phase for part in [candidate.message] if (phase := phase_of(part))}
    near = text_words(candidate.before, candidate.earlier)
    phase = None
    if not context.hint:
        phase = phase_of(candidate.before, value.spelled) or next(iter(phases), None) or phase_of(value.function.name)
    follows = not words(candidate.before) and len(words(value.spelled)) > 0 and not near
    return Wanted(
        [] if follows else near,
        expression_words(value.spelled),
        phase,
        (context.hint,) if context.hint else (),
        candidate.line,
        words(value.function.name) if not value.function.is_module else (),
    )


def _metric(item: _Found, name: str, index: Index) -> Metric:
    candidate, decision, context = item.judged.candidate, item.judged.decision, item.context
    evidence = decision.evidence
    if context.path:
        evidence = (*evidence, "reached by " + " → ".join(str(place) for place in context.path))
    if context.label is not None:
        evidence = (*evidence, f'when {candidate.label} is "{context.label}"')
    assert decision.role is not None
    return Metric(
        id=-1,
        name=name,
        expression=candidate.value.spelled,
        file=index.source.file,
        line=candidate.line,
        sink=candidate.sink,
        role=decision.role,
        direction=decision.direction,
        evidence=evidence,
        site=item.site,
        path=context.path,
        label=context.label,
    )


def _managed_metrics(call: cst.Call, taken: set[str], index: Index) -> list[Metric]:
    line = index.source.line(call)
    keys = [key for key in history_keys(call, index) if key not in taken]
    evidence = ("reported by Keras in the history of fit()", "predicted from compile() and the validation data")
    return [
        Metric(-1, key, key, index.source.file, line, "history", "quality", direction_of(words(key)), evidence, None)
        for key in keys
    ]


def _numbered(metric: Metric, number: int) -> Metric:
    return Metric(
        number, metric.name, metric.expression, metric.file, metric.line, metric.sink, metric.role, metric.direction,
        metric.evidence, metric.site, metric.path, metric.label,
    )  # fmt: skip


__all__ = ["Place", "analyze"]
