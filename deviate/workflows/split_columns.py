"""Tables whose columns are methods, such as `seed,baseline,ours`: several experiments rather than several metrics."""

import dataclasses

from deviate.model import Experiment, SelectedMetric

SCORE = "score"
"""What is measured, where the heads of the columns are names of experiments."""
TABLES = ("(csv)", "(json)")


def split_columns(experiment: Experiment) -> tuple[Experiment, ...]:
    """The columns of a table as experiments, if it can be compared only that way; else the experiment unchanged.

    This applies to tables with one score per row and column, and no column name that is known as a measure.
    """
    metrics = experiment.metrics
    if experiment.folder is not None or not experiment.imported[:1] or not experiment.imported[0].endswith(TABLES):
        return (experiment,)
    if len(metrics) < 2 or any(metric.role != "quality" or metric.direction is not None for metric in metrics):
        return (experiment,)
    if any(list(series.steps) != [None] for run in experiment.runs for series in run.series.values()):
        return (experiment,)
    names = ", ".join(metric.name for metric in metrics)
    note = f"no column is named after a measure, so each is an experiment, and a row its {SCORE}: {names}"
    return tuple(_column(experiment, metric, note) for metric in metrics)


def _column(experiment: Experiment, metric: SelectedMetric, note: str) -> Experiment:
    runs = tuple(
        dataclasses.replace(run, series={SCORE: run.series[metric.name]})
        for run in experiment.runs
        if metric.name in run.series  # columns may have different lengths
    )
    source = dataclasses.replace(metric.metric, id=0, name=SCORE)
    score = dataclasses.replace(metric, name=SCORE, metric=source, is_primary=True)  # there is no other
    return dataclasses.replace(
        experiment,
        name=metric.name,
        n_planned=len(runs),
        metrics=(score,),
        runs=runs,
        imported=(*experiment.imported, note),
    )
