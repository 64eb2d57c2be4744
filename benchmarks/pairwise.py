"""Times all pairwise measures of 100 runs x 50,000 examples x 10 classes, against a plain NumPy loop over pairs.

    python benchmarks/pairwise.py [--check] [--loop-runs 15]

Together they must take less than 10 s and, outputs included, 2 GB, and at least 10 times less than the loop. The loop
prepares each run once, as ranks and centred columns, and compares each pair with NumPy's functions. It goes over the
pairs of the first runs, and its time is scaled to all runs and pairs; `--loop-runs 100` leaves nothing to scale. What
both find for these pairs must be equal to 1e-12.
"""

import argparse
import math
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from deviate.stability.measures.pairwise import disagreement, ensemble_deltas, linear_cka, pearson, spearman

MOST_SECONDS, MOST_GB, LEAST_RATIO, MOST_APART = 10.0, 2.0, 10.0, 1e-12

Array = npt.NDArray[np.floating]
Labels = npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds by the clock, and of processor time."""

    wall: float
    processor: float


def made(n_runs: int, n_examples: int, n_classes: int) -> tuple[Array, Labels]:
    """Logits in single precision, of runs that are right on four examples of five and disagree on one of eight."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, n_classes, n_examples)
    common = 3 * rng.normal(size=(n_examples, n_classes)) + 7 * (np.arange(n_classes) == truth[:, None])
    outputs = np.empty((n_runs, n_examples, n_classes), np.float32)
    for run in outputs:
        run[:] = common + rng.normal(size=common.shape)
    return outputs, truth


def timed(action: Callable[[], object]) -> tuple[object, Taken]:
    """What the action gives, and what it takes."""
    wall, processor = time.perf_counter(), time.process_time()
    found = action()
    return found, Taken(time.perf_counter() - wall, time.process_time() - processor)


def looped(
    runs: Sequence[Array], prepare: Callable[[Array], object], compare: Callable[..., tuple[float, ...]], n_runs: int
) -> tuple[list[tuple[float, ...]], Taken]:
    """What a loop finds for the pairs of these runs, and what it would take for all."""
    prepared, each = timed(lambda: [prepare(run) for run in runs])
    found, pairs = timed(lambda: [compare(one, other) for one, other in combinations(prepared, 2)])
    of_runs, of_pairs = n_runs / len(runs), math.comb(n_runs, 2) / math.comb(len(runs), 2)
    return found, Taken(
        of_runs * each.wall + of_pairs * pairs.wall, of_runs * each.processor + of_pairs * pairs.processor
    )


def ranks(run: Array) -> Array:
    """Average ranks, from 0."""
    _, place, counts = np.unique(run, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts + 1) / 2)[place.ravel()]


def centred(run: Array) -> tuple[Array, float]:
    """Columns less their mean, and the norm of their products."""
    columns = run.astype(np.float64)
    columns -= columns.mean(axis=0)
    return columns, float(np.linalg.norm(columns.T @ columns))


def measured(logits: Array, truth: Labels) -> tuple[Array, float, float]:
    """The logits, their accuracy and their cross-entropy."""
    shifted = logits.astype(np.float64)
    shifted -= shifted.max(axis=1, keepdims=True)
    losses = np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(truth)), truth]
    return logits, float(np.mean(logits.argmax(axis=1) == truth)), float(losses.mean())


def gained(one: tuple[Array, float, float], other: tuple[Array, float, float], truth: Labels) -> tuple[float, float]:
    """What the mean of two runs gains, in accuracy and in cross-entropy."""
    _, accuracy, loss = measured((one[0].astype(np.float64) + other[0]) / 2, truth)
    return accuracy - (one[1] + other[1]) / 2, loss - (one[2] + other[2]) / 2


def report(n_loop_runs: int) -> list[str]:
    """Measure and print; what is not as it must be."""
    n_runs, n_examples, n_classes = 100, 50_000, 10
    outputs, truth = made(n_runs, n_examples, n_classes)
    labels = outputs.argmax(axis=2)
    begin_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    measures = {
        "disagreement": lambda: (disagreement(labels),),
        "Pearson": lambda: (pearson(outputs),),
        "Spearman": lambda: (spearman(outputs),),
        "linear CKA": lambda: (linear_cka(outputs),),
        "ensembles": lambda: ensemble_deltas(outputs, "logits", truth),
    }
    ours = {name: timed(action) for name, action in measures.items()}
    peak_gb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    first = outputs[:n_loop_runs]
    loops = {
        "disagreement": looped(labels[:n_loop_runs], lambda run: run, lambda a, b: (float(np.mean(a != b)),), n_runs),
        "Pearson": looped(first, np.ravel, lambda a, b: (float(np.corrcoef(a, b)[0, 1]),), n_runs),
        "Spearman": looped(first, ranks, lambda a, b: (float(np.corrcoef(a, b)[0, 1]),), n_runs),
        "linear CKA": looped(
            first,
            centred,
            lambda a, b: (float(np.linalg.norm(b[0].T @ a[0])) ** 2 / (a[1] * b[1]),),
            n_runs,
        ),
        "ensembles": looped(first, lambda run: measured(run, truth), lambda a, b: gained(a, b, truth), n_runs),
    }
    print(f"{n_runs} runs x {n_examples:,} examples x {n_classes} classes, {outputs.dtype}; the loop over pairs of")
    print(f"{n_loop_runs} runs, scaled to all; seconds by the clock (of processor time)\n")
    upper = np.triu_indices(n_loop_runs, 1)
    wrong = []
    for name, (matrices, taken) in ours.items():
        found, looping = loops[name]
        columns = np.array(found).T
        apart = max(float(np.abs(it[upper] - column).max()) for it, column in zip(matrices, columns, strict=True))
        print(f"{name:14}{_row(taken, looping)}, apart by at most {apart:.0e}")
        wrong += [f"{name} apart by {apart:.1e}"] if apart > MOST_APART else []
    taken, looping = _total(it for _, it in ours.values()), _total(it for _, it in loops.values())
    print(f"{'together':14}{_row(taken, looping)}")
    print(f"\nmemory: {peak_gb:.2f} GB at most, {begin_gb:.2f} of it before the first measure")
    wrong += [f"{taken.wall:.1f} s"] if taken.wall >= MOST_SECONDS else []
    wrong += [f"{peak_gb:.2f} GB"] if peak_gb >= MOST_GB else []
    wrong += [f"{looping.wall / taken.wall:.1f} times faster"] if looping.wall < LEAST_RATIO * taken.wall else []
    return wrong


def _row(ours: Taken, loop: Taken) -> str:
    return (
        f"{ours.wall:6.2f} ({ours.processor:.2f}), loop {loop.wall:7.2f} ({loop.processor:.2f}): "
        f"{loop.wall / ours.wall:.0f} times faster ({loop.processor / ours.processor:.0f})"
    )


def _total(parts: Sequence[Taken]) -> Taken:
    walls, processors = zip(*((it.wall, it.processor) for it in parts), strict=True)
    return Taken(sum(walls), sum(processors))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail at 10 s or 2 GB, or below 10 times the loop's speed")
    parser.add_argument("--loop-runs", type=int, default=15, help="whose pairs the loop goes over (default: 15)")
    options = parser.parse_args()
    wrong = report(options.loop_runs)
    if options.check and wrong:
        sys.exit("not as it must be: " + "; ".join(wrong))


if __name__ == "__main__":
    main()
