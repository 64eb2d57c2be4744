"""Outcomes as text: completion rates, failed runs ranked worst, times to a target."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from deviate.model.analysis import LoopCounter
from deviate.model.comparisons import Attainment, Comparison, Completion, CurveComparison, Description
from deviate.model.estimates import NOT_ASKED, Interval, Test, Unavailable
from deviate.model.findings import Findings, PairFindings
from deviate.model.phrases import Note, kind_of, parts_of
from deviate.report.document import (
    NOTHING,
    Absent,
    Block,
    DocumentTable,
    Entry,
    Fold,
    Items,
    ReportFigure,
    Section,
    TableRow,
    cell,
    paragraph,
)
from deviate.report.format import (
    clean,
    confidence_text,
    counted,
    difference_unit,
    group_pairs,
    name_text,
    number,
    unit_head,
    with_unit,
)
from deviate.report.numbers import TO, Pieces, ShownNumber, duration_of, share, text_of
from deviate.report.parts.compare import metric_name, test_cell, test_pieces
from deviate.report.parts.describe import cell_of, noted_ends, places_of_interval, signed_cell, unit_of
from deviate.report.parts.metric_plots import shared_counter
from deviate.report.parts.provenance import outcome_words
from deviate.report.plots import STEPS, DifferencePlot, StepLine, SurvivalLine, SurvivalPlot

COMPLETION = "Lost and cancelled runs do not count. Interval: Clopper-Pearson."
WORST_RANK = "Worst rank: failed runs share the worst rank. This test does not decide the verdict."
TARGET = (
    "Median step by Kaplan-Meier, counted from 1: runs that ended before the target are right-censored there, failed "
    "ones too. Its interval: Brookmeyer-Crowley, log-log scale. Log-rank: positive where the candidate is first."
)
CURVES = (
    "Curves: completed runs at the steps that all of them reported; the mean over the curve is the area under it over "
    "the range of steps. The first difference is exploratory; its band holds for the whole curve."
)
HEADING = "Outcomes of runs"
Attained = tuple[str, int, Description, Attainment]
"""Label and index of an experiment, and a metric with its attainment."""


def outcome_section(findings: Findings, labels: Sequence[str]) -> Section:
    """How runs ended. Scores without runs get one sentence: all completed, no target, no curve."""
    attained = _list_attainments(findings, labels)
    curves = curve_table(findings, labels)
    has_endings = has_failures(findings) or bool(attained)
    if not (has_endings or curves):
        return Section("outcomes", HEADING, (Absent(_no_outcomes(findings)),))
    tables = outcome_tables(findings, labels)
    has_ranks = any(table.caption == WORST_RANK_TABLE for table in tables)
    why = no_curves(findings)
    notes = (
        COMPLETION if has_endings else "",
        WORST_RANK if has_ranks else "",
        TARGET if attained else "",
        *(
            f"{_target(description)}, {label}: {clean(attainment.note)}."
            for label, _, description, attainment in attained
            if attainment.note
        ),
    )
    blocks: list[Block] = [*tables]
    blocks += [ReportFigure(plot, f"{plot.title}. {plot.caption}") for plot in _survival_plots(attained)]
    if not has_endings:
        blocks = [Fold("Completed runs", tuple(blocks))]
    blocks += [Absent(why)] if why else []
    if curves:
        bands = [ReportFigure(plot, f"{plot.title}. {plot.caption}") for plot in difference_plots(findings, labels)]
        beside = Items(tuple(filter(None, (CURVES, not_drawn(findings, labels)))), "footnotes")
        blocks.append(Fold("Differences of curves", (curves, *bands, beside)))
    return Section("outcomes", HEADING, (*blocks, Items(tuple(filter(None, notes)), "footnotes")))


def outcome_tables(findings: Findings, labels: Sequence[str]) -> tuple[DocumentTable, ...]:
    """Completion, failed runs ranked worst, and times to the target; without what there is nothing of."""
    tables = (_completion_table(findings, labels), _worst_rank_table(findings, labels), _target_table(findings, labels))
    return tuple(table for table in tables if table.rows)


def has_failures(findings: Findings) -> bool:
    completions = (item.completion for item in findings.experiments if isinstance(item.completion, Completion))
    return any(completion.n_completed < completion.n_runs for completion in completions)


def _no_outcomes(findings: Findings) -> str:
    """What there is to tell of runs of which there is nothing but scores to tell."""
    has_runs = any(isinstance(item.completion, Completion) for item in findings.experiments)
    ended = "All runs completed" if has_runs else "No run ended"
    return f"{ended}; no metric has a target. {no_curves(findings)}".strip()


def _completion_table(findings: Findings, labels: Sequence[str]) -> DocumentTable:
    """A row per experiment; what it says of a candidate against the baseline is there where runs failed."""
    level, rows = confidence_text(findings.confidence), []
    tests = {label: pair.completion for pair, label in _pairs(findings, labels)} if has_failures(findings) else {}
    for item, label in zip(findings.experiments, labels, strict=True):
        completion, against = item.completion, tests.get(label)
        if isinstance(completion, Unavailable):
            continue
        compared: tuple[Entry, ...] = (cell(NOTHING), cell(NOTHING))
        if against is not None and not isinstance(against, Unavailable):
            compared = (cell_of(against.difference, _points), _name_test(against.test, ""))
        cells = (
            _out_of(completion.n_completed, completion.n_runs),
            cell_of(completion.rate, share),
            _between(completion.interval, share),
            cell(", ".join(f"{n} {outcome_words(status)}" for status, n in completion.outcomes) or "none ended"),
        )
        rows.append(TableRow(label, (*cells, *compared) if tests else cells))
    against_baseline = (f"− {labels[0]}", "Boschloo's exact test") if tests else ()
    columns = ("", "k/N", "rate", f"{level} CI", "outcomes", *against_baseline)
    return DocumentTable("Completed runs", columns, tuple(rows))


def _pairs(findings: Findings, labels: Sequence[str]) -> Iterator[tuple[PairFindings, str]]:
    return zip(findings.pairs, labels[1:], strict=bool(findings.pairs))


def _list_comparisons(findings: Findings, labels: Sequence[str]) -> Iterator[tuple[Comparison, str]]:
    return ((comparison, label) for pair, label in _pairs(findings, labels) for comparison in pair.comparisons)


WORST_RANK_TABLE = "Failed runs ranked worst"


def _worst_rank_table(findings: Findings, labels: Sequence[str]) -> DocumentTable:
    rows = tuple(
        TableRow(
            f"{metric_name(comparison)}, {label}",
            (
                cell(ShownNumber(comparison.baseline.n_runs, 0), " + ", ShownNumber(comparison.candidate.n_runs, 0)),
                _name_test(comparison.worst_rank, "U"),
            ),
        )
        for comparison, label in _list_comparisons(findings, labels)
        if isinstance(comparison.worst_rank, Test)
    )
    return DocumentTable(WORST_RANK_TABLE, ("", "runs", "Mann–Whitney U (does not decide)"), rows)


def _list_attainments(findings: Findings, labels: Sequence[str]) -> list[Attained]:
    """Time to the target, by metric in the order of the first experiment."""
    rows = [
        (label, index, description, description.attainment)
        for index, (item, label) in enumerate(zip(findings.experiments, labels, strict=True))
        for description in item.descriptions
        if isinstance(description.attainment, Attainment)
    ]
    names = list(dict.fromkeys(description.metric.name for _, _, description, _ in rows))
    return sorted(rows, key=lambda row: names.index(row[2].metric.name))


def _target_table(findings: Findings, labels: Sequence[str]) -> DocumentTable:
    """A row per metric and experiment, with the log-rank tests of candidates."""
    level, tests = confidence_text(findings.confidence), {}
    for comparison, label in _list_comparisons(findings, labels):
        if not isinstance(of_both := comparison.attainment, Unavailable):
            both = (_name_test(of_both.log_rank, "Z"), _name_test(of_both.log_rank_seconds, "Z"))
            tests[comparison.candidate_metric.name, label] = both
    rows = tuple(
        TableRow(
            f"{_target(description)}, {label}",
            (
                _out_of(attainment.n_reached, len(attainment.steps)),
                cell_of(attainment.median_steps, _steps),
                _between(attainment.median_steps_interval, _steps),
                cell_of(attainment.median_seconds, duration_of),
                _between(attainment.median_seconds_interval, duration_of),
                *(tests.get((description.metric.name, label), (cell(NOTHING), cell(NOTHING))) if tests else ()),
            ),
        )
        for label, _, description, attainment in _list_attainments(findings, labels)
    )
    log_ranks = ("log-rank, steps", "log-rank, seconds") if tests else ()
    columns = ("", "reached", "median step", f"{level} CI", "median time", f"{level} CI", *log_ranks)
    return DocumentTable("Time to the target", columns, rows)


def _out_of(k: int, n: int) -> Entry:
    return cell(ShownNumber(k, 0), "/", ShownNumber(n, 0), value=k)


def _survival_plots(attained: Sequence[Attained]) -> Iterator[SurvivalPlot]:
    for number_of_plot, rows in enumerate(group_pairs((row[2].metric.name, row) for row in attained).values()):
        target = _target(rows[0][2])
        text = "; ".join(
            f"{label}: {attainment.n_reached} of {len(attainment.steps)} runs, "
            f"median {cell_of(attainment.median_steps, _steps).text}"
            for label, _, _, attainment in rows
        )
        lines = tuple(_survival_line(label, index, attainment) for label, index, _, attainment in rows)
        ended = " Each stroke is a run that ended before." if any(line.ended for line in lines) else ""
        yield SurvivalPlot(
            key=f"s{number_of_plot}",
            title=f"{target}: runs not there yet",
            description=f"Share of runs that have not reached {target} after each main-loop step: {text}",
            caption=f"Kaplan–Meier: a line falls where runs reach the target.{ended}",
            lines=lines,
        )


def _survival_line(label: str, index: int, attainment: Attainment) -> SurvivalLine:
    return SurvivalLine(
        label=label,
        note=f"n = {len(attainment.steps)}, {attainment.n_reached} reached",
        index=index,
        points=attainment.survival,
        ended=tuple(sorted(step for _, step, is_there in attainment.steps if not is_there)),
        last=max(step for _, step, _ in attainment.steps),
    )


def outcome_brief(findings: Findings, labels: Sequence[str]) -> Iterator[Section]:
    """The tables for a terminal, where runs failed or a metric has a target."""
    if has_failures(findings) or _list_attainments(findings, labels):
        for one in outcome_tables(findings, labels):
            yield paragraph(replace(one, columns=(one.caption, *one.columns[1:])))


def _target(description: Description) -> str:
    metric = description.metric
    sign = {"max": "≥", "min": "≤", None: "="}[metric.direction]
    value = number(metric.target if metric.target is not None else math.nan, None)
    return f"{name_text(metric.shown)} {sign} {with_unit(value, unit_of(metric))}"


def _between(interval: Interval | Unavailable, written: Callable[[float], Pieces]) -> Entry:
    def both(known: Interval) -> Pieces:
        high: Pieces = ("not reached",) if math.isinf(known.high) else written(known.high)
        return (*written(known.low), TO, *high)

    return cell_of(interval, both)


def _name_test(test: Test | Unavailable, letter: str) -> Entry:
    """A test, with its name if it differs from the one in the column heading."""
    if isinstance(test, Unavailable) or test.name in {"Boschloo", "Mann-Whitney U", "log-rank"}:
        return test_cell(test, letter)
    return cell_of(test, lambda known: (f"{known.name}: ", *test_pieces(known, letter)))


def _steps(value: float) -> Pieces:
    """A number of steps: whole, or halfway between two."""
    return (ShownNumber(value, 0 if value == round(value) else 1),)


def _points(difference: float) -> Pieces:
    return ("+" if difference > 0 else "", ShownNumber(100 * difference, 0), " points")


# Compared curves: where they differ, and the areas under them.

MOST_FIGURES = 6
"""Bands that are drawn, the primary metric first: a page of thirty would hide the one that counts."""


def curve_table(findings: Findings, labels: Sequence[str]) -> DocumentTable | None:
    """A row per metric and candidate with curves; None if no metric has any."""
    counter = shared_counter(findings)
    rows = tuple(
        TableRow(
            f"{metric_name(comparison)}, {label}", (_first(curve, counter), *_area(comparison, curve), _remarks(curve))
        )
        for comparison, label, _, curve in _curves(findings, labels)
    )
    columns = ("", "first difference", "mean over the curve", "CI", "Welch", "steps")
    return DocumentTable(f"Curves against {labels[0]}, exploratory", columns, rows) if rows else None


def no_curves(findings: Findings) -> str:
    """Why no curves are compared; empty if some are."""
    compared = [comparison.curve for pair in findings.pairs for comparison in pair.comparisons]
    if not compared:
        return "Curves are not compared: that takes a baseline and a candidate that report the same metric."
    if any(isinstance(comparison, CurveComparison) for comparison in compared):
        return ""
    reasons = dict.fromkeys(
        comparison.reason for comparison in compared if isinstance(comparison, Unavailable) and comparison != NOT_ASKED
    )
    return f"Curves are not compared: {'; '.join(map(clean, reasons)) or NOT_ASKED.reason}."


def difference_plots(findings: Findings, labels: Sequence[str]) -> tuple[DifferencePlot, ...]:
    """Differences with bands for the first metrics whose band is finite."""
    counter = shared_counter(findings)
    drawn = _with_ends(findings, labels)[:MOST_FIGURES]
    return tuple(_plot(*one, counter, f"d{place}") for place, one in enumerate(drawn))


def not_drawn(findings: Findings, labels: Sequence[str]) -> str:
    """The number of bands that are not drawn; empty if all are drawn."""
    n_more = len(_with_ends(findings, labels)) - MOST_FIGURES
    return f"{counted(n_more, 'more band')} not drawn; --json has them all." if n_more > 0 else ""


def _curves(findings: Findings, labels: Sequence[str]) -> Iterator[tuple[Comparison, str, int, CurveComparison]]:
    for index, (pair, label) in enumerate(_pairs(findings, labels), start=1):
        for comparison in pair.comparisons:
            if isinstance(comparison.curve, CurveComparison):
                yield comparison, label, index, comparison.curve


def _with_ends(findings: Findings, labels: Sequence[str]) -> list[tuple[Comparison, str, int, CurveComparison]]:
    curves = _curves(findings, labels)
    return [curve for curve in curves if any(map(math.isfinite, itertools.chain.from_iterable(curve[3].band)))]


def _step(step: int, counter: LoopCounter) -> Pieces:
    """A step of the main loop as the script counts, such as `epoch 7`."""
    name = "step" if counter == STEPS else counter.name
    return f"{name} ", ShownNumber(_number(step, counter), 0)


def _number(step: int, counter: LoopCounter) -> int:
    return counter.first + counter.stride * step


def _first(curve: CurveComparison, counter: LoopCounter) -> Entry:
    if not curve.band:
        return Absent(curve.band_method)
    if curve.first_difference is None:
        return cell(f"at none of {counted(len(curve.steps), 'step')}")
    return cell(*_step(curve.first_difference, counter))


def _area(comparison: Comparison, curve: CurveComparison) -> tuple[Entry, Entry, Entry]:
    """Difference of the areas under the curves, with its interval and test."""
    interval, difference, test = curve.area_interval, curve.area_difference, curve.area_test
    places = places_of_interval(interval)
    area = signed_cell(difference, places, difference_unit(unit_of(comparison.metric)))
    around = cell_of(interval, lambda known: (f"{confidence_text(known.confidence)}: ", *noted_ends(known, places)))
    return area, around, test_cell(test, "t")


def _remarks(curve: CurveComparison) -> Entry:
    remarks = [f"{len(curve.steps)} compared, n = {curve.n[0]} + {curve.n[1]}"]
    remarks += [clean(note) for note in parts_of(curve.note) if kind_of(note) is not Note.EXPLORATORY]
    remarks += [f"{curve.n_left_out} left out that some run did not report"] if curve.n_left_out else []
    remarks += [clean(curve.band_method)] if curve.band else []
    return cell("; ".join(remarks))


def _plot(
    comparison: Comparison, label: str, index: int, curve: CurveComparison, counter: LoopCounter, key: str
) -> DifferencePlot:
    name, n = metric_name(comparison), f"n = {curve.n[0]} + {curve.n[1]}"
    level, first = confidence_text(curve.confidence), curve.first_difference
    caption = f"The line is the difference of the mean curves; the band ({level}) holds at all steps at once."
    note = n if first is None else f"{n}, first differ at {text_of(_step(first, counter))}"
    steps = tuple(float(_number(step, counter)) for step in curve.steps)
    return DifferencePlot(
        key=key,
        title=f"{name}: {label} minus the baseline",
        description=(
            f"Difference of the mean curves of {name}, {n}, with a band that holds at all steps at once ({level}): "
            f"they first differ {'' if first is None else 'at '}{_first(curve, counter).text}"
        ),
        caption=caption if first is None else f"{caption} Dotted: the first step at which it leaves 0.",
        axis=unit_head(f"difference of {name}", difference_unit(unit_of(comparison.metric))),
        lines=(StepLine(index, label, note, steps, curve.difference, curve.band),),
        steps_axis=counter.name,
        first=None if first is None else float(_number(first, counter)),
    )
