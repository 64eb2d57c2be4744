"""Planning: the number of runs that a question needs, and what a number of runs can detect.

The unit of every effect here is the standard deviation over runs.
"""

import math
from collections.abc import Sequence

import numpy as np
import scipy
from scipy import special

from deviate.errors import InputError
from deviate.model.design import Design, DesignRow, Pilot, Question
from deviate.model.estimates import NOT_ASKED, PAIRED_ALONE_RUNS, PAIRED_RUNS, VERDICT_RUNS, Estimate, Unavailable
from deviate.model.phrases import Reason
from deviate.model.records import Spending
from deviate.stats.design.group_sequential import crossing, spending_bounds
from deviate.stats.design.power import arrangement_loss, fewest
from deviate.stats.estimates.summary import sd_ends, t_quantile

NO_VERDICT = Unavailable(Reason.NO_VERDICT)
"""What fewer runs than a verdict takes can detect."""
SHOWN_RUNS = (3, 5, 8, 10, 16, 20, 30)
USUAL_RUNS = (10, 20)
SPREAD_RATIOS = (1.25, 1.5, 2.0, 3.0)


def find_design(question: Question, pilot: Pilot | None = None, numbers: Sequence[int] = SHOWN_RUNS) -> Design:
    """Answer a question about numbers of runs.

    Args:
        numbers: of runs to tell about; the number that the effect takes is told about too.

    Raises:
        InputError: a figure of the question is out of range.
    """
    _check(question)
    effect, margin = question.effect, question.margin
    runs = NOT_ASKED if effect is None else runs_for(effect, question)
    margin_runs = NOT_ASKED if margin is None else runs_for_margin(margin, question)
    looks, expected = _looks(effect, runs, question)
    sizes = {n for n in (*numbers, runs, margin_runs) if not isinstance(n, Unavailable) and n >= 2}
    return Design(
        question=question,
        pilot=pilot,
        runs=runs,
        runs_range=_range(pilot, question),
        rank_runs=NOT_ASKED if effect is None or question.correlation is not None else rank_runs(effect, question),
        margin_runs=margin_runs,
        looks=looks,
        expected_runs=expected,
        spread_runs=tuple((ratio, spread_runs(ratio, question)) for ratio in SPREAD_RATIOS),
        rows=tuple(_row(n, question) for n in sorted(sizes)),
        usual=tuple((n, detectable(n, question)) for n in (_least(question), *USUAL_RUNS)),
    )


def power_of(effect: float, n: int, question: Question) -> float:
    """Chance that both two-sided tests of `n` runs of each side, or of `n` pairs, detect a true effect.

    Source: noncentral t; with pairs the SD of a difference is sqrt(2 (1 - correlation)) SDs. For effects of very
    many standard errors t is the effect over the SD, whose square is chi-square.
    """
    loss = arrangement_loss(n, n, _alpha(question), is_paired=question.correlation is not None)
    if math.isinf(loss):
        return 0.0
    df, noncentrality = _df(n, question), abs(effect) / loss / _unit(n, question)
    critical = float(scipy.stats.t.isf(_alpha(question) / 2, df))
    near = float(scipy.stats.nct.sf(critical, df, noncentrality))
    if math.isnan(near):  # far beyond what the routine computes only the SD is left to chance
        return float(scipy.stats.chi2.cdf(df * (noncentrality / critical) ** 2, df))
    return near + float(scipy.stats.nct.cdf(-critical, df, noncentrality)) if noncentrality < 5 else near


def detectable(n: int, question: Question) -> Estimate:
    """Smallest true effect that `n` runs of each side, or `n` pairs, see with the power of the question."""
    high = 1.0
    while power_of(high, n, question) < question.power:
        high *= 2
        if high > 1e6:
            return Unavailable(Reason.TOO_EXTREME)
    return float(
        scipy.optimize.brentq(lambda effect: power_of(effect, n, question) - question.power, 0, high, xtol=1e-10)
    )


def runs_for(effect: float, question: Question) -> int | Unavailable:
    """Runs of each side, or pairs, that see a true effect; never fewer than a verdict needs."""
    return _at_least_judged(fewest(lambda n: power_of(effect, n, question) >= question.power), question)


def equivalence_power(margin: float, n: int, question: Question) -> float:
    """Chance that both one-sided tests of `n` runs of each side show equivalence when there is no difference.

    The difference is normal and independent of the SD, whose square is chi-square: the chance that the difference is
    within margin - t SE is integrated over the SD.
    Source: Schuirmann (1987); Phillips (1990).
    """
    loss = arrangement_loss(n, n, 2 * _alpha(question), is_paired=question.correlation is not None)
    if math.isinf(loss):
        return 0.0
    df, unit, margin = _df(n, question), _unit(n, question), margin / loss
    critical = float(scipy.stats.t.isf(_alpha(question), df))
    widest = margin / (critical * unit)  # with a larger SD no difference is within
    scale = math.log(2) + df / 2 * math.log(df / 2) - math.lgamma(df / 2)

    def chance(sd: float) -> float:
        # The density of the SD, written out: `scipy.stats.chi2` takes fifty times as long.
        density = math.exp(scale + (df - 1) * math.log(sd) - df * sd * sd / 2)
        return density * (1 - 2 * float(special.ndtr(-(margin / unit - critical * sd))))

    low = math.sqrt(float(special.chdtri(df, 1 - 1e-12)) / df)
    high = min(widest, math.sqrt(float(special.chdtri(df, 1e-12)) / df))
    return 0.0 if high <= low else float(scipy.integrate.quad(chance, low, high, limit=200)[0])


def runs_for_margin(margin: float, question: Question) -> int | Unavailable:
    """Runs of each side, or pairs, that show equivalence within the margin when there is no difference."""
    return _at_least_judged(fewest(lambda n: equivalence_power(margin, n, question) >= question.power), question)


def rank_runs(effect: float, question: Question) -> int | Unavailable:
    """Runs of each side for a two-sided rank test of normal scores: P(candidate > baseline) is Phi(effect / sqrt 2).

    Source: Noether (1987), for two samples of equal size.
    """
    distance = float(special.ndtr(abs(effect) / math.sqrt(2))) - 0.5
    total = float(special.ndtri(1 - _alpha(question) / 2) + special.ndtri(question.power))
    n = math.ceil(total**2 / (6 * distance**2)) if distance > 1e-6 else 0
    return Unavailable(Reason.A_MILLION) if not 0 < n <= 1_000_000 else max(n, VERDICT_RUNS)


def spread_runs(ratio: float, question: Question) -> int | Unavailable:
    """Runs of each side that tell SDs apart whose true ratio is this, by a two-sided F test of normal scores."""
    alpha = _alpha(question)

    def suffices(n: int) -> bool:
        critical = float(scipy.stats.f.isf(alpha / 2, n - 1, n - 1))
        seen = float(
            scipy.stats.f.sf(critical / ratio**2, n - 1, n - 1)
            + scipy.stats.f.cdf(1 / critical / ratio**2, n - 1, n - 1)
        )
        return seen >= question.power

    return fewest(suffices)


def inflation(n_looks: int, spending: Spending, question: Question) -> tuple[float, float]:
    """Maximum and mean information of a design with equally spaced looks, relative to one test at the end.

    Source: Jennison & Turnbull (2000), chapter 7, by the recursion of Armitage, McPherson & Rowe (1969).
    """
    fractions = tuple((k + 1) / n_looks for k in range(n_looks))
    bounds = spending_bounds(fractions, _alpha(question), spending)
    fixed = float(special.ndtri(1 - _alpha(question) / 2) + special.ndtri(question.power))

    def shortfall(drift: float) -> float:
        return math.fsum(crossing(fractions, bounds, drift=drift)) - question.power

    drift = float(scipy.optimize.brentq(shortfall, fixed / 2, fixed * 2, xtol=1e-10))
    chances = np.array(crossing(fractions, bounds, drift=drift))
    chances[-1] += 1 - chances.sum()
    most = (drift / fixed) ** 2
    return most, most * float(chances @ np.array(fractions))


def _check(question: Question) -> None:
    ranges = (
        ("effect", question.effect, 0.0, math.inf, 1.0),
        ("margin", question.margin, 0.0, math.inf, 1.0),
        ("power", question.power, 0.0, 1.0, 0.8),
        ("confidence", question.confidence, 0.5, 1.0, 0.95),
        ("correlation", question.correlation, -1.0, 1.0, 0.5),
    )
    for name, value, low, high, example in ranges:
        if value is not None and not low < value < high:
            raise InputError(f"the {name} {value:g} is out of range", f"use {example:g}, for example")
    if question.n_looks < 1 or question.n_candidates < 1:
        raise InputError("the numbers of looks and candidates must be at least 1", "use a number from 1")
    if not question.power > 1 - question.confidence:
        raise InputError(f"a power of {question.power:g} is not above chance", "use 0.8, for example")


def _alpha(question: Question) -> float:
    """Two-sided level of one comparison: alpha divided by the number of candidates, as in Bonferroni's method."""
    return (1 - question.confidence) / question.n_candidates


def _df(n: int, question: Question) -> int:
    return n - 1 if question.correlation is not None else 2 * n - 2


def _unit(n: int, question: Question) -> float:
    """Standard error of the difference of means, in standard deviations over runs."""
    return math.sqrt(2 * (1 - (question.correlation or 0.0)) / n)


def _at_least_judged(n: int | Unavailable, question: Question) -> int | Unavailable:
    return n if isinstance(n, Unavailable) else max(n, _least(question))


def _least(question: Question) -> int:
    """Runs of each side, or pairs, that a verdict needs."""
    if question.correlation is None:
        return VERDICT_RUNS
    return PAIRED_ALONE_RUNS if question.n_candidates == 1 and question.n_looks == 1 else PAIRED_RUNS


def _range(pilot: Pilot | None, question: Question) -> tuple[int | Unavailable, int | Unavailable] | Unavailable:
    if pilot is None or question.effect is None or isinstance(pilot.interval, Unavailable):
        return NOT_ASKED
    low, high = (question.effect * pilot.sd / end for end in (pilot.interval.low, pilot.interval.high))
    return runs_for(low, question), runs_for(high, question)


def _looks(effect: float | None, runs: int | Unavailable, question: Question) -> tuple[tuple[int, ...], Estimate]:
    if question.n_looks == 1 or effect is None:
        return (), NOT_ASKED
    if isinstance(runs, Unavailable):
        return (), runs
    most, mean = inflation(question.n_looks, question.spending, question)
    n_most = math.ceil(runs * most)
    numbers = [max(_least(question), math.ceil(n_most * (k + 1) / question.n_looks)) for k in range(question.n_looks)]
    return tuple(dict.fromkeys(numbers)), max(min(runs * mean, float(n_most)), float(numbers[0]))


def _row(n: int, question: Question) -> DesignRow:
    low, high = sd_ends(n - 1, question.confidence)
    is_enough, effect, margin = n >= _least(question), question.effect, question.margin
    power: Estimate = NOT_ASKED if effect is None else power_of(effect, n, question)
    equivalence: Estimate = NOT_ASKED if margin is None else equivalence_power(margin, n, question)
    return DesignRow(
        n=n,
        detectable=detectable(n, question) if is_enough else NO_VERDICT,
        half_width=t_quantile((1 + question.confidence) / 2, n - 1) / math.sqrt(n),
        sd_low=low,
        sd_high=high,
        power=power if is_enough else NO_VERDICT,
        equivalence=equivalence if is_enough else NO_VERDICT,
    )
