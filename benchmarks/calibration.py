"""Simulates how often intervals cover and tests reject, and writes the lower tables of docs/explanation/calibration.md.

What decides verdicts is simulated by verdicts.py, which writes the upper ones.

python benchmarks/calibration.py --write docs/explanation/calibration.md --cache /tmp/calibration.json

It calls the functions of `deviate.stats` as people do, one sample after the other, and takes about 20 minutes on one
core. Cells that are in the cache are not simulated again: begin with a new cache after a change of `deviate.stats`. It
exits with 1 if a criterion fails: under normal scores every default interval covers at most 1.5 points less than it
says, every default test rejects at most 6 % of true nulls at .05, and declared looks err in at most 5.5 % together.
"""

import argparse
import json
import math
import platform
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import scipy
import statsmodels

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from calibration_cases import CASES, POPULATIONS, Case
from calibration_designs import DESIGNS, LOOKS
from verdicts import MARK

SIZES = (3, 5, 10, 30)
MOST_BELOW = 0.015
MOST_REJECTED = 0.06
MOST_AT_LOOKS = 0.055
N_LOOK_TRIALS = 100_000


@dataclass(frozen=True, slots=True)
class Rate:
    """How many of the trials that got an answer were hits. Where it is computed and not simulated, `n_trials` is 0."""

    share: float
    n_answers: int
    n_trials: int

    @property
    def error(self) -> float:
        """Monte-Carlo standard error."""
        return math.sqrt(self.share * (1 - self.share) / self.n_answers) if self.n_answers else 0.0


class Simulations:
    """Rates by key, kept in a file so that an interrupted run goes on."""

    def __init__(self, path: Path | None, seed: int) -> None:
        self.path, self.seed = path, seed
        self._kept: dict[str, list[float]] = json.loads(path.read_text()) if path and path.exists() else {}

    def rate(self, key: str, n_trials: int, trial: Callable[[np.random.Generator], bool | None]) -> Rate:
        """One seed for each key: a cell does not depend on which others are simulated, or in which order."""
        key = f"{key}|{n_trials}|{self.seed}"
        if key not in self._kept:
            begin = time.perf_counter()
            rng = np.random.default_rng([self.seed, zlib.crc32(key.encode())])
            answers = [it for it in (trial(rng) for _ in range(n_trials)) if it is not None]
            self._kept[key] = [sum(answers), len(answers), n_trials]
            self._save()
            print(f"{time.perf_counter() - begin:6.1f} s  {key}  {sum(answers)}/{len(answers)}", file=sys.stderr)
        hits, n_answers, _ = self._kept[key]
        return Rate(hits / n_answers if n_answers else math.nan, int(n_answers), n_trials)

    def _save(self) -> None:
        if self.path:
            new = self.path.with_suffix(".new")
            new.write_text(json.dumps(self._kept, indent=1))
            new.replace(self.path)


def main() -> int:
    settings = argparse.ArgumentParser(description=__doc__)
    settings.add_argument("--write", type=Path, help="Markdown file; standard output without it")
    settings.add_argument("--cache", type=Path, help="file that keeps simulated cells")
    settings.add_argument("--seed", type=int, default=20261122)
    settings.add_argument("--only", default="", help="cases whose name has this in it; only simulates them")
    given = settings.parse_args()
    simulations = Simulations(given.cache, given.seed)
    lines: list[str] = []
    failures: list[str] = []
    for part in (population_tables, design_table, look_table):
        lines += part(simulations, given.only, failures)
    if given.only:
        print("\n".join(lines))
        return bool(failures)
    text = "\n".join([*header(given.seed, failures), *lines]) + "\n"
    if given.write:
        above, mark, _ = given.write.read_text(encoding="utf-8").partition(MARK)
        given.write.write_text(f"{above}{mark}\n\n{text}" if mark else text, encoding="utf-8")
    else:
        print(text)
    return bool(failures)


def population_tables(simulations: Simulations, only: str, failures: list[str]) -> Iterator[str]:
    for population in POPULATIONS:
        for kinds, title in (
            (("interval", "cross-check"), "coverage"),
            (("test", "for comparison"), "rejections"),
        ):
            yield from ("", f"### {population.name.capitalize()} scores: {title} in %", "")
            yield "| | " + " | ".join(f"n = {n}" for n in SIZES) + " | |"
            yield "|---|" + "---|" * (len(SIZES) + 1)
            for case in (it for it in CASES if it.kind in kinds and only in it.name):
                cells = []
                for n in SIZES:
                    if n < case.minimum:
                        cells.append("–")
                        continue
                    rate = simulations.rate(
                        f"{case.name}|{population.name}|{n}",
                        case.n_trials,
                        lambda rng, case=case, population=population, n=n: case.trial(rng, population, n),
                    )
                    is_failed = population.name == "normal" and fails(case.kind, rate.share)
                    if is_failed:
                        failures.append(f"{case.name}, n = {n}, {population.name}: {100 * rate.share:.1f} %")
                    cells.append(cell(rate, is_failed=is_failed))
                yield f"| {label(case)} | " + " | ".join(cells) + f" | {case.remark} |"


def design_table(simulations: Simulations, only: str, failures: list[str]) -> Iterator[str]:
    yield from ("", "### Outcomes, times, curves and tasks", "", "| | of | n | % | |", "|---|---|---|---|---|")
    for design in (it for it in DESIGNS if only in it.name):
        for n in design.sizes:
            if design.exact is not None:
                rate = Rate(design.exact(n), 0, 0)
            else:
                rate = simulations.rate(
                    f"{design.name}|{n}", design.n_trials, lambda rng, d=design, n=n: d.trial(rng, n)
                )
            if is_failed := fails(design.kind, rate.share, design.nominal):
                failures.append(f"{design.name}, n = {n}: {100 * rate.share:.1f} %")
            what = "coverage" if design.kind == "interval" else "rejections"
            shown = f"{cell(rate, is_failed=is_failed)} {error_text(rate)}"
            yield f"| {design.name} | {what} | {n} | {shown} | {design.remark} |"


def look_table(simulations: Simulations, only: str, failures: list[str]) -> Iterator[str]:
    yield from ("", "### Declared looks: errors of all looks together in %, by Welch's t at each (100,000 trials)", "")
    yield from ("| looks at runs of each side | O'Brien-Fleming | Pocock | looks without a plan |", "|---|---|---|---|")
    for numbers, spendings in LOOKS.items():
        cells = []
        for name, trial in spendings.items():
            key = f"looks {numbers} {name}"
            if only not in key:
                continue
            rate = simulations.rate(key, N_LOOK_TRIALS, trial)
            is_failed = name != "unplanned" and rate.share > MOST_AT_LOOKS
            if is_failed:
                failures.append(f"{key}: {100 * rate.share:.2f} %")
            cells.append(cell(rate, is_failed=is_failed))
        if cells:
            yield f"| {', '.join(map(str, numbers))} | " + " | ".join(cells) + " |"


def fails(kind: str, share: float, nominal: float = 0.95) -> bool:
    if kind == "interval":
        return not share >= nominal - MOST_BELOW
    return kind == "test" and not (share <= MOST_REJECTED or math.isnan(share))


def cell(rate: Rate, *, is_failed: bool) -> str:
    if rate.n_trials and rate.n_answers < 0.05 * rate.n_trials:
        return "seldom an answer"
    text = f"{100 * rate.share:.1f}"
    if rate.n_trials and rate.n_answers < 0.99 * rate.n_trials:
        text += f" (of {100 * rate.n_answers / rate.n_trials:.0f} % with an answer)"
    return f"**{text}**" if is_failed else text


def label(case: Case) -> str:
    shown = case.name if case.kind in {"interval", "test"} else f"*{case.kind}:* {case.name}"
    return shown if case.n_trials == 10_000 else f"{shown} ({case.n_trials})"


def error_text(rate: Rate) -> str:
    return f"± {100 * rate.error:.1f} ({rate.n_answers})" if rate.n_trials else "(computed)"


def header(seed: int, failures: list[str]) -> Iterator[str]:
    found = "\n".join(["", "", *(f"- {it}" for it in failures)]) if failures else " nothing."
    versions = f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}"
    yield f"""\
## Single intervals and tests

Written by `python benchmarks/calibration.py --write docs/explanation/calibration.md`, seed {seed},
on {datetime.now(UTC):%Y-%m-%d} with {versions}, statsmodels {statsmodels.__version__}.

Every number comes from calling the functions of `deviate.stats` on made runs: the share of trials in which a 95 %
interval holds the truth, or in which a test of a true null has p < 0.05. Two samples have n runs each and differ by
nothing, unless the row says otherwise. A cell rests on 10,000 trials, with a Monte-Carlo error of 0.2 points (0.5 and
0.7 at 2000 and 1000, 0.9 at 600), where no other number is in brackets. A dash: fewer runs than the method needs.

What must hold, under normal scores: intervals cover at most 1.5 points less than they say, tests reject at most 6 %,
declared looks err in at most 5.5 %. What does not is set in bold. Outside these bounds:{found}

Rows marked *cross-check* are bootstrap intervals that stand beside the default ones and decide nothing: with few runs
they are too narrow, which is why they are no default. Rows marked *for comparison* are tests that older reports have.
The interval of Hedges' g is times J from 8 runs in each on, as g is d times J; with fewer runs that would cover too
seldom (at 2 SD 90.2 % with 3 runs, 92.8 % with 5), so that it is the exact one of d. Scores of the other populations
show what is lost where runs are not normal: lognormal (skewness 1.75), exponential (skewness 2), and normal scores
rounded to half a standard deviation, which tie as accuracies of small test sets do."""


if __name__ == "__main__":
    sys.exit(main())
