"""Whether runs that hold precision compute without TF32, although the script allows it."""

from scripts.accelerator.bench import Bench, failures_of, printed
from scripts.accelerator.results import Result

HELD_AT_MOST, FREE_AT_LEAST = 1e-5, 1e-4
"""Relative errors: float32 has a fraction of 24 bits, TF32 of 11. Source: NVIDIA, whitepaper of the A100."""


def check_tf32(bench: Bench) -> Result:
    project = bench.project("precision")
    bench.deviate(project, "run", "-q", "--name", "check", "--runs", "1", "-j", "1", "--variants", "impl,control")
    runs = bench.runs(project)
    faults = [fault for variant, of_variant in runs.items() for fault in failures_of(of_variant, variant)]
    if faults:
        return bench.conclude([], faults)
    figures = []
    for what in ("product", "convolution"):
        free, held = (_error(printed(runs[variant][0]), what) for variant in ("impl", "control"))
        figures.append(f"relative error of a {what}: {free:.1e} with TF32 allowed (impl), {held:.1e} in control")
        if held > HELD_AT_MOST:
            faults.append(f"the {what} of control has the error of a reduced precision")
        if not bench.is_rehearsal and free < FREE_AT_LEAST:
            faults.append(f"the {what} of impl has no larger error: TF32 was not used")
    return bench.conclude(figures, faults)


def _error(text: str, what: str) -> float:
    return next(float(line.rpartition(" ")[2]) for line in text.splitlines() if f"{what} error " in line)
