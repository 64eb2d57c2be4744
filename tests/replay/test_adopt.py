"""Who may run what: claims of executors that live, have died, or come at the same moment."""

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from frozen import TRAIN

from deviate.errors import InUseError, RecordError
from deviate.model import Settings
from deviate.records.attempts import Claim, read_result, write_claim
from deviate.records.layout import attempt_folder, attempts, spec_file
from deviate.records.specs import read_spec, write_spec
from deviate.replay.adopt import MAKING, claim_attempt, end_orphans
from deviate.replay.execute import Listeners, carry_out, execute
from deviate.replay.executors.local import LocalExecutor
from deviate.replay.processes import birth, processes_of
from deviate.replay.updates import Order, Outcome

Make = Callable[..., "Frozen"]  # type: ignore[name-defined]  # noqa: F821  (of conftest.py)


@pytest.fixture
def other() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that lives, and may hold a claim."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


def hold(run: Path, process: "subprocess.Popen[bytes]") -> Path:
    attempt = attempt_folder(run, 1)
    attempt.mkdir(parents=True)
    now = time.time()
    write_claim(attempt, Claim(socket.gethostname(), process.pid, birth(process.pid), now, now))
    return attempt


def carried_out(order: Order, before: Callable[[], object]) -> dict[Order, Outcome]:
    """Carry out an order that comes when all is under way, after something else has happened."""
    settings = Settings()
    told: list[Order] = []

    def more(_: Sequence[Outcome]) -> Sequence[Order]:
        if not told:
            before()
            told.append(order)
            return told
        return ()

    return carry_out([], LocalExecutor(settings), settings, Listeners(more=more))


def test_who_comes_second_leaves_no_attempt_and_says_who_was_first(
    tmp_path: Path, other: "subprocess.Popen[bytes]"
) -> None:
    first = hold(tmp_path / "run", other)
    with pytest.raises(InUseError, match=f"process {other.pid}"):
        claim_attempt(tmp_path / "run")
    assert attempts(tmp_path / "run") == (first,)
    assert not list((tmp_path / "run").glob(f"{MAKING}*"))


def test_a_run_that_another_process_takes_meanwhile_is_refused_at_once(
    frozen: Make, other: "subprocess.Popen[bytes]"
) -> None:
    it = frozen()
    order = Order(it.folder, it.specs(1)[0])
    with pytest.raises(InUseError, match=f"process {other.pid}"):
        carried_out(order, lambda: hold(order.run, other))
    assert len(attempts(order.run)) == 1


def test_a_run_that_another_process_brings_to_an_end_meanwhile_is_not_run_again(frozen: Make) -> None:
    it = frozen()
    specs = it.specs(1)
    order = Order(it.folder, specs[0])
    outcomes = carried_out(order, lambda: execute(specs, it.snapshot, it.folder))
    assert [(it.status, it.is_reused) for it in outcomes.values()] == [("completed", True)]
    assert len(attempts(order.run)) == 1


def test_a_run_whose_executor_comes_and_dies_meanwhile_is_run(frozen: Make, other: "subprocess.Popen[bytes]") -> None:
    it = frozen()
    order = Order(it.folder, it.specs(1)[0])

    def die() -> None:
        hold(order.run, other)
        other.kill()
        other.wait()

    assert [it.status for it in carried_out(order, die).values()] == ["completed"]
    assert [read_result(attempt).status for attempt in attempts(order.run)] == ["lost", "completed"]  # type: ignore[union-attr]


def test_a_spec_that_a_power_cut_took_is_written_anew(frozen: Make) -> None:
    it = frozen()
    specs = it.specs(2)
    execute(specs[:1], it.snapshot, it.folder)
    for spec in specs:
        path = spec_file(Order(it.folder, spec).run)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    assert [it.status for it in execute(specs, it.snapshot, it.folder)] == ["completed"] * 2
    assert [read_spec(spec_file(Order(it.folder, spec).run)) for spec in specs] == list(specs)


def test_what_an_executor_that_died_was_writing_is_removed(frozen: Make, other: "subprocess.Popen[bytes]") -> None:
    it = frozen()
    (spec,) = it.specs(1)
    run = Order(it.folder, spec).run
    attempt = hold(run, other)
    other.kill()
    other.wait()
    (attempt / f".claim.json.{socket.gethostname()}-{other.pid}").touch()
    (run / f".spec.json.{socket.gethostname()}-{other.pid}").touch()
    (run / f"{MAKING}{time.time_ns()}.{socket.gethostname()}-{other.pid}").mkdir()
    (run / f".spec.json.{socket.gethostname()}-{os.getpid()}").touch()
    assert [outcome.status for outcome in execute([spec], it.snapshot, it.folder)] == ["completed"]
    assert not [path for path in run.glob(".*") if str(other.pid) in path.name]
    assert not list(attempt.glob(".*"))


def test_what_a_living_executor_is_writing_stays(frozen: Make, other: "subprocess.Popen[bytes]") -> None:
    it = frozen()
    (spec,) = it.specs(1)
    run = Order(it.folder, spec).run
    making = run / f"{MAKING}{time.time_ns()}.{socket.gethostname()}-{other.pid}"
    making.mkdir(parents=True)
    execute([spec], it.snapshot, it.folder)
    assert making.exists()


def test_a_work_copy_that_was_never_whole_is_not_continued(frozen: Make, other: "subprocess.Popen[bytes]") -> None:
    """A run that goes on in half a copy would fail, or see half of the data."""
    it = frozen()
    (spec,) = it.specs(1)
    attempt = hold(Order(it.folder, spec).run, other)
    (attempt / "work/home/project").mkdir(parents=True)
    other.kill()
    other.wait()
    settings = Settings(requeue="continue")
    outcomes = carry_out([Order(it.folder, spec)], LocalExecutor(settings), settings)
    assert [it.status for it in outcomes.values()] == ["completed"]


SPOIL = (
    TRAIN
    + """
import glob, os, time
mine = os.environ["DEVIATE_RUN_DIR"]
if os.environ["DEVIATE_REPLICATE"] == "0":
    claims = []
    while not claims:
        claims = [it for it in glob.glob(f"{mine}/../../*/attempt-1/claim.json") if mine not in os.path.abspath(it)]
    while not os.path.isdir(os.path.dirname(claims[0]) + "/work/home/project"):
        time.sleep(0.02)
    time.sleep(1.0)  # it is ready, and nobody writes to its claim before it starts
    os.remove(claims[0])
    os.makedirs(claims[0] + "/full")  # from now on it cannot be written
else:
    time.sleep(60)
"""
)


def test_a_run_whose_claim_the_disk_does_not_take_is_not_left_running(
    frozen: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would meet the next attempt: the one with a result is not looked at again."""
    monkeypatch.setattr(LocalExecutor, "_beat", lambda *_: None)
    it = frozen(SPOIL.removeprefix(TRAIN))
    with pytest.raises(RecordError, match=r"claim\.json"):
        execute(it.specs(2), it.snapshot, it.folder)
    first, second = (Order(it.folder, spec).run for spec in it.specs(2))
    assert read_result(attempts(first)[0]).status == "completed"  # type: ignore[union-attr]
    time.sleep(0.3)  # a process that has just begun does not show yet what it belongs to
    assert not processes_of(attempts(second)[0])


def test_only_a_temporary_folder_of_ours_is_removed_with_an_orphan(frozen, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    it = frozen()
    (spec,) = it.specs(1)
    run = Order(it.folder, spec).run
    run.mkdir(parents=True)
    write_spec(spec_file(run), spec)
    precious, ours = tmp_path / "precious", tmp_path / "deviate-x"
    for number, folder in enumerate((precious, ours), 1):
        folder.mkdir()
        attempt = attempt_folder(run, number)
        attempt.mkdir()
        write_claim(attempt, Claim(socket.gethostname(), 1, "never", 0.0, 0.0, temporary=str(folder)))
        end_orphans([run])
    assert (precious.exists(), ours.exists()) == (True, False)
