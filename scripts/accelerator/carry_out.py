"""Carries out one check in this process, which the runner starts: `carry_out FUNCTION FOLDER MACHINE`."""

import importlib
import json
import sys
import traceback
from pathlib import Path

from scripts.accelerator.bench import Bench, CheckError
from scripts.accelerator.machine import Machine
from scripts.accelerator.results import Result, write_results


def main(function: str, folder: str, machine: str) -> None:
    module, _, name = function.partition(":")
    facts = json.loads(machine)
    there = Machine(facts["facts"], facts["devices"], frozenset(facts["has"]), facts["failures"])
    place = Path(folder)
    (place / "work").mkdir()
    try:
        check = getattr(importlib.import_module(module), name)
        result = check(Bench(there, place / "work", there.is_rehearsal))
    except CheckError as error:
        command, _, output = str(error).partition("\n")
        result = Result("failed", reason=command, evidence=output)
    except Exception as error:  # noqa: BLE001 - one check that fails does not stop the others
        result = Result("failed", reason=f"{type(error).__name__}: {error}", evidence=traceback.format_exc())
    write_results(place / "result.json", {"result": result})


if __name__ == "__main__":
    main(*sys.argv[1:])
