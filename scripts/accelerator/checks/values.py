"""Whether recording values makes a loop wait for the device more often than it does by itself."""

import sys

from scripts.accelerator.bench import Bench, failures_of, named_values, printed
from scripts.accelerator.results import Result

REPORTS = {"number": "prints a number", "tensor": "prints a tensor on the device", "sum": "adds up on the device"}
N_STEPS = 40
"""Steps that the program counts in."""


def check_deferred_values(bench: Bench) -> Result:
    """Waits and copies to the host in the same steps, with deviate (`as-is`) and without."""
    figures, faults = [], []
    variables = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8"}
    for report, words in REPORTS.items():
        arguments = ("--report", report)
        plain = bench.project("deferred", f"plain-{report}")
        text = bench.run([sys.executable, "train.py", *arguments], plain, variables)
        without = named_values((plain / "counts.txt").read_text(encoding="utf-8"), "count")
        traced = bench.project("deferred", f"traced-{report}")
        options = ("-q", "--name", "check", "--runs", "1", "-j", "1", "--variants", "as-is", "--keep", "all")
        bench.deviate(traced, "run", *options, arguments=arguments, **variables)
        (run,) = bench.runs(traced)["as-is"]
        if failed := failures_of([run], report):
            faults += failed
            continue
        (counts,) = run.folder.rglob("counts.txt")
        with_taps = named_values(counts.read_text(encoding="utf-8"), "count")
        shown = [f"{name} {without[name]} → {with_taps[name]}" for name in without]
        figures.append(f"a loop that {words}, {N_STEPS} steps, without → with deviate: {', '.join(shown)}")
        for name in ("waits", "copies"):
            if with_taps[name] != without[name]:
                faults.append(f"a loop that {words} has {without[name]} {name} alone, {with_taps[name]} with deviate")
        if _losses(text) != _losses(printed(run)):
            faults.append(f"a loop that {words} prints other values with deviate")
    return bench.conclude(figures, faults)


def _losses(text: str) -> list[str]:
    return [line for line in text.splitlines() if " loss " in line]
