"""Experiments over several tasks as text: aggregates with intervals, mean ranks, and two plots."""

from collections.abc import Iterator, Sequence

from deviate.model.comparisons import Aggregated, TaskFindings
from deviate.model.estimates import Estimate, Interval, Unavailable
from deviate.model.findings import Findings
from deviate.report.document import (
    Absent,
    Block,
    DocumentTable,
    Entry,
    Fact,
    Facts,
    Items,
    Quote,
    ReportFigure,
    Section,
    TableRow,
    cell,
)
from deviate.report.format import clean, confidence_text, counted, name_text, number, p_text, ratio
from deviate.report.numbers import ShownNumber, factor
from deviate.report.parts.compare import ratio_cell, test_cell
from deviate.report.parts.describe import bracket, cell_of, places_of_interval
from deviate.report.parts.multi_comparison import pair_matrix
from deviate.report.plots import PointGroup, ProfilePlot, RankPlot, StepLine

FIGURES = {"IQM": "iqm", "mean": "mean", "median": "median", "optimality gap": "gap"}
"""Columns of the table, each with the figure of an aggregate."""


def task_section(findings: Findings, labels: Sequence[str]) -> Section | None:
    """The part on tasks; None without tasks."""
    tasks = findings.tasks
    if tasks is None:
        return None
    level = confidence_text(findings.confidence)
    names = [aggregate.name for aggregate in tasks.aggregated]
    columns = ("Experiment", *(f"{head} [{level} CI]" for head in FIGURES), "mean rank")
    blocks: list[Block] = [Quote(task_sentence(tasks, level)), Facts(_facts(tasks))]
    if tasks.aggregated:
        ranks, profile = _rank_plot(tasks, labels, level), _profile_plot(tasks, labels, level)
        difference = tasks.critical_difference
        why = difference.reason if isinstance(difference, Unavailable) else "no ranks"
        no_profile = Absent("No profile: there are no scores on a common scale.")
        blocks += [
            DocumentTable("Experiments over all tasks", columns, tuple(map(_row, tasks.aggregated))),
            ReportFigure(ranks, ranks.caption) if ranks else Absent(f"No diagram of ranks: {why}."),
            ReportFigure(profile, profile.caption) if profile else no_profile,
        ]
    else:
        blocks.append(Absent(_no_aggregates(tasks)))
    if tasks.posthoc:
        adjusted = (pair.p_adjusted for pair in tasks.posthoc)
        p_values = ["" if isinstance(p, Unavailable) else p_text(p) for p in adjusted]
        blocks.append(pair_matrix("All pairs by mean rank, p of Nemenyi", names, tasks.posthoc, p_values))
    notes = tuple(_footnotes(tasks)) if tasks.aggregated else ()
    return Section("tasks", "Several tasks", (*blocks, Items(notes, "footnotes")))


def task_sentence(tasks: TaskFindings, level: str) -> str:
    """A sentence for pasting."""
    sentence = _aggregates(tasks, level)
    if not tasks.aggregated:
        return sentence
    return f"{sentence}. {_ranked(tasks)}. Normalisation: {clean(tasks.normalisation)}."


def task_lines(tasks: TaskFindings, level: str) -> tuple[str, ...]:
    """Lines for a terminal."""
    return (_aggregates(tasks, level), *((_rank_line(tasks, _ranked(tasks)),) if tasks.aggregated else ()))


def _no_aggregates(tasks: TaskFindings) -> str:
    return f"No aggregates: {clean(tasks.note)}."


def _aggregates(tasks: TaskFindings, level: str) -> str:
    scaled = ", each scaled to 0 … 1" if tasks.is_scaled else ""
    over = f"IQM over {counted(len(tasks.tasks), 'task')}{scaled}"
    iqms = "; ".join(
        f"{name_text(aggregate.name)} {_with_interval(aggregate.iqm, aggregate.iqm_interval).text}"
        for aggregate in tasks.aggregated
    )
    return (
        f"{over} [{level} CI, stratified bootstrap over runs]: {iqms}" if iqms else f"{over}: {_no_aggregates(tasks)}"
    )


def _ranked(tasks: TaskFindings) -> str:
    friedman = test_cell(tasks.friedman, "chi-square")
    return f"Friedman: none, {friedman.text}" if isinstance(friedman, Absent) else f"Friedman {friedman.text}"


def _facts(tasks: TaskFindings) -> tuple[Fact, ...]:
    tasks_entry = cell(", ".join(map(name_text, tasks.tasks))) if tasks.tasks else Absent("none")
    return (
        Fact("Tasks", tasks_entry),
        Fact("Runs per task", cell(_runs_text(tasks))),
        Fact("Normalisation", cell(clean(tasks.normalisation))),
        Fact("Friedman test of mean ranks", test_cell(tasks.friedman, "chi-square")),
        Fact("Critical difference of mean ranks (Nemenyi)", ratio_cell(tasks.critical_difference)),
        *([Fact("Note", cell(clean(tasks.note)))] if tasks.note else []),
    )


def _row(aggregate: Aggregated) -> TableRow:
    figures = (
        _with_interval(getattr(aggregate, name), getattr(aggregate, f"{name}_interval")) for name in FIGURES.values()
    )
    return TableRow(name_text(aggregate.name), (*figures, cell_of(aggregate.rank, factor)))


def _with_interval(estimate: Estimate, interval: Interval | Unavailable) -> Entry:
    if isinstance(interval, Unavailable):
        why = f" (no interval: {interval.reason})"
        return cell_of(estimate, lambda value: (ShownNumber(value, 4), why))
    places = places_of_interval(interval)
    return cell_of(estimate, lambda value: (ShownNumber(value, places), *bracket(interval, places)))


def _runs_text(tasks: TaskFindings) -> str:
    """Number of runs of each experiment; a single number if all tasks have the same."""
    names = [name_text(aggregate.name) for aggregate in tasks.aggregated] or map(str, range(1, len(tasks.n) + 1))
    numbers = (runs[:1] if len(set(runs)) == 1 else runs for runs in tasks.n)
    texts = (f"{name} {', '.join(map(str, some))}" for name, some in zip(names, numbers, strict=False))
    return "; ".join(texts) or "none"


def _rank_line(tasks: TaskFindings, ranked: str) -> str:
    ranks = [
        f"{name_text(aggregate.name)} {ratio(aggregate.rank)}"
        for aggregate in tasks.aggregated
        if not isinstance(aggregate.rank, Unavailable)
    ]
    difference = tasks.critical_difference
    apart = "" if isinstance(difference, Unavailable) else f", critical difference {ratio(difference)}"
    return f"mean rank {', '.join(ranks)}{apart}; {ranked}"


def _rank_plot(tasks: TaskFindings, labels: Sequence[str], level: str) -> RankPlot | None:
    ranks = {name_text(one.name): one.rank for one in tasks.aggregated if not isinstance(one.rank, Unavailable)}
    difference, order = tasks.critical_difference, [*labels, *ranks]
    if isinstance(difference, Unavailable) or len(ranks) < 2:
        return None
    ordered, half = sorted(ranks.items(), key=lambda pair: pair[1]), difference / 2
    text = ", ".join(f"{name} {ratio(rank)}" for name, rank in ordered)
    groups = "; ".join(", ".join(map(name_text, group)) for group in tasks.cliques)
    return RankPlot(
        key="task-ranks",
        title="Mean ranks over tasks",
        description=f"Mean rank over {len(tasks.tasks)} tasks, 1 is best: {text}. Critical difference "
        f"{ratio(difference)} (Nemenyi, {level}). Not distinguished: {groups or 'none'}.",
        caption="Mean rank of each experiment over the tasks, with half the critical difference "
        f"({ratio(difference)}, {level}) to either side: where two lines overlap, the ranks are not told apart.",
        axis=f"mean rank over n = {len(tasks.tasks)} tasks, 1 is best",
        difference_axis="",
        groups=tuple(
            PointGroup(order.index(name), name, ratio(rank), (), rank, None, rank - half, rank + half)
            for name, rank in ordered
        ),
        differences=(),
    )


def _profile_plot(tasks: TaskFindings, labels: Sequence[str], level: str) -> ProfilePlot | None:
    if len(tasks.thresholds) < 2:
        return None
    lines = []
    for position, (aggregate, runs) in enumerate(zip(tasks.aggregated, tasks.n, strict=True)):
        label, note = name_text(aggregate.name), f"n = {sum(runs)} scores"
        index = labels.index(label) if label in labels else position
        lines.append(StepLine(index, label, note, tasks.thresholds, aggregate.profile, aggregate.profile_band))
    text = "; ".join(f"{line.label}, {line.note}" for line in lines)
    has_band = any(line.band for line in lines)
    band = f"with its pointwise {level} band" if has_band else "without bands, for which there are too few runs"
    return ProfilePlot(
        key="task-profiles",
        title="Performance profiles",
        description=f"Share of scores above each threshold, mean over {len(tasks.tasks)} tasks, {band}: {text}.",
        caption=f"Share of scores above each threshold, mean over tasks, {band}: higher is better.",
        axis="share of scores above the threshold",
        lines=tuple(lines),
        steps_axis=f"threshold: {'normalised score' if tasks.is_scaled else 'score'}",
    )


def _footnotes(tasks: TaskFindings) -> Iterator[str]:
    yield (
        "IQM: mean of the middle half of all scores of all tasks. Mean and median: over tasks, of the mean over runs. "
        f"Optimality gap: by how much scores stay below {number(tasks.optimum, None)} on average."
    )
    yield (
        "Ranks are of the mean over runs on each task; tasks are the blocks of Friedman's test, and results hold for "
        "these tasks only."
    )
    intervals = [aggregate.iqm_interval for aggregate in tasks.aggregated]
    methods = [interval.method for interval in intervals if isinstance(interval, Interval)]
    if methods:
        yield f"Intervals: {methods[0]}; runs are resampled within each task, tasks are not resampled."
