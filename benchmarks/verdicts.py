"""Simulates how often verdicts are wrong, through the functions that decide them, and writes the tables of a page.

    python benchmarks/verdicts.py                      a fast subset: 1,000 trials a cell, about half a minute
    python benchmarks/verdicts.py --check              the same, exit code 1 where a limit is passed
    python benchmarks/verdicts.py --all --check --cache verdicts.json --write docs/explanation/calibration.md

`--all` takes 10,000 trials a cell and about six minutes of one core. Cells that are in the cache are not simulated
again: begin with a new cache after a change of `deviate.stats`. Trials go through `two_tests.ask`, which answers every
comparison of a report, through `holm`, `at_look` and `decide_spread`; a test holds that their answers are the words of
`compare`.
"""

import argparse
import json
import math
import platform
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy

from deviate.model.comparisons import Description
from deviate.model.estimates import Unavailable
from deviate.stats.describe import describe
from deviate.stats.design.group_sequential import SpendingPlan, at_look
from deviate.stats.estimates.spread import brown_forsythe, decide_spread
from deviate.stats.hypothesis.two_tests import ask
from deviate.stats.multiple.pairs import holm

ALPHA = 0.05
Generator = np.random.Generator
Scores = np.ndarray
Draw = Callable[[Generator, tuple[int, int]], Scores]
MARK = "<!-- What follows is written by benchmarks/calibration.py. -->"

DISTRIBUTIONS: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "lognormal": lambda rng, shape: np.exp(rng.normal(size=shape)),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
    "t, 2 df": lambda rng, shape: rng.standard_t(2, size=shape),
    "10 % collapsed": lambda rng, shape: np.where(rng.random(shape) < 0.1, -80.0, 0.0) + rng.normal(size=shape),
    "grid of 0.01": lambda rng, shape: np.round(rng.normal(0.9, 0.01, size=shape), 2),
}
SCALES = {
    "normal": 1.0,
    "lognormal": math.sqrt((math.e - 1) * math.e),
    "exponential": 1.0,
    "t, 2 df": 2.0,  # its SD is infinite
    "10 % collapsed": 24.0,
    "grid of 0.01": 0.01,
}
"""About an SD of each."""
SIZES = ((5, 5), (10, 10), (5, 10), (5, 20), (5, 40), (10, 40))
FAMILY_SIZES = ((5, 5), (8, 8), (5, 40), (10, 40))
PAIRS = (6, 8, 10, 20)
LOOKS = (8, 16, 24)
SPREAD_SIZES = ((16, 16), (16, 40), (30, 30))
MOST, MOST_UNEQUAL = 0.056, 0.07


class Rate(NamedTuple):
    """Shares of trials by name, and the number of trials."""

    shares: Mapping[str, float]
    n_trials: int


class Simulations:
    """Shares by key, kept in a file so that an interrupted run goes on."""

    def __init__(self, path: Path | None, seed: int, n_trials: int) -> None:
        self.path, self.seed, self.n_trials = path, seed, n_trials
        self._kept: dict[str, dict[str, float]] = json.loads(path.read_text()) if path and path.exists() else {}

    def rate(self, key: str, simulate: Callable[[Generator, int], Mapping[str, float]]) -> Rate:
        """One seed for each key: a cell does not depend on which others are simulated, or in which order."""
        full = f"{key}|{self.n_trials}|{self.seed}"
        if full not in self._kept:
            begin = time.process_time()
            self._kept[full] = dict(
                simulate(np.random.default_rng([self.seed, zlib.crc32(full.encode())]), self.n_trials)
            )
            if self.path:
                new = self.path.with_suffix(".new")
                new.write_text(json.dumps(self._kept, indent=1))
                new.replace(self.path)
            print(f"{time.process_time() - begin:6.1f} s  {key}  {self._kept[full]}", file=sys.stderr, flush=True)
        return Rate(self._kept[full], self.n_trials)


def main() -> int:
    settings = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    settings.add_argument("--all", action="store_true", help="10,000 trials a cell, and every cell")
    settings.add_argument("--trials", type=int, default=0)
    settings.add_argument("--check", action="store_true", help="exit code 1 where a limit is passed")
    settings.add_argument("--write", type=Path, help="page whose upper part is written; standard output without it")
    settings.add_argument("--cache", type=Path, help="file that keeps simulated cells")
    settings.add_argument("--seed", type=int, default=20261123)
    chosen = settings.parse_args()
    n_trials = chosen.trials or (10_000 if chosen.all else 1_000)
    report = Report(Simulations(chosen.cache, chosen.seed, n_trials), is_whole=chosen.all)
    lines = [line for part in PARTS for line in part(report)]
    text = "\n".join([*header(chosen.seed, n_trials, report.failures), *lines]) + "\n"
    if chosen.write:
        _, _, below = chosen.write.read_text(encoding="utf-8").partition(MARK)
        chosen.write.write_text(f"{text}\n{MARK}{below}", encoding="utf-8")
    else:
        print(text)
    return bool(report.failures) if chosen.check else 0


class Report:
    """What is simulated, and the cells that passed a limit."""

    def __init__(self, simulations: Simulations, *, is_whole: bool) -> None:
        self.simulations, self.is_whole = simulations, is_whole
        self.failures: list[str] = []

    def cell(
        self,
        key: str,
        simulate: Callable[[Generator, int], Mapping[str, float]],
        name: str = "wrong",
        *,
        most: float | None = MOST,
    ) -> str:
        """A share in percent, in bold where it is above the limit by more than chance allows at this many trials."""
        rate = self.simulations.rate(key, simulate)
        share = rate.shares[name]
        # At 10,000 trials the limit itself holds; with fewer its Monte-Carlo error is allowed for.
        allowed = 0.0 if rate.n_trials >= 10_000 else 3 * math.sqrt(ALPHA * (1 - ALPHA) / rate.n_trials)
        if most is not None and share > most + allowed:
            self.failures.append(f"{key}, {name}: {100 * share:.1f} %, limit {100 * most:.1f} %")
            return f"**{100 * share:.1f}**"
        return f"{100 * share:.1f}"

    def distributions(self) -> Sequence[str]:
        return tuple(DISTRIBUTIONS) if self.is_whole else ("normal", "lognormal", "10 % collapsed")

    def sizes(self) -> Sequence[tuple[int, int]]:
        return SIZES if self.is_whole else ((5, 5), (5, 10), (5, 40), (10, 40))


def rejected(baseline: Scores, candidate: Scores, **asked: object) -> np.ndarray:
    """Whether the decision is made, one entry for each comparison; one whose sides have no spread is undecided."""
    has_spread = (np.ptp(baseline, axis=1) > 0) | (np.ptp(candidate, axis=1) > 0)
    decided = np.zeros(len(baseline), dtype=bool)
    alpha = asked.pop("alpha", ALPHA)
    answer = ask(baseline[has_spread], candidate[has_spread], alpha=alpha, is_decision_only=True, **asked)  # type: ignore[arg-type]
    decided[has_spread] = answer.p_upper < alpha
    return decided


def differences(draw: Draw, sizes: tuple[int, int]) -> Callable[[Generator, int], Mapping[str, float]]:
    """Exchangeable runs: better or worse is wrong."""

    def simulate(rng: Generator, n_trials: int) -> Mapping[str, float]:
        baseline, candidate = (draw(rng, (n_trials, n)) for n in sizes)
        return {"wrong": float(rejected(baseline, candidate).mean())}

    return simulate


def at_margin(draw: Draw, sizes: tuple[int, int], scale: float) -> Callable[[Generator, int], Mapping[str, float]]:
    """The candidate is worse by exactly the margin: that it is not, and that both are equivalent, is wrong."""
    margin = 2 * scale

    def simulate(rng: Generator, n_trials: int) -> Mapping[str, float]:
        baseline, candidate = (draw(rng, (n_trials, n)) for n in sizes)
        above = rejected(baseline, candidate - margin, null=-margin, side="above")
        below = rejected(baseline[above], candidate[above] - margin, null=margin, side="below")
        return {"not worse": float(above.mean()), "equivalent": float(below.sum() / n_trials)}

    return simulate


def pairs(draw: Draw, n: int, scale: float) -> Callable[[Generator, int], Mapping[str, float]]:
    """Runs share noise with their pair."""

    def simulate(rng: Generator, n_trials: int) -> Mapping[str, float]:
        shared = rng.normal(0, scale, (n_trials, n))
        baseline, candidate = (shared + draw(rng, (n_trials, n)) for _ in range(2))
        above = rejected(baseline, candidate - scale, null=-scale, side="above", is_paired=True)
        return {
            "wrong": float(rejected(baseline, candidate, is_paired=True).mean()),
            "not worse": float(above.mean()),
        }

    return simulate


def looks(draw: Draw, spending: str) -> Callable[[Generator, int], Mapping[str, float]]:
    """Declared looks at growing numbers of runs."""
    plan = SpendingPlan(LOOKS, spending)  # type: ignore[arg-type]

    def simulate(rng: Generator, n_trials: int) -> Mapping[str, float]:
        baseline, candidate = (draw(rng, (n_trials, LOOKS[-1])) for _ in range(2))
        decided = np.zeros(n_trials, dtype=bool)
        for k, n in enumerate(LOOKS, 1):
            decided |= rejected(baseline[:, :n], candidate[:, :n], alpha=at_look(plan, k))
        return {"wrong": float(decided.mean())}

    return simulate


def family(
    draw: Draw, sizes: tuple[int, int], n_members: int, *, shares_baseline: bool
) -> Callable[[Generator, int], Mapping[str, float]]:
    """Candidates against one baseline, or metrics: that any of them is better or worse is wrong."""

    def simulate(rng: Generator, n_trials: int) -> Mapping[str, float]:
        first = draw(rng, (n_trials, sizes[0]))
        p_values = np.ones((n_trials, n_members))
        for member in range(n_members):
            baseline = first if shares_baseline or member == 0 else draw(rng, (n_trials, sizes[0]))
            candidate = draw(rng, (n_trials, sizes[1]))
            has_spread = (np.ptp(baseline, axis=1) > 0) | (np.ptp(candidate, axis=1) > 0)
            answer = ask(baseline[has_spread], candidate[has_spread], alpha=ALPHA, is_decision_only=True)
            p_values[has_spread, member] = answer.p_upper
        wrong = [min(it for it in holm(row) if not isinstance(it, Unavailable)) < ALPHA for row in p_values.tolist()]
        return {"wrong": float(np.mean(wrong))}

    return simulate


def unequal_spread(sizes: tuple[int, int]) -> Callable[[Generator, int], Mapping[str, float]]:
    """Normal scores with SDs 3 and 1."""

    def simulate(rng: Generator, n_trials: int) -> Mapping[str, float]:
        baseline, candidate = rng.normal(0, 3, (n_trials, sizes[0])), rng.normal(0, 1, (n_trials, sizes[1]))
        return {"wrong": float(rejected(baseline, candidate).mean())}

    return simulate


def spread(draw: Draw, sizes: tuple[int, int]) -> Callable[[Generator, int], Mapping[str, float]]:
    """That one of two sides of one distribution is steadier is wrong."""

    def simulate(rng: Generator, n_trials: int) -> Mapping[str, float]:
        return {"wrong": float(np.mean([_is_steadier(draw, sizes, rng) for _ in range(n_trials)]))}

    return simulate


def _is_steadier(draw: Draw, sizes: tuple[int, int], rng: Generator) -> bool:
    b, a = (draw(rng, (1, n))[0].tolist() for n in sizes)
    sides: list[Description] = [describe(values) for values in (b, a)]
    verdict = decide_spread(*sides, brown_forsythe=brown_forsythe(b, a), confidence=1 - ALPHA)
    return verdict.word != "undecided"


def power(sizes: tuple[int, int], *, is_paired: bool) -> Callable[[Generator, int], Mapping[str, float]]:
    """A true difference of 1.5 SD of normal scores, or of their differences."""

    def simulate(rng: Generator, n_trials: int) -> Mapping[str, float]:
        baseline, candidate = rng.normal(0, 1, (n_trials, sizes[0])), rng.normal(1.5, 1, (n_trials, sizes[1]))
        if is_paired:
            baseline = np.zeros_like(baseline)
        answer = ask(baseline, candidate, alpha=ALPHA, is_paired=is_paired, is_decision_only=True)
        return {"both": float((answer.p_upper < ALPHA).mean()), "welch": float((answer.welch < ALPHA).mean())}

    return simulate


def one_collapses(sizes: tuple[int, int], depth: float) -> Callable[[Generator, int], Mapping[str, float]]:
    """Equal means, but a tenth of the candidate's runs collapses by so many SDs and none of the baseline's."""

    def simulate(rng: Generator, n_trials: int) -> Mapping[str, float]:
        baseline = rng.normal(-0.1 * depth, 1, (n_trials, sizes[0]))
        shape = (n_trials, sizes[1])
        candidate = np.where(rng.random(shape) < 0.1, -depth, 0.0) + rng.normal(size=shape)
        return {"wrong": float(rejected(baseline, candidate).mean())}

    return simulate


def table(title: str, columns: Sequence[str], rows: Iterator[tuple[str, list[str]]]) -> Iterator[str]:
    yield from ("", f"### {title}", "", "| | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns))
    for name, cells in rows:
        yield f"| {name} | " + " | ".join(cells) + " |"


def _versus(sizes: tuple[int, int]) -> str:
    return f"{sizes[0]} v {sizes[1]}"


def difference_tables(report: Report) -> Iterator[str]:
    sizes = report.sizes()
    yield from table(
        "Runs of one distribution that are called different",
        [_versus(it) for it in sizes],
        (
            (name, [report.cell(f"different|{name}|{it}", differences(DISTRIBUTIONS[name], it)) for it in sizes])
            for name in report.distributions()
        ),
    )
    both = [*sizes, *((a, b) for b, a in sizes if a != b)]
    yield from table(
        "Equal means, normal scores, SD 3 of the baseline and 1 of the candidate",
        [_versus(it) for it in both],
        iter(
            [("better or worse", [report.cell(f"SD 3 v 1|{it}", unequal_spread(it), most=MOST_UNEQUAL) for it in both])]
        ),
    )


def margin_tables(report: Report) -> Iterator[str]:
    sizes = report.sizes()
    both = [*sizes, *((a, b) for b, a in sizes if a != b)]
    for word in ("not worse", "equivalent"):
        yield from table(
            f"A candidate that is worse by exactly the margin and is called {word}",
            [_versus(it) for it in both],
            (
                (
                    name,
                    [
                        report.cell(f"margin|{name}|{it}", at_margin(DISTRIBUTIONS[name], it, SCALES[name]), word)
                        for it in both
                    ],
                )
                for name in report.distributions()
            ),
        )


def pair_tables(report: Report) -> Iterator[str]:
    for word, title in (
        ("wrong", "Pairs of one distribution that are called different"),
        ("not worse", "Pairs that are worse by exactly the margin and are called not worse"),
    ):
        yield from table(
            title,
            [f"{n} pairs" for n in PAIRS],
            (
                (
                    name,
                    [
                        report.cell(f"pairs|{name}|{n}", pairs(DISTRIBUTIONS[name], n, SCALES[name]), word)
                        for n in PAIRS
                    ],
                )
                for name in report.distributions()
            ),
        )


def family_tables(report: Report) -> Iterator[str]:
    yield from table(
        f"Looks at {', '.join(map(str, LOOKS))} runs of each side, all of them together",
        ["O'Brien-Fleming", "Pocock"],
        (
            (
                name,
                [
                    report.cell(f"looks|{name}|{it}", looks(DISTRIBUTIONS[name], it))
                    for it in ("obrien-fleming", "pocock")
                ],
            )
            for name in report.distributions()
        ),
    )
    sizes = FAMILY_SIZES if report.is_whole else FAMILY_SIZES[:2]
    for n_members, what, shares_baseline in ((3, "candidates and one baseline", True), (10, "metrics", False)):
        yield from table(
            f"{n_members} {what}: any is called different",
            [_versus(it) for it in sizes],
            (
                (
                    name,
                    [
                        report.cell(
                            f"{n_members} {what}|{name}|{it}",
                            family(DISTRIBUTIONS[name], it, n_members, shares_baseline=shares_baseline),
                        )
                        for it in sizes
                    ],
                )
                for name in report.distributions()
            ),
        )


def spread_table(report: Report) -> Iterator[str]:
    sizes = SPREAD_SIZES if report.is_whole else SPREAD_SIZES[:1]
    yield from table(
        "Sides of one distribution of which one is called steadier",
        [_versus(it) for it in sizes],
        (
            (name, [report.cell(f"spread|{name}|{it}", spread(DISTRIBUTIONS[name], it)) for it in sizes])
            for name in report.distributions()
        ),
    )


def power_table(report: Report) -> Iterator[str]:
    cases = [
        ((5, 5), False, 0.05),
        ((8, 8), False, 0.02),
        ((10, 10), False, 0.02),
        ((5, 20), False, None),
        ((10, 40), False, None),
    ]
    cases += [((6, 6), True, None), ((8, 8), True, None)]
    yield from ("", "### Power for a true difference of 1.5 SD, normal scores", "")
    yield from ("| | both tests | t alone |", "|---|---|---|")
    for sizes, is_paired, most in cases:
        name = f"{sizes[0]} pairs" if is_paired else _versus(sizes)
        key, simulate = f"power|{sizes}|{is_paired}", power(sizes, is_paired=is_paired)
        shares = report.simulations.rate(key, simulate).shares
        if most is not None and shares["welch"] - shares["both"] > most:
            report.failures.append(f"{key}: {shares}")
        cells = [report.cell(key, simulate, test, most=None) for test in ("both", "welch")]
        yield f"| {name} | {' | '.join(cells)} |"


def collapse_table(report: Report) -> Iterator[str]:
    sizes = report.sizes()
    both = [*sizes, *((a, b) for b, a in sizes if a != b)]
    yield from table(
        "No test passes here: equal means, a tenth of the candidate's runs collapses, none of the baseline's",
        [_versus(it) for it in both],
        (
            (
                f"by {depth} SD, called different",
                [report.cell(f"one collapses|{depth}|{it}", one_collapses(it, depth), most=None) for it in both],
            )
            for depth in (8, 80)
        ),
    )


PARTS = (difference_tables, margin_tables, pair_tables, family_tables, spread_table, power_table, collapse_table)


def header(seed: int, n_trials: int, failures: list[str]) -> Iterator[str]:
    outside = "\n".join(["", "", *(f"- {it}" for it in failures)]) if failures else " none."
    versions = f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}"
    error = 100 * math.sqrt(ALPHA * (1 - ALPHA) / n_trials)
    yield f"""\
# How often verdicts and figures err

## Verdicts

Written by `python benchmarks/verdicts.py --all --write docs/explanation/calibration.md`, seed {seed}, on
{datetime.now(UTC):%Y-%m-%d} with {versions}. Shares in percent of {n_trials:,} trials
a cell; the Monte-Carlo error at 5 % is {error:.1f} points. The first number of runs is the baseline's. Every trial goes
through the functions that decide the verdicts of `compare` and `check`: Welch's t-test and the studentized permutation
test, and a value is rejected only if both reject it at 5 %.

What must hold: at most {100 * MOST:.1f} % wrong verdicts, {100 * MOST_UNEQUAL:.0f} % with SDs 3 and 1; power at 1.5 SD
at most 5 points below that of Welch alone with 5 runs of each, 2 points from 8 on. Outside these limits:{outside}

The distributions: normal; lognormal (skewness 6.2); exponential (skewness 2); t with 2 degrees of freedom, which has no
variance; normal of which a tenth collapses by 80 SD; normal rounded so that an SD is one step. Runs of both sides are
drawn from the same one, and the candidate is shifted where that is said. The margin is 2 SD, of pairs 1 SD."""


if __name__ == "__main__":
    sys.exit(main())
