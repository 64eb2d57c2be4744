"""Spread per class and sub-group as text: which is widest, compared with all examples and with chance."""

import math
from collections.abc import Iterator, Sequence

from deviate.model import Breakdown, BreakdownPart, Findings, Interval, Unavailable
from deviate.report.document import Absent, Block, Figure, Items, Row, Section, Table, cell
from deviate.report.format import (
    clean,
    confidence_text,
    counted,
    decimals,
    name_text,
    number,
    ratio,
    unit_head,
    with_unit,
)
from deviate.report.numbers import Number, factor
from deviate.report.parts.describe import cell_of, estimate_cell, interval_cell
from deviate.report.parts.many_runs import by_rank, drawn_points_note, points_per_group
from deviate.report.plots import BreakdownLine, BreakdownPlot

N_OPEN, N_DRAWN, N_SECTIONS = 2, 30, 24
"""Measures that are open on a page, classes that a figure draws, and measures that a page shows."""
NONE = (
    "No metric was recognised as one of a class or sub-group: metrics whose names differ in that alone, "
    "as acc/class_0, acc/class_1 and acc/class_2, stand here when there are three of them."
)


def breakdown_section(findings: Findings, labels: Sequence[str]) -> Section:
    """A part per measure and experiment; parts of the first experiment come first."""
    breakdowns = findings.breakdowns[:N_SECTIONS]
    left_out = len(findings.breakdowns) - len(breakdowns)
    parts = tuple(_part(breakdown, index, labels) for index, breakdown in enumerate(breakdowns))
    notes = tuple(_footnotes(findings.confidence, left_out)) if breakdowns else ()
    blocks: tuple[Block, ...] = parts or (Absent(NONE),)
    return Section("breakdowns", "Classes and sub-groups", (*blocks, Items(notes, "footnotes")))


def _part(breakdown: Breakdown, index: int, labels: Sequence[str]) -> Section:
    pattern, label = name_text(breakdown.pattern), labels[breakdown.experiment]
    heading = f"{pattern}, {label}" if len(labels) > 1 else pattern
    unit = clean(breakdown.unit)
    interval = next((part.sd_interval for part in breakdown.parts if isinstance(part.sd_interval, Interval)), None)
    level = f"{confidence_text(interval.confidence)} CI of the SD" if interval else "CI of the SD"
    columns = (
        "Class",
        "n",
        unit_head("mean", unit),
        "SD",
        level,
        "range",
        f"SD over that of {name_text(breakdown.whole)}" if breakdown.whole else "SD over that of the whole",
    )
    table = Table(
        f"{heading}: spread over runs per class, the widest first",
        columns,
        tuple(_row(part) for part in breakdown.parts),
    )
    plot = _plot(breakdown, index, heading)
    figures = (Figure(plot, plot.caption),) if plot else ()
    return Section(f"breakdown-{index}", heading, (*_sentences(breakdown), *figures, table), is_folded=index >= N_OPEN)


def _places(part: BreakdownPart) -> int | None:
    """Decimals from the standard error of the mean."""
    return None if isinstance(part.sd, Unavailable) or not part.n else decimals(part.sd / math.sqrt(part.n))


def _row(part: BreakdownPart) -> Row:
    places = _places(part)
    return Row(
        label=name_text(part.part),
        cells=(
            cell(Number(part.n, 0), value=float(part.n)),
            *(estimate_cell(value, places) for value in (part.mean, part.sd)),
            interval_cell(part.sd_interval, places),
            estimate_cell(part.range, places),
            cell_of(part.ratio, factor),
        ),
    )


def _sentences(breakdown: Breakdown) -> Iterator[str]:
    widest = breakdown.parts[0]
    if isinstance(widest.sd, Unavailable):
        yield f"No class has a spread: {widest.sd.reason}."
        return
    places, unit = _places(widest), clean(breakdown.unit)
    sentence = f"Widest is {name_text(widest.part)}: SD {with_unit(number(widest.sd, places), unit)}, n = {widest.n}"
    if not isinstance(widest.range, Unavailable):
        sentence += f", range {with_unit(number(widest.range, places), unit)}"
    if breakdown.whole and not isinstance(widest.ratio, Unavailable):
        sentence += f", {ratio(widest.ratio)} times the SD of {name_text(breakdown.whole)}"
    yield f"{sentence}."
    if not isinstance(breakdown.expected_largest, Unavailable):
        expected = with_unit(number(breakdown.expected_largest, places), unit)
        yield (
            f"By chance alone: of {len(breakdown.parts)} classes that are equally steady, the widest would "
            f"have an SD of about {expected}."
        )


def _plot(breakdown: Breakdown, index: int, heading: str) -> BreakdownPlot | None:
    with_scores = [part for part in breakdown.parts if part.n]
    if not with_scores:
        return None
    drawn, unit = with_scores[:N_DRAWN], clean(breakdown.unit)
    n_points = points_per_group(len(drawn))
    description = "; ".join(
        f"{name_text(part.part)}: {_spoken(part.mean, part)} ± {_spoken(part.sd, part)}, n = {part.n}" for part in drawn
    )
    more = f" The widest {len(drawn)} of {len(breakdown.parts)} are drawn." if len(drawn) < len(breakdown.parts) else ""
    return BreakdownPlot(
        key=f"breakdown-{index}-plot",
        title=f"{heading}: every run, per class",
        description=f"Mean ± SD over runs: {description}.{more}",
        caption=" ".join(
            filter(
                None,
                [
                    "Each point is the score of one run; the dot and line below them: mean and one SD to either side.",
                    drawn_points_note(n_points, [part.n for part in drawn]),
                ],
            )
        ),
        axis=unit_head(name_text(breakdown.pattern), unit),
        index=breakdown.experiment,
        lines=tuple(
            BreakdownLine(
                label=name_text(part.part),
                values=by_rank(part.scores, n_points),
                mean=None if isinstance(part.mean, Unavailable) else part.mean,
                sd=None if isinstance(part.sd, Unavailable) else part.sd,
            )
            for part in drawn
        ),
    )


def _spoken(value: float | Unavailable, part: BreakdownPart) -> str:
    return value.reason if isinstance(value, Unavailable) else number(value, _places(part))


def _footnotes(confidence: float, n_left_out: int) -> Iterator[str]:
    yield (
        "Which metrics are classes or sub-groups of one measure is read from their names; tasks, models or "
        "conditions of the same form look alike."
    )
    yield (
        f"Intervals of SDs: {confidence_text(confidence)}, chi-square. A ratio to the whole has none, for both "
        "share their examples."
    )
    yield "A class of few examples spreads more for that alone; sizes of classes are not recorded."
    yield "The widest of many is wide by chance too: what equal SDs would give takes classes as independent and normal."
    yield "Exploratory: no class is tested."
    if n_left_out:
        yield f"{counted(n_left_out, 'further measure')} per class not shown; JSON has all."
