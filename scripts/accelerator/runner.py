"""Carries out checks one after the other, each in processes of its own that end at its time limit."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from scripts.accelerator.catalogue import BY_HAND, Check, Function
from scripts.accelerator.machine import Machine
from scripts.accelerator.results import Result, read_results

ROOT = Path(__file__).parents[2]
GRACE_S = 15.0
"""Time that a check has to end its runs, after the request to."""
PATIENCE = 2
"""A check may take this many times its typical time, as on a busy machine, at the cost of later ones."""
TAIL_LINES = 30
NAMES = {"cuda": "an NVIDIA GPU", "rocm": "an AMD GPU", "tpu": "a TPU", "mig": "MIG instances", "two-gpus": "two GPUs"}


def carry_out_checks(
    checks: Sequence[Check],
    machine: Machine,
    *,
    budget_s: float,
    scratch: Path,
    done: Callable[[Check, Result], None],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Carry out each check that the machine and the time allow, and hand its result to `done` at once.

    The time is divided in proportion to what the checks typically take, though each may take twice that. What one
    leaves is divided among the others.
    """
    end = clock() + budget_s
    for number, check in enumerate(checks):
        reason = why_not(check, machine)
        if check.function is None or reason:
            done(check, Result("skipped", reason=reason))
            continue
        left_s = end - clock()
        if left_s < check.function.typical_s / 2:
            done(check, Result("skipped", reason=f"no time: {max(0, left_s):.0f} s of the budget were left"))
            continue
        following = [each.function for each in checks[number:] if each.function and not why_not(each, machine)]
        limit_s = _share_of(check.function, following, left_s)
        began = clock()
        result = _carry_out(check.function, machine, scratch / check.name, limit_s)
        done(check, replace(result, wall_time_s=clock() - began))


def why_not(check: Check, machine: Machine) -> str:
    """Why the machine does not allow a check; empty if it does, or if a CPU can stand for the device."""
    missing = [NAMES.get(need, need) for need in check.needs if need not in machine.has]
    is_stood_for = machine.is_rehearsal and check.function is not None and check.function.is_rehearsed
    if missing and not is_stood_for:
        return f"needs {' and '.join(missing)}"
    if check.function is None:
        return f"not automated: {BY_HAND.get(check.name, 'no function')}"
    framework = check.function.framework
    if (
        framework
        and machine.devices.get(framework, "cpu") == "cpu"
        and not (is_stood_for and framework in machine.devices)
    ):
        return f"needs {framework} with a device"
    return ""


def _share_of(function: Function, following: Sequence[Function], left_s: float) -> float:
    share = left_s * function.typical_s / sum(each.typical_s for each in following)
    return max(share, min(PATIENCE * function.typical_s, left_s))


def _carry_out(function: Function, machine: Machine, folder: Path, limit_s: float) -> Result:
    folder.mkdir(parents=True)
    facts = json.dumps({**asdict(machine), "has": sorted(machine.has)})
    words = [sys.executable, "-m", "scripts.accelerator.carry_out", function.name, str(folder), facts]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    log = folder / "output.txt"
    with log.open("w", encoding="utf-8") as stream:
        process = subprocess.Popen(
            words,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return Result("failed", reason=f"not done within its {limit_s:.0f} s", evidence=_tail(log))
        finally:
            _end_group(process)
    results = read_results(folder / "result.json")
    if "result" not in results:
        return Result("failed", reason=f"its process ended with exit code {code}", evidence=_tail(log))
    return results["result"]


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a check: a request first, so that deviate ends its runs, which are groups of their own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        end = time.monotonic() + GRACE_S
        while time.monotonic() < end:
            process.poll()  # a child that ended is in the group until it is waited for
            os.killpg(process.pid, 0)
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _tail(log: Path) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-TAIL_LINES:])
