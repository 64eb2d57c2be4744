"""What every executor has to do, on this machine and on clusters of real schedulers."""

import itertools
import json
import os
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from recorded import events_of

from deviate.errors import RunError
from deviate.model.plan import Settings
from deviate.records.layout import attempts
from deviate.records.runs import read_claim
from deviate.replay.execute import Listeners, execute_orders
from deviate.replay.processes import birth
from deviate.replay.protocol import Executor, Order, Outcome, RunUpdate

from .conftest import CLUSTERS, Place

Make = Callable[..., tuple[Order, ...]]
OF_WORKERS = pytest.mark.parametrize("place", ["workers", *CLUSTERS], indirect=True)
"""A process of its own, which may die, looks after each run."""

PIDS = "import os, time\nopen(os.environ['DEVIATE_ROOT'] + '/pids', 'a').write(f'{os.getpid()}\\n')\n"
"""Every process of a training is known by its number …"""
ALONE = """
import os, time
here = os.environ['DEVIATE_ROOT'] + '/alive-' + os.environ['DEVIATE_REPLICATE']
for pid in open(here).read().split() if os.path.exists(here) else []:
    try:
        with open(f'/proc/{pid}/stat') as stat:
            is_alive = stat.read().rpartition(')')[2].split()[0] not in 'ZX'
    except OSError:
        continue
    if is_alive:
        open(os.environ['DEVIATE_ROOT'] + '/two', 'a').write('two at once\\n')
open(here, 'a').write(f'{os.getpid()}\\n')
"""
"""… and one that meets another attempt of its run alive says so."""
FIRST_WAITS = "if 'attempt-1/' in os.environ['DEVIATE_RUN_DIR'] + '/':\n    time.sleep(300)\n"


def root_of(order: Order) -> Path:
    return order.experiment.parents[2]


def pids_in(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def assert_gone(pids: list[int]) -> None:
    """What was killed may need a moment for it."""
    until = time.monotonic() + 300
    while any(map(birth, pids)):
        assert time.monotonic() < until
        time.sleep(0.05)


def wait_for(executor: Executor, is_there: Callable[[], object]) -> list[RunUpdate]:
    """Poll until something is there; gives the news."""
    news: list[RunUpdate] = []
    until = time.monotonic() + 300
    while not is_there():
        assert time.monotonic() < until
        news += executor.poll(0.1)
    return news


def ended(executor: Executor, n: int) -> dict[str, Outcome]:
    """The outcome of each of so many runs, by run id."""
    last: dict[str, Outcome] = {}
    until = time.monotonic() + 300
    while len(last) < n:
        assert time.monotonic() < until
        last.update({update.order.run.name: update.outcome for update in executor.poll(0.2) if update.outcome})
    return last


def carried_out(orders: Sequence[Order], place: Place, settings: Settings | None = None) -> list[tuple[str, str]]:
    """Status and attempt of each order after all was done."""
    settings = settings or Settings(jobs=2)
    outcomes = execute_orders(orders, place.make(settings), settings)
    return [(outcomes[order].status, outcomes[order].folder.name) for order in orders]


def test_a_run_completes_and_its_values_and_output_are_recorded(place: Place, orders: Make) -> None:
    waits = "while not os.path.exists(os.environ['DEVIATE_ROOT'] + '/go'):\n    time.sleep(0.02)\n"
    (order,) = orders("import os, sys, time\nsys.stderr.write('warned\\n')\n" + waits)
    last = 2
    settings = Settings()
    news: list[RunUpdate] = []

    def take(update: RunUpdate) -> None:
        news.append(update)
        if update.step == last:
            (root_of(order) / "go").touch()

    outcomes = execute_orders([order], place.make(settings), settings, Listeners(take))
    assert outcomes[order].status == "completed"
    attempt = outcomes[order].folder
    assert (attempt / "stdout.log").read_text() == "acc 0.0000\nacc 0.3333\nacc 0.6667\n"
    assert (attempt / "stderr.log").read_text() == "warned\n"
    assert [event[5] for event in events_of(attempt) if event[0] == "value"] == [0.0, 1 / 3, 2 / 3]
    assert json.loads((attempt / "result.json").read_text())["status"] == "completed"
    kinds = [kind for kind, _ in itertools.groupby(news, lambda update: update.kind)]
    assert kinds == ["started", "progress", "finished"]
    assert news[-2].step == last
    assert {update.folder for update in news} == {attempt}


def test_a_crash_is_a_crash_and_the_others_go_on(place: Place, orders: Make) -> None:
    three = orders("import os, sys\nsys.exit(3 * (os.environ['DEVIATE_REPLICATE'] == '1'))\n", runs=3)
    settings = Settings(jobs=2)
    outcomes = execute_orders(three, place.make(settings), settings)
    told = [(outcomes[order].status, outcomes[order].reason) for order in three]
    assert told == [("completed", ""), ("crashed", "exit code 3"), ("completed", "")]
    assert all(len(attempts(order.run)) == 1 for order in three)


@pytest.mark.slow
def test_a_time_out_ends_a_run_and_all_it_started(place: Place, orders: Make) -> None:
    more = PIDS + "import subprocess\nsubprocess.Popen(['sh', '-c', 'echo $$ >> $DEVIATE_ROOT/pids; sleep 900'])\n"
    for number, timeout_s in enumerate((4, 20, 60, 240)):  # within it both processes have to begin
        settings = Settings(timeout_s=timeout_s)
        (order,) = orders(more + "time.sleep(900)\n", settings=settings, name=f"project-{number}")
        outcomes = execute_orders([order], place.make(settings), settings)
        assert (outcomes[order].status, outcomes[order].reason) == ("timed_out", f"took longer than {timeout_s} s")
        pids = pids_in(root_of(order) / "pids")
        assert_gone(pids)
        if len(pids) == 2:
            break
    assert len(pids) == 2


@pytest.mark.parametrize("at_once", [False, True])
def test_a_cancelled_run_leaves_nothing_running(place: Place, orders: Make, at_once: bool) -> None:  # noqa: FBT001
    three = orders(PIDS + "time.sleep(300)\n", runs=3)
    executor = place.make(Settings())
    submitted = three[: executor.capacity]
    executor.submit(submitted)
    pids = root_of(three[0]) / "pids"
    wait_for(executor, lambda: pids_in(pids) and any(map(read_claims, submitted)))
    begun, queued, *_ = sorted(submitted, key=lambda order: not read_claims(order))  # Ray begins with any of them
    for order in (begun, queued):
        executor.cancel(order, at_once=at_once)
    last = ended(executor, 2)
    assert [last[order.run.name].status for order in (begun, queued)] == ["cancelled"] * 2
    executor.close()
    assert_gone(pids_in(pids))
    (attempt,) = attempts(begun.run)
    assert json.loads((attempt / "result.json").read_text())["status"] in {"cancelled", "lost"}  # both run again


def read_claims(order: Order) -> list[int]:
    """The leaders of what runs of an order."""
    claims = [read_claim(attempt) for attempt in attempts(order.run)]
    return [claim.process for claim in claims if claim and claim.process]


def test_closing_ends_what_is_under_way(place: Place, orders: Make) -> None:
    two = orders(PIDS + "time.sleep(300)\n", runs=2)
    executor = place.make(Settings(jobs=2))
    executor.submit(two)
    pids = root_of(two[0]) / "pids"
    wait_for(executor, lambda: pids_in(pids))
    executor.close()
    assert_gone(pids_in(pids))


def test_many_runs_are_each_done_once(place: Place, orders: Make) -> None:
    many = orders(PIDS, runs=7)
    assert carried_out(many, place) == [("completed", "attempt-1")] * 7
    assert len(pids_in(root_of(many[0]) / "pids")) == 7


def test_what_is_on_record_is_not_run_again(place: Place, orders: Make) -> None:
    two = orders(PIDS, runs=2)
    carried_out(two[:1], place)
    assert carried_out(two, place) == [("completed", "attempt-1")] * 2
    assert len(pids_in(root_of(two[0]) / "pids")) == 2


def test_variables_and_work_copy_are_those_of_the_run(
    place: Place, orders: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FROM_THE_SHELL", "as it was")
    more = """
import json, os
names = ('FROM_THE_SHELL', 'DEVIATE_REPLICATE', 'DEVIATE_VARIANT', 'DEVIATE_RUN_DIR', 'DEVIATE_ROOT', 'PATH')
json.dump({**{name: os.environ[name] for name in names}, 'cwd': os.getcwd()}, open('seen.json', 'w'))
"""
    two = orders(more, runs=2)
    carried_out(two, place)
    for replicate, order in enumerate(two):
        (attempt,) = attempts(order.run)
        work = attempt / "work/home/project"
        assert json.loads((work / "seen.json").read_text()) == {
            "FROM_THE_SHELL": "as it was",
            "DEVIATE_REPLICATE": str(replicate),
            "DEVIATE_VARIANT": "as-is",
            "DEVIATE_RUN_DIR": str(attempt),
            "DEVIATE_ROOT": str(root_of(order)),
            "PATH": os.environ["PATH"],
            "cwd": str(work),
        }
    assert not (root_of(two[0]) / "seen.json").exists()


def test_a_first_run_without_the_guest_ends_everything(place: Place, orders: Make) -> None:
    two = orders(runs=2, command=("sh", "-c", "echo oops >&2; exit 3"))
    settings = Settings()
    with pytest.raises(RunError, match="no Python process of the first run reported"):
        execute_orders(two, place.make(settings), settings)


def test_a_run_that_is_killed_is_started_anew(place: Place, orders: Make) -> None:
    (order,) = orders(ALONE + "if 'attempt-1' in os.getcwd():\n    os.system(f'kill -9 {os.getpid()}')\n")
    assert carried_out([order], place) == [("completed", "attempt-2")]
    assert not (root_of(order) / "two").exists()


@OF_WORKERS  # elsewhere the executor itself looks after its runs
def test_a_lost_worker_loses_its_run_and_a_new_attempt_never_meets_the_old_one(place: Place, orders: Make) -> None:
    two = orders(ALONE + FIRST_WAITS, runs=2)
    executor = place.make(Settings())
    killed: list[int] = []

    def kill_workers(_: RunUpdate) -> None:
        for order in two:
            for attempt in attempts(order.run):
                claim = read_claim(attempt)
                if attempt.name == "attempt-1" and claim and claim.process and claim.pid not in killed:
                    until = time.monotonic() + 300
                    while not (root_of(order) / f"alive-{order.spec.replicate}").exists():
                        assert time.monotonic() < until
                        time.sleep(0.02)
                    os.kill(claim.pid, signal.SIGKILL)
                    killed.append(claim.pid)

    settings = Settings(jobs=2)
    outcomes = execute_orders(two, executor, settings, Listeners(kill_workers))
    assert len(killed) == 2
    assert [(outcomes[order].status, outcomes[order].folder.name) for order in two] == [("completed", "attempt-2")] * 2
    first = [json.loads((order.run / "attempt-1/result.json").read_text()) for order in two]
    assert [(result["status"], result["cause"]) for result in first] == [("lost", "node")] * 2
    assert not (root_of(two[0]) / "two").exists()


@OF_WORKERS  # where an experiment is run on this machine, the second one is refused
def test_two_executors_never_run_the_same_run_twice(place: Place, orders: Make) -> None:
    (order,) = orders(PIDS + "time.sleep(2)\n")
    one, other = place.make(Settings()), place.make(Settings())
    one.submit([order])
    other.submit([order])
    last = {**ended(one, 1), "other": ended(other, 1)[order.run.name]}
    assert [outcome.status for outcome in last.values()] == ["completed"] * 2
    assert len(pids_in(root_of(order) / "pids")) == 1
    one.close()
    other.close()
