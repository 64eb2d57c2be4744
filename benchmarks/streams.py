"""What the guest costs a training script with streams on: time of its training, as a ratio to the plain script.

    python benchmarks/streams.py [--pairs 12] [--variant algo+impl] [--arguments "--epochs 6"] [SCRIPT ...]

Pairs of runs alternate, and which of the two goes first changes from pair to pair. Imports are left out: a driver
imports the frameworks and then runs the script. The bound is one-sided: upper 95 % of the mean of the log ratios
(Student t).
"""

import argparse
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from planned import execute, plan

from deviate.analysis.analyze import analyze
from deviate.instrument.snapshot import freeze
from deviate.records.layout import snapshot_folder
from deviate.replay.variants import find_variant

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = ("digits_torch/train.py", "digits_keras/train.py")
DRIVER = """\
import runpy, sys, time
import sklearn.datasets, sklearn.model_selection
source = open(sys.argv[1]).read()
for name in ("torch", "tensorflow", "keras", "jax", "flax", "optax"):
    if "import " + name in source or "from " + name in source:
        __import__(name)
if "torch" in sys.modules:
    import torch.utils.data
sys.argv = sys.argv[1:]
start = time.perf_counter(), time.process_time()
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    print("\\n%.6f %.6f" % (time.perf_counter() - start[0], time.process_time() - start[1]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*", default=[str(EXAMPLES / name) for name in SCRIPTS], metavar="SCRIPT")
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--variant", default="algo+impl")
    parser.add_argument("--arguments", default="--epochs 6", help="of the script")
    options = parser.parse_args()
    for script in options.scripts:
        pairs = measure(Path(script), options.arguments.split(), options.variant, options.pairs)
        for name, ratios in zip(("wall time", "processor time"), zip(*pairs, strict=True), strict=True):
            logs = [math.log(ratio) for ratio in ratios]
            mean, error = statistics.fmean(logs), statistics.stdev(logs) / math.sqrt(len(logs))
            bound = math.exp(mean + stats.t.ppf(0.95, len(logs) - 1) * error)
            told = " ".join(f"{ratio:.3f}" for ratio in sorted(ratios))
            print(f"{script}, {name}: ratio {math.exp(mean):.3f}, upper 95% bound {bound:.3f}: {told}")


Seconds = tuple[float, float]
"""Wall time and processor time; the latter says more on a machine that others use too."""


def measure(script: Path, arguments: list[str], variant: str, n_pairs: int) -> list[Seconds]:
    """Ratios of the seconds with the guest to those without, for each pair; a pair to warm up is left out."""
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "parent" / "project"
        shutil.copytree(script.parent, root, ignore=shutil.ignore_patterns("__pycache__", ".deviate"))
        (root / "driver.py").write_text(DRIVER)
        command = (sys.executable, "driver.py", script.name, *arguments)
        ratios = []
        for number in range(n_pairs + 1):
            sides = [lambda: with_guest(root, script.name, command, variant), lambda: plainly(root, command)]
            if number % 2:
                plain, guest = sides[1](), sides[0]()
            else:
                guest, plain = sides[0](), sides[1]()
            ratios.append((guest[0] / plain[0], guest[1] / plain[1]))
            told = (
                f"{guest[0]:.2f} s with the guest, {plain[0]:.2f} s without; processor {guest[1]:.2f}, {plain[1]:.2f}"
            )
            print(f"  pair {number}: {told}", file=sys.stderr, flush=True)
        return ratios[1:]


def with_guest(root: Path, script: str, command: tuple[str, ...], variant: str) -> Seconds:
    folder = root.parents[1] / "experiment"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    found = analyze(root / script, root)
    snapshot = freeze(found, snapshot_folder(folder))
    specs = plan(snapshot, command=command, cwd=".", variant=find_variant(variant), runs=1, seed=0)
    (outcome,) = execute(specs, snapshot, folder)
    return seconds((outcome.folder / "stdout.log").read_text())


def plainly(root: Path, command: tuple[str, ...]) -> Seconds:
    work = root.parents[1] / "plain"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(root, work)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DEVIATE_")}
    done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=True)
    return seconds(done.stdout)


def seconds(output: str) -> Seconds:
    wall, processor = map(float, output.split()[-2:])
    return wall, processor


if __name__ == "__main__":
    main()
