"""What is told of an experiment from its folder: after its runs, and from another process while they go on."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from deviate.replay.live_estimates import LiveEstimates
from deviate.replay.states import expected_runs

TRAIN = """\
import os, random, sys, time
from pathlib import Path

print("begin \\x1b[31mred\\x1b[0m")
for epoch in range(5):
    acc = 90 + random.random()
    print("test acc %.4f" % acc)
    while os.environ.get("HELD") == os.environ["DEVIATE_REPLICATE"] and not Path(os.environ["GO"]).exists():
        time.sleep(0.05)
print("warned", file=sys.stderr)
if os.environ["DEVIATE_REPLICATE"] == "1" and "FAIL" in os.environ:
    raise ValueError("bad \\x1b[2Jluck")
"""


@pytest.fixture
def deviate(project: Path, deviate_in):  # type: ignore[no-untyped-def]
    """Runs `deviate …` in the project folder."""
    (project / "train.py").write_text(TRAIN)
    return deviate_in(project)


@contextmanager
def running(project: Path, go: Path, *arguments: str, held: int) -> Iterator[subprocess.Popen[str]]:
    """`deviate run …` in a process of its own; killed in the end if it still runs.

    Args:
        go: a file for which the replicate `held` waits after its first value; there in the end.
    """
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    process = subprocess.Popen(
        [sys.executable, "-m", "deviate", "run", "train.py", "--env", f"HELD={held}", "--env", f"GO={go}", *arguments],
        cwd=project,
        env={**os.environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        go.touch()
        process.communicate()


def wait_for(deviate, is_there: Callable[[dict], bool]) -> dict:  # type: ignore[no-untyped-def, type-arg]
    """What `show` tells as soon as it is what the test waits for."""
    until = time.monotonic() + 300
    while True:
        answer = deviate("show", "train", "--format", "json")
        document = json.loads(answer.out) if answer.code == 0 else {"runs": [], "means": []}
        if is_there(document):
            return document
        assert time.monotonic() < until, answer.both
        time.sleep(0.2)


def states(document: dict) -> list[str]:  # type: ignore[type-arg]
    return [run["state"] for run in document["runs"]]


def test_an_experiment_is_shown_in_full(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    run = ("run", "train.py", "-q", "-r", "3", "-j", "2", "--variants", "algo+impl,control", "--env", "FAIL=1")
    assert deviate(*run, "--env", "LR=0.1", "--then", "python -c 'print(1)' --api-key=abc").code == 3
    answer = deviate("show", "train")
    assert answer.code == 0, answer.both
    facts = dict(line.split(maxsplit=1) for line in answer.out.splitlines() if line and line[0].isupper())
    assert facts["Experiment"].endswith(".deviate/experiments/train")
    assert facts["State"] == "not running; all runs are recorded"
    assert facts["Command"].endswith("python train.py")
    assert "--api-key=[redacted]" in facts["Then"]
    again = shlex.split(answer.out.split("Run again")[1].splitlines()[0])
    assert again[:7] == ["deviate", "run", "train.py", "--name", "train", "--runs", "3"]
    pairs = dict(pairwise(again))
    assert (pairs["--variants"], pairs["--jobs"]) == ("algo+impl,control", "2")
    assert again.count("--env") == 2
    assert "abc" not in pairs["--then"]
    assert facts["Environment"] == "FAIL=1 LR=0.1"
    assert re.search(r"^setting +value +from\nruns +3 +--runs\n", answer.out, re.MULTILINE)
    assert re.search(r"^jobs +2 +--jobs$", answer.out, re.MULTILINE)
    assert facts["Defaults"].startswith("executor local, ")
    assert re.search(r"^control +1 +failed: crashed +1 +\S+ +\S+ s +5 of 5 +ValueError", answer.out, re.MULTILINE)
    assert re.search(r"^Mean +algo\+impl: test_acc 90\.\d+ \[95% CI \S+ … \S+\], n = 2", answer.out, re.MULTILINE)
    assert " p " not in answer.out
    one = deviate("show", "train:control").out
    assert "algo+impl" not in one
    assert "3 runs" in one


def test_the_running_mean_is_that_of_the_report(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    assert deviate("run", "train.py", "-q", "-r", "4", "-j", "2", "--json", "out.json").code == 0
    (mean,) = json.loads(deviate("show", "train", "--format", "json").out)["means"]
    (described,) = json.loads((project / "out.json").read_text())["experiments"][0]["metrics"]
    interval = described["mean_interval"]
    assert mean["mean"] == pytest.approx(described["mean"], rel=1e-12)
    assert mean["half_width"] == pytest.approx((interval["high"] - interval["low"]) / 2, rel=1e-12)
    assert mean["n"] == 4


def test_one_run_is_shown_with_its_attempts_files_and_why_it_failed(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    assert deviate("run", "train.py", "-q", "-r", "2", "-j", "2", "--env", "FAIL=1", "--env", "LR=1").code == 3
    answer = deviate("show", "train", "--run", "1")
    assert answer.code == 0, answer.both
    assert answer.out.splitlines()[:2] == [
        "Run        train:algo+impl replicate 1",
        "State      failed: crashed, ValueError: bad luck",
    ]
    assert re.search(r"^Variables .*\bLR=1\b", answer.out, re.MULTILINE)
    assert re.search(
        r"^1 +crashed +20.*UTC +\S+ s +\S+ +ValueError: bad luck +the script failed$", answer.out, re.MULTILINE
    )
    assert "  ValueError: bad luck\n" in answer.out
    assert "\x1b" not in answer.out
    paths = dict(re.findall(r"^(Stdout|Stderr|Work copy) +(/\S+)$", answer.out, re.MULTILINE))
    assert Path(paths["Stderr"]).read_text().startswith("warned\n")
    assert Path(paths["Work copy"]).is_dir()
    (document,) = json.loads(deviate("show", "train", "--run", "1", "--format", "json").out)
    assert document["attempts"][0]["result"]["cause"] == "exit"
    assert json.loads(deviate("show", "train", "--run", document["run_id"][:6], "--format", "json").out) == [document]


def test_a_log_is_printed_byte_for_byte(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    assert deviate("run", "train.py", "-q", "-r", "1", "--variants", "algo+impl,control").code == 0
    (log,) = [
        path
        for path in project.glob(".deviate/experiments/train/runs/*/attempt-1/stdout.log")
        if json.loads((path.parents[1] / "spec.json").read_text())["variant"] == "control"
    ]
    log.write_bytes(log.read_bytes() + b"\xff\r\n\x00no newline")
    show = [sys.executable, "-m", "deviate", "show"]
    shown = subprocess.run([*show, "train:control", "--run", "0", "--log"], capture_output=True, check=True)
    assert shown.stdout == log.read_bytes()
    assert b"\x1b[31mred" in shown.stdout
    assert deviate("show", "train:control", "--run", "0", "--stderr").out == "warned\n"
    log.write_bytes(b"line\n" * 1_000_000)
    command = " ".join([*show, "train:control --run 0 --log | head -1"])
    cut = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert (cut.stdout, cut.stderr) == ("line\n", "")
    assert "name one of them: train:algo+impl, train:control" in deviate("show", "train", "--run", "0", "--log").err


def test_what_is_not_there_is_named(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    assert deviate("run", "train.py", "-q", "-r", "1").code == 0
    for asked, told in {
        "nothing": "no experiment named 'nothing'",
        "train:none": "has no variant 'none'",
        "train --run 7": "train has no run '7'",
        "train --run 0 --log --stderr": "two streams",
        "train --log": "a log is that of one run",
    }.items():
        answer = deviate("show", *asked.split())
        assert (answer.code, told in answer.err) == (1, True), (asked, answer.err)


def test_another_process_sees_a_running_experiment(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    with running(project, project.parent / "go", "-r", "4", "-j", "1", held=1) as run:
        document = wait_for(
            deviate,
            lambda it: (
                states(it)[:1] == ["completed"] and "running" in states(it) and it["runs"][1]["step"] is not None
            ),
        )
        assert document["used_by"] == f"process {run.pid}"
        assert states(document)[3] == "waiting"
        under_way = document["runs"][1]
        assert 0 <= under_way["step"] < 5
        assert under_way["wall_time_s"] > 0
        assert [mean["n"] for mean in document["means"]] == [1]
        text = deviate("show", "train").out
        assert f"being run by process {run.pid}" in text
        assert re.search(r"^[123] +running +1 ", text, re.MULTILINE)
        assert re.search(r"^train +algo\+impl +\d/4 completed +1 running ", deviate("list").out, re.MULTILINE)


def test_a_log_is_followed_until_the_run_has_ended(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    go = project.parent / "go"
    with running(project, go, "-r", "1", "--env", "PYTHONUNBUFFERED=1", held=0) as run:
        wait_for(deviate, lambda it: states(it) == ["running"])
        threading.Timer(2.0, go.touch).start()
        answer = deviate("show", "train", "--run", "0", "--log", "--follow")
        assert answer.out.count("test acc") == 5
        assert run.wait() == 0


def test_runs_of_a_killed_deviate_are_lost_and_its_processes_are_told_of(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    with running(project, project.parent / "go", "-r", "2", "-j", "1", held=0) as run:
        wait_for(deviate, lambda it: states(it)[:1] == ["running"])
        run.send_signal(signal.SIGKILL)
        run.wait()
    document = json.loads(deviate("show", "train", "--format", "json").out)
    assert states(document)[0] == "lost"
    assert "left behind by a killed deviate" in document["used_by"] or document["used_by"] == ""
    before = {path: path.stat().st_mtime_ns for path in project.rglob("*")}
    dry = deviate("resume", "train", "--dry-run")
    assert dry.code == 0, dry.both
    assert "2 of 2, replicates 0–1" in dry.out
    assert before == {path: path.stat().st_mtime_ns for path in project.rglob("*")}
    assert deviate("resume", "train", "-q").code == 0
    assert "Missing  none: 2 runs on record" in deviate("resume", "train", "--dry-run").out
    text = deviate("show", "train").out
    assert re.search(r"^0 +completed +2 ", text, re.MULTILINE)
    lost = deviate("show", "train", "--run", "0").out
    assert re.search(r"^1 +lost .* executor or its machine$", lost, re.MULTILINE)
    assert re.search(r"^2 +completed ", lost, re.MULTILINE)


def test_a_run_that_ended_in_nan_has_diverged_and_counts_in_no_mean(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(
        "for epoch in range(2):\n    loss = (epoch + 0.5) * (1e400 if epoch else 1)\n    print('loss %.4f' % loss)\n"
    )
    assert deviate("run", "train.py", "-q", "-r", "3").code == 3
    document = json.loads(deviate("show", "train", "--format", "json").out)
    assert [run["status"] for run in document["runs"]] == ["diverged"] * 3
    assert document["means"] == []


def test_a_record_that_is_read_run_by_run_tells_the_same_in_the_end(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    assert deviate("run", "train.py", "-q", "-r", "4", "-j", "2").code == 0
    folder = project / ".deviate/experiments/train"
    hasty = LiveEstimates([folder], patience_s=0.0)
    counts = [[mean.n for mean in hasty()] for _ in range(5)]
    assert counts == [[1], [2], [3], [4], [4]]
    assert hasty() == LiveEstimates([folder], patience_s=60.0)()
    more = deviate("run", "train.py", "-r", "6", "-j", "1")
    assert re.findall(r"^\[(\d)/(\d)\]", more.out, re.MULTILINE) == [("5", "6"), ("6", "6")]
    told = expected_runs(folder, runs=3)
    assert (told.n_runs, told.n_done, told.n_steps) == (3, 3, 5)
    assert told.mean_s is not None


def test_list_tells_a_variant_a_line_and_passes_damage_by(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    assert deviate("run", "train.py", "-q", "-r", "2", "--name", "whole").code == 0
    assert deviate("run", "train.py", "-q", "-r", "1", "--name", "torn").code == 0
    (project / ".deviate/experiments/torn/snapshot/manifest.json").write_text("{")
    answer = deviate("list", "--size")
    assert answer.code == 0, answer.both
    head, whole, *rest = answer.out.splitlines()
    assert head.split()[:3] == ["name", "variant", "done"]
    assert re.match(
        r"whole +algo\+impl +2/2 completed +test_acc 90\.\d+ ± 0\.\d+ +\S+ (m?s|min.*s) +\S+ [kM]B +python", whole
    )
    assert "is damaged" in " ".join(" ".join(rest).split())
    entries = json.loads(deviate("list", "--format", "json").out)
    assert [(it["name"], it["n_completed"], it["n_bytes"]) for it in entries] == [("whole", 2, None), ("torn", 0, None)]


def test_an_experiment_whose_plan_is_damaged_is_named_and_stands_in_nobodys_way(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    for name in ("whole", "torn"):
        assert deviate("run", "train.py", "-q", "-r", "1", "--name", name).code == 0
    plan = project / ".deviate/experiments/torn/experiment.json"
    plan.write_text(plan.read_text().replace('"n_runs": 1', '"n_runs": 7'))
    answer = deviate("list")
    assert (answer.code, len(answer.out.splitlines())) == (0, 2)
    assert "experiments/torn/experiment.json is damaged" in answer.err
    entries = json.loads(deviate("list", "--format", "json").out)
    assert [(it["name"], "is damaged" in it["problem"]) for it in entries] == [("whole", False), ("torn", True)]
    assert "2/2 completed" in deviate("run", "train.py", "-r", "2", "--name", "whole").out
    refused = deviate("run", "train.py", "-r", "2", "--name", "torn")
    assert (refused.code, "is damaged" in refused.err) == (1, True)


def test_a_damaged_spec_is_named_as_in_the_report(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    """Cut off, of another type, and missing."""
    assert deviate("run", "train.py", "-q", "-r", "2").code == 0
    run = min((project / ".deviate/experiments/train/runs").iterdir())
    spec = run / "spec.json"
    whole = spec.read_text()
    for damaged, why in {
        whole[:100]: "spec.json is damaged: ",
        "[]": "spec.json is damaged: it is not a JSON object",
        None: "spec.json: No such file or directory",
    }.items():
        if damaged is None:
            spec.unlink()
        else:
            spec.write_text(damaged)
        for verb in ("show", "report"):
            told = " ".join(deviate(verb, "train").both.split())
            assert f"run {run.name} is damaged and left out (" in told
            assert why in told
            assert "; deviate resume train runs it again" in told
        assert "1 damaged: see deviate show train" in deviate("list").out


def test_an_experiment_without_its_plan_is_named_and_the_others_are_listed(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    for name in ("whole", "torn"):
        assert deviate("run", "train.py", "-q", "-r", "1", "--name", name).code == 0
    (project / ".deviate/experiments/torn/experiment.json").unlink()
    told = "experiments/torn/experiment.json: No such file or directory"
    answer = deviate("list")
    assert (answer.code, len(answer.out.splitlines())) == (0, 2)
    assert f"{told}; restore it from a backup" in answer.err
    for verb in ("show", "report"):
        refused = deviate(verb, "torn")
        assert (refused.code, told in refused.err, "restore it" in refused.err) == (1, True, True)
