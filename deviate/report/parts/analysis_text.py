"""The analysis for a reader: main loop, metrics with evidence, rejected values, hazards, side effects, seeds."""

from collections import Counter
from collections.abc import Iterator, Sequence

from deviate.model.analysis import Analysis, Direction, Hazard, Loop, Metric, Rejected, RejectionReason
from deviate.model.places import line_text, place_text
from deviate.model.plan import SelectedMetric, Selection
from deviate.model.texts import first_few
from deviate.report.format import group_pairs, shorten
from deviate.report.lines import GAP, WIDEST_CELL, hang, label_lines, name, wrap_table
from deviate.series.headline import DECLARED, choose_headline

NARROWEST = 60
MARGIN = 11
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


def render_analysis(
    analysis: Analysis, selection: Selection, width: int, *, is_explained: bool = False, is_whole: bool = False
) -> str:
    """Plain text of at most `width` columns (from 60), ending in a newline.

    Args:
        is_explained: show all evidence for each metric and for the main loop, not only what is most telling.
        is_whole: show each rejected value with its own reason, and each hazard, not only some of each kind.
    """
    width = max(width, NARROWEST)
    rejected = _list_rejected(analysis)
    parts = [
        label_lines(_header(analysis, is_explained=is_explained), width, MARGIN),
        _metrics(analysis, selection, width, is_explained=is_explained),
        label_lines(_primary(selection), width, MARGIN),
        _each_rejected(rejected, analysis, width) if is_whole else _kinds_of_rejected(rejected, analysis, width),
        _each_hazard(analysis, width) if is_whole else _kinds_of_hazards(analysis, width),
        _side_effects(analysis, width),
        label_lines(_rest(analysis), width, MARGIN),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def render_brief(analysis: Analysis, selection: Selection, width: int) -> list[str]:
    """What is recorded, in a few lines: script, main loop, the primary metric with its reason, names of the others."""
    loop = analysis.main_loop
    place = "" if loop is None else place_text(loop.file, loop.line).removeprefix(f"{analysis.script}:")
    where = "no main loop found" if loop is None else f"main loop at {'line ' if place.isdecimal() else ''}{place}"
    headline = choose_headline(selection.metrics, {})
    choice = selection.primary or (headline.choice if headline else None)
    announced = () if choice is None else (choice.name,)
    others = [name(item.name) for item in selection.metrics if item.name not in announced]
    lines = [("Script", f"{analysis.script}, {where}"), *_primary(selection)]
    lines += [("Metrics", f"{'also ' if choice else ''}{first_few(others, MOST_OTHERS)}")] if others else []
    if not selection.metrics:
        lines.append(("Metrics", "none found before a run: the runs show what is reported"))
    kinds = Counter(item.name for item in analysis.hazards)
    texts = first_few([f"{kind} {n}" for kind, n in kinds.items()], MOST_PLACES)
    if kinds:
        lines.append(("Hazards", f"{texts}: runs may differ with equal seeds (deviate analyze shows where)"))
    return label_lines(lines, width, 9)


def _header(analysis: Analysis, *, is_explained: bool) -> Iterator[tuple[str, str]]:
    yield "Script", analysis.script
    yield "Main loop", _loop(analysis.main_loop, is_explained=is_explained)
    yield from (("or maybe", _loop(loop, is_explained=is_explained)) for loop in analysis.alternatives[:MOST_LOOPS])


def _loop(loop: Loop | None, *, is_explained: bool) -> str:
    if loop is None:
        return "none found: values are recorded without steps"
    counter = f" {loop.variable}" if loop.variable else ""
    kind = "driven by the framework" if loop.kind == "managed" else f"{loop.kind}{counter}"
    evidence = loop.evidence if is_explained else loop.evidence[:1]
    why = f"{GAP}({'; '.join(evidence)})" if evidence else ""
    return f"{place_text(loop.file, loop.line)}  {kind}{why}"


def _metrics(analysis: Analysis, selection: Selection, width: int, *, is_explained: bool) -> list[str]:
    selected = {item.metric.id: item for item in selection.metrics}
    if not analysis.metrics and (analysis.unreached or analysis.reporting):
        names = dict.fromkeys(name(metric.name) for metric in analysis.unreached)
        sources = [*names, *(f"what {package} reports" for package in analysis.reporting)]
        text = f"none found before a run; a run may report {first_few(sources, MOST_OF_A_KIND)}"
        return label_lines([("Metrics", text)], width, MARGIN)
    if not analysis.metrics:
        return label_lines([("Metrics", "none found"), ("Next", HOW_TO_REPORT)], width, MARGIN)
    sinks = Counter(metric.sink for metric in analysis.metrics)
    reported = ", ".join(f"{sink} {count}" for sink, count in sinks.most_common())
    title = f"{len(selection.metrics)} selected of {len(analysis.metrics)} found, reported by: {reported}"
    if not is_explained:
        title += " (--explain shows the evidence)"
    rows = [_row(metric, selected.get(metric.id), analysis, is_explained=is_explained) for metric in analysis.metrics]
    titles = ("metric", "line", "expression", "role", "better", "why")
    return [*label_lines([("Metrics", title)], width, MARGIN), *wrap_table([titles, *rows], width)]


def _primary(selection: Selection) -> list[tuple[str, str]]:
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
    return [("Result", text)] if choice or selection.metrics else []


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


def _each_rejected(rejected: Sequence[Rejected], analysis: Analysis, width: int) -> list[str]:
    rows = [[item.expression, _where(item, analysis), item.reason] for item in rejected]
    title = f"Reported, but no metrics    {len(rejected)}"
    return [title, *wrap_table([("expression", "line", "why not"), *rows], width)] if rows else []


def _kinds_of_rejected(rejected: Sequence[Rejected], analysis: Analysis, width: int) -> list[str]:
    """Rejected values by kind of reason: near misses first, then by frequency."""
    kinds = group_pairs((item.cause.kind, item) for item in rejected)
    ordered = sorted(kinds.items(), key=lambda pair: (pair[0] not in NEAR_MISSES, -len(pair[1])))
    lines = [f"Reported, but no metrics    {len(rejected)}, by reason (--all shows each)"] if rejected else []
    for kind, items in ordered:
        places = group_pairs((item.expression, _where(item, analysis)) for item in items)
        texts = [f"{shorten(code, WIDEST_CELL)} ({', '.join(dict.fromkeys(lines))})" for code, lines in places.items()]
        lines += hang(f"{kind}:", width, GAP, GAP)
        lines += hang(_first(texts, MOST_OF_A_KIND), width, GAP * 3, GAP * 3)
    return lines


def _each_hazard(analysis: Analysis, width: int) -> list[str]:
    rows = [
        [item.name, _where(item, analysis), shorten(item.code, WIDEST_CELL), item.message] for item in analysis.hazards
    ]
    table = wrap_table([("hazard", "line", "expression", "what happens"), *rows], width)
    return [f"Hazards    {len(rows) or 'none found'}", *(table if rows else [])]


def _kinds_of_hazards(analysis: Analysis, width: int) -> list[str]:
    """Hazards by kind in the order of their first places, with these places."""
    kinds = group_pairs((item.name, _where(item, analysis)) for item in analysis.hazards)
    title = f"{len(analysis.hazards)}, by kind (--all shows each)" if kinds else "none found"
    longest = max(map(len, kinds), default=0) + len(GAP)
    texts = ((f"{GAP}{kind}", f"{len(some):3}{GAP}{_first(some, MOST_PLACES)}") for kind, some in kinds.items())
    return [f"Hazards    {title}", *label_lines(texts, width, longest + len(GAP))]


def _side_effects(analysis: Analysis, width: int) -> list[str]:
    """Effects outside of the work copy of a run, by kind, with all their places."""
    kinds = group_pairs(((item.kind, item.what), place_text(item.file, item.line)) for item in analysis.side_effects)
    longest = max((len(kind) for kind, _ in kinds), default=0) + len(GAP)
    ordered = sorted(kinds.items(), key=lambda pair: pair[0][0])
    texts = ((f"{GAP}{kind}", f"{effect} ({_first(places, MOST_PLACES)})") for (kind, effect), places in ordered)
    title = f"Outside    {len(analysis.side_effects)}, reach beyond the work copy of a run"
    return [title, *label_lines(texts, width, longest + len(GAP))] if kinds else []


def _rest(analysis: Analysis) -> Iterator[tuple[str, str]]:
    for seed in analysis.seeds:
        yield "Seed", f"{place_text(seed.file, seed.line)}  {seed.call}({seed.argument})"
    if not analysis.seeds:
        yield "Seed", "no call that seeds was found"
    if analysis.outputs:
        yield "Writes", f"{', '.join(analysis.outputs)}  (start empty in each run)"


def _first(texts: Sequence[str], most: int) -> str:
    more = [f"and {len(texts) - most} more"] if len(texts) > most else []
    return ", ".join([*texts[:most], *more])


def _where(item: Metric | Rejected | Hazard, analysis: Analysis) -> str:
    """The line number, with the file if it is not the entry script."""
    if item.file != analysis.script:
        return place_text(item.file, item.line)
    return line_text(item.file, item.line).removeprefix("line ")
