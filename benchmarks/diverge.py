"""What each rung of `deviate diverge` costs: examples/digits_torch traced at each level, against the bare script.

    python benchmarks/diverge.py [--check] [--rounds 5] [--epochs 20] [--workers 0] [--threads 1]

Each round runs the bare script, the script under the guest without a trace, and with a trace at each level from its
first to its last step. The ratio is that of a round, of the time that the script itself tells for its epochs; printed
are the median over rounds and the range, and beside them the ratio of whole commands. With `--check` the exit code is 1
where a median is above its bar: 1.05 for rung 1, 1.6 for rung 3, 2.5 for rung 4.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from deviate import records, replay, workflows
from deviate.model import Settings
from deviate.project import PreparedScript, find_target, prepare
from deviate.records.layout import log_files
from deviate.workflows import PreparedExperiment, Request

ROOT = Path(__file__).parents[1]
EXAMPLE = "digits_torch"
BARS = {1: 1.05, 3: 1.6, 4: 2.5}
KINDS = {
    0: "guest without a trace",
    1: "rung 1, metrics",
    2: "rung 2, steps",
    3: "rung 3, modules",
    4: "rung 4, operations",
}
TOLD = re.compile(r"time (\d+\.\d+)s$", re.MULTILINE)
VARIANT = "control"

Times = tuple[float, float]
"""Seconds: those that the script tells for its epochs, and those of the whole command."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        rounds = measured(Path(scratch).resolve() / EXAMPLE, options)
    print(f"examples/{EXAMPLE}, {options.epochs} epochs, {options.workers} workers, {options.threads} threads")
    print(f"{'against the bare script':<26}  median  range over {len(rounds)} rounds  whole command")
    failed = []
    for level, name in KINDS.items():
        ratios = sorted(times[level][0] / bare[0] for bare, times in rounds)
        whole = statistics.median(times[level][1] / bare[1] for bare, times in rounds)
        middle, bar = statistics.median(ratios), BARS.get(level)
        is_over = bar is not None and middle > bar
        failed += [name] * is_over
        told = "" if bar is None else f"  bar {bar}" + (": over" if is_over else "")
        print(f"{name:<26}  {middle:6.3f}  {ratios[0]:.3f} to {ratios[-1]:.3f}        {whole:6.3f}{told}")
    return 1 if failed and options.check else 0


def measured(folder: Path, options: argparse.Namespace) -> list[tuple[Times, dict[int, Times]]]:
    """Round by round: the bare script, then the same under the guest at each level."""
    shutil.copytree(ROOT / "examples" / EXAMPLE, folder, ignore=shutil.ignore_patterns(".deviate", "*.pt"))
    os.chdir(folder)
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    words = ["train.py", "--epochs", str(options.epochs), "--workers", str(options.workers)]
    target = find_target(words, folder, sys.executable, default=None, then=())
    prepared = prepare(target)
    settings = Settings(jobs=1)
    begun = {level: begin(prepared, level, settings, options.rounds) for level in KINDS}
    found = []
    for number in range(options.rounds):
        started = time.perf_counter()
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True)
        bare = told(done.stdout), time.perf_counter() - started
        orders = workflows.fair_order(list(begun.values()), runs=number + 1)
        replay.execute_orders(orders, workflows.make_executor(settings), settings, drains=True)
        found.append((bare, {level: times_of(it, number) for level, it in begun.items()}))
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
    return found


def begin(prepared: PreparedScript, level: int, settings: Settings, runs: int) -> PreparedExperiment:
    """An experiment whose runs are traced at this level from their first step to their last."""
    request = Request(
        runs=runs,
        variants=replay.choose_variants([VARIANT]),
        name=f"level-{level}",
        seed=0,
        settings=settings,
        capture=(("trace", str(level)),) if level else (),
    )
    return workflows.begin(prepared, request, records.deviate_folder(prepared.target.root))


def times_of(begun: PreparedExperiment, number: int) -> Times:
    (experiment,) = workflows.read_variants(begun.folder.parents[1], begun.name)
    run = next(it for it in experiment.runs if it.replicate == number)
    if run.status != "completed":
        sys.exit(f"{begun.name}, run {number}: {run.status}: {run.reason}")
    stdout, _ = log_files(run.folder)
    return told(stdout.read_text(encoding="utf-8")), run.wall_time_s


def told(text: str) -> float:
    """Seconds of all epochs but the first, in which PyTorch warms up."""
    return sum(float(it) for it in TOLD.findall(text)[1:])


if __name__ == "__main__":
    sys.exit(main())
