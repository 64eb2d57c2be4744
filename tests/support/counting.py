"""Operations on files of many runs, counted by an audit hook: run as a process of its own, for a hook stays for good.

Prints one JSON object. Counted are `open` and the listing of folders, below the current folder.
"""

import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from recorded import make_plan, write_manifest

from deviate.cli.show_experiment import describe_experiment
from deviate.model.plan import Spec
from deviate.model.records import Series
from deviate.records.importers import Imported, ImportedRun
from deviate.records.importing import write_imported
from deviate.records.layout import runs_folder
from deviate.records.plans import create_experiment, read_plan
from deviate.records.read import read_experiment
from deviate.records.runs import spec_of, write_claim
from deviate.replay.adopt import claim_of
from deviate.replay.executors.workers import WorkersExecutor
from deviate.replay.live_estimates import LiveEstimates
from deviate.replay.protocol import Order, Outcome, RunUpdate
from deviate.replay.states import recorded_runs, run_states

N_ACTIVE, WAITED_S = 10, 60.0
COUNTS: Counter[str] = Counter()


class Queue:
    """A scheduler that has started some jobs and keeps the others."""

    capacity = None
    interval_s = 15.0

    def start(self, orders: Sequence[Order]) -> Sequence[str]:
        return [str(number) for number in range(len(orders))]

    def over(self, jobs: Collection[str]) -> Mapping[str, str]:
        return dict.fromkeys(jobs[:0] if isinstance(jobs, list) else (), "")

    def cancel(self, job: str, *, at_once: bool) -> None:
        """Nothing runs."""

    def log(self, job: str) -> Path | None:
        return None if job else Path()

    def close(self) -> None:
        """Nothing runs."""


def count_polls(n_runs: int) -> int:
    """Operations in a minute of waiting for runs of which some are active and write nothing."""
    folder = Path(f"waiting-{n_runs}").absolute()
    write_manifest(folder / "snapshot")
    create_experiment(folder, make_plan(runs=n_runs))
    executor = WorkersExecutor(Queue())
    specs = [Spec("0" * 64, ("python", "train.py"), ".", "as-is", number, ()) for number in range(n_runs)]
    orders = [Order(folder, spec) for spec in specs]
    executor.submit(orders)
    for order in orders[:N_ACTIVE]:
        attempt = order.run / "attempt-1"
        attempt.mkdir()
        write_claim(attempt, claim_of(1, 0.0))
    executor.poll(2 * WAITED_S)
    executor.poll(WAITED_S)
    return count(lambda: executor.poll(WAITED_S))


def write_runs(n_runs: int) -> Path:
    runs = [
        ImportedRun(str(number), {"acc": Series((0, 1), (0.5, 0.5 + number / 100))}) for number in range(n_runs)
    ]  # fmt: skip
    return write_imported(
        Path.cwd() / ".deviate", Imported("many", "json", (Path("a.json"),), tuple(runs)), f"many-{n_runs}"
    )


def count(act: Callable[[], object]) -> int:
    COUNTS.clear()
    act()
    return sum(COUNTS.values())


def main() -> None:
    here, runs_of = str(Path.cwd()), {}

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if event in {"open", "os.scandir", "os.listdir"} and str(arguments[0]).startswith(here):
            COUNTS[str(arguments[0])] += 1

    sys.addaudithook(note)
    now = time.monotonic()
    real = time.monotonic, time.sleep

    def sleep(seconds: float) -> None:
        nonlocal now
        now += max(seconds, 0.01)

    time.monotonic, time.sleep = lambda: now, sleep  # type: ignore[assignment]
    answer: dict[str, object] = {
        "waiting": [count_polls(n_runs) for n_runs in (150, 450)],
    }
    time.monotonic, time.sleep = real
    few, many = write_runs(5), write_runs(15)
    estimates = LiveEstimates([many])
    estimates()
    answer["estimates"] = count(estimates)
    ended = min(runs_folder(many).iterdir())
    outcome = Outcome(spec_of(ended), "completed", 1.0, ended / "attempt-1")
    estimates.take(RunUpdate("finished", Order(many, outcome.spec), outcome.folder, outcome=outcome))
    estimates()
    runs = {os.path.relpath(path, runs_folder(many)).partition("/")[0] for path in COUNTS}
    answer["read after the end of one"] = sorted(runs - {".", ".."}) == [ended.name]
    readers: dict[str, Callable[[Path], object]] = {
        "list": lambda folder: run_states(folder, read_plan(folder), tuple(recorded_runs(folder))),
        "show": lambda folder: describe_experiment(folder, ""),
        "report": read_experiment,
    }
    for name, read in readers.items():
        runs_of[name] = (count(lambda read=read: read(many)) - count(lambda read=read: read(few))) / 10  # type: ignore[misc]
    sys.stdout.write(json.dumps(answer | {"per run": runs_of}))


if __name__ == "__main__":
    main()
