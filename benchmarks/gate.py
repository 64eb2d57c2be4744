"""How often `deviate check` stops, passes or leaves undecided a candidate whose true loss is known, by simulation.

`python -m benchmarks.gate [--trials N]` prints a row for each number of runs, margin and true loss, in SDs of the runs.
"""

import argparse

import numpy as np

from deviate.model.estimates import Unavailable
from deviate.stats.check import weigh

CASES = (
    # runs, margin, true loss
    *((n, 0.0, 0.0) for n in (5, 10, 20)),
    *((n, 1.0, 0.0) for n in (5, 10, 20)),
    *((n, 1.0, 1.0) for n in (5, 10, 20)),
    *((n, 0.0, 2.0) for n in (5, 10, 20)),
    *((n, 1.0, 3.0) for n in (5, 10, 20)),
)


def rates(n_runs: int, margin: float, loss: float, *, n_trials: int, rng: np.random.Generator) -> tuple[float, float]:
    """Shares of candidates that are called worse, and that pass, of normal scores with an SD of 1."""
    worse = passed = 0
    for baseline, candidate in rng.normal(size=(n_trials, 2, n_runs)):
        found = weigh(baseline.tolist(), (candidate - loss).tolist(), direction="max", margin=margin)
        if not isinstance(found, Unavailable):
            worse += found.is_beyond
            passed += found.is_within
    return worse / n_trials, passed / n_trials


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20_000)
    n_trials = parser.parse_args().trials
    print(f"{n_trials} trials each; margin and true loss in SDs of the runs")
    print("runs of each  margin  true loss   worse   passes  undecided")
    for n_runs, margin, loss in CASES:
        worse, passed = rates(n_runs, margin, loss, n_trials=n_trials, rng=np.random.default_rng(0))
        undecided = 1 - worse - passed
        print(f"{n_runs:12}  {margin:6.1f}  {loss:9.1f}  {worse:6.1%}  {passed:7.1%}  {undecided:9.1%}")


if __name__ == "__main__":
    main()
