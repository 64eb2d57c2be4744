"""Experiments, runs and samples with wanted properties."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from deviate.model.analysis import Direction, Metric, Role
from deviate.model.plan import SelectedMetric
from deviate.model.records import Experiment, Run, Series, Status

Curve = Sequence[float]


def sample(mean: float, sd: float, n: int) -> list[float]:
    """Values that have exactly this mean and standard deviation (ddof 1)."""
    steps = np.arange(n) - (n - 1) / 2
    return list(mean + sd * steps / float(np.std(steps, ddof=1)))


def metric(
    name: str,
    *,
    direction: Direction | None = "max",
    role: Role = "quality",
    aggregate: str = "last",
    is_primary: bool = False,
    margin: float | None = None,
) -> SelectedMetric:
    source = Metric(0, name, name, "train.py", 1, "print", role, direction, (), 0)
    return SelectedMetric(name, source, role, direction, aggregate=aggregate, is_primary=is_primary, margin=margin)


def run(replicate: int, series: Mapping[str, Curve], status: Status = "completed") -> Run:
    """A run whose metrics were reported at the main-loop steps 0, 1, 2 and so on."""
    recorded = {name: Series(tuple(range(len(curve))), tuple(curve)) for name, curve in series.items()}
    exit_code = 1 if status == "crashed" else 0
    return Run(f"run{replicate}", replicate, "algo+impl", status, exit_code, 0.0, 1.0, Path(), recorded)


def experiment(
    name: str,
    metrics: Sequence[SelectedMetric],
    scores: Mapping[str, Sequence[float]],
    *,
    variant: str = "algo+impl",
    runs: Sequence[Run] = (),
) -> Experiment:
    """An experiment whose replicates have these scores; `runs` follow them."""
    n = max((len(values) for values in scores.values()), default=0)
    scored = [run(i, {key: [values[i]] for key, values in scores.items() if i < len(values)}) for i in range(n)]
    every = (*scored, *runs)
    return Experiment(name, variant, ("python", "train.py"), len(every), tuple(metrics), every)


def close(left: float, right: float, tolerance: float = 1e-9) -> bool:
    return math.isclose(left, right, rel_tol=tolerance, abs_tol=1e-12)
