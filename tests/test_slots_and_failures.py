"""Slots, failures and interruptions as a user of `deviate run` meets them."""

import csv
import io
import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

SHOW = """\
import os, random
for epoch in range(2):
    acc = random.random()
    print("acc", acc)
for name in ("CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "TMPDIR", "MASTER_PORT"):
    print(name, os.environ.get(name))
"""
LOOP = """\
import os, random, sys, time
replicate = int(os.environ["DEVIATE_REPLICATE"])
for epoch in range(3):
    loss = random.random()
    print("loss", loss, flush=True)
    {inside}
{after}
"""


MEETS = """
import time
own = int(os.environ["DEVIATE_REPLICATE"])
here, other = (os.environ["DEVIATE_ROOT"] + f"/begun-{replicate}" for replicate in (own, own ^ 1))
open(here, "w").close()
while not os.path.exists(other):
    time.sleep(0.01)
"""
"""A run that ends when its neighbour has begun."""


@pytest.fixture
def deviate(project: Path, deviate_in, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Runs `deviate …` in a project with a script that shows what its run was given."""
    (project / "show.py").write_text(SHOW)
    for name in ("OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    return deviate_in(project)


def write(project: Path, inside: str = "pass", after: str = "") -> None:
    (project / "train.py").write_text(LOOP.format(inside=inside, after=after))


def shown(project: Path, name: str = "show") -> list[dict[str, str]]:
    """What each run was given."""
    logs = sorted((project / ".deviate/experiments" / name / "runs").glob("*/attempt-*/stdout.log"))
    return [dict(line.split(" ", 1) for line in log.read_text().splitlines() if line[0].isupper()) for log in logs]


def results(project: Path, name: str = "train") -> dict[tuple[int, int], dict[str, object]]:
    """The result of each attempt, by replicate and number of the attempt."""
    found = {}
    for path in (project / ".deviate/experiments" / name / "runs").glob("*/attempt-*/result.json"):
        spec = json.loads((path.parents[1] / "spec.json").read_text())
        found[spec["replicate"], int(path.parent.name.partition("-")[2])] = json.loads(path.read_text())
    return dict(sorted(found.items()))


@pytest.mark.parametrize(
    ("options", "seen"),
    [
        (("--gpus", "0,1", "--per-gpu", "2"), ["0", "0", "1", "1"]),
        (("--gpus", "0,1,2,3", "--gpus-per-run", "2"), ["0,1", "0,1", "2,3", "2,3"]),
        (("--gpus", "0,1", "--jobs", "1"), ["0"] * 4),
        (("--jobs", "2"), ["None"] * 4),
    ],
)
def test_each_run_sees_the_devices_of_its_slot_alone(
    options: tuple[str, ...], seen: list[str], project: Path, deviate, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    if "--gpus" in options:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3")
    (project / "show.py").write_text(SHOW + ("" if "1" in options else MEETS))
    answer = deviate("run", "show.py", "--runs", "4", *options, "--quiet")
    assert answer.code == 0, answer.both
    found = shown(project)
    assert sorted(it["CUDA_VISIBLE_DEVICES"] for it in found) == seen
    assert len({it["TMPDIR"] for it in found}) == 4
    assert len({it["MASTER_PORT"] for it in found}) > 1  # each is a free one at random, so that two may be equal
    assert not any(Path(it["TMPDIR"]).exists() for it in found)


def test_runs_at_a_time_share_the_cores_but_not_where_nothing_is_touched(
    project: Path, deviate, monkeypatch: pytest.MonkeyPatch
) -> None:  # type: ignore[no-untyped-def]
    n_threads = max(1, len(os.sched_getaffinity(0)) // 2)
    shared = deviate("run", "show.py", "--runs", "2", "--jobs", "2", "--quiet")
    assert f"each run limited to {n_threads} thread" in shared.out
    assert {it["OMP_NUM_THREADS"] for it in shown(project)} == {str(n_threads)}
    deviate("run", "show.py", "--runs", "2", "--jobs", "2", "--variants", "as-is", "--name", "plain", "--quiet")
    assert {it["OMP_NUM_THREADS"] for it in shown(project, "plain")} == {"None"}
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    mine = deviate("run", "show.py", "--runs", "2", "--jobs", "2", "--name", "mine", "--quiet")
    assert "each run limited" not in mine.out
    assert {it["OMP_NUM_THREADS"] for it in shown(project, "mine")} == {"3"}


def test_times_are_marked_where_runs_shared_the_device(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(
        "import os, random\n" + MEETS + "\nfor epoch in range(2):\n    began = time.time()\n    acc = random.random()\n"
        "    time.sleep(0.5)\n    print(f'acc {acc:.3f} time {time.time() - began:.3f} s')\n"
    )
    answer = deviate("run", "train.py", "--runs", "2", "--jobs", "2", "--quiet", "--json", "out.json")
    assert answer.code == 0, answer.both
    assert "measured while up to 1 other run shared the machine" in (project / "out.json").read_text()


@pytest.mark.parametrize(
    ("inside", "after", "options", "told", "cause"),
    [
        ("pass", "raise MemoryError", (), "out of memory: MemoryError", "memory"),
        (
            "pass",
            "class OutOfMemoryError(RuntimeError): __module__ = 'torch'\nraise OutOfMemoryError('CUDA out of memory.')",
            (),
            "out of memory: ",
            "memory",
        ),
        ("time.sleep(60 * epoch)", "", ("--stall-timeout", "1s"), "no values and no output for 1 s", "stall"),
        ("time.sleep(0.3)", "time.sleep(60)", ("--timeout", "2s"), "took longer than 2 s", "time"),
        ("pass", "sys.exit(7)", (), "exit code 7", "exit"),
        ("pass", "os.abort()", (), "killed by SIGABRT", "signal"),
    ],
    ids=["memory", "memory of a GPU", "stall", "time", "exit", "signal"],
)
def test_failures_are_told_apart_and_never_run_again(
    inside: str, after: str, options: tuple[str, ...], told: str, cause: str, project: Path, deviate
) -> None:  # type: ignore[no-untyped-def]
    write(project, inside, after)
    answer = deviate("run", "train.py", "--runs", "1", "--retries", "3", "--quiet", *options)
    assert answer.code == 3, answer.both
    assert told in answer.out
    (result,) = results(project).values()
    assert result["cause"] == cause
    assert deviate("run", "train.py", "--runs", "1", "--quiet", *options).code == 3
    assert len(results(project)) == 1


def test_a_run_that_reports_nothing_or_no_number_is_told_apart(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(
        "import os, random\nscale = {'0': 1.0, '1': 1e400 - 1e400}.get(os.environ['DEVIATE_REPLICATE'])\n"
        "for epoch in range(2):\n    if scale is not None:\n        loss = random.random() * scale\n"
        "        print('loss', loss)\n"
    )
    answer = deviate("run", "train.py", "--runs", "3", "--quiet")
    assert answer.code == 3, answer.both
    assert "2/3 completed, 1 diverged" in answer.out
    assert "replicate 1: diverged, exit code 0 · loss ended NaN" in answer.out
    assert "never reported (replicate 2)" in answer.out


def test_too_many_failures_start_no_further_run_and_codes_may_be_ignored(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    write(project, after="sys.exit(2 if replicate == 0 else 1)")
    answer = deviate(
        "run", "train.py", "--runs", "9", "--jobs", "1", "--ignore-failure", "2,143", "--max-failures", "2"
    )
    assert answer.code == 3, answer.both
    assert "No new runs: 2 have failed, and --max-failures is 2." in answer.out
    found = [result["status"] for result in results(project).values()]
    assert found[:3] == ["completed", "crashed", "crashed"]
    assert found.count("crashed") <= 3


@pytest.mark.parametrize(("requeue", "began"), [("fresh", [0, 0]), ("continue", [0, 2])])
def test_a_lost_run_begins_anew_or_goes_on_with_its_files(
    requeue: str, began: list[int], project: Path, deviate
) -> None:  # type: ignore[no-untyped-def]
    marker = project.parent / "killed"
    (project / "train.py").write_text(
        "import os, pathlib, signal, sys\nstate, marker = pathlib.Path('state.txt'), pathlib.Path(sys.argv[1])\n"
        "done = int(state.read_text()) if state.exists() else 0\nprint('began', done, flush=True)\n"
        "for epoch in range(done, 4):\n    loss = 1 / (epoch + 3)\n    print('loss', loss, flush=True)\n"
        "    state.write_text(str(epoch + 1))\n    if epoch == 1 and not marker.exists():\n"
        "        marker.touch()\n        os.system(f'kill -9 {os.getpid()}')\n"
    )
    answer = deviate("run", "train.py", "--runs", "1", "--requeue", requeue, "--quiet", "--", str(marker))
    assert answer.code == 0, answer.both
    found = results(project)
    assert [result["status"] for result in found.values()] == ["lost", "completed"]
    logs = sorted((project / ".deviate/experiments/train/runs").glob("*/attempt-*/stdout.log"))
    assert [int(log.read_text().split()[1]) for log in logs] == began
    answer = deviate("report", "train", "--aggregate", "max", "--csv", "-")
    (row,) = [row for row in csv.DictReader(io.StringIO(answer.out)) if row["metric"] == "loss"]
    assert float(row["score"]) == 1 / 3  # of the first epoch, whichever attempt that was in
    page = (project / ".deviate/reports/train/report.html").read_text()
    assert ("continues attempt 1" in page) is (requeue == "continue")


def runs(process: int) -> bool:
    """Whether a process runs; what has ended may be waited for by nobody."""
    asked = subprocess.run(["ps", "-o", "stat=", "-p", str(process)], capture_output=True, text=True, check=False)
    return asked.stdout.strip()[:1] not in {"", "Z"}


def on_a_terminal(*words: str, act: Callable[[int, str], bool]) -> tuple[int, str]:
    """Run `deviate …` on a terminal of its own, and act on what it shows until it has ended."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.execv(sys.executable, [sys.executable, "-m", "deviate", *words])
    shown, is_acting = "", True
    while True:
        readable, _, _ = select.select([terminal], [], [], 0.1)
        try:
            data = os.read(terminal, 65536) if readable else b" "
        except OSError:
            break
        if not data:
            break
        shown += data.decode(errors="replace")
        is_acting = is_acting and act(terminal, shown)
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown


@pytest.mark.parametrize("n_interrupts", [1, 2])
def test_interrupted_once_runs_finish_and_twice_they_are_ended(n_interrupts: int, project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    ready, go = project.parent / "ready", project.parent / "go"
    (project / "train.py").write_text(
        "import pathlib, subprocess, sys, time\nready, go = map(pathlib.Path, sys.argv[1:])\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(120)'])\n"
        "for epoch in range(2):\n    loss = 1 / (epoch + 3)\n    print('loss', loss, flush=True)\n"
        "    ready.write_text(str(child.pid))\n    while not go.exists():\n        time.sleep(0.05)\nchild.kill()\n"
    )
    sent = []

    def act(terminal: int, shown: str) -> bool:
        if not sent and ready.exists():
            os.write(terminal, b"\x03")
            sent.append(time.monotonic())
        elif len(sent) == 1 and "No new runs" in shown:
            if n_interrupts == 2:
                os.write(terminal, b"\x03")
            else:
                go.touch()
            return False
        return True

    code, text = on_a_terminal("run", "train.py", "--runs", "3", "--jobs", "1", "--", str(ready), str(go), act=act)
    assert code == 130, text
    statuses = [result["status"] for result in results(project).values()]
    assert statuses.count("completed") == (1 if n_interrupts == 1 else 0)
    assert not runs(int(ready.read_text())), "what it had started has ended as well"
    go.touch()
    resumed = deviate("resume", "train")
    assert resumed.code == 0, resumed.both
    assert "3/3 completed" in resumed.out
