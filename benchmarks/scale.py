"""What experiments of 100, 1,000 and 10,000 runs cost: seconds, memory, and operations on the file system per run.

    python benchmarks/scale.py [--runs 100 1000 10000] [--verbs list show report resume] [--compare] [--check]
                               [--folder FOLDER] [--what times operations]

A script that reports 20 metrics in each of 10 steps is run twice. Its further runs are written by the writers of
deviate: the same files with other values. Each verb is a process of its own; its peak memory is that of the process.
With --check the benchmark fails where a verb takes more than 11 times the processor time for 10 times the runs, or 2 GB
of memory; time on the wall is shown beside it, and depends on what else the machine does.

Operations are system calls that name a file of the experiment, counted by strace if it is installed. They are counted
for two numbers of runs, so that the difference is the cost of a run without that of the start.
"""

import argparse
import collections
import dataclasses
import itertools
import json
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from deviate.model.plan import Spec
from deviate.records.layout import attempt_folder, event_files, runs_folder, spec_file
from deviate.records.plans import change_experiment, read_plan
from deviate.records.runs import read_claim, read_result, spec_hash, write_claim, write_result, write_spec
from deviate.replay.experiments import open_experiment, specs_of

N_METRICS, N_STEPS = 20, 10
SCRIPT = f"""import random

random.seed(0)
level = [random.gauss(0.0, 1.0) for _ in range({N_METRICS})]
for epoch in range({N_STEPS}):
    values = {{f"acc_{{index}}": 90 + epoch + level[index] + random.gauss(0.0, 0.1) for index in range({N_METRICS})}}
    for name, value in values.items():
        print(f"{{name}}: {{value:.4f}}")
"""
NAME = "base"
VERBS = {
    "list": ("list",),
    "show": ("show", NAME),
    "report": ("report", NAME),
    "resume": ("resume", NAME, "--dry-run"),
    "compare": ("compare", NAME, "other"),
}
MOST_GROWTH, MOST_BYTES = 11.0, 2_000_000_000
KINDS = {
    "open": "open openat creat",
    "stat": "stat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat",
    "list": "getdents getdents64",
    "create": "mkdir mkdirat link linkat symlink symlinkat",
    "rename": "rename renameat renameat2",
    "remove": "unlink unlinkat rmdir",
    "sync": "fsync fdatasync",
    "change": "chmod fchmod fchmodat utimensat flock ftruncate truncate",
}
KIND_OF = {call: kind for kind, calls in KINDS.items() for call in calls.split()}
CALL = re.compile(r"^\d+\s+(\w+)\(")
OURS = "/.deviate/experiments/"


@dataclasses.dataclass(frozen=True, slots=True)
class Cost:
    """What one process took; `n_output` are the characters that it printed."""

    wall_s: float
    cpu_s: float
    peak_bytes: int
    n_output: int


def make_project(folder: Path, n_runs: int, names: Sequence[str] = (NAME,)) -> None:
    """A project with experiments of so many recorded runs, of which the first two were executed."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.py").write_text(SCRIPT)
    for name in names:
        place = folder / ".deviate/experiments" / name
        if not place.exists():
            call(["run", "train.py", "--runs", "2", "--jobs", "1", "--name", name, "--quiet"], folder)
        add_runs(place, n_runs)


def add_runs(place: Path, n_runs: int) -> None:
    """Add recorded runs to an experiment until it has so many: copies of its first one with other values."""
    plan = read_plan(place)
    plan = change_experiment(
        place, time=time.time(), variants=tuple(dataclasses.replace(one, n_runs=n_runs) for one in plan.variants)
    )
    specs = specs_of(plan, open_experiment(place).snapshot)
    template = attempt_folder(runs_folder(place) / spec_hash(specs[0])[:16], 1)
    for spec in specs:
        run = runs_folder(place) / spec_hash(spec)[:16]
        if not run.exists():
            write_run(run, spec, template)


def write_run(run: Path, spec: Spec, template: Path) -> None:
    """Write a run with the files of another one, and values of its own."""
    attempt = attempt_folder(run, 1)
    attempt.mkdir(parents=True)
    write_spec(spec_file(run), spec)
    claim, result = read_claim(template), read_result(template)
    assert claim is not None
    assert result is not None
    write_claim(attempt, claim)
    for name in ("environment.json", "stdout.log", "stderr.log"):
        shutil.copyfile(template / name, attempt / name)
    rng = random.Random(f"{run.parent.parent.name} {spec.replicate}")
    shifts = {f"acc_{index}": rng.gauss(0.0, 1.0) for index in range(N_METRICS)}
    for path in event_files(template):
        lines = []
        for line in path.read_text().splitlines(keepends=True):
            if line[1:2].isdigit():
                event = json.loads(line)
                event[4] += shifts[event[5]] + rng.gauss(0.0, 0.1)
                line = json.dumps(event) + "\n"  # noqa: PLW2901
            lines.append(line)
        (attempt / path.name).write_text("".join(lines))
    write_result(attempt, dataclasses.replace(result, spec_hash=spec_hash(spec), files=None))


def call(words: Sequence[str], folder: Path) -> Cost:
    """Run a verb in a process of its own."""
    with tempfile.TemporaryFile() as output:
        begin = time.perf_counter()
        child = subprocess.Popen(
            [sys.executable, "-m", "deviate", *words], cwd=folder, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(child.pid, 0)
        wall_s = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode()
    if child.returncode:
        sys.exit(f"deviate {' '.join(words)} ended with {child.returncode}:\n{text[-2000:]}")
    return Cost(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, len(text))


def count_operations(words: Sequence[str], folder: Path) -> collections.Counter[str]:
    """System calls of a verb and its children that name a file of an experiment, by kind."""
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "calls"
        trace = ["strace", "-f", "-y", "-qq", "-s", "400", "-e", f"trace={','.join(KIND_OF)}", "-o", str(log)]
        done = subprocess.run(
            [*trace, sys.executable, "-m", "deviate", *words], cwd=folder, capture_output=True, check=False
        )
        if done.returncode:
            sys.exit(f"strace of deviate {' '.join(words)}: {done.stderr.decode()[-2000:]}")
        counts: collections.Counter[str] = collections.Counter()
        with log.open(errors="replace") as lines:
            for line in lines:
                if OURS in line and (match := CALL.match(line)):
                    counts[KIND_OF[match[1]]] += 1
    return counts


def count_executed(folder: Path, few: int = 2, many: int = 12) -> dict[str, float]:
    """Operations per run while runs are executed, the commands of the runs included, and inodes that each leaves."""
    counts, inodes = [], []
    for n_runs in (few, many):
        project = folder / f"executed-{n_runs}"
        project.mkdir()
        (project / "train.py").write_text(SCRIPT)
        words = ["run", "train.py", "--runs", str(n_runs), "--jobs", "1", "--name", NAME, "--quiet"]
        counts.append(count_operations(words, project))
        inodes.append(sum(1 for _ in (project / ".deviate/experiments" / NAME).rglob("*")))
    per_run = {kind: (counts[1][kind] - counts[0][kind]) / (many - few) for kind in KINDS}
    return {**per_run, "inodes kept": (inodes[1] - inodes[0]) / (many - few)}


def count_active(folder: Path, short_s: int = 5, long_s: int = 25) -> dict[str, float]:
    """Operations per second while a run is active and reports nothing."""
    counts = []
    for seconds in (short_s, long_s):
        project = folder / f"active-{seconds}"
        project.mkdir()
        (project / "train.py").write_text(f"import time\n{SCRIPT}time.sleep({seconds})\n")
        counts.append(count_operations(["run", "train.py", "--runs", "1", "--name", NAME, "--quiet"], project))
    return {kind: (counts[1][kind] - counts[0][kind]) / (long_s - short_s) for kind in KINDS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--verbs", nargs="+", default=["list", "show", "report", "resume"], choices=list(VERBS))
    parser.add_argument("--folder", type=Path, help="where the projects are made, and kept; a temporary folder else")
    parser.add_argument("--compare", action="store_true", help="time the comparison of two such experiments as well")
    parser.add_argument("--what", nargs="+", default=["times", "operations"], choices=["times", "operations"])
    parser.add_argument("--check", action="store_true", help="fail beyond 11-fold growth or 2 GB")
    arguments = parser.parse_args()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.system()}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.folder.absolute() if arguments.folder else Path(scratch)
        too_much = measure(folder, arguments) if "times" in arguments.what else []
        if "operations" in arguments.what and shutil.which("strace"):
            print_operations(folder, arguments)
    if arguments.check and too_much:
        sys.exit("too much: " + "; ".join(too_much))


def measure(folder: Path, arguments: argparse.Namespace) -> list[str]:
    """Print what each verb takes for each number of runs; returns what is beyond the bars."""
    costs: dict[str, dict[int, Cost]] = collections.defaultdict(dict)
    names = (NAME, "other") if arguments.compare else (NAME,)
    for n_runs in arguments.runs:
        project = folder / f"runs-{n_runs}"
        begin = time.perf_counter()
        make_project(project, n_runs)
        print(f"\n{n_runs:,} runs, written in {time.perf_counter() - begin:.0f} s", flush=True)
        for verb in [*arguments.verbs, *(["compare"] if arguments.compare else [])]:
            if verb == "compare":
                make_project(project, n_runs, names)
            cost = costs[verb][n_runs] = call(VERBS[verb], project)
            print(
                f"  {verb:8} {cost.wall_s:8.2f} s wall  {cost.cpu_s:8.2f} s processor  {cost.peak_bytes / 1e6:7.0f} MB"
                f"  {1000 * cost.cpu_s / n_runs:8.2f} ms per run  {cost.n_output:9,} characters printed",
                flush=True,
            )
        pages = {page.parent.name: page.stat().st_size for page in (project / ".deviate/reports").glob("*/*.html")}
        print("  pages    " + ", ".join(f"{name} {n_bytes / 1e6:.2f} MB" for name, n_bytes in sorted(pages.items())))
    too_much = []
    for verb, by_size in costs.items():
        for (few, one), (many, other) in itertools.pairwise(sorted(by_size.items())):
            growth, allowed = other.cpu_s / one.cpu_s, MOST_GROWTH * many / few / 10
            print(f"{verb}: {growth:.1f} times the processor time for {many / few:g} times the runs ({many:,})")
            if growth > allowed:
                too_much.append(f"{verb} takes {growth:.1f} times the processor time for {many:,} runs")
        too_much += [f"{verb}: {n:,} runs take 2 GB" for n, one in by_size.items() if one.peak_bytes > MOST_BYTES]
    return too_much


def print_operations(folder: Path, arguments: argparse.Namespace) -> None:
    """Print operations on files per run: of the verbs, and of the execution of runs."""
    few, many = sorted(arguments.runs)[:2] if len(arguments.runs) > 1 else (50, 100)
    rows: dict[str, dict[str, float]] = {}
    for n_runs in (few, many):
        make_project(folder / f"runs-{n_runs}", n_runs)
    for verb in arguments.verbs:
        one, other = (count_operations(VERBS[verb], folder / f"runs-{n_runs}") for n_runs in (few, many))
        rows[verb] = {kind: (other[kind] - one[kind]) / (many - few) for kind in KINDS}
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        rows["executed"] = count_executed(Path(scratch))
        active = count_active(Path(scratch))
    print("\noperations on files of the experiment, per run; of an active run, per second")
    for name, row in {**rows, "active": active}.items():
        print(f"  {name:9} " + "  ".join(f"{kind} {n:.1f}" for kind, n in row.items() if n))


if __name__ == "__main__":
    main()
