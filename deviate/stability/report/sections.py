"""The sections on stability, the lines for a terminal, and what is not there and why."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from deviate.model import (
    Convergence,
    ConvergenceRow,
    Estimate,
    Findings,
    Interval,
    Measure,
    SetStability,
    Unavailable,
    WeakModels,
)
from deviate.report import (
    PLUS_MINUS,
    Absent,
    Block,
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
    confidence_text,
    counted,
    counted_of,
    decimals,
    ends,
    name_text,
    quantities,
    replicates,
    share,
)
from deviate.stability.report import classes
from deviate.stability.report.classes import widest_in_brief, worst_in_brief
from deviate.stability.report.measure_labels import all_measures, find_measure, measure_text, methods, rows_of
from deviate.stability.report.sets import N_OPEN, N_SETS, headline, sentence, set_parts, sets_by_name, weights_part

Sets = Sequence[SetStability]
MOST_ITEMS = 4
MOST_REASONS = 2
TEST = re.compile(r"(?:^|_)test(?:_|$)")
"""Names of the set that scores are about, where others were evaluated on the way."""
N_CLASS_PARTS = 24
NOTHING = (
    "Neither predictions nor weights of these runs are on record, so this report does not say on how many predictions "
    "runs disagree (churn), nor how far apart and how alike they are: "
    "deviate run … --capture predictions,weights keeps them without a change to the script."
)
IMPORTED = (
    "Neither predictions nor weights of these runs are on record, for their scores were imported; runs that deviate "
    "carries out keep them with --capture predictions,weights."
)
NO_PREDICTIONS = "No predictions are on record: --capture predictions keeps them, and tells on how many runs disagree."
NO_WEIGHTS = "No weights are on record: --capture weights keeps them, and tells how far apart they are, layer by layer."
NO_STEPS = "Nothing was kept on the way: --capture-every K shows how runs part with the steps."
NO_REDUCTIONS = (
    "No ensemble of a run's own outputs was formed: --capture-every K keeps snapshots, --tta flip,crop25 augments."
)
NO_CONVERGENCE = "Time to convergence is not told: it takes a metric that runs report at several steps."
NO_WEAK = "No run was left out as weak: --weak-below METRIC=VALUE shows spreads with and without such runs."
NO_CLASSES = (
    "No evaluation set with true labels is on record, so nothing is told of its classes: --capture predictions keeps "
    "outputs, and labels where the script has them."
)
NO_GROUPS = "No sub-groups were named: --groups FILE.csv, or --groups COLUMN of what the script logs, compares them."
HASHES = " The final weights have a hash of each run (Provenance): it tells equal from different, not how far."


def _why_nothing(findings: Findings) -> str:
    """Reasons why there are no results on stability; empty if there are."""
    stability = findings.stability
    has_results = stability.sets or stability.weights or stability.convergence or stability.weak
    return "" if has_results else _no_captures(findings)


def _no_captures(findings: Findings) -> str:
    experiments = [item.experiment for item in findings.experiments]
    text = IMPORTED if experiments and all(one.imported for one in experiments) else NOTHING
    if any(run.weights for one in experiments for run in one.runs):
        text += HASHES
    return text


def _reasons(findings: Findings, labels: Sequence[str]) -> tuple[str, ...]:
    """Reasons why requested results of an experiment are missing, with its name if there are several experiments."""
    sentences = [
        f"{label}: {clean(reason)}" if len(labels) > 1 else clean(reason)
        for label, reasons_of_experiment in zip(labels, findings.stability.reasons, strict=False)
        for reason in reasons_of_experiment
    ]
    return tuple(dict.fromkeys(sentences))


def _missing_parts(findings: Findings) -> Iterator[str]:
    """Missing parts of the section, with the commands that add them."""
    stability = findings.stability
    if not stability.sets and not stability.weights:
        yield _no_captures(findings)
    else:
        yield from [] if stability.sets else [NO_PREDICTIONS]
        yield from [] if stability.weights else [NO_WEIGHTS]
        has_steps = any(one.steps for one in stability.sets) or any(one.steps for one in stability.weights)
        yield from [] if has_steps else [NO_STEPS]
        yield from [] if any(one.reductions for one in stability.sets) else [NO_REDUCTIONS]
    yield from [] if stability.convergence else [NO_CONVERGENCE]
    yield from [] if stability.weak else [NO_WEAK]


def sections(findings: Findings, labels: Sequence[str]) -> tuple[Section, ...]:
    """The sections of a page on stability, in its order; `labels` name the experiments."""
    return stability_section(findings, labels), class_section(findings, labels)


def stability_section(findings: Findings, labels: Sequence[str]) -> Section:
    """Section on evaluation sets, weights, convergence and weak runs."""
    nothing, reasons = _why_nothing(findings), _reasons(findings, labels)
    if nothing:
        return Section("stability", "Stability", (Absent(" ".join([nothing, *reasons])), Items((), "footnotes")))
    blocks: tuple[Block, ...] = (
        *set_parts(findings, labels),
        *weights_part(findings, labels),
        *convergence_part(findings, labels),
        *weak_part(findings, labels),
        *map(Absent, (*reasons, *_missing_parts(findings))),
        Items(tuple(_footnotes(findings)), "footnotes"),
    )
    return Section("stability", "Stability", blocks)


def class_section(findings: Findings, labels: Sequence[str]) -> Section:
    """Section on classes and sub-groups of evaluation sets."""
    sets = findings.stability.sets
    blocks: tuple[Block, ...] = (
        *_class_parts(sets[:N_CLASS_PARTS], labels),
        Items(tuple(classes.footnotes(findings)), "footnotes"),
        *([] if any(captured.classes for captured in sets) else [Absent(NO_CLASSES)]),
        *([] if any(captured.groups for captured in sets) else [Absent(NO_GROUPS)]),
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
        yield f"Intervals: {methods_text}. They come from runs, never from pairs: pairs share their runs."
    if stability.sets:
        yield (
            "Disagreement counts examples on which two runs predict different classes, whichever of them is right. "
            "Averaged outputs are probabilities where there are any."
        )
        yield "No verdict rests on these figures; intervals of differences are not corrected for their number."
    n_left = len(sets_by_name(findings)) - N_SETS
    if n_left > 0:
        yield f"{counted(n_left, 'further evaluation set')} not shown; JSON and CSV have all."


def limits(findings: Findings) -> Iterator[str]:
    """Limits of what predictions and weights show."""
    sets = findings.stability.sets
    if any(captured.disagreement for captured in sets):
        yield "How often runs disagree is not how often they are wrong, and no verdict rests on it."
    if any(captured.classes or captured.groups for captured in sets):
        yield "Classes and sub-groups are explored, not tested: the widest of many is wide by chance too."
    if findings.stability.weights:
        yield "Distance of weights is not distance of functions: units of a layer may change places."


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
            f"… and of {counted_of(len(other_sets), 'more evaluation set')} ({text}): see the report, Stability"
        )
    return (*filter(None, lines), *lacking)


def _lacking(findings: Findings, labels: Sequence[str]) -> tuple[str, ...]:
    sentences = _reasons(findings, labels)
    n_left = len(sentences) - MOST_REASONS
    return (*sentences[:MOST_REASONS], *([f"… and {n_left} more: see the report, Stability"] if n_left > 0 else []))


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
    if measure is None:
        return "not known"
    if isinstance(measure.value, Unavailable):
        return f"not known, {clean(measure.value.reason)}"
    return measure_text(measure)


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
