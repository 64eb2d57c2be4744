"""Findings of each kind that a report can be of, made of numbers: what is looked at in a browser."""

import dataclasses
import functools
from collections.abc import Callable

import numpy as np
from degenerate import CASES
from experiments import experiment, run, scored, selected, single, trained, with_moments
from hostile import hostile_findings
from stabilities import everything
from studies import flip, noisy_run, spread, study, usual, variant

from deviate.model.findings import Findings
from deviate.model.records import Experiment, Series, Status
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

DECLARED = (5, 10, 20)
CHARTS = ("cifar/acc", "imagenet/acc", "svhn/acc", "mnist/acc")
OUTCOMES: dict[int, Status] = {1: "diverged", 4: "crashed", 6: "timed_out", 7: "lost"}
TRACE = ("Traceback (most recent call last):", f'  File "{"deep/" * 30}train.py", line 61', "ValueError: loss is NaN")


@functools.cache
def single_experiment() -> Findings:
    return judge([trained("small", n_runs=8, n_metrics=4, n_points=60)])


@functools.cache
def two_with_a_verdict() -> Findings:
    return judge(
        [_trained("train.py", 0.0), _trained("train_wide.py", 1.5, seed=1)], AnalysisOptions(margin=0.2, is_paired=True)
    )


@functools.cache
def two_undecided() -> Findings:
    return judge(
        [_trained("small", 0.0, n_runs=5), _trained("wide", 0.1, n_runs=5, seed=1)], AnalysisOptions(margin=0.05)
    )


@functools.cache
def eight_metrics() -> Findings:
    """Two experiments with four accuracies, two losses, a learning rate and a time."""
    return judge([_of_eight("train.py", 0.0), _of_eight("train_wide.py", 1.0, seed=1)])


@functools.cache
def many_candidates() -> Findings:
    shifts = enumerate((0.0, 0.1, 0.6, -0.4, 0.9, 0.2, 1.4, -0.8))
    return judge([trained(f"width {2**i}", n_runs=7, n_metrics=4, n_points=30, shift=it, seed=i) for i, it in shifts])


@functools.cache
def tasks() -> Findings:
    """Four methods on four data sets, the better the later."""
    return judge(
        [_on_tasks(name, i) for i, name in enumerate(("sgd", "adam", "adamw", "sharpness-aware"))],
        AnalysisOptions(tasks="*/acc"),
    )


@functools.cache
def noise_study() -> Findings:
    """Every variant that has something to tell of itself."""
    bits = [noisy_run(i, (50.0, 93.0 + 0.3 * i), f"b{i}", flips=(flip(i),)) for i in range(3)]
    return study(*usual(), spread("init", [93.2, 93.6, 93.0, 93.4]), variant("one-bit", bits))


@functools.cache
def failures() -> Findings:
    """Runs that ended in every way, times to a target, and curves that part."""
    return judge(
        [_failing("base", 0.25, {2: "diverged"}), _failing("new", 0.4, OUTCOMES)],
        AnalysisOptions(targets={"test_acc": 88.0}),
    )


@functools.cache
def declared_looks() -> Findings:
    sides = (_scored("base", 93.41, 10), _scored("new", 93.74, 10))
    return judge([dataclasses.replace(it, looks=DECLARED) for it in sides])


@functools.cache
def unplanned_looks() -> Findings:
    sides = (_scored("base", 93.41, 10), _scored("new", 93.74, 10))
    return judge([dataclasses.replace(it, n_unplanned_looks=2) for it in sides])


@functools.cache
def imported_scores() -> Findings:
    """Numbers from a table: no curves, commands, seeds or environments."""
    return judge([_imported("old", CASES["eight"]), _imported("new", CASES["eight with ties"])])


@functools.cache
def degenerate() -> Findings:
    """One run against runs without spread; a metric that each side lacks; no run at all."""
    sides = (scored("one", CASES["one"]), scored("equal", CASES["eight equal"]), scored("none", CASES["nothing"]))
    other = scored("another", CASES["only NaN"], selected("loss", direction=None))
    return judge([*sides, other])


@functools.cache
def large() -> Findings:
    """One hundred runs of thirty metrics and a thousand points each."""
    return judge([trained("large", n_runs=100, n_metrics=30, n_points=1000)])


@functools.cache
def captured() -> Findings:
    """All that predictions and weights tell, of runs enough for intervals and of too few."""
    return everything()


KINDS: dict[str, Callable[[], Findings]] = {
    it.__name__: it
    for it in (
        single_experiment,
        two_with_a_verdict,
        two_undecided,
        many_candidates,
        tasks,
        noise_study,
        failures,
        declared_looks,
        unplanned_looks,
        imported_scores,
        degenerate,
        captured,
        large,
    )
} | {f"hostile_{kind}": functools.partial(hostile_findings, kind) for kind in ("pair", "study", "many")}
KINDS["eight_metrics"] = eight_metrics
LONG = frozenset({"large", "hostile_pair", "hostile_study", "hostile_many"})
"""Kinds whose pages are of megabytes."""


def _trained(name: str, shift: float, *, n_runs: int = 8, seed: int = 0) -> Experiment:
    return trained(name, n_runs=n_runs, n_metrics=3, n_points=60, shift=shift, seed=seed)


def _of_eight(name: str, shift: float, *, n_runs: int = 10, seed: int = 0) -> Experiment:
    """Curves of 60 epochs; the learning rate is that of all runs, the time their own."""
    rng = np.random.default_rng(seed)
    steps = np.arange(60)
    left = np.exp(-steps / 12)  # to learn
    shapes = {
        "test_acc": 93 - 20 * left,
        "test_top5": 99 - 8 * left,
        "val_acc": 92 - 20 * left,
        "train_acc": 97 - 30 * left,
        "test_loss": 0.3 + 2 * left,
        "val_loss": 0.35 + 2 * left,
        "lr": 0.1 * 0.9**steps,
        "epoch_time": np.full(60, 14.0),
    }
    noises = {"acc": 0.4, "top5": 0.2, "loss": 0.02, "time": 0.3, "lr": 0.0}
    metrics = [
        selected("lr", role="other", direction=None),
        selected("epoch_time", unit="s", role="time", direction="min"),
        *(selected(it, direction="min") for it in ("test_loss", "val_loss")),
        *(
            selected(it, unit="%", is_primary=it == "test_acc")
            for it in ("train_acc", "val_acc", "test_top5", "test_acc")
        ),
    ]
    runs = []
    for replicate in range(n_runs):
        series = {}
        for metric in metrics:
            kind = metric.name.rpartition("_")[2]
            noise = noises[kind] * (rng.normal(size=60) + rng.normal())
            rises = shift * noises[kind] * (-1 if kind == "loss" else 1)
            series[metric.name] = Series(tuple(steps.tolist()), tuple((shapes[metric.name] + rises + noise).tolist()))
        runs.append(run(replicate, series))
    return experiment(name, runs, metrics, command=("python", name))


def _scored(name: str, mean: float, n_runs: int) -> Experiment:
    return scored(name, with_moments(n_runs, mean, 0.22, np.random.default_rng(1)))


def _on_tasks(name: str, rank: int) -> Experiment:
    rng = np.random.default_rng(rank)
    metrics = [selected(task, unit="%", is_primary=task == CHARTS[0]) for task in CHARTS]
    scores = {task: 80 + 4 * i + 0.7 * rank + rng.normal(0, 0.5, 6) for i, task in enumerate(CHARTS)}
    return experiment(name, [run(i, {it: single(float(scores[it][i])) for it in CHARTS}) for i in range(6)], metrics)


def _failing(name: str, rate: float, ends: dict[int, Status]) -> Experiment:
    """Rising accuracies, each run at a pace of its own; those that end otherwise stop half way."""
    rng = np.random.default_rng(len(name))
    metric = selected(unit="%", is_primary=True)
    runs = []
    for replicate in range(12):
        status = ends.get(replicate, "completed")
        steps = np.arange(10 if replicate in ends else 20)
        pace = rate * (1 + 0.3 * rng.random())
        values = 92 - 40 * np.exp(-pace * steps) + 0.3 * rng.standard_normal(len(steps))
        curve = Series(tuple(steps.tolist()), tuple(values.tolist()), tuple((0.5 * steps).tolist()))
        reason, tail = ("", ()) if status == "completed" else ("its loss was NaN at step 9", TRACE)
        runs.append(run(replicate, {metric.name: curve}, status=status, reason=reason, stderr_tail=tail))
    return experiment(name, runs, [metric])


def _imported(name: str, scores: list[float]) -> Experiment:
    plain = scored(name, scores, selected("acc", is_primary=True))
    runs = tuple(dataclasses.replace(it, seeds={}, seed_events=(), environment={}) for it in plain.runs)
    return dataclasses.replace(plain, command=(), runs=runs, imported=("read from results.csv, a row per run",))
