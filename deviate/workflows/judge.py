"""From records to findings: experiments are read, judged, and written where the user wants them."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from deviate import project, records
from deviate.errors import InputError, RecordError
from deviate.model import Analysis, Direction, Experiment, Findings, Metric
from deviate.project import CONFIG
from deviate.records import CONTAINERS
from deviate.registry import wing
from deviate.workflows.request import Growth

if TYPE_CHECKING:
    from deviate.project import Prepared

SINGLE = frozenset({"loss", "score", "value", "v", "output", "result", "metric"})
"""Names of containers that are names of single values far more often."""


@dataclass(frozen=True, slots=True)
class Judging:
    """How scores are read and compared, where the user departs from what is on record.

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


def foresee(prepared: "Prepared", judging: Judging, growth: Growth) -> tuple[str, ...]:
    """Whether what is asked of the runs can be answered, before the first of them.

    Returns: warnings, where only the runs can tell whether there is such a metric.

    Raises:
        InputError: no run can report such a metric, or there is no such aggregate.
    """
    if judging.aggregate is not None:
        project.refuse_aggregate(judging.aggregate, "--aggregate")
    asked = {"--metric": judging.metric}
    if growth.precision:
        from deviate import stats

        asked["--until"] = stats.parse_target(growth.precision).metric
    names = [item.name for item in prepared.selection.metrics]
    may_be_more = any(_may_hold_more(item.metric, prepared.analysis) for item in prepared.selection.metrics)
    missing = {flag: name for flag, name in asked.items() if name is not None and name not in names}
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


def _may_hold_more(metric: Metric, found: Analysis) -> bool:
    """Whether runs may show metrics of other names at a metric's site: items, labels, keys of a history."""
    site = next((site for site in found.sites if site.id == metric.site), None)
    if site is None or site.form == "call" or (site.label is not None and metric.label is None):
        return True
    named = set(re.findall(r"[a-z]+", metric.expression.lower()))
    return "{" in metric.expression or not named.isdisjoint(CONTAINERS - SINGLE)


def judge(experiments: Sequence[Experiment], judging: Judging, *, compares: bool = True) -> Findings:
    """The findings of one experiment, or of a baseline and its candidates, with those on stability."""
    findings = judge_scores(_with_siblings(experiments) if compares else experiments, judging, compares=compares)
    stability = wing("stability").stability(
        [it.experiment for it in findings.experiments],
        confidence=judging.confidence,
        analysis_seed=judging.analysis_seed,
        groups=judging.groups,
        weak=judging.weak_below,
        metric=judging.metric,
    )
    return dataclasses.replace(findings, stability=stability)


def judge_scores(experiments: Sequence[Experiment], judging: Judging, *, compares: bool = True) -> Findings:
    """The findings without those on stability, for whom scores decide."""
    from deviate import stats  # half a second of scipy, which no verb but those that judge should wait for

    return stats.judge(
        experiments,
        confidence=judging.confidence,
        primary=judging.metric,
        aggregate=judging.aggregate,
        matches=judging.matches,
        margin=judging.margin,
        analysis_seed=judging.analysis_seed,
        compares=compares,
        is_paired=judging.is_paired,
        spread_ratio=judging.spread_ratio,
        targets=judging.targets,
        directions=judging.directions,
        tasks=None if judging.tasks is None else [it for it in judging.tasks.split(",") if it],
    )


def _with_siblings(experiments: Sequence[Experiment]) -> list[Experiment]:
    """Each with the experiments beside it on record that try the same thing; what came from files has none."""
    folders = {it.folder.parent.parent for it in experiments if it.folder}
    plans = {folder: records.on_record(folder)[0] for folder in folders}
    return [
        dataclasses.replace(it, siblings=records.siblings(plans[it.folder.parent.parent], it.name, it.variant))
        if it.folder
        else it
        for it in experiments
    ]


def describe(experiments: Sequence[Experiment], judging: Judging) -> Findings:
    """The findings of variants of one experiment: not which is better, but where the spread comes from."""
    return judge(experiments, judging, compares=False)


def write(text: str, target: Path, stdout: TextIO) -> None:
    """Write a rendered report; `-` is standard output. Raises RecordError when the file cannot be written."""
    if str(target) == "-":
        stdout.write(text)
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RecordError(f"writing {target}: {error.strerror or error}", "name another file") from error
