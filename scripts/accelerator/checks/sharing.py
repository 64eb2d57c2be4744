"""Whether two runs on one GPU at a time have the values of runs alone, and are marked."""

from itertools import pairwise

from deviate.model.records import Run
from scripts.accelerator.bench import Bench, digests_of, failures_of
from scripts.accelerator.results import Result


def check_sharing(bench: Bench) -> Result:
    project = bench.project("additions_torch")
    at_once = ("--jobs", "2") if bench.is_rehearsal else ("--gpus", "0", "--per-gpu", "2")
    n_runs = bench.amount(4, 2)
    # Threads of a CPU change the order of its additions, and runs at a time share the cores.
    environment = {"OMP_NUM_THREADS": "1"}
    words = ("run", "-q", "--variants", "control")
    arguments = ("--rows", "4096", "--steps", "5") if bench.is_rehearsal else ("--steps", "200")
    bench.deviate(project, *words, "--name", "alone", "--runs", "1", "-j", "1", arguments=arguments, **environment)
    counted = ("--name", "check", "--runs", str(n_runs), *at_once)
    bench.deviate(project, *words, *counted, arguments=arguments, **environment)
    alone, shared = bench.runs(project, "alone")["control"], bench.runs(project)["control"]
    faults = failures_of([*alone, *shared], "control")
    n_marked = sum(run.n_sharing > 0 for run in shared)
    n_at_once = max(run.n_sharing for run in shared) + 1
    figures = [
        f"{n_runs} runs, at most {n_at_once} at a time on {shared[0].device or 'the CPU'}",
        f"{_n_overlaps(shared)} began before the one before had ended, {n_marked} marked as contended",
        f"{len(digests_of([*alone, *shared]))} hash of weights, that of a run alone included",
        f"wall time {alone[0].wall_time_s:.1f} s alone, {max(run.wall_time_s for run in shared):.1f} s shared",
    ]
    if len(digests_of([*alone, *shared])) > 1:
        faults.append("runs that share the device have other weights")
    if n_marked < n_runs:
        faults.append("runs that shared the device are not marked as contended")
    return bench.conclude(figures, faults)


def _n_overlaps(runs: tuple[Run, ...]) -> int:
    ordered = sorted(runs, key=lambda run: run.started)
    return sum(later.started < earlier.started + earlier.wall_time_s for earlier, later in pairwise(ordered))
