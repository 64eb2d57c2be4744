"""What replaying costs: N runs of a half-second script, as a ratio to `xargs -P` with the bare script.

    python benchmarks/replay.py [--runs 40] [--jobs 2] [--rounds 3]

Whole process against whole process: `deviate run` from its start to the last result on disk (the report that follows
is not counted), and xargs from its start to its end. The rounds alternate, and the least of each side counts. The
script sleeps, so that the ratio shows what is added and not how two busy processes share a machine. A second figure
tells what ten times the runs cost.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCRIPT = """\
import time
for epoch in range(5):
    time.sleep(0.1)
    print("loss %.4f" % (1 / (epoch + 1)))
"""


def replayed(project: Path, runs: int, jobs: int) -> tuple[float, float]:
    """Seconds from the start of `deviate run` to its last result, and to its first started run."""
    name = f"bench-{time.time_ns()}"
    start = time.time()
    subprocess.run(
        [sys.executable, "-m", "deviate", "run", "train.py", "-r", str(runs), "-j", str(jobs), "--name", name, "-q"],
        cwd=project,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    results = list(project.glob(f".deviate/experiments/{name}/runs/*/attempt-1/result.json"))
    assert len(results) == runs
    documents = [json.loads(path.read_text()) for path in results]
    assert {document["status"] for document in documents} == {"completed"}
    first = min(float(document["started"]) for document in documents)
    return max(path.stat().st_mtime for path in results) - start, first - start


def bare(project: Path, runs: int, jobs: int) -> float:
    """Seconds that xargs takes."""
    start = time.time()
    subprocess.run(
        ["xargs", "-P", str(jobs), "-I", "{}", sys.executable, "train.py"],
        input="\n".join(map(str, range(runs))),
        cwd=project,
        text=True,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.time() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        project = Path(name) / "parent" / "root"
        project.mkdir(parents=True)
        (project / "train.py").write_text(SCRIPT)
        ours, before, theirs = [], [], []
        for _ in range(options.rounds):
            whole, first = replayed(project, options.runs, options.jobs)
            ours.append(whole)
            before.append(first)
            theirs.append(bare(project, options.runs, options.jobs))
            print(f"  deviate {whole:.2f} s ({first:.2f} s to the first run), xargs {theirs[-1]:.2f} s", flush=True)
    ratio, added = min(ours) / min(theirs), (min(ours) - min(theirs) - min(before)) * options.jobs / options.runs
    print(f"deviate {min(ours):.2f} s, xargs {min(theirs):.2f} s, ratio {ratio:.3f}")
    print(f"added: {min(before):.2f} s for the experiment, {1000 * added:.0f} ms per run")


if __name__ == "__main__":
    main()
