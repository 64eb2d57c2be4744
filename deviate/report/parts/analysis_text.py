"""The analysis for a reader: main loop, metrics with evidence, rejected values, hazards, side effects, seeds."""

import textwrap
from collections import Counter
from collections.abc import Sequence

from deviate.model.analysis import Analysis, Direction, Hazard, Loop, Metric, Rejected, RejectionReason
from deviate.model.places import line_text, place_text
from deviate.model.plan import SelectedMetric, Selection
from deviate.model.texts import first_few
from deviate.report.format import group_pairs, printable
from deviate.report.lines import name
from deviate.series.headline import DECLARED, choose_headline

WIDEST_EXPRESSION = 36
WIDEST_NAME = 32
NARROWEST_REASON = 40
MOST_OF_A_KIND = 8
MOST_LOOPS = 3
MOST_PLACES = 4
MOST_OTHERS = 3
NO_HAZARDS = "Hazards    none found\n"
HOW_TO_REPORT = (
    'Next       print the result, as print(f"accuracy {accuracy:.4f}"), or name a value in deviate.toml: '
    '[metrics.accuracy] where = "FILE:LINE" expression = "accuracy"'
)
NO_PRIMARY = "the first run decides. To decide it now: --metric NAME."
GAP = "  "
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
    width = max(width, 60)
    rejected = _list_rejected(analysis)
    parts = [
        _header(analysis, width, is_explained=is_explained),
        _metrics(analysis, selection, width, is_explained=is_explained),
        _primary(selection, width),
        _each_rejected(rejected, analysis, width) if is_whole else _kinds_of_rejected(rejected, analysis, width),
        _each_hazard(analysis, width) if is_whole else _kinds_of_hazards(analysis, width),
        _side_effects(analysis, width),
        _rest(analysis, width),
    ]
    return "\n".join(part for part in parts if part)


def render_brief(analysis: Analysis, selection: Selection, width: int) -> str:
    """What is recorded, in a few lines: script, main loop, the primary metric with its reason, names of the others."""
    width = max(width, 60)
    loop = analysis.main_loop
    place = "" if loop is None else place_text(loop.file, loop.line).removeprefix(f"{analysis.script}:")
    where = "no main loop found" if loop is None else f"main loop at {'line ' if place.isdecimal() else ''}{place}"
    headline = choose_headline(selection.metrics, {})
    choice = selection.primary or (headline.choice if headline else None)
    announced = () if choice is None else (choice.name,)
    others = [name(item.name) for item in selection.metrics if item.name not in announced]
    also = "also " if choice else ""
    lines = [f"Script   {analysis.script}, {where}", *filter(None, [_primary_line(selection, "Result   ")])]
    lines += [f"Metrics  {also}{first_few(others, MOST_OTHERS)}"] if others else []
    if not selection.metrics:
        lines.append("Metrics  none found before a run: the runs show what is reported")
    kinds = Counter(item.name for item in analysis.hazards)
    texts = first_few([f"{kind} {n}" for kind, n in kinds.items()], MOST_PLACES)
    lines += [f"Hazards  {texts}: runs may differ with equal seeds (deviate analyze shows where)"] if kinds else []
    return "".join(_wrap(line, width, " " * 9) for line in lines)


def _header(analysis: Analysis, width: int, *, is_explained: bool) -> str:
    lines = [f"Script     {analysis.script}", f"Main loop  {_loop(analysis.main_loop, is_explained=is_explained)}"]
    lines += [f"or maybe   {_loop(loop, is_explained=is_explained)}" for loop in analysis.alternatives[:MOST_LOOPS]]
    return "".join(_wrap(line, width) for line in lines)


def _loop(loop: Loop | None, *, is_explained: bool) -> str:
    if loop is None:
        return "none found: values are recorded without steps"
    counter = f" {loop.variable}" if loop.variable else ""
    kind = "driven by the framework" if loop.kind == "managed" else f"{loop.kind}{counter}"
    evidence = loop.evidence if is_explained else loop.evidence[:1]
    why = f"{GAP}({'; '.join(evidence)})" if evidence else ""
    return f"{place_text(loop.file, loop.line)}  {kind}{why}"


def _metrics(analysis: Analysis, selection: Selection, width: int, *, is_explained: bool) -> str:
    selected = {item.metric.id: item for item in selection.metrics}
    if not analysis.metrics and (analysis.unreached or analysis.reporting):
        names = dict.fromkeys(name(metric.name) for metric in analysis.unreached)
        sources = [*names, *(f"what {package} reports" for package in analysis.reporting)]
        return _wrap(
            f"Metrics    none found before a run; a run may report {first_few(sources, MOST_OF_A_KIND)}", width
        )
    if not analysis.metrics:
        return "Metrics    none found\n" + _wrap(HOW_TO_REPORT, width)
    sinks = Counter(metric.sink for metric in analysis.metrics)
    reported = ", ".join(f"{sink} {count}" for sink, count in sinks.most_common())
    title = f"Metrics    {len(selection.metrics)} selected of {len(analysis.metrics)} found, reported by: {reported}"
    if not is_explained:
        title += " (--explain shows the evidence)"
    rows = [_row(metric, selected.get(metric.id), analysis, is_explained=is_explained) for metric in analysis.metrics]
    return _wrap(title, width) + _table(["metric", "line", "expression", "role", "better", "why"], rows, width)


def _primary(selection: Selection, width: int) -> str:
    line = _primary_line(selection, "Result     ")
    return _wrap(line, width) if line else ""


def _primary_line(selection: Selection, label: str) -> str:
    """The metric that is expected to lead; empty where there is no metric. A run decides what leads."""
    choice = selection.primary
    if choice is not None:
        return f"{label}{name(choice.name)}, {choice.reason}."
    headline = choose_headline(selection.metrics, {})
    if headline is None:
        return f"{label}{NO_PRIMARY}" if selection.metrics else ""
    if headline.choice.reason == DECLARED:
        return f"{label}{name(headline.choice.name)}, {DECLARED}."
    return f"{label}{name(headline.choice.name)} is expected to lead; the first run decides. Another: --metric NAME."


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


def _each_rejected(rejected: Sequence[Rejected], analysis: Analysis, width: int) -> str:
    rows = [[item.expression, _where(item, analysis), item.reason] for item in rejected]
    title = f"Reported, but no metrics    {len(rejected)}\n"
    return title + _table(["expression", "line", "why not"], rows, width) if rows else ""


def _kinds_of_rejected(rejected: Sequence[Rejected], analysis: Analysis, width: int) -> str:
    """Rejected values by kind of reason: near misses first, then by frequency."""
    kinds = group_pairs((item.cause.kind, item) for item in rejected)
    ordered = sorted(kinds.items(), key=lambda pair: (pair[0] not in NEAR_MISSES, -len(pair[1])))
    text = f"Reported, but no metrics    {len(rejected)}, by reason (--all shows each)\n" if rejected else ""
    for kind, items in ordered:
        places = group_pairs((item.expression, _where(item, analysis)) for item in items)
        texts = [f"{_shorten(code)} ({', '.join(dict.fromkeys(lines))})" for code, lines in places.items()]
        text += _hung(f"{kind}:", width, GAP) + _hung(_first(texts, MOST_OF_A_KIND), width, GAP * 3)
    return text


def _each_hazard(analysis: Analysis, width: int) -> str:
    rows = [[item.name, _where(item, analysis), _shorten(item.code), item.message] for item in analysis.hazards]
    title = f"Hazards    {len(rows)}\n"
    return title + _table(["hazard", "line", "expression", "what happens"], rows, width) if rows else NO_HAZARDS


def _kinds_of_hazards(analysis: Analysis, width: int) -> str:
    """Hazards by kind in the order of their first places, with these places."""
    kinds = group_pairs((item.name, _where(item, analysis)) for item in analysis.hazards)
    text = f"Hazards    {len(analysis.hazards)}, by kind (--all shows each)\n" if kinds else NO_HAZARDS
    longest = max(map(len, kinds), default=0)
    for kind, places in kinds.items():
        line = f"{kind.ljust(longest)}{GAP}{len(places):3}{GAP}{_first(places, MOST_PLACES)}"
        text += _hung(line, width, GAP, " " * (longest + 2 * len(GAP) + 5))
    return text


def _side_effects(analysis: Analysis, width: int) -> str:
    """Effects outside of the work copy of a run, by kind, with all their places."""
    kinds = group_pairs(((item.kind, item.what), place_text(item.file, item.line)) for item in analysis.side_effects)
    longest = max((len(kind) for kind, _ in kinds), default=0)
    text = f"Outside    {len(analysis.side_effects)}, reach beyond the work copy of a run\n" if kinds else ""
    for (kind, effect), places in sorted(kinds.items(), key=lambda pair: pair[0][0]):
        line = f"{kind.ljust(longest)}{GAP}{effect} ({_first(places, MOST_PLACES)})"
        text += _hung(line, width, GAP, " " * (longest + 2 * len(GAP)))
    return text


def _rest(analysis: Analysis, width: int) -> str:
    lines = [f"Seed       {place_text(seed.file, seed.line)}  {seed.call}({seed.argument})" for seed in analysis.seeds]
    if not lines:
        lines = ["Seed       no call that seeds was found"]
    if analysis.outputs:
        lines.append(f"Writes     {', '.join(analysis.outputs)}  (start empty in each run)")
    return "".join(_wrap(line, width) for line in lines)


def _first(texts: Sequence[str], most: int) -> str:
    more = [f"and {len(texts) - most} more"] if len(texts) > most else []
    return ", ".join([*texts[:most], *more])


def _where(item: Metric | Rejected | Hazard, analysis: Analysis) -> str:
    """The line number, with the file if it is not the entry script."""
    if item.file != analysis.script:
        return place_text(item.file, item.line)
    return line_text(item.file, item.line).removeprefix("line ")


def _shorten(expression: str) -> str:
    return expression if len(expression) <= WIDEST_EXPRESSION else f"{expression[: WIDEST_EXPRESSION - 1]}…"


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    """Columns as wide as they need, the last one wrapped into what is left."""
    limits = {"metric": WIDEST_NAME, "expression": WIDEST_EXPRESSION}
    texts = [[printable(cell) for cell in row] for row in (titles, *rows)]
    widths = [
        min(max(len(row[place]) for row in texts), limits.get(title, width)) for place, title in enumerate(titles[:-1])
    ]
    room = width - sum(widths) - len(GAP) * len(titles)
    if room < NARROWEST_REASON:
        return "".join(_stack_row(row, width) for row in texts[1:])
    lines = []
    for row in texts:
        cells = [textwrap.wrap(cell, size) or [""] for cell, size in zip(row, [*widths, room], strict=True)]
        for number in range(max(map(len, cells))):
            parts = [cell[number] if number < len(cell) else "" for cell in cells]
            padded = [part.ljust(size) for part, size in zip(parts, [*widths, room], strict=True)]
            lines.append((GAP + GAP.join(padded)).rstrip() + "\n")
    return "".join(lines)


def _stack_row(row: Sequence[str], width: int) -> str:
    """A row for a narrow screen: the verdict first, expression and reason below."""
    *cells, reason = row
    if len(cells) == 3:  # a hazard, its line and its expression
        above = _hung(f"{cells[0]} ({cells[1]})  {cells[2]}", width, GAP)
        return above + _hung(reason, width, GAP * 3)
    if len(cells) == 2:  # an expression and its line
        return _hung(f"{cells[0]} ({cells[1]})", width, GAP) + _hung(reason, width, GAP * 3)
    called, where, expression, role, better = cells
    place = f"line {where}" if where.isdecimal() else where
    direction = "direction unknown" if better == "unknown" else f"{better} is better"
    above = _hung(f"{called}{GAP}{role}, {direction}{GAP}{place}", width, GAP)
    return above + _hung(expression, width, GAP * 3) + _hung(reason, width, GAP * 3)


def _hung(text: str, width: int, indent: str, further: str | None = None) -> str:
    """Lines that begin with `indent`; continuation lines begin with `further`."""
    below = indent if further is None else further
    lines = textwrap.wrap(printable(text), width, initial_indent=indent, subsequent_indent=below)
    return "".join(f"{line}\n" for line in lines)


def _wrap(text: str, width: int, indent: str = " " * 11) -> str:
    return "".join(
        line.rstrip() + "\n"
        for line in textwrap.wrap(printable(text), width, subsequent_indent=indent, drop_whitespace=False)
    )
