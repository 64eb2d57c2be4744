"""Runs that really run: outcomes, resumption, interruption, and the user's files."""

import hashlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import planned
import pytest
from planned import execute
from recorded import events_of

from deviate.errors import RecordError, RunError
from deviate.model.plan import Settings
from deviate.records.layout import attempt_folder, runs_folder, spec_file
from deviate.records.runs import Claim, run_id, write_claim, write_spec
from deviate.replay.adopt import claim_of
from deviate.replay.execute import Listeners, execute_orders
from deviate.replay.executors.local import LocalExecutor
from deviate.replay.processes import birth, is_alive
from deviate.replay.protocol import Order, Outcome, RunUpdate

from .conftest import Frozen

Make = Callable[..., Frozen]
BY_REPLICATE = "import os\nreplicate = int(os.environ['DEVIATE_REPLICATE'])\n"
WAITS = "import os, time\nwhile not os.path.exists(os.environ['{folder}'] + '/go'):\n    time.sleep(0.02)\n"
"""Goes on when the test says so, however busy the machine is."""
LAST_STEP = 2
"""The step and the value at the end of TRAIN."""


def run(it: Frozen, runs: int, *, jobs: int = 2, timeout: float | None = None) -> tuple[Outcome, ...]:
    return execute(it.specs(runs), it.snapshot, it.folder, jobs=jobs, timeout=timeout)


def interrupting(n: int) -> Callable[[RunUpdate], None]:
    """A listener that interrupts this process when so many runs have started."""
    started: list[RunUpdate] = []

    def take(update: RunUpdate) -> None:
        if update.kind == "started":
            started.append(update)
            if len(started) == n:
                os.kill(os.getpid(), signal.SIGINT)

    return take


def digest(folder: Path) -> str:
    """Of everything in the project but .deviate: names, bytes, times."""
    found = sorted(path for path in folder.rglob("*") if ".deviate" not in path.parts)
    facts = [(str(path), path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"") for path in found]
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def test_each_run_writes_its_own_files_and_the_project_stays_byte_identical(frozen: Make) -> None:
    it = frozen(
        BY_REPLICATE + "open('out.txt', 'w').write(str(replicate))\nopen('best.pt', 'wb').write(b'new')\n",
        files={"best.pt": b"x" * (1 << 21)},
        outputs=("best.pt",),
    )
    before = digest(it.root)
    outcomes = run(it, 3)
    assert [outcome.status for outcome in outcomes] == ["completed"] * 3
    work = [outcome.folder / "work/home/project" for outcome in outcomes]
    assert [(path / "out.txt").read_text() for path in work] == ["0", "1", "2"]
    assert digest(it.root) == before


def test_output_is_kept_byte_for_byte_and_values_are_recorded(frozen: Make) -> None:
    it = frozen("import sys\nsys.stderr.write('warned\\n')\nprint(repr(sys.stdin.read()))\n")
    (outcome,) = run(it, 1)
    assert (outcome.folder / "stdout.log").read_text() == "acc 0.0000\nacc 0.3333\nacc 0.6667\n''\n"
    assert (outcome.folder / "stderr.log").read_text() == "warned\n"
    assert [event[5] for event in events_of(outcome.folder) if event[0] == "value"] == [0.0, 1 / 3, 2 / 3]


def test_failures_are_outcomes_and_the_others_go_on(frozen: Make) -> None:
    more = "import signal, sys\n"
    more += "sys.exit(3) if replicate == 0 else os.kill(os.getpid(), signal.SIGSEGV) if replicate == 1 else None\n"
    outcomes = run(frozen(BY_REPLICATE + more), 3)
    assert [(it.status, it.reason) for it in outcomes] == [
        ("crashed", "exit code 3"),
        ("crashed", "killed by SIGSEGV"),
        ("completed", ""),
    ]


def test_what_is_on_record_is_not_run_again_and_more_runs_only_add(frozen: Make) -> None:
    it = frozen(BY_REPLICATE + "import sys\nsys.exit(replicate == 0)\n")
    first = run(it, 2)
    again = run(it, 4)
    assert [outcome.is_reused for outcome in again] == [True, True, False, False]
    assert [outcome.status for outcome in again] == ["crashed", "completed", "completed", "completed"]
    assert [outcome.folder for outcome in again[:2]] == [outcome.folder for outcome in first]


def test_a_run_killed_from_outside_is_started_anew_with_the_same_spec(frozen: Make) -> None:
    it = frozen("import os, pathlib\nif 'attempt-1' in os.getcwd():\n    os.system(f'kill -9 {os.getpid()}')\n")
    (outcome,) = run(it, 1)
    assert (outcome.status, outcome.folder.name) == ("completed", "attempt-2")
    assert json.loads((outcome.folder.parent / "attempt-1/result.json").read_text())["status"] == "lost"


def test_a_run_that_is_always_killed_stays_lost_and_is_tried_again_next_time(frozen: Make) -> None:
    it = frozen("import os\nos.system(f'kill -9 {os.getpid()}')\n")
    assert [outcome.status for outcome in run(it, 1)] == ["lost"]
    assert [(outcome.status, outcome.folder.name) for outcome in run(it, 1)] == [("lost", "attempt-4")]


def test_a_run_whose_events_were_cut_off_under_way_is_lost_even_where_it_leaves_without_a_word(frozen: Make) -> None:
    it = frozen(
        WAITS.format(folder="DEVIATE_RUN_DIR") + "import glob\n"
        "(path,) = glob.glob(os.environ['DEVIATE_RUN_DIR'] + '/events-*')\n"
        "lines = open(path, 'rb').read().splitlines(keepends=True)\n"
        "os.truncate(path, len(b''.join(lines[:-1])))\nos._exit(0)\n"
    )

    def go(update: RunUpdate) -> None:
        if update.step == LAST_STEP:
            (update.folder / "go").touch()

    (outcome,) = execute(it.specs(1), it.snapshot, it.folder, on_update=go)
    assert (outcome.status, outcome.reason) == ("lost", "an event file lacks what was recorded")


def test_a_time_out_ends_the_run_and_all_it_started(frozen: Make) -> None:
    it = frozen("import subprocess, time\nchild = subprocess.Popen(['sleep', '600'])\n"
                "open('pid', 'w').write(str(child.pid))\ntime.sleep(600)\n")  # fmt: skip
    for n, patience in enumerate((1.0, 5.0, 25.0, 125.0), 1):  # the time also counts until Python has begun
        outcome = run(it, n, timeout=patience)[-1]
        pid = outcome.folder / "work/home/project/pid"
        if pid.exists() and pid.read_text():
            break
    assert outcome.wall_time_s < 300
    assert (outcome.status, outcome.reason) == ("timed_out", f"took longer than {patience:g} s")
    assert birth(int(pid.read_text())) == ""


def test_what_a_command_leaves_behind_is_ended_with_it(frozen: Make) -> None:
    it = frozen("import subprocess\nopen('pid', 'w').write(str(subprocess.Popen(['sleep', '600']).pid))\n")
    (outcome,) = run(it, 1)
    assert outcome.status == "completed"
    assert outcome.wall_time_s < 300
    assert birth(int((outcome.folder / "work/home/project/pid").read_text())) == ""


def test_what_a_command_leaves_behind_in_a_session_of_its_own_is_ended_too(frozen: Make) -> None:
    """It would meet the next attempt, and write to a record that is closed."""
    it = frozen("import subprocess\nchild = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
                "open('pid', 'w').write(str(child.pid))\n")  # fmt: skip
    (outcome,) = run(it, 1)
    assert outcome.status == "completed"
    assert birth(int((outcome.folder / "work/home/project/pid").read_text())) == ""


@pytest.mark.parametrize(
    ("command", "cause"),
    [
        (("env", "-i", "/bin/sh", "-c", "echo hello"), "env -i"),
        ((sys.executable, "-I", "-c", "print('hello')"), "-I"),
        (("sh", "-c", "echo hello; echo oops >&2; exit 3"), "no Python 3.8"),
    ],
)
def test_a_first_run_without_the_guest_ends_everything_with_the_cause(
    frozen: Make, command: tuple[str, ...], cause: str
) -> None:
    it = frozen()
    with pytest.raises(RunError, match="no Python process of the first run reported") as caught:
        execute(it.specs(20, command=command), it.snapshot, it.folder, jobs=1)
    assert cause in caught.value.hint
    assert len(list(runs_folder(it.folder).glob("*/attempt-*/stdout.log"))) <= 2
    if command[0] == "sh":
        assert "oops" in caught.value.message
        assert "exit code 3" in caught.value.message


def test_a_command_that_does_not_exist_is_one_message(frozen: Make) -> None:
    it = frozen()
    with pytest.raises(RunError, match="starting 'no-such-program': No such file"):
        execute(it.specs(3, command=("no-such-program",)), it.snapshot, it.folder, jobs=2)


def test_updates_tell_of_start_progress_and_end(frozen: Make) -> None:
    it = frozen(WAITS.format(folder="DEVIATE_ROOT"))
    updates: list[RunUpdate] = []

    def take(update: RunUpdate) -> None:
        updates.append(update)
        if update.step == LAST_STEP:
            (it.root / "go").touch()

    execute(it.specs(1), it.snapshot, it.folder, jobs=1, on_update=take)
    assert [kind for kind, _ in itertools.groupby(updates, lambda update: update.kind)] == [
        "started",
        "progress",
        "finished",
    ]
    assert updates[-2].step == LAST_STEP
    assert updates[-1].is_completed
    assert 0 < updates[-1].wall_time_s < 300


def test_an_interrupt_ends_the_runs_and_the_next_call_finishes_the_plan(frozen: Make) -> None:
    it = frozen("import os, time\nif not os.path.exists(os.environ['DEVIATE_ROOT'] + '/go'):\n    time.sleep(600)\n")
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        execute(it.specs(5), it.snapshot, it.folder, jobs=2, on_update=interrupting(1))
    assert time.monotonic() - began < 300
    results = [json.loads(path.read_text()) for path in runs_folder(it.folder).glob("*/*/result.json")]
    assert {result["status"] for result in results} == {"cancelled"}
    (it.root / "go").touch()
    assert [outcome.status for outcome in run(it, 5)] == ["completed"] * 5


def test_a_killed_parent_leaves_orphans_that_the_next_call_ends_before_it_starts_anything(
    frozen: Make, tmp_path: Path
) -> None:
    it = frozen("import os, time\nopen(f'{os.environ[\"DEVIATE_RUN_DIR\"]}/pid', 'w').write(str(os.getpid()))\n"
                "if 'attempt-1' in os.getcwd():\n    time.sleep(600)\n")  # fmt: skip
    script = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(planned.__file__).parent)!r})
from deviate.model.plan import Snapshot
from deviate.replay.variants import VARIANTS
from planned import execute, plan
snapshot = Snapshot(Path({str(it.snapshot.folder)!r}), Path({str(it.root)!r}), {it.snapshot.sources_hash!r})
specs = plan(snapshot, command=({sys.executable!r}, "train.py"), cwd=".", variant=VARIANTS["as-is"], runs=2, seed=0)
execute(specs, snapshot, Path({str(it.folder)!r}), jobs=2)
"""
    parent = subprocess.Popen([sys.executable, "-c", script])
    orphans: list[int] = []
    until = time.monotonic() + 120
    while len(orphans) < 2 and time.monotonic() < until:
        time.sleep(0.05)
        said = [path.read_text() for path in it.folder.glob("runs/*/attempt-1/pid")]
        orphans = [int(pid) for pid in said if pid]
    parent.kill()
    parent.wait()
    assert len(orphans) == 2
    assert all(birth(pid) for pid in orphans)
    assert [outcome.status for outcome in run(it, 2)] == ["completed"] * 2
    assert not any(birth(pid) for pid in orphans)
    lost = [json.loads(path.read_text())["status"] for path in it.folder.glob("runs/*/attempt-1/result.json")]
    assert lost == ["lost", "lost"]


@pytest.mark.parametrize(
    "name", ["guest/sitecustomize.py", "guest/_deviate_guest/runtime/__init__.py", "guest/_deviate_guest/manifest.json"]
)
def test_nothing_is_run_with_a_guest_that_is_damaged(frozen: Make, name: str) -> None:
    it = frozen()
    path = it.snapshot.folder / name
    path.write_bytes(path.read_bytes().replace(b"0", b"1").replace(b"e", b"f", 1))
    with pytest.raises(RecordError, match=f"{path.name} is damaged"):
        run(it, 1)


def claimed(it: Frozen, claim: Claim) -> None:
    (spec,) = it.specs(1)
    folder = attempt_folder(runs_folder(it.folder) / run_id(spec), 1)
    folder.mkdir(parents=True)
    write_spec(spec_file(folder.parent), spec)
    write_claim(folder, claim)


def test_an_experiment_that_a_living_process_runs_is_left_alone(frozen: Make) -> None:
    it = frozen()
    with subprocess.Popen(["sleep", "600"]) as other:
        claimed(it, claim_of(other.pid, 0.0))
        with pytest.raises(RunError, match=f"being run by process {other.pid}"):
            run(it, 1)
        assert is_alive(other.pid, birth(other.pid))
        other.kill()


def test_a_large_file_changed_through_a_link_is_told_in_the_result(frozen: Make) -> None:
    it = frozen(
        "import subprocess\nsubprocess.run(['dd', 'if=/dev/zero', 'of=data.bin', 'bs=1', 'count=1', 'conv=notrunc'])\n",
        files={"data.bin": b"x" * (1 << 21)},
    )
    (outcome,) = run(it, 1)
    (warning,) = json.loads((outcome.folder / "result.json").read_text())["warnings"]
    assert warning.startswith("data.bin was changed in place")


def test_runs_at_once_are_as_many_as_jobs(frozen: Make) -> None:
    it = frozen("import time\ntime.sleep(0.4)\n")
    run(it, 5)
    spans = [json.loads(path.read_text()) for path in it.folder.glob("runs/*/*/result.json")]
    moments = sorted(
        [(span["started"], 1) for span in spans] + [(span["started"] + span["wall_time_s"], -1) for span in spans]
    )
    running = [sum(change for _, change in moments[: index + 1]) for index in range(len(moments))]
    assert max(running) == 2


def test_a_python_that_trains_on_without_the_guest_is_not_waited_for(
    frozen: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules["deviate.replay.executors.local"]
    monkeypatch.setattr(module, "DEAF_S", 0.5)
    monkeypatch.setattr(module, "HEARTBEAT_S", 0.2)
    it = frozen()
    began = time.monotonic()
    with pytest.raises(RunError, match="no Python process of the first run reported"):
        execute(
            it.specs(2, command=(sys.executable, "-I", "-c", "import time; time.sleep(600)")),
            it.snapshot,
            it.folder,
            jobs=1,
        )
    assert time.monotonic() - began < 300


def test_the_first_interrupt_lets_running_runs_finish_and_starts_no_other(frozen: Make) -> None:
    it, notices = frozen(WAITS.format(folder="DEVIATE_ROOT")), []

    def go(notice: str) -> None:
        notices.append(notice)
        (it.root / "go").touch()

    settings = Settings(jobs=2)
    orders = [Order(it.folder, spec) for spec in it.specs(6)]
    with pytest.raises(KeyboardInterrupt):
        execute_orders(orders, LocalExecutor(settings), settings, Listeners(interrupting(2), on_notice=go), drains=True)
    results = [json.loads(path.read_text())["status"] for path in it.folder.glob("runs/*/*/result.json")]
    assert results.count("completed") == 2
    assert set(results) <= {"completed", "cancelled"}
    assert notices[0].startswith("No new runs")


def test_a_second_interrupt_ends_them_and_the_next_call_does_what_is_missing(frozen: Make) -> None:
    it = frozen("import os, time\nif not os.path.exists(os.environ['DEVIATE_ROOT'] + '/go'):\n    time.sleep(600)\n")
    settings = Settings(jobs=2)
    orders = [Order(it.folder, spec) for spec in it.specs(3)]
    listeners = Listeners(interrupting(1), on_notice=lambda _: os.kill(os.getpid(), signal.SIGINT))
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        execute_orders(orders, LocalExecutor(settings), settings, listeners, drains=True)
    assert time.monotonic() - began < 300
    (it.root / "go").touch()
    outcomes = execute_orders(orders, LocalExecutor(settings), settings)
    assert [outcomes[order].status for order in orders] == ["completed"] * 3


def test_records_that_are_removed_while_runs_go_on_end_everything_with_one_message(frozen: Make) -> None:
    it = frozen("import time\nopen(os.environ['DEVIATE_ROOT'] + '/pid', 'w').write(str(os.getpid()))\ntime.sleep(600)\n"
                .replace("import time", "import os, time"))  # fmt: skip
    pid = it.root / "pid"

    def remove() -> None:
        while not (pid.exists() and pid.read_text()):
            time.sleep(0.02)
        time.sleep(0.5)
        while it.folder.exists():
            shutil.rmtree(it.folder, ignore_errors=True)

    remover = threading.Thread(target=remove, daemon=True)
    remover.start()
    began = time.monotonic()
    with pytest.raises(RecordError, match="No such file"):
        execute(it.specs(2), it.snapshot, it.folder, jobs=1)
    assert time.monotonic() - began < 300
    remover.join(300)
    assert birth(int(pid.read_text())) == ""


def test_after_so_many_failures_no_further_run_is_started(frozen: Make) -> None:
    it = frozen("import sys\nsys.exit(1)\n")
    settings = Settings(jobs=1, max_failures=2)
    orders = [Order(it.folder, spec) for spec in it.specs(8)]
    outcomes = execute_orders(orders, LocalExecutor(settings), settings)
    n_crashed = [outcome.status for outcome in outcomes.values()].count("crashed")
    assert 2 <= n_crashed <= 3  # one more may have been started while the second one was judged


def test_a_budget_starts_no_run_that_would_not_end_in_it(frozen: Make) -> None:
    it = frozen("import time\ntime.sleep(0.8)\n")
    settings = Settings(jobs=1)
    orders = [Order(it.folder, spec) for spec in it.specs(50)]
    began = time.monotonic()
    outcomes = execute_orders(orders, LocalExecutor(settings), settings, budget_s=8.0)
    assert time.monotonic() - began < 30
    completed = [outcome for outcome in outcomes.values() if outcome.status == "completed"]
    assert 1 <= len(completed) <= 10  # more would not end in it
