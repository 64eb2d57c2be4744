"""Whether the name and driver of the device are on record, as nvidia-smi states them."""

import shutil
import sys

from scripts.accelerator.bench import Bench, CheckError
from scripts.accelerator.results import Result


def check_facts(bench: Bench) -> Result:
    if shutil.which("nvidia-smi") is None:
        raise CheckError("nvidia-smi is not on PATH, so there is nothing to compare with")
    # Asked here, and not taken from the facts of the machine, which deviate reads by what is checked.
    query = ("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader")
    stated = bench.run(query, bench.folder).partition("\n")[0].strip()
    name, driver, *_ = [*map(str.strip, stated.split(",")), "", ""]
    doctor = bench.run([sys.executable, "-m", "deviate", "doctor"], bench.folder, codes=(0, 1))
    project = bench.project("refused")
    bench.deviate(project, "run", "-q", "--name", "check", "--runs", "1", "-j", "1", "--variants", "as-is")
    (run,) = bench.runs(project)["as-is"]
    recorded = {key: value for key, value in run.environment.items() if name in value or driver in value}
    figures = [f"nvidia-smi: {stated}", *(f"on record: {key} {value}" for key, value in recorded.items())]
    faults = [f"{what} is not on record" for what in (name, driver) if what not in " ".join(recorded.values())]
    faults += [f"deviate doctor does not name {name}"] * (name not in doctor)
    return bench.conclude(figures, faults, doctor)
