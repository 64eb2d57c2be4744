"""Checks of `scripts/on-accelerator` for a test: they show something, fail, hang, or end their process."""

import os
import subprocess
import sys
import time

from scripts.accelerator.bench import Bench
from scripts.accelerator.results import Result


def check_addition(bench: Bench) -> Result:
    return bench.conclude([f"1 + 1: {1 + 1}"], [])


def check_claim(bench: Bench) -> Result:
    return bench.conclude(["2 hashes"], ["the runs differ"], "0 and 1")


def check_error(bench: Bench) -> Result:
    raise ValueError("no such thing")


def check_hang(bench: Bench) -> Result:
    """Does not end, and nor does the process that it starts."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    sys.stdout.write(f"started {child.pid}\n")
    sys.stdout.flush()
    time.sleep(600)
    return bench.conclude([], [])


def check_death(bench: Bench) -> Result:
    os._exit(7)
