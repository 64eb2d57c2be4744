"""What replaying costs: the time of N runs of a half-second script, as a ratio to `xargs -P` with the bare script.

    python benchmarks/replay.py [--runs 20] [--jobs 2] [--rounds 3]

The rounds alternate, and the least of each side counts. The script sleeps, so that the ratio shows what is added and
not how two busy processes share a machine.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from deviate import analysis, instrument, replay

SCRIPT = """\
import time
for epoch in range(5):
    time.sleep(0.1)
    print("loss %.4f" % (1 / (epoch + 1)))
"""


def replayed(project: Path, folder: Path, runs: int, jobs: int) -> float:
    """Seconds that the executor takes for new runs; freezing and reporting happen once and are not in it."""
    snapshot = instrument.freeze(analysis.analyze(project / "train.py", project), folder / "snapshot")
    specs = replay.plan(
        snapshot, command=(sys.executable, "train.py"), cwd=".", variant=replay.VARIANTS["algo+impl"], runs=runs, seed=0
    )
    start = time.perf_counter()
    outcomes = replay.execute(specs, snapshot, folder, jobs=jobs)
    seconds = time.perf_counter() - start
    assert {outcome.status for outcome in outcomes} == {"completed"}
    return seconds


def bare(project: Path, runs: int, jobs: int) -> float:
    """Seconds that xargs takes."""
    start = time.perf_counter()
    subprocess.run(
        ["xargs", "-P", str(jobs), "-I", "{}", sys.executable, "train.py"],
        input="\n".join(map(str, range(runs))),
        cwd=project,
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        project = Path(name) / "parent" / "root"
        project.mkdir(parents=True)
        (project / "train.py").write_text(SCRIPT)
        ours, theirs = [], []
        for number in range(options.rounds):
            ours.append(replayed(project, Path(name) / str(number), options.runs, options.jobs))
            theirs.append(bare(project, options.runs, options.jobs))
    print(f"deviate {min(ours):.2f} s, xargs {min(theirs):.2f} s, ratio {min(ours) / min(theirs):.3f}")


if __name__ == "__main__":
    main()
