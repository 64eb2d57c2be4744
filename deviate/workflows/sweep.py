"""A sweep: an experiment per value of an argument, begun together, and read again as one."""

import dataclasses
import math
import re
from collections.abc import Sequence
from pathlib import Path

from deviate import records
from deviate.errors import InputError
from deviate.model import Experiment, ExperimentFindings, Findings
from deviate.model.plan import SweptValue
from deviate.model.sweep import Scale, SweepFindings, SweepMeasure, SweepRow
from deviate.project import Prepared
from deviate.workflows.judge import Judging, describe
from deviate.workflows.request import Request
from deviate.workflows.sources import read_variants

ENVIRONMENT = "env:"
"""What an argument begins with that is a variable of the environment."""
FORM = 'write it as --sweep "--batch-size=16,64,256", "batch_size=16,64" or "env:BATCH=16,64"'
LEAST_RATIO = 8.0
"""Positive values whose largest is so many times the smallest stand on a logarithmic axis."""
SHOWN = ("churn",)
"""Measures of evaluation sets that stand against the argument."""
NOT_IN_NAME = re.compile(r"[^A-Za-z0-9._+=@-]+")


@dataclasses.dataclass(frozen=True, slots=True)
class Sweep:
    """An argument and its values, each once, in order."""

    argument: str
    values: tuple[str, ...]


def parse_sweep(text: str) -> Sweep:
    """An argument and its values from `NAME=VALUE,VALUE`.

    Raises:
        InputError: there is no name, or fewer than two different values.
    """
    argument, equals, listed = text.strip().partition("=")
    values = tuple(dict.fromkeys(it.strip() for it in listed.split(",") if it.strip()))
    if not equals or not argument.removeprefix(ENVIRONMENT).strip("-+"):
        raise InputError(f"--sweep {text!r} names no argument", FORM)
    if len(values) < 2:
        raise InputError(f"--sweep {text!r} has no two values", FORM)
    return Sweep(argument, values)


def with_value(words: Sequence[str], argument: str, value: str) -> tuple[str, ...]:
    """A command in which an argument has a value: where it stands, the last time it does, else at the end.

    An option is `--batch-size 32` or `--batch-size=32`; an argument without dashes is an override, `batch_size=32`.

    >>> with_value(("train.py", "--lr", "1", "-v"), "--lr", "2")
    ('train.py', '--lr', '2', '-v')
    >>> with_value(("train.py",), "lr", "2")
    ('train.py', 'lr=2')
    """
    given = list(words)
    is_option = argument.startswith("-")
    for at in reversed(range(len(given))):
        if given[at].startswith(f"{argument}=") or (not is_option and given[at].lstrip("+").startswith(f"{argument}=")):
            given[at] = f"{given[at].partition('=')[0]}={value}"
            return tuple(given)
        if is_option and given[at] == argument and at + 1 < len(given):
            given[at + 1] = value
            return tuple(given)
    return (*given, *((argument, value) if is_option else (f"{argument}={value}",)))


def points(sweep: Sweep, stem: str, prepared: Prepared, request: Request) -> dict[str, tuple[Prepared, Request]]:
    """What is to be run for each value, by the name of its experiment: `<stem>-batch-size-16`.

    Raises:
        InputError: two values give one name.
    """
    found: dict[str, tuple[Prepared, Request]] = {}
    for value in sweep.values:
        short = NOT_IN_NAME.sub("_", sweep.argument.removeprefix(ENVIRONMENT).lstrip("-+"))
        name = f"{stem}-{short}-{NOT_IN_NAME.sub('_', value)}"
        if name in found:
            raise InputError(f"--sweep: two values give the name {name}", "write values that differ in more than signs")
        asked = dataclasses.replace(request, sweep=SweptValue(stem, sweep.argument, value))
        target = prepared.target
        if sweep.argument.startswith(ENVIRONMENT):
            variable = sweep.argument.removeprefix(ENVIRONMENT)
            environment = tuple({**dict(request.environment), variable: value}.items())
            asked = dataclasses.replace(asked, environment=environment)
        else:
            target = dataclasses.replace(target, command=with_value(target.command, sweep.argument, value))
        found[name] = (dataclasses.replace(prepared, target=target), asked)
    return found


def has_sweep(folder: Path, name: str) -> bool:
    """Whether experiments of a sweep of this name are on record."""
    return any(plan.sweep is not None and plan.sweep.sweep == name for plan in records.list_experiments(folder))


def read_sweep(folder: Path, name: str) -> tuple[tuple[SweptValue, tuple[Experiment, ...]], ...]:
    """Every experiment of a sweep with all its variants: numbers rising, words in the order in which they were begun.

    Raises:
        InputError: there is no such sweep, or the experiments sweep different arguments.
        RecordError: an experiment that may be of it is damaged.
    """
    there, damaged = records.on_record(folder)
    for experiment, error in damaged.items():
        if experiment.startswith(name):
            raise error
    plans = [plan for plan in there if plan.sweep is not None and plan.sweep.sweep == name]
    if not plans:
        names = sorted({plan.sweep.sweep for plan in there if plan.sweep is not None})
        advice = f"there are: {', '.join(names)}" if names else "there is none: deviate run TRAIN.py --sweep …"
        raise InputError(f"no sweep named {name!r} under {folder}", advice)
    arguments = sorted({plan.sweep.argument for plan in plans if plan.sweep is not None})
    if len(arguments) > 1:
        raise InputError(
            f"the sweep {name} goes over several arguments: {', '.join(arguments)}",
            "give sweeps over different arguments different names: --name",
        )
    found = [(plan.sweep, read_variants(folder, plan.name)) for plan in plans if plan.sweep is not None]
    return tuple(sorted(found, key=lambda it: _place(it[0].value))) if _numbers(found) else tuple(found)


def judge_sweep(found: Sequence[tuple[SweptValue, tuple[Experiment, ...]]], judging: Judging) -> SweepFindings:
    """The measures of every value, each judged as an experiment by itself."""
    first = found[0][0]
    values = tuple(dict.fromkeys(point.value for point, _ in found))
    judged = [(point, describe(experiments, judging)) for point, experiments in found]
    metric = next((findings.primary for _, findings in judged if findings.primary is not None), None)
    rows: list[SweepRow] = []
    unit = ""
    for point, findings in judged:
        for index, it in enumerate(findings.experiments):
            row, own = _row(point, findings, index, it, metric)
            rows += [row] if row is not None else []
            unit = unit or own
    return SweepFindings(
        name=first.sweep,
        argument=first.argument,
        values=values,
        scale=_scale(values),
        metric=metric or "",
        unit=unit,
        confidence=judging.confidence,
        command=found[0][1][0].command if found[0][1] else (),
        rows=tuple(rows),
        why_no_metric="" if metric else _why(judged),
    )


def _row(
    point: SweptValue, findings: Findings, index: int, it: ExperimentFindings, metric: str | None
) -> tuple[SweepRow | None, str]:
    described = next((one for one in it.descriptions if one.metric.name == metric), None)
    if described is None:
        return None, ""
    sets = [own for own in findings.stability.sets if own.experiment == index and "+" not in own.name]
    measures = [SweepMeasure(own.name, one) for own in sets for one in own.measures if one.name in SHOWN]
    measures += [SweepMeasure("", own.distance) for own in findings.stability.weights if own.experiment == index]
    row = SweepRow(
        value=point.value,
        experiment=it.experiment.name,
        variant=it.experiment.variant,
        n_runs=described.n_runs,
        scores=tuple(score.value for score in described.scores),
        mean=described.mean,
        mean_interval=described.mean_interval,
        sd=described.sd,
        sd_interval=described.sd_interval,
        measures=tuple(measures),
    )
    return row, described.metric.unit


def _why(judged: Sequence[tuple[SweptValue, Findings]]) -> str:
    told = [warning for _, findings in judged for warning in findings.warnings if "primary metric" in warning]
    return told[0] if told else "there is no primary metric: name one with --metric"


def _scale(values: Sequence[str]) -> Scale:
    numbers = [_number(value) for value in values]
    known = [it for it in numbers if it is not None]
    if len(known) < len(numbers):
        return "names"
    return "log" if min(known) > 0 and max(known) / min(known) >= LEAST_RATIO else "linear"


def _numbers(found: Sequence[tuple[SweptValue, tuple[Experiment, ...]]]) -> bool:
    return all(_number(point.value) is not None for point, _ in found)


def _place(value: str) -> float:
    number = _number(value)
    return math.inf if number is None else number


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
