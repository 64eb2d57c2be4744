"""Whether each stream changes only the draws of its purpose, by the table of `benchmarks/devices.py`."""

import importlib.util
import sys
from collections.abc import Sequence

from scripts.accelerator.bench import Bench, CheckError
from scripts.accelerator.results import Result
from scripts.accelerator.runner import ROOT

PROGRAMS = {
    "torch": "pytorch_device",
    "jax": "jax_shard_map",
    "tensorflow": "tensorflow_mirrored",
    "torch_xla": "xla",
}
MODULES = {"jax_shard_map": ("flax", "optax")}
"""What a program imports beside its framework."""


def check_streams(bench: Bench) -> Result:
    return _tables(bench, [PROGRAMS[name] for name in bench.frameworks("torch", "jax", "tensorflow")])


def check_xla(bench: Bench) -> Result:
    """PyTorch/XLA and JAX on a TPU."""
    frameworks = bench.frameworks("torch_xla", "jax")
    return _tables(bench, [PROGRAMS[name] for name in frameworks], {"PJRT_DEVICE": "TPU"})


def check_ranks(bench: Bench) -> Result:
    """Two processes, each with a GPU of its own."""
    return _tables(bench, ["pytorch_ddp"])


def _tables(bench: Bench, programs: Sequence[str], environment: dict[str, str] | None = None) -> Result:
    figures, faults, evidence = [], [], []
    for program in programs:
        if reason := _why_not(program):
            figures.append(f"{program}: left out, {reason}")
            continue
        n_runs = bench.amount(2, 1)
        words = [sys.executable, str(ROOT / "benchmarks" / "devices.py"), "--runs", str(n_runs), "--check", program]
        text = bench.run(words, bench.folder, environment, codes=(0, 1))
        wrong = [line.strip() for line in text.splitlines() if ": " in line or " changes " in line]
        rows = [line for line in text.splitlines() if line.startswith("  ")]
        if len(rows) < 7:
            raise CheckError(f"{program}: no table\n{text}")
        figures.append(
            f"{program}: 6 variants, {n_runs} runs each; hashes that are not as they should be: {len(wrong)}"
        )
        faults += [f"{program}: {line}" for line in wrong]
        evidence += [text] if wrong else []
    if not any("6 variants" in figure for figure in figures):
        raise CheckError("no program for the frameworks that have a device here\n" + "\n".join(figures))
    return bench.conclude(figures, faults, "\n".join(evidence))


def _why_not(program: str) -> str:
    missing = [name for name in MODULES.get(program, ()) if not importlib.util.find_spec(name)]
    return f"{' and '.join(missing)} not installed" if missing else ""
