"""Times the report of a large experiment: 100 runs x 30 metrics x 1,000 points must stay below 8 s and 4 MB as HTML.

python benchmarks/report.py
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from experiments import trained

from deviate.report import build_view, render
from deviate.stats import judge


def main() -> None:
    cases = {
        "one experiment, 100 runs": [trained("large", n_runs=100, n_metrics=30, n_points=1000)],
        "two experiments, 50 runs each": [
            trained("small", n_runs=50, n_metrics=30, n_points=1000),
            trained("wide", n_runs=50, n_metrics=30, n_points=1000, shift=0.3, seed=1),
        ],
    }
    for name, experiments in cases.items():
        findings = judge(experiments)
        begin = time.perf_counter()
        view = build_view(findings)
        page = render(view, "html")
        seconds = time.perf_counter() - begin
        print(f"{name}, 30 metrics x 1000 points: {seconds:.2f} s, {len(page.encode()) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
