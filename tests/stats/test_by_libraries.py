"""Figures of 500 random comparisons are those that scipy and statsmodels give."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from deviate.model.comparisons import Comparison
from deviate.model.estimates import Interval, Test
from deviate.stats.compare import compare
from deviate.stats.estimates.effect import CORRECTED_DF, hedges_correction

N_SETS = 500
TESTS = ("welch", "student", "mann_whitney", "kolmogorov_smirnov", "levene", "brown_forsythe")
ESTIMATES = {"superiority": "superiority", "d": "cohens_d", "g": "hedges_g", "glass_delta": "glass_delta"}
INTERVALS = {"difference_interval": "welch_interval", "sd_ratio_interval": "sd_ratio_interval"}
DESCRIBED = ("mean", "sd", "cv", "median", "iqr", "skewness", "kurtosis", "mean_interval", "sd_interval")


def load_libraries():  # type: ignore[no-untyped-def]
    path = Path(__file__).parents[2] / "benchmarks" / "by_libraries.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def libraries():  # type: ignore[no-untyped-def]
    return load_libraries()


def numbers(figure: object) -> tuple[float, ...]:
    if isinstance(figure, Test):
        return figure.statistic, figure.p_value
    if isinstance(figure, Interval):
        return figure.low, figure.high
    assert isinstance(figure, float), figure
    return (figure,)


def figures(comparison: Comparison) -> dict[str, tuple[float, ...]]:
    sides = {"baseline": comparison.baseline, "candidate": comparison.candidate}
    described = {
        f"{side} {name}": numbers(getattr(of_side, name)) for side, of_side in sides.items() for name in DESCRIBED
    }
    named = {name: name for name in TESTS} | ESTIMATES | INTERVALS | {"sd_ratio": "sd_ratio"}
    return described | {name: numbers(getattr(comparison, field)) for name, field in named.items()}


@pytest.mark.slow
def test_every_figure_is_that_of_a_library(libraries) -> None:  # type: ignore[no-untyped-def]
    for seed in range(N_SETS):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(10, 41, 2)
        draw = (rng.normal, rng.exponential, rng.lognormal)[seed % 3]
        unit, shift = 10.0 ** rng.integers(-4, 5), rng.normal()
        b, a = unit * (6 + draw(size=sizes[0])), unit * (6 + shift + draw(size=sizes[1]))
        expected = libraries.compare(b, a)
        found = compare(b.tolist(), a.tolist(), rng=np.random.default_rng(0))
        for name, of_us in figures(found).items():
            side, _, figure = name.partition(" ")
            of_them = expected[side][figure] if figure else expected[name]
            assert of_us == pytest.approx(np.ravel(of_them)[: len(of_us)], rel=1e-6, abs=1e-12), (seed, name)
        interval, df = numbers(found.hedges_g_interval), sum(sizes) - 2
        times = hedges_correction(df) if df >= CORRECTED_DF else 1.0
        assert interval == pytest.approx(times * np.array(expected["d_interval"]), rel=1e-4, abs=1e-6), seed
