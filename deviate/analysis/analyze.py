"""Analysis of a training script: main loop, metrics with evidence, rejected values, seeds, outputs and hazards."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path, PurePosixPath

import libcst as cst

from deviate.analysis.entries import project_files
from deviate.analysis.loops.counters import reported_counter
from deviate.analysis.loops.main_loop import LoopFinder, Training, Trainings, counted_unit, loop_value
from deviate.analysis.loops.training import TrainingSigns
from deviate.analysis.metrics.collect import Collector, Judged
from deviate.analysis.metrics.history import history_evidence, history_keys
from deviate.analysis.metrics.judge import Candidate, Judge, Objection
from deviate.analysis.metrics.naming import give_names
from deviate.analysis.metrics.reach import objection_to_place
from deviate.analysis.metrics.reports import GRAPH_SUMMARY
from deviate.analysis.resolve.calls import CallGraph, CallPath
from deviate.analysis.resolve.index import Function, LoopNode
from deviate.analysis.resolve.origins import Origins
from deviate.analysis.resolve.script import call_graph, relative_name
from deviate.analysis.resolve.tree import identifiers
from deviate.model.analysis import TEXT_SINKS, Analysis, Loop, Metric, Rejected, RejectionReason, Role, Site
from deviate.model.metric_vocabulary import direction_of, split_identifier
from deviate.model.places import with_cells
from deviate.registry import wing

COUNTERS = frozenset(reason for reason in RejectionReason if reason.kind == "counter")
MOST_ELSEWHERE = 400_000
"""Bytes of files that are read for what they report though no call leads there: at most some three seconds."""
REPORTING = frozenset({
    "catboost", "deviate", "keras", "lightgbm", "lightning", "pytorch_lightning", "sb3_contrib", "stable_baselines3",
    "tensorflow", "tf_keras", "transformers", "xgboost",
})  # fmt: skip
"""Packages whose adapters record what they report, without a site in the project."""
UNTAPPABLE = frozenset(reason for reason in RejectionReason if reason.kind in ("name", "constant", "object", "ignored"))


_Found = tuple[Judged, int | None]
"""A metric that has no name and number yet, and its site."""


def analyze(script: Path, root: Path, *, is_whole: bool = False) -> Analysis:
    """Find what a script trains and reports. Nothing of the script is run.

    Args:
        script: the entry script.
        root: the project folder; files are named relative to it.
        is_whole: also list what the other files of the project report, to be tapped: the analysis does not see that
            they are imported, and a run may do it.

    Raises:
        InputError: the script is missing, outside the project, or no Python.
    """
    file = relative_name(script, root)
    with call_graph(script, root) as graph:
        return _analyze(graph, root, file, is_whole=is_whole)


def _analyze(graph: CallGraph, root: Path, file: str, *, is_whole: bool) -> Analysis:
    collector = Collector(graph, Judge(Origins(graph)))
    judged = collector.collect()
    trainings = _trainings(graph, judged)
    outer = trainings.outer
    sites: list[Site] = []
    metrics: list[_Found] = []
    rejected: list[Rejected] = []
    call_paths: list[CallPath] = []
    unreached: list[_Found] = []
    for item in judged:
        node = item.candidate.value.node
        is_drawn = item.candidate.sink == GRAPH_SUMMARY  # declared before the loop that writes it
        call_paths += graph.call_paths(node)
        objection = item.decision.objection
        if objection is None or objection.cause is RejectionReason.UNMARKED:
            objection = objection_to_place(node, () if is_drawn else outer, graph) or objection
        site = _site(item, len(sites)) if _is_tappable(item) and not is_drawn else None
        if site is not None:
            sites.append(site)
        if objection is not None:
            rejected.append(_reject(item.candidate, objection, site.id if site else None))
        if objection is None and (site is not None or is_drawn):
            metrics.append((item, site.id if site else None))
        elif site is not None and item.decision.role is not None:
            unreached.append((item, site.id))
    loops = _loops(trainings, call_paths, judged, graph)
    # Before the files are listed, for they read more of them. That room is above this one: it reads code with it.
    effects = wing("sources.find").find(graph)
    analysis = Analysis(
        root=root,
        script=file,
        main_loop=next((loop for loop in loops if loop.is_main), None),
        loops=loops,
        metrics=_metrics(metrics, outer, graph),
        rejected=tuple(rejected),
        sites=tuple(sites),
        files=graph.project.files(),
        notices=tuple(graph.project.notices),
        alternatives=_alternatives(trainings, loops, graph),
        **effects,
    )
    if is_whole:  # last, as it reads files on which nothing else in the analysis may rest
        functions = set(graph.functions)
        for item in _collect_elsewhere(graph, collector, root, functions):
            sites.append(_site(item, len(sites)))
            unreached.append((item, sites[-1].id))
        with suppress(RecursionError):  # what the script reaches has been read
            loops = (*loops, *_loops_elsewhere(graph, (item for item, _ in unreached), loops))
    return replace(
        analysis,
        loops=loops,
        sites=tuple(sites),
        unreached=_name_metrics(unreached),
        reporting=tuple(sorted(REPORTING & graph.imported_packages)),
    )


def _loops_elsewhere(graph: CallGraph, sites: Iterable[Judged], loops: Sequence[Loop]) -> list[Loop]:
    """Further loops that may be the main loop: they count epochs, train, or are around one of the sites.

    Calls need not lead from them to what they report: an engine runs handlers that it keeps in a mapping.

    Args:
        loops: those that are listed already.
    """
    signs = TrainingSigns(graph)

    def may_be_main(loop: LoopNode, function: Function) -> bool:
        unit = counted_unit(loop, function, graph)
        return unit == "epochs" or (unit == "steps" and bool(signs.inside(loop.body) or signs.likely(loop.body)))

    nodes: dict[LoopNode, None] = {}
    for module in graph.project.modules.values():
        nodes.update((loop, None) for loop, function in module.loops if may_be_main(loop, function))
    for item in sites:
        nodes.update(dict.fromkeys(graph.nodes.loops_around(item.candidate.value.node)))
    listed = {(loop.file, loop.span) for loop in loops}
    values = [loop_value(node, -1, graph.nodes) for node in nodes]
    further = [loop for loop in values if loop is not None and (loop.file, loop.span) not in listed]
    return [replace(loop, id=number) for number, loop in enumerate(further, len(loops))]


def _collect_elsewhere(
    graph: CallGraph, collector: Collector, root: Path, reached: Collection[Function]
) -> list[Judged]:
    """The measurements that functions report to which no call leads, in files that the script could import."""
    n_notices, left = len(graph.project.notices), MOST_ELSEWHERE
    for file in _importable(graph.project.files(), root):
        size = (root / file).stat().st_size
        if size <= left:  # generated code does not keep smaller files from being read
            left -= size
            graph.project.load(file)
    del graph.project.notices[n_notices:]  # on files that may never be imported
    modules = graph.project.modules.values()
    functions = [function for module in modules for function in module.scopes if function not in reached]
    try:
        judged = Collector(graph, collector.judge, functions).collect()
    except RecursionError:  # what the script reaches has been read
        return []
    return [
        item
        for item in judged
        if item.decision.role is not None and _is_tappable(item) and item.candidate.sink != GRAPH_SUMMARY
    ]


def _importable(files: Sequence[str], root: Path) -> list[str]:
    """The other files of the folders that the script imports from, those beside files that it imports first.

    Args:
        files: those that are read already, the script first.
    """
    beside = PurePosixPath(files[0]).parent
    packages = {PurePosixPath(file).parts[0] for file in files[1:] if "/" in file}
    folders = Counter(PurePosixPath(file).parent for file in files)
    paths = [PurePosixPath(file) for file in project_files(root).scripts if file not in files]
    near = [path for path in paths if path.is_relative_to(beside) or path.parts[0] in packages]
    return [path.as_posix() for path in sorted(near, key=lambda path: -folders[path.parent])]


def _trainings(graph: CallGraph, judged: list[Judged]) -> Trainings:
    inside: dict[cst.CSTNode, list[Judged]] = {}
    for item in judged:
        call_paths = graph.call_paths(item.candidate.value.node)
        for loop in {loop for node in _nodes_on(call_paths) for loop in graph.nodes.loops_around(node)}:
            inside.setdefault(loop, []).append(item)

    def count_reported(loop: cst.CSTNode) -> tuple[set[str], int]:
        items = inside.get(loop, [])
        objections = [(item, item.decision.objection) for item in items]
        counting = [item for item, objection in objections if objection is not None and objection.cause in COUNTERS]
        counters = {name for item in counting for name in identifiers(item.candidate.value.source)}
        return counters, sum(item.decision.role is not None for item in items)

    return LoopFinder(graph, count_reported).find()


def _nodes_on(call_paths: Iterable[CallPath]) -> Collection[cst.CSTNode]:
    """The nodes of the frames of all call paths, each once; most call paths share most of theirs."""
    return {id(frame.node): frame.node for call_path in call_paths for frame in call_path}.values()


def _is_tappable(item: Judged) -> bool:
    value = item.candidate.value
    objection = item.decision.objection
    return not isinstance(value.node, cst.BaseString) and (objection is None or objection.cause not in UNTAPPABLE)


def _reject(candidate: Candidate, objection: Objection, site: int | None) -> Rejected:
    value = candidate.value
    file = value.function.module.file
    return Rejected(value.spelled, file, candidate.line, objection.cause, objection.detail, site)


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


def _loops(
    trainings: Trainings, call_paths: list[CallPath], judged: Sequence[Judged], graph: CallGraph
) -> tuple[Loop, ...]:
    """The main loop, alternatives to it, and all loops on the call paths to sites and around it, in source order.

    Calls that start a managed loop are listed for the main loop alone: frameworks count the steps of the others.
    """
    main = trainings.main
    evidence: dict[cst.CSTNode, tuple[str, ...]] = {}
    nodes: dict[LoopNode | cst.Call, None] = {}
    for training in (*trainings.outer, *trainings.alternatives):
        if training is main or not training.is_managed:
            nodes[training.node] = None
            evidence[training.node] = training.evidence
    if main is not None:
        nodes.update(dict.fromkeys(graph.nodes.loops_around(main.node)))
    for node in _nodes_on(call_paths):
        nodes.update(dict.fromkeys(graph.nodes.loops_around(node)))
    order = {file: number for number, file in enumerate(graph.project.files())}

    def place(node: cst.CSTNode) -> tuple[int, int, int]:
        source = graph.nodes.source(node)
        return order[source.file], source.start(node).line, source.start(node).column

    reported: dict[cst.CSTNode, set[str]] = {node: set() for node in nodes}
    for item in judged:
        value, objection = item.candidate.value, item.decision.objection
        if objection is not None and objection.cause in COUNTERS:
            for around in graph.nodes.loops_around(value.node):
                if around in reported and graph.nodes.function_of(around) is value.function:
                    reported[around].add(value.spelled)
    loops: list[Loop] = []
    for node in sorted(nodes, key=place):
        is_main = main is not None and node is main.node
        loop = loop_value(node, len(loops), graph.nodes, is_main=is_main, evidence=evidence.get(node, ()))
        if loop is not None:
            counter = reported_counter(node, reported[node], graph) if isinstance(node, cst.For) else None
            loops.append(replace(loop, counter=counter))
    return tuple(loops)


def _alternatives(trainings: Trainings, loops: tuple[Loop, ...], graph: CallGraph) -> tuple[Loop, ...]:
    """Alternatives to the main loop, best first; the loops already listed are reused."""
    listed = {(loop.file, loop.span): loop for loop in loops}
    alternatives = [
        loop_value(training.node, -1, graph.nodes, evidence=training.evidence) for training in trainings.alternatives
    ]
    return tuple(listed.get((loop.file, loop.span), loop) for loop in alternatives if loop is not None)


def _name_metrics(unnamed: list[_Found]) -> tuple[Metric, ...]:
    names = give_names([item for item, _ in unnamed])
    return tuple(_to_metric(item, site, name) for (item, site), name in zip(unnamed, names, strict=True))


def _metrics(unnamed: list[_Found], trainings: tuple[Training, ...], graph: CallGraph) -> tuple[Metric, ...]:
    metrics = list(_name_metrics(unnamed))
    for training in trainings:
        metrics += _managed_metrics(training, metrics, graph)
    order = {file: number for number, file in enumerate(graph.project.files())}
    metrics.sort(key=lambda metric: (order[metric.file], metric.line))
    return tuple(replace(metric, id=number) for number, metric in enumerate(metrics))


def _to_metric(item: Judged, site: int | None, name: str) -> Metric:
    candidate, decision = item.candidate, item.decision
    file = candidate.value.function.module.file
    return Metric(
        id=-1,
        name=name,
        expression=candidate.value.spelled,
        file=file,
        line=candidate.line,
        sink=candidate.sink,
        role=decision.role or "other",
        direction=decision.direction,
        evidence=tuple(with_cells(text, file) for text in decision.evidence),
        site=site,
        words="" if candidate.sink in TEXT_SINKS or candidate.value.form == "call" else candidate.lead.strip(" :"),
    )


def _managed_metrics(training: Training, earlier: Sequence[Metric], graph: CallGraph) -> list[Metric]:
    """What the framework reports by itself, each key once; a name that another metric has is lengthened."""
    if training.framework is None or not isinstance(training.node, cst.Call):
        return []
    place = graph.nodes.place(training.node)
    evidence = history_evidence(training.framework)
    names = {metric.name for metric in earlier}
    keys = {metric.expression for metric in earlier if metric.sink == "history"}
    metrics: list[Metric] = []
    for key in history_keys(training.node, training.framework, graph):
        key_words = split_identifier(key)
        role: Role = "time" if {"runtime", "second", "time", "fps"} & set(key_words) else "quality"
        direction = "max" if {"second", "fps"} & set(key_words) else direction_of(key_words)
        name = key if key not in names else f"{key}_history"
        if key not in keys:
            metrics.append(Metric(-1, name, key, place.file, place.line, "history", role, direction, evidence, None))
    return metrics
