"""Aggregate over several tasks, with intervals from runs resampled within each task.

Source: Agarwal et al. (2021), Deep reinforcement learning at the edge of the statistical precipice. Its percentile
intervals are too short with few runs: by n in place of n - 1, and by normal in place of t. Both are made good here, as
in Hesterberg (2015), What teachers should know about the bootstrap: for shares by another level of the
percentile, which cannot leave 0 to 1; for scores by a factor, for a far percentile of few runs is too near.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import stats

from deviate.model.estimates import VERDICT_RUNS, Interval, Unavailable
from deviate.model.texts import count
from deviate.series.score import LARGEST
from deviate.stats.estimates.sample import Values

N_RESAMPLES = 10_000
CHUNK = 2_000_000
"""Number of scores resampled at a time: bounds the memory."""
TRIMMED = 0.25
Strata = Sequence[np.ndarray]
"""Scores of one experiment, an array of runs per task."""


def strata_refusal(minimum: int, *tasks: Values) -> Unavailable | None:
    """Why tasks cannot be aggregated; None when they can."""
    if not tasks:
        return Unavailable("no task")
    fewest = min(len(values) for values in tasks)
    if fewest < minimum:
        return Unavailable(f"needs {count(minimum, 'run')} of each task, one has {fewest}")
    if not all(abs(value) <= LARGEST for values in tasks for value in values):
        return Unavailable("NaN or infinite value among the scores")
    return None


def estimates(tasks: Strata, optimum: float) -> dict[str, float]:
    """Mean and median over tasks of the mean over runs, mean of the middle half, and optimality gap.

    Source: Agarwal et al. (2021), sections 2 and 4.
    """
    return {name: float(values[0]) for name, values in _aggregates([task[None] for task in tasks], optimum).items()}


def intervals(
    tasks: Strata, optimum: float, *, rng: np.random.Generator, confidence: float, n_resamples: int = N_RESAMPLES
) -> dict[str, Interval | Unavailable]:
    """Stratified bootstrap intervals of `estimates`, all from the same resamples."""
    if reason := strata_refusal(VERDICT_RUNS, *(task.tolist() for task in tasks)):
        return dict.fromkeys(("mean", "median", "iqm", "gap"), reason)
    drawn = [_aggregates(parts, optimum) for parts in draw_resamples(tasks, rng, n_resamples)]
    sizes, points = [len(task) for task in tasks], estimates(tasks, optimum)
    # The median of one or two tasks is their mean; its error follows from their runs alone.
    df = {name: min(sizes) - 1 if name == "median" else sum(sizes) - len(sizes) for name in points}
    return {
        name: _widen(np.concatenate([chunk[name] for chunk in drawn]), points[name], confidence, min(sizes), df[name])
        for name in points
    }


def improvement(baseline: Strata, candidate: Strata) -> float:
    """P(candidate > baseline) + P(equal) / 2, mean over tasks.

    Source: Agarwal et al. (2021), section 4.3; Mann & Whitney (1947).
    """
    pairs = zip(baseline, candidate, strict=True)
    return float(np.mean([_wins(b, a).mean() for b, a in pairs]))


def improvement_interval(
    baseline: Strata,
    candidate: Strata,
    *,
    rng: np.random.Generator,
    confidence: float,
    n_resamples: int = N_RESAMPLES,
) -> Interval | Unavailable:
    """Stratified bootstrap interval of `improvement`, runs resampled on both sides."""
    if reason := strata_refusal(VERDICT_RUNS, *(stratum.tolist() for stratum in (*baseline, *candidate))):
        return reason
    if all(a.min() > b.max() or a.max() < b.min() for b, a in zip(baseline, candidate, strict=True)):
        return Unavailable("complete separation on every task: resampling shows no spread")
    total = np.zeros(n_resamples)
    for before, after in zip(baseline, candidate, strict=True):
        drawn_after, drawn_before = (_counts(len(strata), rng, n_resamples) for strata in (after, before))
        total += np.einsum("ij,ij->i", drawn_after @ _wins(before, after), drawn_before) / (len(after) * len(before))
    sizes = [len(stratum) for stratum in (*baseline, *candidate)]
    tail = _tail(sizes, confidence)
    low, high = (float(end) for end in np.quantile(total / len(baseline), (tail, 1 - tail)))
    method = f"stratified bootstrap, expanded percentile, {n_resamples} resamples"
    return Interval(low, high, confidence, method) if low < high else Unavailable("resampling shows no spread")


def profile(tasks: Strata, thresholds: Sequence[float]) -> tuple[float, ...]:
    """Share of scores above each threshold, mean over tasks.

    Source: Agarwal et al. (2021), section 4.2, run-score distributions.
    """
    return tuple(float(share) for share in _shares(tasks, thresholds).mean(axis=0))


def profile_band(
    tasks: Strata,
    thresholds: Sequence[float],
    *,
    rng: np.random.Generator,
    confidence: float,
    n_resamples: int = N_RESAMPLES,
) -> tuple[tuple[float, float], ...]:
    """Pointwise stratified bootstrap band of `profile`; empty with too few runs.

    How many of n resampled runs are above a threshold is binomial: no score need be resampled. Where tasks have as many
    runs as each other, their sum is known exactly; else it is drawn.
    """
    if strata_refusal(VERDICT_RUNS, *(task.tolist() for task in tasks)):
        return ()
    sizes = [len(task) for task in tasks]
    columns, where = np.unique(_shares(tasks, thresholds), axis=1, return_inverse=True)
    tail = _tail(sizes, confidence)
    if len(set(sizes)) == 1:
        ends = _binomial_ends(columns.T, sizes[0], tail)
    else:
        ends = []
        for shares in columns.T:
            drawn = (rng.binomial(sizes, shares, size=(n_resamples, len(sizes))) / np.array(sizes)).mean(axis=1)
            low, high = np.quantile(drawn, (tail, 1 - tail))
            ends.append((float(low), float(high)))
    return tuple(ends[index] for index in where.ravel())


def draw_resamples(strata: Strata, rng: np.random.Generator, n_resamples: int) -> Iterator[list[np.ndarray]]:
    """Chunks of resamples: per stratum an array (resamples, runs) of runs drawn with replacement."""
    size = max(1, CHUNK // sum(len(stratum) for stratum in strata))
    for begin in range(0, n_resamples, size):
        rows = min(size, n_resamples - begin)
        yield [stratum[rng.integers(len(stratum), size=(rows, len(stratum)))] for stratum in strata]


def _widen(drawn: np.ndarray, estimate: float, confidence: float, fewest: int, df: int) -> Interval | Unavailable:
    """Percentile interval with ends moved away from the estimate to correct for few runs.

    Source: Hesterberg (2015), the expanded percentile interval.
    """
    low, high = (float(end) for end in np.quantile(drawn, ((1 - confidence) / 2, (1 + confidence) / 2)))
    if not low < high:
        return Unavailable("resampling shows no spread")
    upper = (1 + confidence) / 2
    factor = math.sqrt(fewest / (fewest - 1)) * float(stats.t.ppf(upper, df) / stats.norm.ppf(upper))
    low, high = estimate - factor * max(0.0, estimate - low), estimate + factor * max(0.0, high - estimate)
    method = f"stratified bootstrap, percentile widened for few runs, {len(drawn)} resamples"
    return Interval(low, high, confidence, method)


def _tail(sizes: Sequence[int], confidence: float) -> float:
    """Level of the lower percentile: that of t in place of normal, and of n - 1 in place of n.

    Source: Hesterberg (2015); degrees of freedom pooled over strata, as each has a mean of its own.
    """
    fewest, df = min(sizes), sum(sizes) - len(sizes)
    t = float(stats.t.ppf((1 + confidence) / 2, df))
    return float(stats.norm.sf(math.sqrt(fewest / (fewest - 1)) * t))


def _aggregates(parts: Sequence[np.ndarray], optimum: float) -> dict[str, np.ndarray]:
    """Aggregates per row; `parts` has an array (rows, runs) per task."""
    means = np.stack([part.mean(axis=1) for part in parts])
    short = np.stack([np.minimum(part, optimum).mean(axis=1) for part in parts])
    return {
        "mean": means.mean(axis=0),
        "median": np.median(means, axis=0),
        "iqm": _middle_mean(np.concatenate(parts, axis=1)),
        "gap": optimum - short.mean(axis=0),
    }


def _middle_mean(rows: np.ndarray) -> np.ndarray:
    """Mean of each row without its lowest and its highest quarter, rounded down as `scipy.stats.trim_mean` does."""
    n = rows.shape[1]
    cut = int(TRIMMED * n)
    middle: np.ndarray = np.sort(rows, axis=1)[:, cut : n - cut].mean(axis=1)
    return middle


def _wins(baseline: np.ndarray, candidate: np.ndarray) -> np.ndarray:
    """Matrix of wins: 1 where a run of the candidate (row) is above one of the baseline (column), 1/2 if equal."""
    wins: np.ndarray = (np.sign(candidate[:, None] - baseline[None, :]) + 1) / 2
    return wins


def _counts(n: int, rng: np.random.Generator, n_resamples: int) -> np.ndarray:
    """How often each of n runs is in each resample: each pair is then compared once, not per resample."""
    cells = rng.integers(n, size=(n_resamples, n)) + n * np.arange(n_resamples)[:, None]
    counts: np.ndarray = np.bincount(cells.ravel(), minlength=n * n_resamples).astype(float)
    return counts.reshape(n_resamples, n)


def _binomial_ends(shares: np.ndarray, n: int, tail: float) -> list[tuple[float, float]]:
    """Per row of shares both percentiles of the mean of binomial shares of n, from their characteristic function."""
    total = n * shares.shape[1]
    turns = np.exp(-2j * np.pi * np.arange(total + 1) / (total + 1))
    ends: list[tuple[float, float]] = []
    for row in shares:
        values, repeats = np.unique(row, return_counts=True)
        factors = [(1 - share + share * turns) ** (n * times) for share, times in zip(values, repeats, strict=True)]
        cumulated = np.cumsum(np.fft.ifft(np.prod(factors, axis=0)).real)
        low, high = (np.searchsorted(cumulated, level - 1e-12) for level in (tail, 1 - tail))
        ends.append((min(int(low), total) / total, min(int(high), total) / total))
    return ends


def _shares(tasks: Strata, thresholds: Sequence[float]) -> np.ndarray:
    """Proportion of runs above each threshold, shape (tasks, thresholds)."""
    return np.stack([(task[:, None] > np.asarray(thresholds)).mean(axis=0) for task in tasks])
