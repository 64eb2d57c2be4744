"""What a comparison costs: processor time of whole processes, beside the same figures by scipy and statsmodels alone.

    python benchmarks/comparison.py [--metrics 20] [--runs 50] [--rounds 5] [--check]

Two imported experiments are compared by `deviate.compare`, which makes no page, by `deviate compare`, which makes one,
and by `by_libraries.py`, in turns; the least processor time of the rounds counts. With `--check`, the exit code is 1
where the comparison takes more than 1.2 times what the libraries take, or its page more than 0.7 s.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from startup import processor_time

MOST_TIMES, MOST_PAGE_S = 1.2, 0.7
HERE = Path(__file__).parent


def main() -> int:
    settings = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    settings.add_argument("--metrics", type=int, default=20)
    settings.add_argument("--runs", type=int, default=50)
    settings.add_argument("--rounds", type=int, default=5)
    settings.add_argument("--check", action="store_true")
    given = settings.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for side, shift in (("a", 0.0), ("b", 0.3)):
            write_scores(folder / f"{side}.csv", given.metrics, given.runs, shift)
            processor_time(("-m", "deviate", "import", f"{side}.csv", "--name", side), folder)
        commands = {
            "deviate.compare": ("-c", "import deviate; print(deviate.compare('a', 'b'))"),
            "deviate compare, with its page": ("-m", "deviate", "compare", "a", "b"),
            "scipy and statsmodels": (str(HERE / "by_libraries.py"), "a.csv", "b.csv"),
        }
        rounds = [{it: processor_time(words, folder) for it, words in commands.items()} for _ in range(given.rounds)]
    compared, with_page, libraries = (min(one[it] for one in rounds) for it in commands)
    print(f"{given.metrics} metrics x 2 x {given.runs} runs, processor time, least of {given.rounds} rounds")
    for what, seconds in zip(commands, (compared, with_page, libraries), strict=True):
        print(f"{what:32} {seconds:6.2f} s")
    print(f"comparison / libraries           {compared / libraries:6.2f}     (at most {MOST_TIMES:g})")
    print(f"page                             {with_page - compared:6.2f} s   (at most {MOST_PAGE_S:g})")
    is_missed = compared > MOST_TIMES * libraries or with_page - compared > MOST_PAGE_S
    return int(given.check and is_missed)


def write_scores(path: Path, n_metrics: int, n_runs: int, shift: float) -> None:
    """Accuracies in percent, rounded to test sets of 10,000 examples."""
    rng = np.random.default_rng(int(10 * shift))
    scores = np.round(rng.normal(90 + shift, 1, (n_runs, n_metrics)), 2)
    names = ",".join(f"acc_{i:02d}" for i in range(n_metrics))
    rows = (",".join(map(str, (run, *row))) for run, row in enumerate(scores.tolist()))
    path.write_text("\n".join((f"run,{names}", *rows)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
