"""Carries out everything that needs a device, within a time limit, and writes a page of results.

scripts/on-accelerator                      all checks within 20 minutes
scripts/on-accelerator --minutes 9 --keep build/on-accelerator.json      the same in several calls
scripts/on-accelerator --list               the checks, and what they need
scripts/on-accelerator --only tf32,device-streams
"""

import argparse
import datetime as dt
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from scripts.accelerator.catalogue import BY_HAND, Check, frameworks_of, read_checks
from scripts.accelerator.machine import Machine, examine_machine
from scripts.accelerator.page import Call, write_page
from scripts.accelerator.results import Result, read_results, write_results
from scripts.accelerator.runner import carry_out_checks

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "results"


def main(arguments: Sequence[str]) -> int:
    """Exit code 1 where a check failed or does not show what is claimed, 2 for wrong usage."""
    began = time.monotonic()
    options = _parse(arguments)
    checks = read_checks()
    if options.list:
        print(*(_line_of(check) for check in checks), sep="\n")
        return 0
    names = [name for text in options.only for name in text.split(",")]
    if unknown := set(names) - {check.name for check in checks}:
        print(f"scripts/on-accelerator: no check {', '.join(sorted(unknown))}; --list names them", file=sys.stderr)
        return 2
    chosen = [check for check in checks if not names or check.name in names]
    machine = examine_machine(frameworks_of(chosen))
    date = dt.datetime.now(tz=dt.UTC).date().isoformat()
    page = options.output or PAGES / f"{date}-accelerator-{_name_of(machine)}.md"
    command = shlex.join(["scripts/on-accelerator", *arguments])
    commit = _commit()
    results = read_results(options.keep) if options.keep else {}

    def write() -> None:
        call = Call(date, command, commit, time.monotonic() - began, options.minutes * 60)
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(write_page(call, machine, chosen, results), encoding="utf-8")

    def note(check: Check, result: Result) -> None:
        results[check.name] = result
        if options.keep:
            ended = {name: each for name, each in results.items() if each.outcome not in {"skipped", "failed"}}
            write_results(options.keep, ended)
        write()
        headline = f"{check.name}: {result.outcome}{f' ({result.reason})' if result.reason else ''}"
        print(headline, *(f"  {figure}" for figure in result.figures), sep="\n", flush=True)

    write()
    with tempfile.TemporaryDirectory(prefix="on-accelerator-", dir=options.scratch) as scratch:
        carry_out_checks(
            [check for check in chosen if check.name not in results],
            machine,
            budget_s=options.minutes * 60 - (time.monotonic() - began),
            scratch=Path(scratch).resolve(),
            done=note,
        )
    write()
    print(f"Page     {page}")
    return int(any(results[check.name].outcome in {"failed", "not as claimed"} for check in chosen))


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/on-accelerator", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=20, help="time for all checks together (default: 20)")
    parser.add_argument("--only", action="append", default=[], metavar="NAME,…", help="these checks alone")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the page (default: in docs/results)")
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FILE",
        help="results so far, kept between calls: checks that have one there are not repeated",
    )
    parser.add_argument("--scratch", type=Path, metavar="FOLDER", help="where projects and runs lie meanwhile")
    parser.add_argument("--list", action="store_true", help="the checks, and what they need")
    return parser.parse_args(arguments)


def _line_of(check: Check) -> str:
    how = BY_HAND.get(check.name, "by hand") if check.function is None else f"about {check.function.typical_s:.0f} s"
    return f"{check.name:22} {', '.join(check.needs):15} {check.title} ({how})"


def _name_of(machine: Machine) -> str:
    """The word for the machine in the name of the page."""
    if machine.is_rehearsal:
        return "rehearsal"
    devices = next((value for name, value in machine.facts.items() if name.startswith("devices of ")), "device")
    return re.sub(r"[^a-z0-9]+", "-", devices.partition(",")[0].lower()).strip("-")


def _commit() -> str:
    """The commit of this clone; a copy without git has none."""
    if not shutil.which("git"):
        return "unknown"
    words = ["git", "describe", "--always", "--abbrev=8", "--dirty=, changed"]
    answer = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    return answer.stdout.strip() or "unknown"


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the check in progress is ended on the way out
    sys.exit(main(sys.argv[1:]))
