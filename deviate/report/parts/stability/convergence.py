"""Time and steps to convergence as text, and spreads without the runs that were named weak.

Source: ranges of times relative to the smallest, after the relative differences of Pham et al. (2020).
"""

from collections.abc import Callable, Sequence

from deviate.model import Convergence, ConvergenceRow, Estimate, Findings, Unavailable, WeakModels
from deviate.report.document import Absent, Entry, Fold, Items, Row, Section, Table, cell, quantities
from deviate.report.format import clean, decimals, name_text, replicates
from deviate.report.numbers import PLUS_MINUS, Number, ends, share

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
    every = [
        _row(
            "seconds per step",
            "mean ± SD over runs",
            convergences,
            lambda convergence: _mean(convergence.step_seconds_mean, convergence.step_seconds_sd),
        ),
        _row(
            "seconds per step, range",
            RELATIVE,
            convergences,
            lambda convergence: _share(convergence.step_seconds_relative_range),
        ),
    ]
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


def _row(
    label: str, how: str, convergences: Sequence[Convergence], entry_of: Callable[[Convergence], Entry], group: str = ""
) -> Row:
    return Row(label, tuple(map(entry_of, convergences)), method=how, group=group)


def _criterion(criterion: str, convergences: Sequence[Convergence]) -> list[Row]:
    def row_of(convergence: Convergence) -> ConvergenceRow | None:
        return next((row for row in convergence.rows if row.criterion == criterion), None)

    def of(convergence: Convergence, entry_of: Callable[[ConvergenceRow], Entry]) -> Entry:
        row = row_of(convergence)
        return Absent("not asked of it") if row is None else entry_of(row)

    group = clean(criterion)
    arrived = _row(
        "runs that get there",
        "of those on record",
        convergences,
        lambda convergence: of(convergence, _count_arrivals),
        group,
    )
    if not any(step is not None for convergence in convergences if (row := row_of(convergence)) for step in row.steps):
        return [arrived]
    return [
        arrived,
        _row("steps", "smallest … largest", convergences, lambda convergence: of(convergence, _steps), group),
        _row(
            "steps, range",
            RELATIVE,
            convergences,
            lambda convergence: of(convergence, lambda row: _share(row.steps_relative_range)),
            group,
        ),
        _row(
            "seconds",
            "mean ± SD over runs that get there",
            convergences,
            lambda convergence: of(convergence, lambda row: _mean(row.seconds_mean, row.seconds_sd)),
            group,
        ),
        _row(
            "seconds, range",
            RELATIVE,
            convergences,
            lambda convergence: of(convergence, lambda row: _share(row.seconds_relative_range)),
            group,
        ),
    ]


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
    if isinstance(value, Unavailable):
        return Absent(clean(value.reason))
    return cell(*share(value), value=value)


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
    if isinstance(value, Unavailable):
        return Absent(clean(value.reason))
    return cell(Number(value, decimals(abs(value))), value=value)
