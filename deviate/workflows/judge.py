"""Reads experiments, judges them, and writes reports."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from deviate import project, records
from deviate.errors import InputError
from deviate.model import Analysis, Direction, Experiment, Findings, Metric
from deviate.project import CONFIG
from deviate.records import CONTAINERS
from deviate.registry import wing
from deviate.workflows.request import SampleSizeRule

if TYPE_CHECKING:
    from deviate.project import PreparedScript

SINGLE = frozenset({"loss", "score", "value", "v", "output", "result", "metric"})
"""Names of containers that are names of single values far more often."""


@dataclass(frozen=True, slots=True)
class AnalysisOptions:
    """How scores are read and compared, where the user overrides the record.

    Attributes:
        is_paired: whether runs of both sides with the same replicate are compared as pairs.
        targets: metric to the value whose attainment is timed.
        directions: metric to whether more or less of it is better.
        tasks: a pattern, as `*/acc`, of the metrics that are one measure on several tasks; None for those that the
            records name.
        spread_ratio: ratio of SDs within which the interval of theirs is asked to lie.
        groups: where sub-groups of evaluation sets are found, as `--groups` says it.
        weak_below: a metric, and the value beyond which a run is left out where its spread is told a second time.
    """

    confidence: float = 0.95
    metric: str | None = None
    aggregate: str | None = None
    margin: float | None = None
    matches: Mapping[str, str] = dataclasses.field(default_factory=dict)
    analysis_seed: int = 0
    is_paired: bool = False
    targets: Mapping[str, float] = dataclasses.field(default_factory=dict)
    directions: Mapping[str, Direction] = dataclasses.field(default_factory=dict)
    tasks: str | None = None
    spread_ratio: float | None = None
    groups: tuple[str, ...] = ()
    weak_below: tuple[str, float] | None = None


def validate_request(
    prepared: "PreparedScript", options: AnalysisOptions, sample_size: SampleSizeRule
) -> tuple[str, ...]:
    """Check before the first run whether the user's questions can be answered.

    Returns: warnings, where only the runs can tell whether there is such a metric.

    Raises:
        InputError: no run can report such a metric, or there is no such aggregate.
    """
    if options.aggregate is not None:
        project.refuse_aggregate(options.aggregate, "--aggregate")
    metric_of_flag = {"--metric": options.metric}
    if sample_size.precision:
        from deviate import stats

        metric_of_flag["--until"] = stats.parse_target(sample_size.precision).metric
    names = [item.name for item in prepared.selection.metrics]
    may_be_more = any(_may_hold_more(item.metric, prepared.analysis) for item in prepared.selection.metrics)
    missing = {flag: name for flag, name in metric_of_flag.items() if name is not None and name not in names}
    for flag, name in missing.items():
        if not may_be_more:
            raise InputError(
                f"no metric named {name!r} will be recorded of {prepared.analysis.script}, as {flag} asks",
                f"Name one of {', '.join(names)}, or add it to {CONFIG}.",
            )
    return tuple(
        f"{flag} {name} is not among the metrics above; the runs may report it under that name"
        for flag, name in missing.items()
    )


def _may_hold_more(metric: Metric, script_analysis: Analysis) -> bool:
    """Whether runs may report metrics under other names at a metric's site: items, labels, keys of a history."""
    site = next((site for site in script_analysis.sites if site.id == metric.site), None)
    if site is None or site.form == "call" or (site.label is not None and metric.label is None):
        return True
    identifier_words = set(re.findall(r"[a-z]+", metric.expression.lower()))
    return "{" in metric.expression or not identifier_words.isdisjoint(CONTAINERS - SINGLE)


def judge(experiments: Sequence[Experiment], options: AnalysisOptions, *, compares: bool = True) -> Findings:
    """Findings of one experiment, or of a baseline and its candidates, including stability."""
    findings = judge_scores(_with_siblings(experiments) if compares else experiments, options, compares=compares)
    stability_findings = wing("stability").stability(
        [item.experiment for item in findings.experiments],
        confidence=options.confidence,
        analysis_seed=options.analysis_seed,
        groups=options.groups,
        weak=options.weak_below,
        metric=options.metric,
    )
    return dataclasses.replace(findings, stability=stability_findings)


def judge_scores(experiments: Sequence[Experiment], options: AnalysisOptions, *, compares: bool = True) -> Findings:
    """Findings without stability, for callers that only need scores."""
    from deviate import stats  # half a second of scipy, which no verb but those that judge should wait for

    return stats.judge(
        experiments,
        confidence=options.confidence,
        primary=options.metric,
        aggregate=options.aggregate,
        matches=options.matches,
        margin=options.margin,
        analysis_seed=options.analysis_seed,
        compares=compares,
        is_paired=options.is_paired,
        spread_ratio=options.spread_ratio,
        targets=options.targets,
        directions=options.directions,
        tasks=None if options.tasks is None else [task for task in options.tasks.split(",") if task],
    )


def _with_siblings(experiments: Sequence[Experiment]) -> list[Experiment]:
    """Add to each experiment the recorded experiments that try the same thing; imported ones have none."""
    folders = {experiment.folder.parent.parent for experiment in experiments if experiment.folder}
    plans = {folder: records.on_record(folder)[0] for folder in folders}
    return [
        dataclasses.replace(
            experiment,
            siblings=records.siblings(plans[experiment.folder.parent.parent], experiment.name, experiment.variant),
        )
        if experiment.folder
        else experiment
        for experiment in experiments
    ]


def describe(experiments: Sequence[Experiment], options: AnalysisOptions) -> Findings:
    """Findings on variants of one experiment: where the spread comes from, not which is better."""
    return judge(experiments, options, compares=False)


def write(text: str, target: Path, stdout: TextIO) -> None:
    """Write a rendered report; `-` is standard output. Raises RecordError if the file cannot be written."""
    if str(target) == "-":
        stdout.write(text)
        return
    with records.writing(f"writing {target}", "name another file"):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
