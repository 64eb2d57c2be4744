"""Times reports of large experiments: each must be made in 8 s of processor time, into a page of at most 4 MB.

python benchmarks/report.py [--check] [CASE ...]

What a report costs is also told as a multiple of what matplotlib and json take for one plain picture and one plain
document of the same size, which says what the machine is worth.
"""

import argparse
import dataclasses
import io
import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from experiments import trained
from stabilities import stability

from deviate.model.records import Experiment
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge

MOST_SECONDS, MOST_BYTES = 8.0, 4_000_000


def _large() -> list[Experiment]:
    return [
        trained(name, n_runs=500, n_metrics=5, n_points=100, shift=0.3 * seed, seed=seed)
        for seed, name in enumerate(("small", "wide"))
    ]


CASES: dict[str, Callable[[], list[Experiment]]] = {
    "100 runs x 30 metrics x 1,000 points": lambda: [trained("large", n_runs=100, n_metrics=30, n_points=1000)],
    "2 x 50 runs x 30 metrics x 1,000 points": lambda: [
        trained(name, n_runs=50, n_metrics=30, n_points=1000, shift=0.3 * seed, seed=seed)
        for seed, name in enumerate(("small", "wide"))
    ],
    "1,000 runs x 5 metrics x 100 points": lambda: [trained("large", n_runs=1000, n_metrics=5, n_points=100)],
    "2 x 500 runs x 5 metrics x 100 points": _large,
    "2 x 500 runs x 5 metrics x 100 points, captured": _large,
    "10 runs x 1 metric x 1,000,000 points": lambda: [trained("long", n_runs=10, n_metrics=1, n_points=1_000_000)],
}
FORMS = ("html", "json", "csv", "markdown", "latex", "terminal")


def measure(name: str) -> dict[str, float]:
    """Seconds, bytes and MB of one case: in a process of its own, whose peak of memory is then that of the case."""
    experiments = CASES[name]()
    begin_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.process_time()
    findings = judge(experiments)
    if name.endswith("captured"):
        findings = dataclasses.replace(findings, stability=stability(experiments))
    found = {"judge": time.process_time() - begin}
    begin = time.process_time()
    view = build_report(findings)
    found["view"] = time.process_time() - begin
    for form in FORMS:
        begin = time.process_time()
        text = render(view, form)
        found[form] = time.process_time() - begin
        found[f"{form} bytes"] = len(text.encode())
    found["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found["peak MB more than the experiments take"] = found["peak MB"] - begin_kb / 1024
    return found


def plain() -> tuple[float, float]:
    """Seconds for one picture of 100 curves of 400 points by matplotlib alone, and for 1 MB of JSON by json alone."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib.figure import Figure

    begin = time.process_time()
    figure = Figure()
    axes = figure.subplots()
    for index in range(100):
        axes.plot([0.1 * index + 0.01 * (step % 7) for step in range(400)])
    figure.savefig(io.BytesIO(), format="svg")
    picture = time.process_time() - begin
    begin = time.process_time()
    json.dumps([{"value": 0.1 * index, "name": "metric"} for index in range(22_000)], indent=1)
    return picture, time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail beyond 8 s or 4 MB")
    parser.add_argument("case", nargs="*", help="parts of names of cases; all of them where none is given")
    arguments = parser.parse_args()
    wanted = [name for name in CASES if not arguments.case or any(part in name for part in arguments.case)]
    picture, document = plain()
    print(f"plain: a picture of 100 curves in {picture:.2f} s, a document of 1 MB in {document:.3f} s\n")
    too_much = []
    context = multiprocessing.get_context("spawn")
    for name in wanted:
        with ProcessPoolExecutor(max_workers=1, mp_context=context) as alone:
            found = alone.submit(measure, name).result()  # raises what the process raised, or that it was killed
        seconds, size = found["view"] + found["html"], found["html bytes"]
        print(f"{name}: page in {seconds:.2f} s ({seconds / picture:.0f} plain pictures), {size / 1e6:.2f} MB")
        print("  seconds: " + ", ".join(f"{it} {found[it]:.2f}" for it in ("judge", "view", *FORMS)))
        print("  MB: " + ", ".join(f"{it} {found[f'{it} bytes'] / 1e6:.2f}" for it in FORMS))
        told = "peak MB more than the experiments take"
        print(f"  memory: {found['peak MB']:.0f} MB at most, {found[told]:.0f} more than the experiments take\n")
        too_much += [f"{name}: {seconds:.2f} s"] if seconds > MOST_SECONDS else []
        too_much += [f"{name}: {size / 1e6:.2f} MB"] if size > MOST_BYTES else []
    if arguments.check and too_much:
        sys.exit("too much: " + "; ".join(too_much))


if __name__ == "__main__":
    main()
