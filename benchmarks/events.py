"""What a million events of one run cost: seconds to write, read and summarise, and the memory of several such runs.

    python benchmarks/events.py [--values 1000000] [--runs 1 4 10] [--per-step 1]

The guest writes the events of one run, as it does in a script with one tap in its main loop; further runs are copies of
that file. Each number of runs is read in a process of its own. Last comes a tenth of the events, for the growth. A
step comes with an event of its own, so with one value per step the files hold twice as many lines as values.
"""

import argparse
import itertools
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from harness import Child
from recorded import make_metric, make_plan, write_manifest

from deviate.model.plan import Spec
from deviate.records.layout import attempt_folder, event_files, runs_folder, snapshot_folder, spec_file
from deviate.records.plans import create_experiment, new_experiment_folder
from deviate.records.read import read_experiment
from deviate.records.runs import Result, run_id, spec_hash, write_result, write_spec
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge

SCRIPT = """\
import sys
import time

start = time.perf_counter()
for i in range(int(sys.argv[1])):
    for j in range(int(sys.argv[2])):
        (1 / (i + j + 1))
print(time.perf_counter() - start)
"""


def written(folder: Path, n_values: int, per_step: int) -> tuple[Path, float]:
    """The event file of one run, and the seconds that its loop took with the taps."""
    child = Child(folder, SCRIPT).tap("«(1 / (i + j + 1))»\n").loop("«range(int(sys.argv[1]))»", 6)
    result = child.run(str(n_values // per_step), str(per_step))
    (path,) = event_files(folder / "attempt-1")
    return path, float(result.stdout)


def experiment(deviate: Path, events: Path, n_runs: int) -> Path:
    """An experiment whose runs all left these events."""
    folder = new_experiment_folder(deviate, f"runs-{n_runs}-{events.stat().st_size}")
    write_manifest(snapshot_folder(folder), [make_metric("acc")])
    create_experiment(folder, make_plan(name=folder.name, runs=n_runs))
    for replicate in range(n_runs):
        spec = Spec("0" * 64, ("python", "train.py"), ".", "as-is", replicate)
        run = runs_folder(folder) / run_id(spec)
        attempt = attempt_folder(run, 1)
        attempt.mkdir(parents=True)
        write_spec(spec_file(run), spec)
        shutil.copy(events, attempt)
        write_result(attempt, Result(spec_hash(spec), "completed", 0, None, 5.0, 1.5))
    return folder


def read(folder: Path) -> str:
    """Seconds per part, the peak of memory up to its end, and what then is the process's own, not pages of files."""
    marks, memory = [time.perf_counter()], [memory_mb()]

    def mark() -> None:
        marks.append(time.perf_counter())
        memory.append(memory_mb())

    experiments = read_experiment(folder)
    mark()
    findings = judge(experiments)
    mark()
    view = build_report(findings)
    mark()
    render(view, "html")
    mark()
    seconds = [end - begin for begin, end in itertools.pairwise(marks)]
    parts = zip(("read", "judge", "view", "page"), seconds, memory[1:], strict=True)
    told = (f"{part} {took:.2f} s (peak {peak} MB, own {own} MB)" for part, took, (peak, own) in parts)
    return f"{', '.join(told)}; before {memory[0][0]} MB"


def memory_mb() -> tuple[int, int]:
    """The most memory that this process has had in use, and what is its own now.

    Source: proc(5), VmHWM and RssAnon; ru_maxrss would begin at the peak of the process that started this one.
    """
    facts = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    return int(facts["VmHWM"].split()[0]) // 1024, int(facts["RssAnon"].split()[0]) // 1024


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--values", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, nargs="+", default=[1, 4, 10])
    parser.add_argument("--per-step", type=int, default=1, help="values within a step of the main loop")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        print(read(options.read))
        return
    with tempfile.TemporaryDirectory() as name:
        for n_events, counts in ((options.values, options.runs), (options.values // 10, options.runs[:1])):
            events, seconds = written(Path(name) / f"child-{n_events}", n_events, options.per_step)
            steps = n_events // options.per_step
            size_mb = events.stat().st_size / 1e6
            print(f"{n_events} values in {steps} steps: written in {seconds:.2f} s, {size_mb:.0f} MB")
            for n_runs in counts:
                folder = experiment(Path(name) / ".deviate", events, n_runs)
                command = [sys.executable, __file__, "--read", str(folder)]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                print(f"    {n_runs} runs: {done.stdout.strip()}")
                shutil.rmtree(folder)


if __name__ == "__main__":
    main()
