"""Experiments made of numbers: what the tests of the report, and its benchmark, start from."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from deviate.model.analysis import Direction, Metric, Role
from deviate.model.plan import SelectedMetric
from deviate.model.records import Experiment, Run, SeedEvent, Series, Status


def selected(
    name: str = "test_acc",
    *,
    unit: str = "",
    direction: Direction | None = "max",
    role: Role = "quality",
    is_primary: bool = False,
    margin: float | None = None,
    aggregate: str = "last",
    expression: str = "correct / total",
) -> SelectedMetric:
    metric = Metric(0, name, expression, "train.py", 61, "print", role, direction, ("formatted .4f",), 0)
    return SelectedMetric(name, metric, role, direction, aggregate, unit, is_primary, margin)


def run(
    replicate: int,
    series: dict[str, Series],
    *,
    status: Status = "completed",
    reason: str = "",
    stderr_tail: tuple[str, ...] = (),
    variant: str = "algo+impl",
    environment: dict[str, str] | None = None,
    warnings: tuple[str, ...] = (),
) -> Run:
    return Run(
        id=f"{replicate:08x}",
        replicate=replicate,
        variant=variant,
        status=status,
        exit_code=0 if status in {"completed", "diverged"} else 1,
        started=1_790_000_000.0 + 60 * replicate,
        wall_time_s=42.5 + replicate,
        folder=Path("/records/runs") / f"{replicate:08x}" / "attempt-0",
        series=series,
        seeds={"init": 1000 + replicate, "shuffle": 1000 + replicate, "dropout": 2000 + replicate},
        seed_events=(SeedEvent("torch.manual_seed", "42", "train.py", 12, "replaced"),),
        environment={"python": "3.11.9", "torch": "2.13.0+cpu"} if environment is None else environment,
        reason=reason,
        stderr_tail=stderr_tail,
        warnings=warnings,
    )


def single(value: float) -> Series:
    return Series((0,), (value,))


def experiment(
    name: str = "small",
    runs: Sequence[Run] = (),
    metrics: Sequence[SelectedMetric] = (),
    *,
    n_planned: int | None = None,
    variant: str = "algo+impl",
    command: tuple[str, ...] = ("python", "train.py", "--network", "small"),
    warnings: tuple[str, ...] = (),
) -> Experiment:
    return Experiment(
        name=name,
        variant=variant,
        command=command,
        n_planned=len(runs) if n_planned is None else n_planned,
        metrics=tuple(metrics),
        runs=tuple(runs),
        folder=Path("/project/.deviate/experiments") / name,
        created=1_790_000_000.0,
        sources_hash="5f1c" * 16,
        root="/project",
        jobs=2,
        warnings=warnings,
    )


def scored(name: str, scores: Sequence[float], metric: SelectedMetric | None = None) -> Experiment:
    """An experiment of one metric that each run reported once."""
    chosen = metric or selected(is_primary=True, unit="%")
    return experiment(name, [run(i, {chosen.name: single(score)}) for i, score in enumerate(scores)], [chosen])


def with_moments(n: int, mean: float, sd: float, rng: np.random.Generator) -> tuple[float, ...]:
    """Normal-looking scores whose mean and SD (ddof 1) are exactly those given."""
    raw = rng.normal(size=n)
    raw = (raw - raw.mean()) / raw.std(ddof=1)
    return tuple(float(value) for value in mean + sd * raw)


def trained(name: str, *, n_runs: int, n_metrics: int, n_points: int, shift: float = 0.0, seed: int = 0) -> Experiment:
    """Learning curves: rising accuracies and falling losses with noise; the first metric is primary."""
    rng = np.random.default_rng(seed)
    steps = np.arange(n_points)
    metrics = [
        selected(
            f"{'acc' if index % 2 == 0 else 'loss'}_{index}",
            unit="%" if index % 2 == 0 else "",
            direction="max" if index % 2 == 0 else "min",
            is_primary=index == 0,
        )
        for index in range(n_metrics)
    ]
    runs = []
    for replicate in range(n_runs):
        series = {}
        for index, metric in enumerate(metrics):
            rate = np.exp(-steps / (0.2 * n_points))
            noise = rng.normal(scale=0.3, size=n_points) + rng.normal(scale=0.4)
            curve = 93 + shift - 20 * rate + noise if index % 2 == 0 else 0.4 + 2 * rate + 0.05 * noise - 0.05 * shift
            series[metric.name] = Series(tuple(steps.tolist()), tuple(curve.tolist()))
        runs.append(run(replicate, series))
    return experiment(name, runs, metrics, command=("python", "train.py", "--network", name))
