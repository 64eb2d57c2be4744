"""Every figure of a comparison equals what scipy gives on the exported scores, from the runs to the report."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

SCRIPT = """\
import random, sys

random.seed(1)
spread = float(sys.argv[1])
for epoch in range(2):
    test_acc = 90 + random.gauss(spread / 2, spread)
    print(f"test accuracy {test_acc:.2f}")
"""
RUNS = 10


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory, deviate_in) -> Path:  # type: ignore[no-untyped-def]
    folder = tmp_path_factory.mktemp("parent") / "root"
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    for name, spread in (("small", "1.0"), ("wide", "2.5")):
        done = deviate_in(folder)("run", "train.py", "-r", str(RUNS), "-j", "2", "-q", "--name", name, "--", spread)
        assert done.code == 0, done.both
    files = ("--html", "out.html", "--json", "out.json", "--csv", "out.csv")
    done = deviate_in(folder)("compare", "small", "wide", *files)
    assert done.code == 0, done.both
    return folder


@pytest.fixture(scope="module")
def scores(compared: Path) -> tuple[np.ndarray, np.ndarray]:
    with (compared / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    small, wide = (
        np.array([float(row["score"]) for row in rows if row["experiment"] == name]) for name in ("small", "wide")
    )
    assert len(small) == len(wide) == RUNS
    assert len(set(small) | set(wide)) == 2 * RUNS
    return small, wide


@pytest.fixture(scope="module")
def document(compared: Path) -> dict:  # type: ignore[type-arg]
    return json.loads((compared / "out.json").read_text())


def test_descriptions_equal_scipy(document: dict, scores: tuple[np.ndarray, np.ndarray]) -> None:  # type: ignore[type-arg]
    for experiment, values in zip(document["experiments"], scores, strict=True):
        (metric,) = experiment["metrics"]
        mean, sd = values.mean(), values.std(ddof=1)
        t = stats.t.interval(0.95, RUNS - 1, mean, stats.sem(values))
        chi2 = stats.chi2.ppf([0.975, 0.025], RUNS - 1)
        assert metric["mean"] == pytest.approx(mean)
        assert metric["sd"] == pytest.approx(sd)
        assert metric["cv"] == pytest.approx(stats.variation(values, ddof=1))
        assert (metric["minimum"], metric["maximum"], metric["range"]) == pytest.approx(
            (values.min(), values.max(), np.ptp(values))
        )
        assert (metric["mean_interval"]["low"], metric["mean_interval"]["high"]) == pytest.approx(t)
        assert (metric["sd_interval"]["low"], metric["sd_interval"]["high"]) == pytest.approx(
            tuple(sd * np.sqrt((RUNS - 1) / chi2))
        )


def test_comparisons_equal_scipy(document: dict, scores: tuple[np.ndarray, np.ndarray]) -> None:  # type: ignore[type-arg]
    small, wide = scores
    (comparison,) = document["pairs"][0]["comparisons"]
    welch = stats.ttest_ind(wide, small, equal_var=False)
    interval = welch.confidence_interval(0.95)
    student = stats.ttest_ind(wide, small)
    u = stats.mannwhitneyu(wide, small, alternative="two-sided", method="exact")
    levene = stats.levene(small, wide, center="median")
    assert comparison["difference"] == pytest.approx(wide.mean() - small.mean())
    low, high = comparison["difference_interval"]["low"], comparison["difference_interval"]["high"]
    assert (low, high) == pytest.approx((interval.low, interval.high))
    for name, expected in (("welch", welch), ("student", student), ("mann_whitney", u), ("brown_forsythe", levene)):
        assert comparison[name]["statistic"] == pytest.approx(expected.statistic), name
        assert comparison[name]["p_value"] == pytest.approx(expected.pvalue), name
    assert comparison["welch"]["df"] == pytest.approx(welch.df)
    pooled = math.sqrt((small.var(ddof=1) + wide.var(ddof=1)) / 2)
    d = (wide.mean() - small.mean()) / pooled
    df = 2 * RUNS - 2
    correction = math.gamma(df / 2) / (math.sqrt(df / 2) * math.gamma((df - 1) / 2))
    assert comparison["cohens_d"] == pytest.approx(d)
    assert comparison["hedges_g"] == pytest.approx(correction * d)
    scale = math.sqrt(RUNS / 2)
    for bound, level in (("low", 0.975), ("high", 0.025)):
        delta = comparison["hedges_g_interval"][bound] / correction * scale
        assert stats.nct.cdf(d * scale, df, delta) == pytest.approx(level, abs=1e-6)
    ratio = wide.std(ddof=1) / small.std(ddof=1)
    quantile = math.sqrt(stats.f.ppf(0.975, RUNS - 1, RUNS - 1))
    assert comparison["sd_ratio"] == pytest.approx(ratio)
    bounds = comparison["sd_ratio_interval"]
    assert (bounds["low"], bounds["high"]) == pytest.approx((ratio / quantile, ratio * quantile))


def test_the_page_shows_the_same_figures(compared: Path, scores: tuple[np.ndarray, np.ndarray]) -> None:
    page = (compared / "out.html").read_text()
    p_value = stats.ttest_ind(scores[1], scores[0], equal_var=False).pvalue
    assert f"{p_value:.3f}".lstrip("0") in page
    for values in scores:
        assert f"{values.std(ddof=1):.2f}" in page
