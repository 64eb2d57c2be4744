"""Time and steps to convergence as text, and spreads without weak runs.

Source: ranges of times relative to the smallest, after the relative differences of Pham et al. (2020).
"""

from collections.abc import Callable, Sequence
from functools import partial

from deviate.model import Convergence, ConvergenceRow, Estimate, Findings, Unavailable, WeakModels
from deviate.report import (
    PLUS_MINUS,
    Absent,
    Entry,
    Fold,
    Items,
    Number,
    Row,
    Section,
    Table,
    cell,
    cell_of,
    clean,
    decimals,
    ends,
    name_text,
    quantities,
    replicates,
    share,
)
from deviate.stability.report.measure_labels import rows_of

RELATIVE = "(largest − smallest) / smallest"
TIMES = frozenset({"seconds per step", "seconds per step, range", "seconds", "seconds, range"})
NO_TIMES = "When these runs reported their values is not on record: steps alone are told."
FREE = "Times compare only where runs had their machine to themselves."


def convergence_part(findings: Findings, labels: Sequence[str]) -> tuple[Section, ...]:
    convergences = findings.stability.convergence
    if not convergences:
        return ()
    metrics = ", ".join(dict.fromkeys(name_text(convergence.metric) for convergence in convergences))
    criteria = dict.fromkeys(row.criterion for convergence in convergences for row in convergence.rows)
    every = rows_of(_STEPS, convergences)
    rows = [row for criterion in criteria for row in _criterion(criterion, convergences)]
    has_times = any(not isinstance(cell, Absent) for row in (*every, *rows) if row.label in TIMES for cell in row.cells)
    columns = tuple(labels[convergence.experiment] for convergence in convergences)
    table = quantities(
        f"Convergence of {metrics}: seconds and steps of the main loop, from 1",
        columns,
        [row for row in rows if has_times or row.label not in TIMES],
    )
    seconds = (quantities("Seconds of a step of the main loop", columns, every),) if has_times else ()
    fold = Fold("Convergence, criterion by criterion", (table,))
    notes = Items((FREE if has_times else NO_TIMES,), "footnotes")
    return (Section("stability-convergence", "Time to convergence", (*seconds, fold, notes)),)


def weak_part(findings: Findings, labels: Sequence[str]) -> tuple[Section, ...]:
    weak_models = findings.stability.weak
    if not weak_models:
        return ()
    table = Table(
        "Spread with and without the runs that were named weak",
        ("Experiment", "metric", "left out", "runs", "range of all", "range without", "SD of all", "SD without"),
        tuple(_weak(models, labels) for models in weak_models),
    )
    text = (
        "Which runs are weak was decided by the rule in the table; both figures are shown, and verdicts use all runs."
    )
    return (Section("stability-weak", "Weak models", (text, table, Items((), "footnotes"))),)


def _criterion(criterion: str, convergences: Sequence[Convergence]) -> list[Row]:
    """A criterion of convergence; only the number of runs that converged if none did."""
    row_of_each = [
        next((row for row in convergence.rows if row.criterion == criterion), None) for convergence in convergences
    ]
    is_reached = any(step is not None for row in row_of_each if row for step in row.steps)
    rules = [(label, how, partial(_entry_of, entry_of)) for label, how, entry_of in _CRITERION]
    return rows_of(rules if is_reached else rules[:1], row_of_each, clean(criterion))


def _entry_of(entry_of: Callable[[ConvergenceRow], Entry], row: ConvergenceRow | None) -> Entry:
    return Absent("not asked of it") if row is None else entry_of(row)


def _count_arrivals(row: ConvergenceRow) -> Entry:
    n = sum(step is not None for step in row.steps)
    return cell(Number(n, 0), " of ", Number(len(row.steps), 0), value=n)


def _steps(row: ConvergenceRow) -> Entry:
    steps = [step for step in row.steps if step is not None]
    if not steps:
        return Absent("no run gets there")
    same = min(steps) == max(steps)
    pieces = (Number(steps[0], 0),) if same else ends(min(steps), max(steps), 0)
    return cell(*pieces, value=min(steps))


def _mean(mean: Estimate, sd: Estimate) -> Entry:
    if isinstance(mean, Unavailable):
        return Absent(clean(mean.reason))
    if isinstance(sd, Unavailable):
        return cell(Number(mean, decimals(mean)), " s", value=mean)
    places = decimals(sd)
    return cell(Number(mean, places), PLUS_MINUS, Number(sd, places), " s", value=mean)


def _share(value: Estimate) -> Entry:
    return cell_of(value, share)


def _weak(models: WeakModels, labels: Sequence[str]) -> Row:
    pairs = ((models.range_all, models.range_kept), (models.sd_all, models.sd_kept))
    return Row(
        labels[models.experiment],
        (
            cell(name_text(models.metric)),
            cell(clean(models.rule)),
            cell(replicates(models.excluded) if models.excluded else "none"),
            *(_plain(value) for pair in pairs for value in pair),
        ),
    )


def _plain(value: Estimate) -> Entry:
    return cell_of(value, lambda size: (Number(size, decimals(abs(size))),))


_STEPS: tuple[tuple[str, str, Callable[[Convergence], Entry]], ...] = (
    ("seconds per step", "mean ± SD over runs", lambda one: _mean(one.step_seconds_mean, one.step_seconds_sd)),
    ("seconds per step, range", RELATIVE, lambda one: _share(one.step_seconds_relative_range)),
)
"""Of all steps: label and method of a row, and its cell for an experiment."""
_CRITERION: tuple[tuple[str, str, Callable[[ConvergenceRow], Entry]], ...] = (
    ("runs that get there", "of those on record", _count_arrivals),
    ("steps", "smallest … largest", _steps),
    ("steps, range", RELATIVE, lambda row: _share(row.steps_relative_range)),
    ("seconds", "mean ± SD over runs that get there", lambda row: _mean(row.seconds_mean, row.seconds_sd)),
    ("seconds, range", RELATIVE, lambda row: _share(row.seconds_relative_range)),
)
"""The same by each criterion."""
