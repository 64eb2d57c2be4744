"""The figures of a comparison by scipy and statsmodels alone, as a careful researcher would compute them.

    python benchmarks/by_libraries.py BASELINE.csv CANDIDATE.csv

Of each column but `run` it prints, for both sides, what describes them, and of their difference each test, effect size
and interval that `deviate compare` gives and a library has. Bootstraps are left out: in scipy they take longer than all
else (`benchmarks/comparison.py` compares them apart).
"""

import csv
import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import brentq
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestIndPower
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

ALPHA = 0.05
N_ARRANGEMENTS = 9999


def main(paths: list[str]) -> None:
    before, after = map(read, paths)
    found = {name: compare(before[name], after[name]) for name in before}
    for name, one in found.items():
        one["permutation"] = permuted(before[name], after[name])
    adjusted = multipletests([one["welch"][1] for one in found.values()], method="holm")[1]
    for one, p_value in zip(found.values(), adjusted, strict=True):
        one["p_adjusted"] = p_value
    json.dump(found, sys.stdout, default=np.ndarray.tolist)


def read(path: str) -> dict[str, np.ndarray]:
    with Path(path).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: np.array([float(row[name]) for row in rows]) for name in rows[0] if name != "run"}


def describe(values: np.ndarray) -> dict[str, Any]:
    n, described = len(values), DescrStatsW(values)
    sd = float(np.std(values, ddof=1))
    return {
        "n": n,
        "mean": described.mean,
        "sd": sd,
        "mean_interval": described.tconfint_mean(ALPHA),
        "sd_interval": sd * np.sqrt((n - 1) / stats.chi2.ppf([1 - ALPHA / 2, ALPHA / 2], n - 1)),
        "cv": stats.variation(values, ddof=1),
        "median": np.median(values),
        "iqr": stats.iqr(values),
        "mad": stats.median_abs_deviation(values),
        "range": (values.min(), values.max()),
        "skewness": stats.skew(values, bias=False),
        "kurtosis": stats.kurtosis(values, bias=False),
    }


def compare(b: np.ndarray, a: np.ndarray) -> dict[str, Any]:
    n_b, n_a = len(b), len(a)
    df = n_b + n_a - 2
    means = CompareMeans(DescrStatsW(a), DescrStatsW(b))
    pooled = float(np.sqrt(((n_b - 1) * b.var(ddof=1) + (n_a - 1) * a.var(ddof=1)) / df))
    has_ties = len({*a, *b}) < n_a + n_b
    u = stats.mannwhitneyu(a, b, method="asymptotic" if has_ties else "exact")
    t = stats.ttest_ind(a, b).statistic
    d = (a.mean() - b.mean()) / pooled
    unit = float(np.sqrt(1 / n_b + 1 / n_a))
    correction = math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)
    ratio = a.std(ddof=1) / b.std(ddof=1)
    of_brunner = stats.brunnermunzel(b, a)
    return {
        "baseline": describe(b),
        "candidate": describe(a),
        "welch": means.ttest_ind(usevar="unequal"),
        "student": means.ttest_ind(usevar="pooled"),
        "difference_interval": means.tconfint_diff(ALPHA, usevar="unequal"),
        "mann_whitney": (u.statistic, u.pvalue),
        "superiority": u.statistic / n_b / n_a,
        "brunner_munzel": (of_brunner.statistic, of_brunner.pvalue),
        "kolmogorov_smirnov": stats.ks_2samp(b, a),
        "levene": stats.levene(b, a, center="mean"),
        "brown_forsythe": stats.levene(b, a, center="median"),
        "d": d,
        "g": d * correction,
        "d_interval": [noncentrality(t, df, p) * unit for p in (1 - ALPHA / 2, ALPHA / 2)],
        "glass_delta": (a.mean() - b.mean()) / b.std(ddof=1),
        "sd_ratio": ratio,
        "sd_ratio_interval": ratio / np.sqrt(stats.f.ppf([1 - ALPHA / 2, ALPHA / 2], n_a - 1, n_b - 1)),
        "detectable": TTestIndPower().solve_power(nobs1=n_b, ratio=n_a / n_b, power=0.8, alpha=ALPHA) * pooled,
    }


def permuted(b: np.ndarray, a: np.ndarray) -> float:
    def studentised(x: np.ndarray, y: np.ndarray, axis: int) -> Any:
        return stats.ttest_ind(x, y, axis=axis, equal_var=False).statistic

    rng = np.random.default_rng(0)
    return float(
        stats.permutation_test((a, b), studentised, n_resamples=N_ARRANGEMENTS, vectorized=True, rng=rng).pvalue
    )


def noncentrality(t: float, df: int, probability: float) -> float:
    """Of t's distribution, that under which `probability` is below t; scipy's fails far from it on its left."""
    if t < 0:
        return -noncentrality(-t, df, 1 - probability)

    def excess(shift: float) -> float:
        return float(stats.nct.cdf(t, df, shift)) - probability

    return float(brentq(excess, t - 6, t + 6))


if __name__ == "__main__":
    main(sys.argv[1:])
