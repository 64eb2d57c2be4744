"""Experiments over several tasks as text: aggregates with intervals, mean ranks, and the data of two figures."""

from collections.abc import Sequence

from deviate.model import Aggregated, Estimate, Findings, Interval, TaskFindings, Unavailable
from deviate.report.format import between, clean, confidence_text, counted, decimals, name_text, number, p_text, ratio
from deviate.report.parts.compare import ratio_cell, test_cell
from deviate.report.parts.describe import cell_of
from deviate.report.parts.multi_comparison import pair_matrix
from deviate.report.view import Cell, Fact, ProfileLine, ProfilePlot, RankPlot, Row, TaskView


def task_view(findings: Findings, labels: Sequence[str]) -> TaskView | None:
    """The part on tasks; None where none were named."""
    tasks = findings.tasks
    if tasks is None:
        return None
    level = confidence_text(findings.confidence)
    names = [it.name for it in tasks.aggregated]
    reason = "" if tasks.aggregated else f"No aggregates: {clean(tasks.note)}."
    p_values = ["" if isinstance(it.p_adjusted, Unavailable) else p_text(it.p_adjusted) for it in tasks.posthoc]
    headers, matrix = pair_matrix(names, tasks.posthoc, p_values) if tasks.posthoc else ((), ())
    ranks, profile = _rank_plot(tasks, level), _profile_plot(tasks, labels, level)
    iqms = "; ".join(f"{name_text(it.name)} {_with_interval(it.iqm, it.iqm_interval).text}" for it in tasks.aggregated)
    scaled = ", each scaled to 0 … 1" if tasks.is_scaled else ""
    over = f"IQM over {counted(len(tasks.tasks), 'task')}{scaled}"
    friedman = test_cell(tasks.friedman, "chi-square")
    ranked = f"Friedman {friedman.text}" if not friedman.is_reason else f"Friedman: none, {friedman.text}"
    told = f"{over} [{level} CI, stratified bootstrap over runs]: {iqms}" if iqms else f"{over}: {reason}"
    return TaskView(
        sentence=f"{told}. {ranked}. Normalisation: {clean(tasks.normalisation)}." if iqms else told,
        lines=(told, *((_rank_line(tasks, ranked),) if iqms else ())),
        facts=(
            Fact("Tasks", Cell(", ".join(map(name_text, tasks.tasks)) or "none", is_reason=not tasks.tasks)),
            Fact("Runs per task", Cell(_runs_text(tasks))),
            Fact("Normalisation", Cell(clean(tasks.normalisation))),
            Fact("Friedman test of mean ranks", friedman),
            Fact("Critical difference of mean ranks (Nemenyi)", ratio_cell(tasks.critical_difference)),
            *([Fact("Note", Cell(clean(tasks.note)))] if tasks.note else []),
        ),
        headers=(
            f"IQM [{level} CI]",
            f"mean [{level} CI]",
            f"median [{level} CI]",
            f"optimality gap [{level} CI]",
            f"P(better than baseline) [{level} CI]",
            "mean rank",
        ),
        rows=tuple(_row(it) for it in tasks.aggregated),
        no_rows=reason,
        ranks=ranks,
        no_ranks="" if ranks else f"No diagram of ranks: {_reason(tasks.critical_difference)}.",
        profile=profile,
        no_profile="" if profile else "No profile: there are no scores on a common scale.",
        matrix_headers=headers,
        matrix=matrix,
        footnotes=_footnotes(tasks) if tasks.aggregated else (),
    )


def _row(it: Aggregated) -> Row:
    return Row(
        name_text(it.name),
        (
            _with_interval(it.iqm, it.iqm_interval),
            _with_interval(it.mean, it.mean_interval),
            _with_interval(it.median, it.median_interval),
            _with_interval(it.gap, it.gap_interval),
            _with_interval(it.improvement, it.improvement_interval, places=2),
            cell_of(it.rank, ratio),
        ),
    )


def _with_interval(estimate: Estimate, interval: Interval | Unavailable, places: int | None = None) -> Cell:
    if isinstance(estimate, Unavailable):
        return Cell(estimate.reason, is_reason=True)
    if isinstance(interval, Unavailable):
        text = f"{number(estimate, 4 if places is None else places)} (no interval: {interval.reason})"
        return Cell(text, value=estimate)
    shown = decimals((interval.high - interval.low) / 4) if places is None else places
    note = f", {interval.note}" if interval.note else ""
    text = f"{number(estimate, shown)} [{between(interval.low, interval.high, shown)}{note}]"
    return Cell(text, value=estimate)


def _reason(estimate: Estimate) -> str:
    return estimate.reason if isinstance(estimate, Unavailable) else "no ranks"


def _runs_text(tasks: TaskFindings) -> str:
    """Runs of each experiment; one number where all tasks have as many."""
    shown = []
    names = [name_text(it.name) for it in tasks.aggregated] or [str(index + 1) for index in range(len(tasks.n))]
    for name, runs in zip(names, tasks.n, strict=False):
        shown.append(f"{name} {runs[0]}" if len(set(runs)) == 1 else f"{name} {', '.join(map(str, runs))}")
    return "; ".join(shown) or "none"


def _rank_line(tasks: TaskFindings, ranked: str) -> str:
    ranks = [
        f"{name_text(it.name)} {ratio(it.rank)}" for it in tasks.aggregated if not isinstance(it.rank, Unavailable)
    ]
    difference = tasks.critical_difference
    apart = "" if isinstance(difference, Unavailable) else f", critical difference {ratio(difference)}"
    return f"mean rank {', '.join(ranks)}{apart}; {ranked}"


def _rank_plot(tasks: TaskFindings, level: str) -> RankPlot | None:
    ranks = {it.name: it.rank for it in tasks.aggregated if not isinstance(it.rank, Unavailable)}
    difference = tasks.critical_difference
    if isinstance(difference, Unavailable) or len(ranks) < 2:
        return None
    ordered = sorted(ranks.items(), key=lambda it: it[1])
    told = ", ".join(f"{name_text(name)} {ratio(rank)}" for name, rank in ordered)
    groups = "; ".join(", ".join(map(name_text, group)) for group in tasks.cliques)
    return RankPlot(
        key="task-ranks",
        title="Mean ranks over tasks",
        description=f"Mean rank over {len(tasks.tasks)} tasks, 1 is best: {told}. Critical difference "
        f"{ratio(difference)} (Nemenyi, {level}). Not told apart: {groups or 'none'}.",
        caption="Mean rank of each experiment over the tasks. A bar joins experiments whose ranks are less apart than "
        "the critical difference.",
        note=f"mean rank over n = {len(tasks.tasks)} tasks, 1 is best",
        ranks=tuple((name_text(name), ratio(rank), rank) for name, rank in ordered),
        difference=difference,
        difference_label=f"critical difference {ratio(difference)} ({level})",
        cliques=tuple((ranks[group[0]], ranks[group[-1]]) for group in tasks.cliques),
    )


def _profile_plot(tasks: TaskFindings, labels: Sequence[str], level: str) -> ProfilePlot | None:
    if len(tasks.thresholds) < 2:
        return None
    order = [*labels]
    lines = []
    for position, (it, runs) in enumerate(zip(tasks.aggregated, tasks.n, strict=True)):
        label = name_text(it.name)
        index = order.index(label) if label in order else position
        lines.append(ProfileLine(label, f"n = {sum(runs)} scores", index, it.profile, it.profile_band))
    told = "; ".join(f"{line.label}, {line.note}" for line in lines)
    has_band = any(line.band for line in lines)
    band = f"with its pointwise {level} band" if has_band else "without bands, for which there are too few runs"
    return ProfilePlot(
        key="task-profiles",
        title="Performance profiles",
        description=f"Share of scores above each threshold, mean over {len(tasks.tasks)} tasks, {band}: {told}.",
        caption=f"Share of scores above each threshold, mean over tasks, {band}: higher is better.",
        axis="normalised score" if tasks.is_scaled else "score",
        thresholds=tasks.thresholds,
        lines=tuple(lines),
    )


def _footnotes(tasks: TaskFindings) -> tuple[str, ...]:
    interval = next((it.iqm_interval for it in tasks.aggregated if isinstance(it.iqm_interval, Interval)), None)
    aggregates = (
        "IQM: mean of the middle half of all scores of all tasks. Mean and median: over tasks, of the mean over runs. "
        f"Optimality gap: by how much scores stay below {number(tasks.optimum, None)} on average. P(better than "
        "baseline): Mann–Whitney estimate, ties half, mean over tasks."
    )
    ranks = (
        "Ranks are of the mean over runs on each task; the tasks are the blocks of Friedman's test, and say nothing "
        "about tasks that are not here."
    )
    sentences = [aggregates, ranks]
    if interval is not None:
        sentences.append(
            f"Intervals: {interval.method}; runs are resampled within each task, tasks are not: they are these."
        )
    return tuple(sentences)
