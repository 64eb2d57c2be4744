"""Whether an operation without a deterministic version fails a run of `control`, and is named."""

from scripts.accelerator.bench import Bench
from scripts.accelerator.results import Result


def check_refusal(bench: Bench) -> Result:
    operation = "max_unpooling2d" if bench.is_rehearsal else "upsample_bicubic2d"
    project = bench.project("refused")
    report = bench.deviate(project, "run", "-q", "--name", "check", "--runs", "1", "-j", "1", "--variants", "control")
    (run,) = bench.runs(project)["control"]
    figures = [f"status {run.status}, {run.reason or 'no reason'}"]
    faults = [f"the run of control is {run.status}"] if run.status == "completed" else []
    if operation not in report + run.reason:
        faults.append(f"neither the report nor the reason names {operation}")
    return bench.conclude(figures, faults, report)
