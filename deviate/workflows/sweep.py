"""Sweeps: an experiment per value of an argument, started together and read as one."""

import dataclasses
import math
import re
from collections.abc import Sequence
from pathlib import Path

from deviate.errors import InputError
from deviate.model.comparisons import Description
from deviate.model.findings import Findings
from deviate.model.plan import SweptValue
from deviate.model.records import Experiment
from deviate.model.sweep import Scale, SweepFindings, SweepMeasure, SweepRow
from deviate.project.prepare import PreparedScript
from deviate.records.plans import list_experiments, on_record
from deviate.workflows.execute import Request
from deviate.workflows.judge import AnalysisOptions, describe_variants
from deviate.workflows.sources import read_variants

ENVIRONMENT = "env:"
"""Prefix of an argument that is an environment variable."""
FORM = 'write it as --sweep "--batch-size=16,64,256", "batch_size=16,64" or "env:BATCH=16,64"'
LEAST_RATIO = 8.0
"""Minimum ratio of the largest to the smallest positive value for a logarithmic axis."""
SHOWN = ("churn",)
"""Measures of evaluation sets that are drawn against the argument."""
NOT_IN_NAME = re.compile(r"[^A-Za-z0-9._+=@-]+")


@dataclasses.dataclass(frozen=True, slots=True)
class Sweep:
    """An argument and its distinct values, in order."""

    argument: str
    values: tuple[str, ...]


def parse_sweep(text: str) -> Sweep:
    """An argument and its values from `NAME=VALUE,VALUE`.

    Raises:
        InputError: there is no name, or fewer than two different values.
    """
    argument, equals, listed = text.strip().partition("=")
    values = tuple(dict.fromkeys(value.strip() for value in listed.split(",") if value.strip()))
    if not equals or not argument.removeprefix(ENVIRONMENT).strip("-+"):
        raise InputError(f"--sweep {text!r} names no argument", FORM)
    if len(values) < 2:
        raise InputError(f"--sweep {text!r} needs two values", FORM)
    return Sweep(argument, values)


def with_value(words: Sequence[str], argument: str, value: str) -> tuple[str, ...]:
    """Set an argument of a command: at its last occurrence, or else at the end.

    An option is `--batch-size 32` or `--batch-size=32`; an argument without dashes is an override, `batch_size=32`.

    >>> with_value(("train.py", "--lr", "1", "-v"), "--lr", "2")
    ('train.py', '--lr', '2', '-v')
    >>> with_value(("train.py",), "lr", "2")
    ('train.py', 'lr=2')
    """
    changed = list(words)
    is_option = argument.startswith("-")
    for at in reversed(range(len(changed))):
        if changed[at].startswith(f"{argument}=") or (
            not is_option and changed[at].lstrip("+").startswith(f"{argument}=")
        ):
            changed[at] = f"{changed[at].partition('=')[0]}={value}"
            return tuple(changed)
        if is_option and changed[at] == argument and at + 1 < len(changed):
            changed[at + 1] = value
            return tuple(changed)
    return (*changed, *((argument, value) if is_option else (f"{argument}={value}",)))


def points(
    sweep: Sweep, stem: str, prepared: PreparedScript, request: Request
) -> dict[str, tuple[PreparedScript, Request]]:
    """What to run for each value, by experiment name: `<stem>-batch-size-16`.

    Raises:
        InputError: two values give one name.
    """
    requests: dict[str, tuple[PreparedScript, Request]] = {}
    for value in sweep.values:
        short = NOT_IN_NAME.sub("_", sweep.argument.removeprefix(ENVIRONMENT).lstrip("-+"))
        name = f"{stem}-{short}-{NOT_IN_NAME.sub('_', value)}"
        if name in requests:
            raise InputError(f"--sweep: two values give the name {name}", "use values that differ in letters or digits")
        point_request = dataclasses.replace(request, sweep=SweptValue(stem, sweep.argument, value))
        target = prepared.target
        if sweep.argument.startswith(ENVIRONMENT):
            variable = sweep.argument.removeprefix(ENVIRONMENT)
            environment = tuple({**dict(request.environment), variable: value}.items())
            point_request = dataclasses.replace(point_request, environment=environment)
        else:
            target = dataclasses.replace(target, command=with_value(target.command, sweep.argument, value))
        requests[name] = (dataclasses.replace(prepared, target=target), point_request)
    return requests


def has_sweep(folder: Path, name: str) -> bool:
    """Whether experiments of a sweep with this name are on record."""
    return any(plan.sweep is not None and plan.sweep.sweep == name for plan in list_experiments(folder))


def read_sweep(folder: Path, name: str) -> tuple[tuple[SweptValue, tuple[Experiment, ...]], ...]:
    """All experiments of a sweep with their variants: numbers ascending, words in the order of their start.

    Raises:
        InputError: there is no such sweep, or the experiments sweep different arguments.
        RecordError: an experiment that may be of it is damaged.
    """
    plans_on_record, damaged = on_record(folder)
    for experiment, error in damaged.items():
        if experiment.startswith(name):
            raise error
    plans = [plan for plan in plans_on_record if plan.sweep is not None and plan.sweep.sweep == name]
    if not plans:
        names = sorted({plan.sweep.sweep for plan in plans_on_record if plan.sweep is not None})
        advice = f"recorded sweeps: {', '.join(names)}" if names else "run one: deviate run TRAIN.py --sweep …"
        raise InputError(f"no sweep named {name!r} under {folder}", advice)
    arguments = sorted({plan.sweep.argument for plan in plans if plan.sweep is not None})
    if len(arguments) > 1:
        raise InputError(
            f"the sweep {name} has several arguments: {', '.join(arguments)}",
            "use a separate --name for the sweep of each argument",
        )
    points = [(plan.sweep, read_variants(folder, plan.name)) for plan in plans if plan.sweep is not None]
    places = [_number(point.value) for point, _ in points]
    if None not in places:
        points.sort(key=lambda point: float(point[0].value))
    return tuple(points)


def judge_sweep(points: Sequence[tuple[SweptValue, tuple[Experiment, ...]]], options: AnalysisOptions) -> SweepFindings:
    """The measures of every value, each judged as a separate experiment."""
    first = points[0][0]
    values = tuple(dict.fromkeys(point.value for point, _ in points))
    judged = [(point, describe_variants(experiments, options)) for point, experiments in points]
    metric = next((findings.primary for _, findings in judged if findings.primary is not None), None)
    rows: list[SweepRow] = []
    unit = ""
    for point, findings in judged:
        for index, item in enumerate(findings.experiments):
            described = next((one for one in item.descriptions if one.metric.name == metric), None)
            if described is not None:
                rows.append(_row(point, findings, index, item.experiment, described))
                unit = unit or described.metric.unit
    return SweepFindings(
        name=first.sweep,
        argument=first.argument,
        values=values,
        scale=_scale(values),
        metric=metric or "",
        unit=unit,
        confidence=options.confidence,
        command=points[0][1][0].command if points[0][1] else (),
        rows=tuple(rows),
        why_no_metric="" if metric else _why(judged),
    )


def _row(point: SweptValue, findings: Findings, index: int, experiment: Experiment, described: Description) -> SweepRow:
    sets = [
        evaluation_set
        for evaluation_set in findings.stability.sets
        if evaluation_set.experiment == index and "+" not in evaluation_set.name
    ]
    measures = [
        SweepMeasure(evaluation_set.name, one)
        for evaluation_set in sets
        for one in evaluation_set.measures
        if one.name in SHOWN
    ]
    measures += [
        SweepMeasure("", weight.distance) for weight in findings.stability.weights if weight.experiment == index
    ]
    return SweepRow(
        value=point.value,
        experiment=experiment.name,
        variant=experiment.variant,
        n_runs=described.n_runs,
        scores=tuple(score.value for score in described.scores),
        mean=described.mean,
        mean_interval=described.mean_interval,
        sd=described.sd,
        sd_interval=described.sd_interval,
        measures=tuple(measures),
    )


def _why(judged: Sequence[tuple[SweptValue, Findings]]) -> str:
    warnings = [warning for _, findings in judged for warning in findings.warnings if "primary metric" in warning]
    return warnings[0] if warnings else "there is no primary metric: name one with --metric"


def _scale(values: Sequence[str]) -> Scale:
    numbers = [_number(value) for value in values]
    positions = [number for number in numbers if number is not None]
    if len(positions) < len(numbers):
        return "names"
    return "log" if min(positions) > 0 and max(positions) / min(positions) >= LEAST_RATIO else "linear"


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
