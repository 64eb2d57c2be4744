"""Who may run what: claims of executors that live, have died, or come at the same moment."""

import dataclasses
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from frozen import TRAIN
from planned import execute

from deviate.errors import InUseError, RecordError
from deviate.model.plan import Settings
from deviate.records.layout import attempt_folder, attempts, claim_file, spec_file
from deviate.records.machine import machine_name
from deviate.records.runs import Claim, read_result, read_spec, write_claim, write_spec
from deviate.replay.adopt import MAKING, claim_attempt, claim_of, end_orphans, temporary_prefix
from deviate.replay.execute import Listeners, execute_orders
from deviate.replay.executors.local import LocalExecutor
from deviate.replay.processes import processes_of
from deviate.replay.protocol import Order, Outcome

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
    write_claim(attempt, claim_of(process.pid, time.time()))
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

    return execute_orders([], LocalExecutor(settings), settings, Listeners(more=more))


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
    (attempt / f".claim.json.{machine_name()}-{other.pid}").touch()
    (run / f".spec.json.{machine_name()}-{other.pid}").touch()
    (run / f"{MAKING}{time.time_ns()}.{machine_name()}-{other.pid}").mkdir()
    (run / f".spec.json.{machine_name()}-{os.getpid()}").touch()
    assert [outcome.status for outcome in execute([spec], it.snapshot, it.folder)] == ["completed"]
    assert not [path for path in run.glob(".*") if str(other.pid) in path.name]
    assert not list(attempt.glob(".*"))


def test_what_a_living_executor_is_writing_stays(frozen: Make, other: "subprocess.Popen[bytes]") -> None:
    it = frozen()
    (spec,) = it.specs(1)
    run = Order(it.folder, spec).run
    making = run / f"{MAKING}{time.time_ns()}.{machine_name()}-{other.pid}"
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
    outcomes = execute_orders([Order(it.folder, spec)], LocalExecutor(settings), settings)
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


def test_only_the_temporary_folder_made_for_an_attempt_is_removed_with_it(frozen, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    it = frozen()
    (spec,) = it.specs(1)
    run = Order(it.folder, spec).run
    run.mkdir(parents=True)
    write_spec(spec_file(run), spec)
    (tmp_path / "target").mkdir()
    names = ("precious", "deviate-thesis", f"{temporary_prefix(attempt_folder(run, 1))}x", "link", "own")
    kept = []
    for number, name in enumerate(names, 1):
        attempt = attempt_folder(run, number)
        folder = tmp_path / (f"{temporary_prefix(attempt)}x" if name in {"link", "own"} else name)
        if name == "link":
            folder.symlink_to(tmp_path / "target")
        elif not folder.exists():
            folder.mkdir()
        if name == names[2]:
            folder = tmp_path / "sub" / ".." / folder.name  # another spelling is not what was written
        attempt.mkdir()
        write_claim(attempt, dataclasses.replace(claim_of(1, 0.0), birth="never", temporary=str(folder)))
        end_orphans([run])
        kept.append(os.path.lexists(folder.parent.parent / folder.name if ".." in folder.parts else folder))
    assert kept[:2] == [True, True]
    assert kept[3:] == [True, False]
    assert (tmp_path / "target").is_dir()
    assert (tmp_path / names[2]).is_dir()


def _write(attempt: Path, claim: Claim) -> Path:
    attempt.mkdir(parents=True, exist_ok=True)
    write_claim(attempt, claim)
    return attempt


STRANGERS = {
    "another host": {"host": "another-host"},
    "another boot": {"boot": "another-boot"},
    "another namespace": {"namespace": "pid:[1]"},
    "a system that tells neither": {"boot": "", "namespace": ""},
}


@pytest.mark.parametrize("stranger", STRANGERS)
def test_an_executor_elsewhere_lives_as_long_as_its_heartbeat_changes_whatever_its_clock_says(
    tmp_path: Path, stranger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deviate.replay.adopt.STALE_S", 0.4)
    monkeypatch.setattr("deviate.replay.adopt.LOOK_S", 0.05)
    claim = dataclasses.replace(claim_of(os.getpid(), time.time() - 600), pid=1, birth="1", **STRANGERS[stranger])
    run = tmp_path / "run"
    attempt = _write(attempt_folder(run, 1), claim)
    with pytest.raises(InUseError, match="process 1 on"):
        end_orphans([run])  # who cannot wait takes it for alive
    beating = threading.Timer(
        0.2, lambda: write_claim(attempt, dataclasses.replace(claim, heartbeat=claim.heartbeat + 5))
    )
    beating.start()
    with pytest.raises(InUseError, match="process 1 on"):
        end_orphans([run], waits=True)
    beating.join()
    told: list[str] = []
    time.sleep(0.5)
    end_orphans([run], waits=True, on_notice=told.append)
    assert read_result(attempt).status == "lost"  # type: ignore[union-attr]


def test_a_run_that_still_writes_is_alive_though_its_executor_is_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deviate.replay.adopt.STALE_S", 0.4)
    monkeypatch.setattr("deviate.replay.adopt.LOOK_S", 0.05)
    attempt = _write(attempt_folder(tmp_path / "run", 1), Claim("another-host", 1, "1", 0.0, time.time()))
    writing = threading.Timer(0.2, lambda: (attempt / "events-1-1.jsonl").write_text("[]"))
    writing.start()
    with pytest.raises(InUseError):
        end_orphans([tmp_path / "run"], waits=True)
    writing.join()


def test_an_attempt_that_is_made_while_orphans_are_ended_is_left_alone(
    tmp_path: Path, other: "subprocess.Popen[bytes]", monkeypatch: pytest.MonkeyPatch
) -> None:
    run, another = tmp_path / "run", tmp_path / "run-2"
    dead = _write(attempt_folder(run, 1), dataclasses.replace(claim_of(1, 0.0), birth="never"))
    made: list[Path] = []

    def processes_of_dead(_: Path) -> list[int]:
        if not made:
            made.append(_write(attempt_folder(another, 1), claim_of(other.pid, time.time())))
        return []

    monkeypatch.setattr("deviate.replay.adopt.processes_of", processes_of_dead)
    end_orphans([run, another])
    assert read_result(dead).status == "lost"  # type: ignore[union-attr]
    assert read_result(made[0]) is None


def test_what_nobody_wrote_for_days_is_not_waited_for(tmp_path: Path) -> None:
    attempt = _write(attempt_folder(tmp_path / "run", 1), Claim("another-host", 1, "1", 0.0, time.time() - 3 * 86_400))
    os.utime(claim_file(attempt), (time.time() - 3 * 86_400,) * 2)
    end_orphans([tmp_path / "run"])
    assert read_result(attempt).status == "lost"  # type: ignore[union-attr]


def test_a_claim_that_cannot_be_read_may_be_that_of_a_living_executor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = attempt_folder(tmp_path / "run", 1)
    attempt.mkdir(parents=True)
    claim_file(attempt).write_text("{")
    with pytest.raises(InUseError):
        end_orphans([tmp_path / "run"])
    monkeypatch.setattr("deviate.replay.adopt.STALE_S", 0.1)
    monkeypatch.setattr("deviate.replay.adopt.LOOK_S", 0.05)
    end_orphans([tmp_path / "run"], waits=True)
    assert read_result(attempt).status == "lost"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("why", "cause"), [("Slurm job 3 OUT_OF_MEMORY", "memory"), ("Slurm job 3 NODE_FAIL (NodeDown)", "node")]
)
def test_what_a_scheduler_knows_of_the_end_is_recorded(why: str, cause: str, tmp_path: Path) -> None:
    dead = _write(attempt_folder(tmp_path / "run", 1), dataclasses.replace(claim_of(1, 0.0), birth="never"))
    end_orphans([tmp_path / "run"], why=why)
    result = read_result(dead)
    assert result is not None
    assert (result.status, result.reason, result.cause) == ("lost", why, cause)
