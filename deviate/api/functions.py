"""`compare`, `describe` and `read`: what a notebook asks of deviate."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path

from deviate import pipeline
from deviate.api.inputs import experiments_of, is_name
from deviate.api.results import Results
from deviate.errors import InputError
from deviate.model.analysis import Direction
from deviate.model.records import Experiment
from deviate.records.experiments import read_any, split_columns
from deviate.records.layout import records_folder
from deviate.series.sides import Scale
from deviate.stats.options import AnalysisOptions

Directions = Direction | Mapping[str, Direction]


def compare(
    baseline: object,
    *candidates: object,
    direction: Directions | None = None,
    margin: float | None = None,
    paired: bool = False,
    confidence: float = 0.95,
    metric: str | None = None,
    aggregate: str | None = None,
    matches: Mapping[str, str] | None = None,
    targets: Mapping[str, float] | None = None,
    tasks: str | None = None,
    scale: Scale | None = None,
    spread_ratio: float | None = None,
    seed: int = 0,
    names: Sequence[str] | None = None,
    folder: str | PathLike[str] | None = None,
) -> Results:
    """Does a candidate beat the baseline?

    Each side is one of: scores, one number per run; a mapping of metrics to such scores; a pandas Series, or a
    DataFrame with a column per metric and a row per run; an Experiment; the name of a recorded experiment; the path
    of a file or folder that `deviate import` reads.

    Args:
        direction: "max" where more is better, "min" where less is; for every metric, or by name. Without it, the names
            of the metrics decide.
        margin: smallest difference of the primary metric that matters, in its units, chosen before the scores are seen.
        paired: scores at the same position share their seeds, or scores of the same `seed` where both sides have such
            a column; a paired t decides. To be chosen before the scores are seen.
        confidence: level of the intervals, in (0.5, 1); its complement is the level of the tests.
        metric: name of the primary metric, which alone decides the verdict.
        aggregate: turns the measurements of each run into its score (`last`, `best`, `mean`, …), for experiments.
        matches: metric of the baseline to that of the candidates it is compared with; others match by name.
        targets: metric to the value whose attainment is timed, for experiments.
        tasks: pattern of names of metrics that are one measure on several tasks.
        scale: "percent" or "fraction", for a measure that one side gives in percent and another as a fraction.
        spread_ratio: ratio of SDs below which two spreads count as equal.
        seed: seed of all resampling; equal scores and seed give equal results.
        names: names of the experiments, the baseline first.
        folder: project folder of recorded experiments; by default the working folder.

    Raises:
        InputError: an argument is not of these kinds, or a setting is out of range.
    """
    sources: tuple[object, ...] = (baseline, *candidates)
    if is_name(baseline) and not candidates:  # a table may hold several
        experiments_read = read(baseline, folder=folder)
        sources = split_columns(experiments_read[0]) if len(experiments_read) == 1 else experiments_read
    experiments = experiments_of(sources, names, _folder(folder))
    if len(experiments) < 2:
        raise InputError(
            "one experiment cannot be compared", "pass a baseline and a candidate, or use deviate.describe"
        )
    directed = _with_directions(experiments, direction)
    options = AnalysisOptions(
        confidence=confidence,
        metric=metric or _only_metric(directed),
        aggregate=aggregate,
        margin=margin,
        matches=matches or {},
        analysis_seed=seed,
        is_paired=paired,
        targets=targets or {},
        tasks=tasks,
        scale=scale,
        spread_ratio=spread_ratio,
    )
    return _record_results(pipeline.answer(directed, options, is_comparison=True))


def describe(
    scores: object,
    *,
    direction: Directions | None = None,
    confidence: float = 0.95,
    metric: str | None = None,
    aggregate: str | None = None,
    targets: Mapping[str, float] | None = None,
    seed: int = 0,
    name: str | None = None,
    folder: str | PathLike[str] | None = None,
) -> Results:
    """How large is the spread? `scores` and settings are as in `compare`; a recorded name means all its variants.

    Raises:
        InputError: `scores` is of an unknown kind, or a setting is out of range.
    """
    where = _folder(folder)
    if is_name(scores):
        experiments_read = read_any(where, [fspath(scores)], has_all_variants=True)
        if len({experiment.name for experiment in experiments_read}) > 1:
            names = ", ".join(experiment.name for experiment in experiments_read)
            raise InputError(f"{fspath(scores)} holds several experiments: {names}", "name one of them: FILE:NAME")
        experiments = tuple(replace(experiment, name=name or experiment.name) for experiment in experiments_read)
    else:
        experiments = experiments_of((scores,), None if name is None else (name,), where)
    directed = _with_directions(experiments, direction)
    options = AnalysisOptions(
        confidence=confidence,
        metric=metric or _only_metric(directed),
        aggregate=aggregate,
        analysis_seed=seed,
        targets=targets or {},
    )
    return _record_results(pipeline.answer(directed, options, is_comparison=False))


def read(*names: str | PathLike[str], folder: str | PathLike[str] | None = None) -> tuple[Experiment, ...]:
    """Experiments by name (`NAME` or `NAME:VARIANT`) or from files, with their runs and measurements.

    Raises:
        InputError: a name is neither recorded nor a file, or a file cannot be read.
    """
    return read_any(_folder(folder), [fspath(name) for name in names])


def _folder(folder: str | PathLike[str] | None) -> Path:
    """The folder of records of the project that a folder belongs to."""
    return records_folder(Path(folder or Path.cwd()).resolve())


def _record_results(answer: pipeline.Conclusion) -> Results:
    answer.record()
    return Results(answer.findings)


def _with_directions(experiments: Sequence[Experiment], direction: Directions | None) -> tuple[Experiment, ...]:
    if direction is None:
        return tuple(experiments)
    names = dict.fromkeys(metric.name for experiment in experiments for metric in experiment.metrics)
    by_name = dict.fromkeys(names, direction) if isinstance(direction, str) else dict(direction)
    for name, word in by_name.items():
        if word not in {"max", "min"}:
            raise InputError(f"the direction of {name} is {word!r}", 'use "max" or "min"')
        if name not in names:
            raise InputError(
                f"a direction is given for {name!r}, which is not a metric", f"there are: {', '.join(names)}"
            )
    return tuple(
        replace(
            experiment,
            metrics=tuple(
                replace(metric, direction=by_name.get(metric.name, metric.direction)) for metric in experiment.metrics
            ),
        )
        for experiment in experiments
    )


def _only_metric(experiments: Sequence[Experiment]) -> str | None:
    """Where there is a single metric, it decides, whether or not its direction is known."""
    names = {metric.name for experiment in experiments for metric in experiment.metrics}
    return names.pop() if len(names) == 1 and experiments[0].metrics else None
