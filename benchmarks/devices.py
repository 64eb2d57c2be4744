"""Which hashes change when one stream of random numbers varies, for programs that use several devices or processes.

    python benchmarks/devices.py [--check] [--runs 3] [--python EXECUTABLE] [PROGRAM ...]

The programs lie in `devices/`. Each trains a small network and prints a line `hash NAME VALUE` for its initial weights
(`init`), the order of its examples (`order`), the first batch (`batch`), the masks of dropout on ones (`masks`) and the
weights at its end (`final`), of all its processes and devices together. `deviate run` repeats it in each variant; the
hash of the final weights that deviate records itself is a sixth column (`recorded`).

In `control` nothing may change, and in the variant of a stream exactly what depends on it. With `--check` the exit code
is 1 where a table is another one.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from deviate.model.records import Run
from deviate.records.experiments import read_variants

FOLDER = Path(__file__).parent / "devices"
SHARED = "network.py"
"""What the programs for PyTorch import."""
NAMES = ("init", "order", "batch", "masks", "final", "recorded")
HASH = re.compile(r"^hash (\w+) (\w+)$", re.MULTILINE)
DEPENDENT: dict[str, set[str]] = {
    "control": set(),
    "init": {"init", "final", "recorded"},
    "shuffle": {"order", "batch", "final", "recorded"},
    "augment": {"batch", "final", "recorded"},
    "dropout": {"masks", "final", "recorded"},
    "algo": set(NAMES),
}
"""What has to change in each variant."""


class Program(NamedTuple):
    """How to start a program.

    Attributes:
        launcher: words after the interpreter and before the script.
        environment: variables of its runs, where the caller's environment does not set them.
    """

    launcher: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


TORCHRUN = ("-m", "torch.distributed.run", "--nproc-per-node", "2")
PROGRAMS = {
    "pytorch_device": Program(),
    "xla": Program(environment=(("PJRT_DEVICE", "CPU"),)),
    "jax_shard_map": Program(environment=(("XLA_FLAGS", "--xla_force_host_platform_device_count=4"),)),
    "tensorflow_mirrored": Program(),
    "pytorch_ddp": Program(TORCHRUN),
    "pytorch_fsdp": Program(TORCHRUN),
}
DEFAULT = ["jax_shard_map", "tensorflow_mirrored", "pytorch_ddp", "pytorch_fsdp"]
"""Those that need no device and no environment of their own."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=DEFAULT, metavar="PROGRAM")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--python", default=sys.executable, help="interpreter of the programs")
    options = parser.parse_args()
    is_right = True
    for name in options.programs:
        table = measure(name, options.python, options.runs)
        print(f"\n{name}\n" + "".join(f"  {line}\n" for line in write_table(table)), flush=True)
        for fault in find_faults(table):
            print(f"  {fault}", flush=True)
            is_right = False
    return 1 if options.check and not is_right else 0


Table = dict[str, list[dict[str, str]]]
"""Hashes by name, of each run of each variant."""


def measure(name: str, python: str, n_runs: int) -> Table:
    program = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve() / "project"
        folder.mkdir()
        for source, target in ((f"{name}.py", "train.py"), (SHARED, SHARED)):
            (folder / target).write_bytes((FOLDER / source).read_bytes())
        words = [sys.executable, "-m", "deviate", "run", "-q", "--name", "devices", "--runs", str(n_runs), "-j", "1"]
        words += ["--variants", ",".join(DEPENDENT), "--", python, *program.launcher, "train.py"]
        fixed = {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
        environment = {**dict(program.environment), **os.environ, **fixed}
        answer = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        experiments = read_variants(folder / ".deviate", "devices") if not answer.returncode else ()
        table = {experiment.variant: [hashes_of(run) for run in experiment.runs] for experiment in experiments}
    if set(table) != set(DEPENDENT):
        sys.exit(f"{name}: exit code {answer.returncode}:\n{answer.stdout}{answer.stderr}")
    return table


def hashes_of(run: Run) -> dict[str, str]:
    """The hashes that a run printed, and the last one that deviate recorded of its weights."""
    printed = dict(HASH.findall((run.folder / "stdout.log").read_text(encoding="utf-8")))
    return printed | {"recorded": run.weights[-1].digest if run.weights else "none"}


def write_table(table: Table) -> list[str]:
    """A row per run."""
    rows = [["variant", "run", *NAMES]]
    for variant, runs in table.items():
        rows += [[variant, str(number), *(run.get(name, "none")[:8] for name in NAMES)]
                 for number, run in enumerate(runs)]  # fmt: skip
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def find_faults(table: Table) -> list[str]:
    """Hashes that change where they should not, or do not where they should, and those that are missing."""
    faults = [
        f"{variant}, run {number}: no hash {name}"
        for variant, runs in table.items()
        for number, run in enumerate(runs)
        for name in NAMES
        if run.get(name, "none") == "none"
    ]
    if faults:
        return faults
    (control, *_) = table["control"]
    for variant, runs in table.items():
        for name in NAMES:
            digests = [run[name] for run in runs]
            if name not in DEPENDENT[variant]:
                faults += [f"{variant} changes {name}"] * (digests != [control[name]] * len(digests))
            elif len({*digests, control[name]}) < len(digests) + (variant != "algo"):
                faults.append(f"{variant}: several runs have the same {name}")
    return faults


if __name__ == "__main__":
    sys.exit(main())
