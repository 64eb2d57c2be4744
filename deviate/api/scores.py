"""Scores that somebody holds in memory become an experiment that can be judged like any other."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from deviate.model import Experiment, Metric, Run, SelectedMetric, Series
from deviate.model.metric_vocabulary import item_direction, item_role

VARIANT = "as given"


def experiment_of_scores(
    name: str,
    scores: Mapping[str, Sequence[float | None]],
    *,
    seeds: Mapping[str, Sequence[int]] = MappingProxyType({}),
    notes: Sequence[str] = (),
) -> Experiment:
    """An experiment whose replicates are the positions in the sequences.

    Role and direction of a metric are told by the words of its name.

    Args:
        scores: metric to one score per run; None where a run gave none. Other metrics of that run stand.
        seeds: name to one seed per run, by which runs of two experiments are pairs.
        notes: sentences on how the scores were read.
    """
    n_runs = max((len(values) for values in scores.values()), default=0)
    return Experiment(
        name=name,
        variant=VARIANT,
        command=(),
        n_planned=n_runs,
        metrics=tuple(_metric(index, metric) for index, metric in enumerate(scores)),
        runs=tuple(_run(replicate, scores, seeds) for replicate in range(n_runs)),
        imported=tuple(notes),
    )


def _metric(index: int, name: str) -> SelectedMetric:
    role = item_role(name, "quality")
    direction = item_direction(name, role, None)
    source = Metric(index, name, name, "", 0, "scores", role, direction, ("guessed from its name",), None)
    return SelectedMetric(name, source, role, direction)


def _run(replicate: int, scores: Mapping[str, Sequence[float | None]], seeds: Mapping[str, Sequence[int]]) -> Run:
    reported = {name: values[replicate] for name, values in scores.items() if replicate < len(values)}
    return Run(
        id=str(replicate),
        replicate=replicate,
        variant=VARIANT,
        status="completed",
        exit_code=None,
        started=0.0,
        wall_time_s=0.0,
        folder=Path(),
        series={name: Series((None,), (value,)) for name, value in reported.items() if value is not None},
        seeds={name: values[replicate] for name, values in seeds.items() if replicate < len(values)},
    )
