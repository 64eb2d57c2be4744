"""The analysis as a document: main loop, metrics with evidence, rejected values, hazards, side effects, seeds."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from deviate.model.analysis import Analysis, Direction, Hazard, Loop, Metric, Rejected, RejectionReason
from deviate.model.places import line_text, place_text
from deviate.model.plan import SelectedMetric, Selection
from deviate.model.texts import first_few
from deviate.report.document import Block, Document, Fact, Facts, Remark, fact, listing, paragraph
from deviate.report.format import group_pairs
from deviate.report.format import name_text as name
from deviate.series.headline import DECLARED, choose_headline

MOST_OF_A_KIND = 8
MOST_LOOPS = 3
MOST_PLACES = 4
MOST_OTHERS = 3
HOW_TO_REPORT = (
    'print the result, as print(f"accuracy {accuracy:.4f}"), or name a value in deviate.toml: '
    '[metrics.accuracy] where = "FILE:LINE" expression = "accuracy"'
)
NO_PRIMARY = "the first run decides. To decide it now: --metric NAME."
BETTER: dict[Direction, str] = {"max": "higher", "min": "lower"}
NEAR_MISSES = (RejectionReason.UNMARKED.kind, RejectionReason.EARLY.kind)
"""Kinds of reasons for which a value might be a metric after all: shown first."""


def analysis_document(
    analysis: Analysis,
    selection: Selection,
    *,
    is_explained: bool = False,
    is_whole: bool = False,
    rest: Sequence[Fact] = (),
    data: Callable[[], object] = dict,
) -> Document:
    """The analysis, with `data` for programs.

    Args:
        is_explained: show all evidence for each metric and for the main loop, not only what is most telling.
        is_whole: show each rejected value with its own reason, and each hazard, not only some of each kind.
        rest: further facts at the end.
    """
    rejected = _list_rejected(analysis)
    parts = (
        _header(analysis, is_explained=is_explained),
        _metrics(analysis, selection, is_explained=is_explained),
        [Facts(tuple(_primary(selection)))],
        _each_rejected(rejected, analysis) if is_whole else _kinds_of_rejected(rejected, analysis),
        _each_hazard(analysis) if is_whole else _kinds_of_hazards(analysis),
        _side_effects(analysis),
        [Facts((*_rest(analysis), *rest))],
    )
    return Document(
        sections=tuple(paragraph(*blocks) for blocks in map(list, parts) if blocks != [Facts(())]), data=data
    )


def brief_facts(analysis: Analysis, selection: Selection) -> Iterator[Fact]:
    """What is recorded, in a few lines: script, main loop, the primary metric with its reason, names of the others."""
    loop = analysis.main_loop
    place = "" if loop is None else place_text(loop.file, loop.line).removeprefix(f"{analysis.script}:")
    where = "no main loop found" if loop is None else f"main loop at {'line ' if place.isdecimal() else ''}{place}"
    headline = choose_headline(selection.metrics, {})
    choice = selection.primary or (headline.choice if headline else None)
    announced = () if choice is None else (choice.name,)
    others = [name(item.name) for item in selection.metrics if item.name not in announced]
    yield fact("Script", f"{analysis.script}, {where}")
    yield from _primary(selection)
    if others:
        yield fact("Metrics", f"{'also ' if choice else ''}{first_few(others, MOST_OTHERS)}")
    if not selection.metrics:
        yield fact("Metrics", "none found before a run: the runs show what is reported")
    if kinds := Counter(item.name for item in analysis.hazards):
        texts = first_few([f"{kind} {n}" for kind, n in kinds.items()], MOST_PLACES)
        yield fact("Hazards", f"{texts}: runs may differ with equal seeds (deviate analyze shows where)")


def _header(analysis: Analysis, *, is_explained: bool) -> Iterator[Block]:
    loops = [("Main loop", analysis.main_loop), *(("or maybe", loop) for loop in analysis.alternatives[:MOST_LOOPS])]
    places = [fact(label, _loop(loop, is_explained=is_explained)) for label, loop in loops]
    yield Facts((fact("Script", analysis.script), *places))


def _loop(loop: Loop | None, *, is_explained: bool) -> str:
    if loop is None:
        return "none found: values are recorded without steps"
    counter = f" {loop.variable}" if loop.variable else ""
    kind = "driven by the framework" if loop.kind == "managed" else f"{loop.kind}{counter}"
    evidence = loop.evidence if is_explained else loop.evidence[:1]
    why = f"  ({'; '.join(evidence)})" if evidence else ""
    return f"{place_text(loop.file, loop.line)}  {kind}{why}"


def _metrics(analysis: Analysis, selection: Selection, *, is_explained: bool) -> Iterator[Block]:
    selected = {item.metric.id: item for item in selection.metrics}
    if not analysis.metrics and (analysis.unreached or analysis.reporting):
        names = dict.fromkeys(name(metric.name) for metric in analysis.unreached)
        sources = [*names, *(f"what {package} reports" for package in analysis.reporting)]
        text = f"none found before a run; a run may report {first_few(sources, MOST_OF_A_KIND)}"
        yield Facts((fact("Metrics", text),))
        return
    if not analysis.metrics:
        yield Facts((fact("Metrics", "none found"), fact("Next", HOW_TO_REPORT)))
        return
    sinks = Counter(metric.sink for metric in analysis.metrics)
    reported = ", ".join(f"{sink} {count}" for sink, count in sinks.most_common())
    title = f"{len(selection.metrics)} selected of {len(analysis.metrics)} found, reported by: {reported}"
    if not is_explained:
        title += " (--explain shows the evidence)"
    rows = [_row(metric, selected.get(metric.id), analysis, is_explained=is_explained) for metric in analysis.metrics]
    yield Facts((fact("Metrics", title),))
    yield listing(("metric", "line", "expression", "role", "better", "why"), rows)


def _primary(selection: Selection) -> Iterator[Fact]:
    """The metric that is expected to lead; nothing where there is no metric. A run decides what leads."""
    headline = choose_headline(selection.metrics, {})
    if (choice := selection.primary) is not None:
        text = f"{name(choice.name)}, {choice.reason}."
    elif headline is None:
        text = NO_PRIMARY
    elif headline.choice.reason == DECLARED:
        text = f"{name(headline.choice.name)}, {DECLARED}."
    else:
        text = f"{name(headline.choice.name)} is expected to lead; the first run decides. Another: --metric NAME."
    if choice or selection.metrics:
        yield fact("Result", text)


def _row(metric: Metric, chosen: SelectedMetric | None, analysis: Analysis, *, is_explained: bool) -> list[str]:
    evidence = metric.evidence if is_explained else metric.evidence[:1]
    role = chosen.role if chosen else metric.role
    direction = chosen.direction if chosen else metric.direction
    return [
        name(chosen.name) if chosen else f"({name(metric.name)})",
        _where(metric, analysis),
        metric.expression,
        role,
        "unknown" if direction is None else BETTER[direction],
        "; ".join(evidence) if chosen else "not selected in deviate.toml",
    ]


def _list_rejected(analysis: Analysis) -> list[Rejected]:
    """Rejected values, except those that the user selected by name."""
    sites = {metric.site for metric in analysis.metrics}
    return [item for item in analysis.rejected if item.site is None or item.site not in sites]


def _each_rejected(rejected: Sequence[Rejected], analysis: Analysis) -> Iterator[Block]:
    if rejected:
        yield f"Reported, but no metrics    {len(rejected)}"
        rows = [(item.expression, _where(item, analysis), item.reason) for item in rejected]
        yield listing(("expression", "line", "why not"), rows)


def _kinds_of_rejected(rejected: Sequence[Rejected], analysis: Analysis) -> Iterator[Block]:
    """Rejected values by kind of reason: near misses first, then by frequency."""
    kinds = group_pairs((item.cause.kind, item) for item in rejected)
    if rejected:
        yield f"Reported, but no metrics    {len(rejected)}, by reason (--all shows each)"
    for kind, items in sorted(kinds.items(), key=lambda pair: (pair[0] not in NEAR_MISSES, -len(pair[1]))):
        places = group_pairs((item.expression, _where(item, analysis)) for item in items)
        texts = [f"{code} ({', '.join(dict.fromkeys(lines))})" for code, lines in places.items()]
        yield Remark(f"{kind}:", "", (_first(texts, MOST_OF_A_KIND),))


def _each_hazard(analysis: Analysis) -> Iterator[Block]:
    yield f"Hazards    {len(analysis.hazards) or 'none found'}"
    rows = [(item.name, _where(item, analysis), item.code, item.message) for item in analysis.hazards]
    yield from [listing(("hazard", "line", "expression", "what happens"), rows)] if rows else []


def _kinds_of_hazards(analysis: Analysis) -> Iterator[Block]:
    """Hazards by kind in the order of their first places, with these places."""
    kinds = group_pairs((item.name, _where(item, analysis)) for item in analysis.hazards)
    title = f"{len(analysis.hazards)}, by kind (--all shows each)" if kinds else "none found"
    yield f"Hazards    {title}"
    yield listing(("", "", ""), [(kind, str(len(some)), _first(some, MOST_PLACES)) for kind, some in kinds.items()])


def _side_effects(analysis: Analysis) -> Iterator[Block]:
    """Effects outside of the work copy of a run, by kind, with all their places."""
    kinds = group_pairs(((item.kind, item.what), place_text(item.file, item.line)) for item in analysis.side_effects)
    if kinds:
        yield f"Outside    {len(analysis.side_effects)}, reach beyond the work copy of a run"
        ordered = sorted(kinds.items(), key=lambda pair: pair[0][0])
        yield listing(("", ""), [(kind, f"{what} ({_first(places, MOST_PLACES)})") for (kind, what), places in ordered])


def _rest(analysis: Analysis) -> Iterator[Fact]:
    for seed in analysis.seeds:
        yield fact("Seed", f"{place_text(seed.file, seed.line)}  {seed.call}({seed.argument})")
    if not analysis.seeds:
        yield fact("Seed", "no call that seeds was found")
    if analysis.outputs:
        yield fact("Writes", f"{', '.join(analysis.outputs)}  (start empty in each run)")


def _first(texts: Sequence[str], most: int) -> str:
    more = [f"and {len(texts) - most} more"] if len(texts) > most else []
    return ", ".join([*texts[:most], *more])


def _where(item: Metric | Rejected | Hazard, analysis: Analysis) -> str:
    """The line number, with the file if it is not the entry script."""
    if item.file != analysis.script:
        return place_text(item.file, item.line)
    return line_text(item.file, item.line).removeprefix("line ")
