"""Our numbers against those of R: data/samples.csv, what data/reference.R makes of it, and what we make of it."""

import csv
import functools
import itertools
import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from each import check_each

from deviate.model.design import Question
from deviate.model.estimates import Interval, Test, Unavailable
from deviate.stats.describe import describe
from deviate.stats.design.design import spread_runs
from deviate.stats.design.power import arrangement_loss, detectable_effect, fewest
from deviate.stats.estimates.bootstrap import mean_bootstrap, mean_percentile, median_bootstrap, sd_bootstrap
from deviate.stats.estimates.effect import (
    cliffs_delta,
    cohens_d,
    cohens_d_unweighted,
    glass_delta,
    hedges_g,
    hedges_g_interval,
    sd_ratio,
    sd_ratio_interval,
    superiority,
    superiority_interval,
)
from deviate.stats.estimates.one_sample import (
    excess_kurtosis,
    interquartile_range,
    mean_interval,
    median_deviation,
    sd_interval,
    skewness,
)
from deviate.stats.estimates.overhead import mean_ratio, mean_ratio_interval
from deviate.stats.estimates.spread import brown_forsythe, f_test, levene
from deviate.stats.hypothesis.both import ask_both, equivalence
from deviate.stats.hypothesis.failures import rate_interval
from deviate.stats.hypothesis.paired import correlation, paired_interval, paired_t, wilcoxon
from deviate.stats.hypothesis.permutation import exchange_p, how
from deviate.stats.hypothesis.survival import kaplan_meier, log_rank, survival_median, survival_median_interval
from deviate.stats.hypothesis.two_sample import kolmogorov_smirnov, mann_whitney, student, welch, welch_interval
from deviate.stats.multiple.many import (
    anova,
    dunnett,
    kruskal_wallis,
    welch_anova,
)
from deviate.stats.multiple.pairs import holm
from deviate.stats.multiple.tasks import critical_difference, estimates, friedman, mean_ranks, nemenyi

DATA = Path(__file__).parent / "data"
Outcomes = Mapping[str, object]


def read(name: str, column: str) -> dict[str, dict[str, list[float]]]:
    """Numbers by set and by sample or quantity; R's NA is NaN."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with (DATA / name).open(newline="") as lines:
        for row in csv.DictReader(lines):
            found[row["set"]][row[column]].append(math.nan if row["value"] == "NA" else float(row["value"]))
    return found


SAMPLES = read("samples.csv", "sample")
REFERENCE = {
    (name, quantity): value
    for name, quantities in read("reference.csv", "quantity").items()
    for quantity, (value,) in quantities.items()
}


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


def of_one(name: str, values: list[float]) -> Outcomes:
    described = describe(values)
    return {
        f"{name}.mean": described.mean,
        f"{name}.sd": described.sd,
        f"{name}.mean.interval": mean_interval(values),
        f"{name}.sd.interval": sd_interval(values),
        f"{name}.iqr": interquartile_range(values),
        f"{name}.mad": median_deviation(values),
        f"{name}.skewness": skewness(values),
        f"{name}.kurtosis": excess_kurtosis(values),
    }


def permutation_of_means(b: list[float], a: list[float]) -> Test:
    values = np.array([*a, *b]) - np.median([*a, *b])
    p_value, is_exact = exchange_p(values, len(a), rounding=1e-9 * float(np.abs(values).max()))
    return Test("Permutation of means", float(np.mean(a) - np.mean(b)), p_value, note=how(is_exact=is_exact))


def of_two(b: list[float], a: list[float], margin: float) -> Outcomes:
    """R's equivalence is Welch's alone, and its permutation test that of means."""
    above, below = (
        it if isinstance(it, Unavailable) else it.t_test
        for it in (ask_both(b, a, null=-margin, side="above"), ask_both(b, a, null=margin, side="below"))
    )
    tost = {"tost.above": above, "tost.below": below, "tost.interval": welch_interval(b, a, confidence=0.9)}
    if min(len(b), len(a)) < 5:
        few = equivalence(b, a, margin=margin)
        tost = {"tost.above": few, "tost.below": few, "tost.interval": few}
    return tost | {
        "tost.margin": margin,
        "welch": welch(b, a),
        "welch.interval": welch_interval(b, a),
        "student": student(b, a),
        "cohens_d": cohens_d(b, a),
        "cohens_d_unweighted": cohens_d_unweighted(b, a),
        "hedges_g": hedges_g(b, a),
        "hedges_g.interval": hedges_g_interval(b, a),
        "glass_delta": glass_delta(b, a),
        "mann_whitney": mann_whitney(b, a),
        "permutation": permutation_of_means(b, a),
        "cliffs_delta": cliffs_delta(b, a),
        "ks": kolmogorov_smirnov(b, a),
        "superiority": superiority(b, a),
        "superiority.interval": superiority_interval(b, a),
        "levene.median": brown_forsythe(b, a),
        "levene.mean": levene(b, a),
        "f": f_test(b, a),
        "sd_ratio": sd_ratio(b, a),
        "sd_ratio.interval": sd_ratio_interval(b, a),
        "mean_ratio": mean_ratio(b, a),
        "mean_ratio.interval": mean_ratio_interval(b, a),
    }


def of_pairs(b: list[float], a: list[float]) -> Outcomes:
    return {
        "paired": paired_t(b, a),
        "paired.interval": paired_interval(b, a),
        "paired.correlation": correlation(b, a),
        "wilcoxon": wilcoxon(b, a),
    }


def of_resamples(values: list[float]) -> Outcomes:
    return {
        "bca.mean": mean_bootstrap(values, rng=generator()),
        "bca.sd": sd_bootstrap(values, rng=generator()),
        "percentile.mean": mean_percentile(values, rng=generator()),
        "percentile.median": median_bootstrap(values, rng=generator()),
    }


def of_several(samples: Mapping[str, list[float]]) -> Outcomes:
    values, names = list(samples.values()), list(samples)
    found: dict[str, object] = {
        "anova": anova(*values),
        "welch_anova": welch_anova(*values),
        "kruskal_wallis": kruskal_wallis(*values, rng=generator()),
    }
    compared = dunnett(*values, rng=generator())
    for place, name in enumerate(names[1:]):
        both = (compared, compared) if isinstance(compared, Unavailable) else compared[place]
        found[f"dunnett.{name}"], found[f"dunnett.{name}.interval"] = both
    # R asks Welch alone.
    pairs = list(itertools.combinations(range(len(names)), 2))
    tests = [welch(values[one], values[other]) for one, other in pairs]
    adjusted = holm([it if isinstance(it, Unavailable) else it.p_value for it in tests])
    for (one, other), p_value in zip(pairs, adjusted, strict=True):
        found |= {f"pair.{names[one]}.{names[other]}.p": p_value, f"pair.{names[other]}.{names[one]}.p": p_value}
    return found


def of_tasks(samples: Mapping[str, list[float]]) -> Outcomes:
    values, names = list(samples.values()), list(samples)
    ranks, pairs = mean_ranks(*values), nemenyi(*values)
    assert not isinstance(ranks, Unavailable)
    assert not isinstance(pairs, Unavailable)
    return {
        "friedman": friedman(*values, rng=generator()),
        "critical_difference": critical_difference(len(names), len(values[0])),
        "iqm.base": estimates([np.array(samples["base"])], 1.0)["iqm"],
        **{f"rank.{name}": rank for name, rank in zip(names, ranks, strict=True)},
        **{f"nemenyi.{names[j]}.{names[i]}.p": p for (i, j), p in pairs.items()},
    }


def of_times(samples: Mapping[str, list[float]]) -> Outcomes:
    sides = {
        name: (samples[name], [it == 1 for it in samples[f"{name} reached"]]) for name in ("baseline", "candidate")
    }
    test = log_rank(sides["baseline"], sides["candidate"])
    assert isinstance(test, Test)
    found: dict[str, object] = {"log_rank.chi2": test.statistic**2, "log_rank.p": test.p_value}
    for name, (times, is_reached) in sides.items():
        curve = kaplan_meier(times, is_reached)
        found[f"{name}.median"] = survival_median(curve)
        found[f"{name}.median.interval"] = survival_median_interval(curve, len(times))
        for time in {*times, *curve.times}:
            share = [it for at, it in zip(curve.times, curve.share, strict=True) if at <= time][-1]
            found[f"{name}.survival.{time:g}"] = share
    return found


def of_rates() -> Outcomes:
    return {f"{k}/{n}": rate_interval(k, n) for k, n in ((10, 10), (9, 10), (8, 10), (0, 8), (5, 20), (99, 100))}


def of_families() -> Outcomes:
    found: dict[str, object] = {}
    for p_values in ([0.01, 0.02, 0.03, 0.04], [0.04, 0.001, 0.2, 0.03, 0.03, 0.9], [0.5, 0.6]):
        for place, adjusted in enumerate(holm(p_values), 1):
            found[f"holm|{' '.join(map(repr, p_values))}|{place}"] = adjusted
    return found


def welch_effect(n: int) -> float:
    """Without what the permutation test costs."""
    return detectable_effect(n, n) / arrangement_loss(n, n, 0.05)


def of_power() -> Outcomes:
    return {
        **{f"delta.n{n}": welch_effect(n) for n in (3, 5, 8, 30)},
        **{f"n.delta{size:g}": fewest(lambda n, size=size: welch_effect(n) <= size) for size in (0.5, 0.8, 1, 2)},
        **{f"n.sd_ratio{ratio:g}": spread_runs(ratio, Question()) for ratio in (1.25, 1.5, 2, 3)},
    }


def outcomes(name: str) -> Outcomes:
    """Every outcome of ours for one set, by what R calls it."""
    if name in {"completion", "adjusted", "power"}:
        return {"completion": of_rates, "adjusted": of_families, "power": of_power}[name]()
    samples = SAMPLES[name]
    if "baseline reached" in samples:
        return of_times(samples)
    if "base" in samples:
        return of_tasks(samples) if "tasks" in name else of_several(samples)
    b, a = samples["baseline"], samples["candidate"]
    found = {**of_two(b, a, REFERENCE[name, "tost.margin"]), **of_one("baseline", b), **of_one("candidate", a)}
    return {**found, **(of_pairs(b, a) if "pairs" in name else {}), **of_resamples(b)}


@functools.cache
def figures(name: str) -> Outcomes:
    """The same taken apart: the ends of an interval; the statistic of a test, by the letters of R, its p and df."""
    found: dict[str, object] = {}
    for quantity, outcome in outcomes(name).items():
        if isinstance(outcome, Interval):
            found |= {f"{quantity}.low": outcome.low, f"{quantity}.high": outcome.high}
        elif isinstance(outcome, Test):
            letters = ("t", "u", "d", "f", "h", "chi2")
            found |= {f"{quantity}.{letter}": outcome.statistic for letter in letters}
            found |= {f"{quantity}.p": outcome.p_value, f"{quantity}.df": outcome.df}
        else:
            found[quantity] = outcome
    return found


def answer(name: str, quantity: str) -> object:
    found = figures(name)
    return found[quantity] if quantity in found else found[quantity.rpartition(".")[0]]


def tolerance(name: str, quantity: str) -> float:
    """What is sampled is as exact as R's sample, or ours: bootstraps, Dunnett, and permutations of more than 9999."""
    if quantity.startswith(("bca", "percentile")):
        ends = [REFERENCE[name, f"{quantity.rpartition('.')[0]}.{end}"] for end in ("low", "high")]
        return 0.03 * (ends[1] - ends[0])
    if quantity.startswith("dunnett"):
        return 1e-3
    p_value = REFERENCE[name, quantity]
    sampled = set(itertools.product(("twelve pairs", "pairs with zeros"), ("permutation.p", "mann_whitney.p")))
    sampled |= set(itertools.product(("six tasks", "five tasks tied"), ("friedman.p",)))
    sampled |= set(itertools.product(("four groups", "three uneven groups"), ("kruskal_wallis.p",)))
    # A two-sided p is twice a sampled tail.
    return 8 * math.sqrt(p_value / 2 / 9999) if (name, quantity) in sampled else 1e-9


def check_figure(name: str, quantity: str) -> None:
    ours, expected = answer(name, quantity), REFERENCE[name, quantity]
    if isinstance(ours, Unavailable):
        assert math.isnan(expected) or ours.reason.startswith("needs ")
    elif math.isnan(expected):
        assert ours == math.inf
    else:
        assert ours == pytest.approx(expected, rel=1e-6, abs=tolerance(name, quantity))


@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in REFERENCE))
def test_our_figures_are_those_of_r(name: str) -> None:
    quantities = [quantity for of, quantity in REFERENCE if of == name]
    check_each(zip(quantities, quantities, strict=True), functools.partial(check_figure, name))
