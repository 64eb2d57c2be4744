"""What each level of `deviate diverge` costs: examples/digits_torch traced at each level, against the bare script.

    python benchmarks/diverge.py [--check] [--rounds 5] [--epochs 20] [--workers 2] [--threads 1]

Each round runs the bare script, the script under the guest without a trace, and with a trace at each level from its
first to its last step. Times are those that the script itself prints for its epochs. Other work of the machine only
adds to them, so each epoch counts with its quickest round, and the ratio is that of the sums over epochs; beside it are
the range of the ratios of single rounds, and the ratio of whole commands. With `--check` the exit code is 1 where a
ratio is above its bar: 1.05 for level 1, 1.6 for level 3, 2.5 for level 4. The bars are for the example as it is, with
two workers; without workers the process that trains also moves each image, in operations of a few microseconds.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from deviate.model.plan import Settings
from deviate.project.begin import begin_experiment
from deviate.project.prepare import PreparedScript, find_target, prepare_script
from deviate.records.experiments import read_variants
from deviate.records.layout import deviate_folder, log_files
from deviate.replay.execute import execute_orders
from deviate.replay.experiments import PreparedExperiment, Request, fair_order, make_executor
from deviate.replay.variants import choose_variants

ROOT = Path(__file__).parents[1]
EXAMPLE = "digits_torch"
BARS = {1: 1.05, 3: 1.6, 4: 2.5}
KINDS = {
    0: "guest without a trace",
    1: "level 1, metrics",
    2: "level 2, steps",
    3: "level 3, modules",
    4: "level 4, operations",
}
PRINTED = re.compile(r"time (\d+\.\d+)s$", re.MULTILINE)
VARIANT = "control"


class Times(NamedTuple):
    """Seconds of the epochs, as the script prints them, and of the whole command."""

    epochs: tuple[float, ...]
    command: float


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        rounds = measured(Path(scratch).resolve() / EXAMPLE, options)
    print(f"examples/{EXAMPLE}, {options.epochs} epochs, {options.workers} workers, {options.threads} threads")
    print(f"{'against the bare script':<26}   ratio  range over {len(rounds)} rounds  whole command")
    failed = []
    fastest = quickest([bare for bare, _ in rounds])
    for level, name in KINDS.items():
        of_level = [times[level] for _, times in rounds]
        ratio = quickest(of_level) / fastest
        ratios = sorted(sum(times[level].epochs) / sum(bare.epochs) for bare, times in rounds)
        whole = min(times.command for times in of_level) / min(bare.command for bare, _ in rounds)
        bar = BARS.get(level)
        is_over = bar is not None and ratio > bar
        failed += [name] * is_over
        verdict = "" if bar is None else f"  bar {bar}" + (": over" if is_over else "")
        print(f"{name:<26}  {ratio:6.3f}  {ratios[0]:.3f} to {ratios[-1]:.3f}        {whole:6.3f}{verdict}")
    return 1 if failed and options.check else 0


def quickest(rounds: Sequence[Times]) -> float:
    """Seconds of all epochs, each in its quickest round."""
    return sum(map(min, zip(*(times.epochs for times in rounds), strict=True)))


def measured(folder: Path, options: argparse.Namespace) -> list[tuple[Times, dict[int, Times]]]:
    """Round by round: the bare script, then the same under the guest at each level."""
    shutil.copytree(ROOT / "examples" / EXAMPLE, folder, ignore=shutil.ignore_patterns(".deviate", "*.pt"))
    os.chdir(folder)
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    words = ["train.py", "--epochs", str(options.epochs), "--workers", str(options.workers)]
    target = find_target(words, folder, sys.executable, default=None, then=())
    prepared = prepare_script(target)
    settings = Settings(jobs=1)
    begun = {level: begin(prepared, level, settings, options.rounds) for level in KINDS}
    found = []
    for number in range(options.rounds):
        started = time.perf_counter()
        done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True)
        bare = Times(epochs_of(done.stdout), time.perf_counter() - started)
        orders = fair_order(list(begun.values()), runs=number + 1)
        execute_orders(orders, make_executor(settings), settings, drains=True)
        found.append((bare, {level: times_of(it, number) for level, it in begun.items()}))
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
    return found


def begin(prepared: PreparedScript, level: int, settings: Settings, runs: int) -> PreparedExperiment:
    """An experiment whose runs are traced at this level from their first step to their last."""
    request = Request(
        runs=runs,
        variants=choose_variants([VARIANT]),
        name=f"level-{level}",
        seed=0,
        settings=settings,
        capture=(("trace", str(level)),) if level else (),
    )
    return begin_experiment(prepared, request, deviate_folder(prepared.target.root))


def times_of(begun: PreparedExperiment, number: int) -> Times:
    (experiment,) = read_variants(begun.folder.parents[1], begun.name)
    run = next(it for it in experiment.runs if it.replicate == number)
    if run.status != "completed":
        sys.exit(f"{begun.name}, run {number}: {run.status}: {run.reason}")
    stdout, _ = log_files(run.folder)
    return Times(epochs_of(stdout.read_text(encoding="utf-8")), run.wall_time_s)


def epochs_of(text: str) -> tuple[float, ...]:
    """Seconds of all epochs but the first, in which PyTorch warms up."""
    return tuple(float(seconds) for seconds in PRINTED.findall(text)[1:])


if __name__ == "__main__":
    sys.exit(main())
