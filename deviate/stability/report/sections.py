"""The sections on stability, the lines for a terminal, and what is not there and why."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from deviate.model.estimates import Estimate, Interval, Unavailable
from deviate.model.findings import Findings
from deviate.model.stability import Convergence, ConvergenceRow, Measure, SetStability, WeakModels
from deviate.report.document import (
    Absent,
    Block,
    DocumentTable,
    Entry,
    Fold,
    Items,
    Section,
    TableRow,
    cell,
    quantities,
)
from deviate.report.format import clean, confidence_text, counted, counted_of, decimals, name_text, replicates
from deviate.report.numbers import ShownNumber, ends, share
from deviate.report.parts.describe import cell_of, mean_and_sd
from deviate.stability.report import classes
from deviate.stability.report.classes import widest_in_brief, worst_in_brief
from deviate.stability.report.measure_labels import all_measures, find_measure, measure_text, methods, rows_of
from deviate.stability.report.sets import N_OPEN, N_SETS, headline, sentence, set_parts, sets_by_name, weights_part

Sets = Sequence[SetStability]
MOST_ITEMS = 4
MOST_REASONS = 2
TEST = re.compile(r"(?:^|_)test(?:_|$)")
"""Names of the test set, which is reported before other evaluation sets."""
N_CLASS_PARTS = 24
NOTHING = (
    "Neither predictions nor weights were captured, so this report does not show on how many predictions runs disagree "
    "(churn), nor how similar the runs are. Capture them with deviate run … --capture predictions,weights; the script "
    "needs no change."
)
IMPORTED = (
    "The scores were imported, so neither predictions nor weights were captured. Runs by deviate capture them with "
    "--capture predictions,weights."
)


def _no_captures(findings: Findings) -> str:
    """Why there are no predictions and weights; empty if there are some."""
    if findings.stability.sets or findings.stability.weights:
        return ""
    experiments = [item.experiment for item in findings.experiments]
    return IMPORTED if experiments and all(one.imported for one in experiments) else NOTHING


def _reasons(findings: Findings, labels: Sequence[str]) -> tuple[str, ...]:
    """Reasons why requested results of an experiment are missing, with its name if there are several experiments."""
    sentences = [
        f"{label}: {clean(reason)}" if len(labels) > 1 else clean(reason)
        for label, reasons_of_experiment in zip(labels, findings.stability.reasons, strict=False)
        for reason in reasons_of_experiment
    ]
    return tuple(dict.fromkeys(sentences))


def sections(findings: Findings, labels: Sequence[str]) -> tuple[Section, ...]:
    """The sections of a page on stability, in its order; `labels` name the experiments."""
    return stability_section(findings, labels), class_section(findings, labels)


def stability_section(findings: Findings, labels: Sequence[str]) -> Section:
    """Section on evaluation sets, weights, convergence and weak runs."""
    reasons = filter(None, (_no_captures(findings), *_reasons(findings, labels)))
    blocks: tuple[Block, ...] = (
        *set_parts(findings, labels),
        *weights_part(findings, labels),
        *convergence_part(findings, labels),
        *weak_part(findings, labels),
        *map(Absent, reasons),
        Items(tuple(_footnotes(findings)), "footnotes"),
    )
    return Section("stability", "Stability", blocks)


def class_section(findings: Findings, labels: Sequence[str]) -> Section:
    """Section on classes and sub-groups of evaluation sets."""
    sets = findings.stability.sets
    blocks: tuple[Block, ...] = (
        *_class_parts(sets[:N_CLASS_PARTS], labels),
        Items(tuple(classes.footnotes(findings)), "footnotes"),
    )
    return Section("classes", "Classes of evaluation sets", blocks)


def _class_parts(sets: Sets, labels: Sequence[str]) -> Iterator[Section]:
    for place, captured in enumerate(sets):
        if captured.classes:
            yield classes.class_part(captured, place, labels, is_folded=place >= N_OPEN)
        if captured.groups:
            yield classes.group_part(captured, place, labels)


def _footnotes(findings: Findings) -> Iterator[str]:
    stability = findings.stability
    measures = all_measures(stability)
    if methods_text := methods(one.interval for one in measures):
        yield f"Intervals: {methods_text}. They are over runs, not over pairs, because pairs share runs."
    if stability.sets:
        yield (
            "Disagreement counts examples for which two runs predict different classes, whether right or wrong. "
            "Outputs are averaged as probabilities where these are available."
        )
        yield "No verdict depends on these values; intervals of differences are not corrected for multiple comparisons."
    n_left = len(sets_by_name(findings)) - N_SETS
    if n_left > 0:
        yield f"{counted(n_left, 'further evaluation set')} not shown; JSON and CSV have all."


def limits(findings: Findings) -> Iterator[str]:
    """Limits of what predictions and weights show."""
    sets = findings.stability.sets
    if any(captured.disagreement for captured in sets):
        yield "The disagreement of runs is not their error rate, and no verdict depends on it."
    if any(captured.classes or captured.groups for captured in sets):
        yield "Results per class and sub-group are exploratory: the widest of many is partly wide by chance."
    if findings.stability.weights:
        yield "Distance of weights is not distance of functions: permuted units of a layer give the same function."


def brief_lines(findings: Findings, labels: Sequence[str]) -> tuple[str, ...]:
    """At most four sentences on the test set, else on the first set; on weights if there are no predictions.

    Requests without a result are listed last.
    """
    named_sets, lacking = sets_by_name(findings), _lacking(findings, labels)
    if not named_sets:
        return (*(sentence(weights, labels) for weights in findings.stability.weights[:MOST_ITEMS]), *lacking)
    (_, sets), *other_sets = sorted(named_sets.items(), key=lambda pair: not TEST.search(pair[0]))
    lines = [_churn(sets, labels), *_least(sets, labels)]
    if other_sets:
        text = ", ".join(name_text(name) for name, _ in other_sets[:MOST_ITEMS]) + " …" * (len(other_sets) > MOST_ITEMS)
        lines.append(
            f"… and {counted_of(len(other_sets), 'more evaluation set')} ({text}): see Stability in the report"
        )
    return (*filter(None, lines), *lacking)


def _lacking(findings: Findings, labels: Sequence[str]) -> tuple[str, ...]:
    sentences = _reasons(findings, labels)
    n_left = len(sentences) - MOST_REASONS
    return (*sentences[:MOST_REASONS], *([f"… and {n_left} more: see Stability in the report"] if n_left > 0 else []))


def _churn(sets: Sets, labels: Sequence[str]) -> str:
    """Churn: a sentence for one experiment, a list for several."""
    first = sets[0]
    if len(sets) == 1:
        return headline(first, labels[first.experiment])
    parts = [f"{labels[captured.experiment]} {_figure(captured)}" for captured in sets[:MOST_ITEMS]]
    n_left = len(sets) - MOST_ITEMS
    more = f"; and {n_left} more" if n_left > 0 else ""
    subject = "Two runs disagree" if find_measure(first.measures, "churn") else "Correlation of the outputs of two runs"
    level = next((text for one in sets if (text := _level(one))), "")
    examples = f"{name_text(first.name)} ({counted_of(first.n_examples, 'example')})"
    return f"{subject} on {examples}{level}: {'; '.join(parts)}{more}."


def _headline_measure(captured: SetStability) -> Measure | None:
    return find_measure(captured.measures, "churn") or find_measure(captured.measures, "pearson")


def _figure(captured: SetStability) -> str:
    measure = _headline_measure(captured)
    return "unknown" if measure is None else measure_text(measure)


def _level(captured: SetStability) -> str:
    measure = _headline_measure(captured)
    interval = measure.interval if measure else None
    return f" [{confidence_text(interval.confidence)} CI]" if isinstance(interval, Interval) else ""


def _least(sets: Sets, labels: Sequence[str]) -> Iterator[str]:
    """The class with the widest spread over all experiments, and a sub-group of the first experiment with any."""
    spread = [
        (one.sd, captured) for captured in sets for one in captured.classes[:1] if not isinstance(one.sd, Unavailable)
    ]
    if any(sd for sd, _ in spread):
        captured = max(spread, key=lambda one: one[0])[1]
        yield _sentence(f"{_whose(captured, sets, labels)}{widest_in_brief(captured)}")
    worst = [(text, captured) for captured in sets if (text := worst_in_brief(captured))]
    if worst:
        text, captured = worst[0]
        yield _sentence(f"{_whose(captured, sets, labels)}{text}")


def _whose(captured: SetStability, sets: Sets, labels: Sequence[str]) -> str:
    return f"In {labels[captured.experiment]} " if len(sets) > 1 else ""


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


# Time and steps to convergence as text, and spreads without weak runs.
#
# Source: ranges of times relative to the smallest, after the relative differences of Pham et al. (2020).

RELATIVE = "(largest − smallest) / smallest"
TIMES = frozenset({"seconds per step", "seconds per step, range", "seconds", "seconds, range"})
NO_TIMES = "The times of reported values were not recorded, so only steps are shown."
FREE = "Times are comparable only if nothing else ran on the machine."


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
        f"Convergence of {metrics}: seconds and main-loop steps, counted from 1",
        columns,
        [row for row in rows if has_times or row.label not in TIMES],
    )
    seconds = (quantities("Seconds per main-loop step", columns, every),) if has_times else ()
    fold = Fold("Convergence by criterion", (table,))
    notes = Items((FREE if has_times else NO_TIMES,), "footnotes")
    return (Section("stability-convergence", "Time to convergence", (*seconds, fold, notes)),)


def weak_part(findings: Findings, labels: Sequence[str]) -> tuple[Section, ...]:
    weak_models = findings.stability.weak
    if not weak_models:
        return ()
    table = DocumentTable(
        "Spread with and without weak runs",
        ("Experiment", "metric", "left out", "runs", "range of all", "range without", "SD of all", "SD without"),
        tuple(_weak(models, labels) for models in weak_models),
    )
    text = "The rule in the table decides which runs are weak. Verdicts use all runs."
    return (Section("stability-weak", "Weak models", (text, table, Items((), "footnotes"))),)


def _criterion(criterion: str, convergences: Sequence[Convergence]) -> list[TableRow]:
    """A criterion of convergence; only the number of runs that converged if none did."""
    row_of_each = [
        next((row for row in convergence.rows if row.criterion == criterion), None) for convergence in convergences
    ]
    is_reached = any(step is not None for row in row_of_each if row for step in row.steps)
    rules = [(label, how, partial(_entry_of, entry_of)) for label, how, entry_of in _CRITERION]
    return rows_of(rules if is_reached else rules[:1], row_of_each, clean(criterion))


def _entry_of(entry_of: Callable[[ConvergenceRow], Entry], row: ConvergenceRow | None) -> Entry:
    return Absent("not computed") if row is None else entry_of(row)


def _count_arrivals(row: ConvergenceRow) -> Entry:
    n = sum(step is not None for step in row.steps)
    return cell(ShownNumber(n, 0), " of ", ShownNumber(len(row.steps), 0), value=n)


def _steps(row: ConvergenceRow) -> Entry:
    steps = [step for step in row.steps if step is not None]
    if not steps:
        return Absent("no run converged")
    same = min(steps) == max(steps)
    pieces = (ShownNumber(steps[0], 0),) if same else ends(min(steps), max(steps), 0)
    return cell(*pieces, value=min(steps))


def _mean(mean: Estimate, sd: Estimate) -> Entry:
    finer = mean if isinstance(sd, Unavailable) else sd
    return mean_and_sd(mean, sd, None if isinstance(finer, Unavailable) else decimals(finer), "s")


def _share(value: Estimate) -> Entry:
    return cell_of(value, share)


def _weak(models: WeakModels, labels: Sequence[str]) -> TableRow:
    pairs = ((models.range_all, models.range_kept), (models.sd_all, models.sd_kept))
    return TableRow(
        labels[models.experiment],
        (
            cell(name_text(models.metric)),
            cell(clean(models.rule)),
            cell(replicates(models.excluded) if models.excluded else "none"),
            *(_plain(value) for pair in pairs for value in pair),
        ),
    )


def _plain(value: Estimate) -> Entry:
    return cell_of(value, lambda size: (ShownNumber(size, decimals(abs(size))),))


_STEPS: tuple[tuple[str, str, Callable[[Convergence], Entry]], ...] = (
    ("seconds per step", "mean ± SD over runs", lambda one: _mean(one.step_seconds_mean, one.step_seconds_sd)),
    ("seconds per step, range", RELATIVE, lambda one: _share(one.step_seconds_relative_range)),
)
"""Rows for the time per step: label, method, and the cell of an experiment."""
_CRITERION: tuple[tuple[str, str, Callable[[ConvergenceRow], Entry]], ...] = (
    ("converged runs", "of recorded runs", _count_arrivals),
    ("steps", "smallest … largest", _steps),
    ("steps, range", RELATIVE, lambda row: _share(row.steps_relative_range)),
    ("seconds", "mean ± SD over converged runs", lambda row: _mean(row.seconds_mean, row.seconds_sd)),
    ("seconds, range", RELATIVE, lambda row: _share(row.seconds_relative_range)),
)
"""Rows for each criterion of convergence: label, method, and the cell of an experiment."""
