"""Where two runs part, from the command line to the answer: scripts of NumPy alone, and what they leave on record."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

TRAIN = """\
import os
import sys

import numpy as np

rng = np.random.default_rng(0)
inputs = rng.normal(size=(40, 3))
targets = inputs @ [1.0, 2.0, 3.0]
weights = np.zeros(3)
is_second = os.environ["DEVIATE_REPLICATE"] == "1"
for epoch in range(6):
    for start in range(0, 40, 10):
        batch = inputs[start : start + 10]
        weights = weights - 0.1 * batch.T @ (batch @ weights - targets[start : start + 10]) / 10
    if is_second and epoch == 3 and "part" in sys.argv:
        weights = weights * (1 + 1e-7)
    if is_second and epoch == 4 and "crash" in sys.argv:
        raise ValueError("no more")
    if epoch == 5 and "overflow" in sys.argv:
        weights = weights * float("nan")
    if "as-device" in sys.argv and os.environ.get("DEVICE"):
        weights = weights * (1 + 2e-16 * float(os.environ["DEVICE"]))
    print(f"epoch {epoch} test loss {float(np.square(inputs @ weights - targets).mean()):.4f}")
"""
CLOSER = """\
import os
import signal
import sys
import time

import numpy as np
from sklearn.linear_model import SGDClassifier

inputs = np.random.default_rng(0).normal(size=(40, 3))
classes = (inputs[:, 0] > 0).astype(int)
is_second = os.environ["DEVIATE_REPLICATE"] == "1"
is_closer = f"{sys.argv[1]}.2{os.sep}" in os.getcwd()
model = SGDClassifier(loss="log_loss", random_state=0)
for epoch in range(6):
    if is_closer and epoch == 2 and sys.argv[1] == "waits":
        print("here", flush=True)
        while not os.path.exists(os.environ["GO"]):
            time.sleep(0.05)
    if is_closer and is_second and epoch == 2 and sys.argv[1] == "killed":
        os.system(f"kill -9 {os.getpid()}")
    model.partial_fit(inputs * (1 + 1e-5 * (is_second and epoch == 3)), classes, classes=[0, 1])
    print(f"epoch {epoch} test loss {np.square(model.coef_).sum()!r}")
"""
"""Parts at update 3, and behaves otherwise on the second rung: its experiment is named by the argument."""
SILENT = """\
for epoch in range(3):
    total = sum(range(epoch))
"""


@dataclass(frozen=True)
class Told:
    """What a call printed, with what exit code, and wrote as JSON."""

    code: int
    out: str
    err: str
    found: dict[str, Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("diverge")
    (project / "train.py").write_text(TRAIN)
    (project / "silent.py").write_text(SILENT)
    (project / "closer.py").write_text(CLOSER)
    return project


@pytest.fixture(scope="module")
def diverge(folder: Path, deviate_in: Callable[[Path], Callable[..., Any]]) -> Callable[..., Told]:
    def call(*words: str) -> Told:
        before, after = (words[: words.index("--")], words[words.index("--") :]) if "--" in words else (words, ())
        answer = deviate_in(folder)("diverge", *before, "--json", "out.json", *after)
        path = folder / "out.json"
        found = json.loads(path.read_text()) if path.exists() else {}
        path.unlink(missing_ok=True)
        return Told(answer.code, answer.out, answer.err, found)

    return call


@pytest.fixture(scope="module")
def equal(diverge: Callable[..., Told]) -> Told:
    return diverge("train.py", "--name", "same")


@pytest.fixture(scope="module")
def parted(diverge: Callable[..., Told]) -> Told:
    return diverge("train.py", "--name", "apart", "--", "part")


def experiments(folder: Path) -> set[str]:
    return {path.parent.name for path in (folder / ".deviate/experiments").glob("*/experiment.json")}


def test_equal_runs_that_end_without_a_number_are_told_to_have_diverged(diverge: Callable[..., Told]) -> None:
    told = diverge("train.py", "--", "overflow")
    assert (told.code, told.found["is_equal"]) == (0, True)
    assert told.found["notes"] == [f"the training of run {run} diverged: test_loss ended NaN" for run in (0, 1)]


def test_equal_runs_are_said_to_be_and_take_one_pair(equal: Told, folder: Path) -> None:
    assert equal.code == 0, equal.err
    assert "Equal over 6" in equal.out
    assert (equal.found["is_equal"], equal.found["n_steps"], equal.found["what"]) == (True, 6, "metrics")
    assert [it["rung"] for it in equal.found["rungs"]] == ["metrics"]
    assert "same" in experiments(folder)
    assert not any(name.startswith("same.") for name in experiments(folder))


def test_runs_that_part_are_an_answer_and_no_failure(parted: Told) -> None:
    assert parted.code == 0, parted.err
    first = parted.found["rungs"][0]["difference"]
    assert (parted.found["is_equal"], first["main_step"], first["name"]) == (False, 3, "test_loss")
    mine, theirs = first["values"]
    assert mine != theirs
    assert "Diverged" in parted.out
    assert "test_loss" in parted.out


def test_flags_that_were_given_are_on_record(diverge: Callable[..., Told]) -> None:
    told = diverge("train.py", "--env", "A=1 2", "--warn-only", "--timeout", "1h", "--variant", "impl", "--", "part")
    assert told.found["flags"] == ["--warn-only", "--env", "A=1 2", "--timeout", "1h"]


def test_the_ladder_ends_where_no_framework_is_seen_and_says_so(parted: Told) -> None:
    assert [it["rung"] for it in parted.found["rungs"]] == ["metrics", "steps"]
    assert "no framework" in parted.found["rungs"][1]["why_not"]


def test_a_taken_name_is_refused_with_what_to_do(equal: Told, diverge: Callable[..., Told]) -> None:
    assert equal.code == 0
    told = diverge("train.py", "--name", "same")
    assert told.code == 1
    assert "deviate diverge same:0 same:1" in told.err


def test_a_crash_is_told_and_compared_up_to(diverge: Callable[..., Told]) -> None:
    told = diverge("train.py", "--", "crash")
    assert told.code == 3
    assert told.found["is_equal"] is None
    assert told.found["n_steps"] == 4
    assert "crashed: ValueError: no more" in told.out


def test_a_failure_before_anything_was_reported_is_the_reason_and_told_by_name(
    diverge: Callable[..., Told], folder: Path
) -> None:
    (folder / "device.py").write_text(
        'import os\nif os.environ.get("DEVICE"):\n    import no_such_package\nprint("loss", 1)\n'
    )
    told = diverge("device.py", "--second-env", "DEVICE=1")
    assert told.code == 3
    assert "Not compared because with-device crashed: ModuleNotFoundError" in told.out
    assert "With-device crashed: ModuleNotFoundError" in told.out
    assert "No module named 'no_such_package'" in told.out
    assert "compared up to that point" not in told.out


def test_a_run_that_is_killed_on_a_further_rung_ends_the_ladder_and_is_no_difference(
    diverge: Callable[..., Told],
) -> None:
    told = diverge("closer.py", "--name", "killed", "--variant", "control", "--budget", "0", "--", "killed")
    first, second = told.found["rungs"]
    assert (first["difference"]["main_step"], second["difference"]) == (3, None)
    assert second["why_not"].startswith("run 1 of this level lost: killed from outside by SIGKILL")
    assert "Diverged at main-loop step 3" in told.out
    assert told.code == 3
    assert "Run 1 of level steps lost: killed from outside by SIGKILL" in told.out


def test_a_script_that_reports_nothing_is_run_and_told_to_have_nothing_to_compare(diverge: Callable[..., Told]) -> None:
    told = diverge("silent.py")
    assert told.code == 0, told.err
    assert told.found["is_equal"] is None
    assert "nothing could be compared" in " ".join(told.out.split())


def test_two_environments_are_compared_within_a_tolerance(diverge: Callable[..., Told]) -> None:
    strict = diverge("train.py", "--second-env", "DEVICE=1", "--ulps", "0", "--", "as-device")
    assert strict.found["is_equal"] is False
    close = diverge("train.py", "--second-env", "DEVICE=1e10", "--ulps", "1", "--name", "two", "--", "as-device")
    assert close.found["is_equal"] is False
    assert "differences within 1 ulp count as equal" in close.out
    for side in ("first", "with-device"):
        assert f"Running    two-{side}: 1 x " in close.out
    wide = diverge("train.py", "--second-env", "DEVICE=1", "--ulps", "1000000000000", "--", "as-device")
    assert wide.found["is_equal"] is True, wide.out
    assert wide.found["tolerance_ulps"] == 1000000000000


def test_runs_on_record_are_compared_as_far_as_they_reach(
    parted: Told, equal: Told, diverge: Callable[..., Told], folder: Path
) -> None:
    assert (parted.code, equal.code) == (0, 0)
    told = diverge("apart:0", "apart:1")
    assert told.code == 0, told.err
    assert told.found["rungs"][0]["difference"]["main_step"] == 3
    assert told.found["rungs"][0]["n_runs"] == 0
    assert "these runs recorded level metrics only" in told.out
    assert (told.out.count("Details"), told.out.count("deviate diverge train.py")) == (1, 1)
    pages = {it.name for it in (folder / ".deviate/reports/apart").iterdir() if it.suffix == ".html"}
    assert pages == {"diverge.html", "diverge-0-1.html"}, "the page of the ladder stays"
    assert diverge("apart:0", "same:0").code == 0
    assert (folder / ".deviate/reports/apart-vs-same/diverge-0-0.html").is_file()
    alike = diverge("same:as-is:0", "same:as-is:1")
    assert alike.found["is_equal"] is True
    wrong = diverge("same:0", "same:7")
    assert wrong.code == 1
    assert "recorded runs: same:0, same:1" in wrong.err
    assert "the same run" in diverge("same:0", "same:0").err
    assert "name two: same:0 same:1" in diverge("same:0").err
    assert "no experiment named 'nowhere'" in diverge("nowhere:0", "nowhere:1").err


def test_the_list_tells_pairs_of_a_ladder_from_experiments(equal: Told, folder: Path, deviate_in: Any) -> None:
    assert equal.code == 0
    here = deviate_in(folder)
    assert "pair of deviate diverge: metrics" in here("list", columns=None).out
    assert "a trace of losses, all updates" in " ".join(here("show", "same").out.split())
    refused = here("run", "train.py", "--name", "same", "--variants", "control", "--runs", "3")
    assert refused.code == 1
    assert "a trace of losses" in refused.err, "runs of a ladder are not mixed with others"


def test_a_dry_run_writes_and_starts_nothing(tmp_path: Path, deviate_in: Any) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    answer = deviate_in(tmp_path)("diverge", "train.py", "--dry-run")
    assert answer.code == 0
    assert "4 operations" in answer.out
    assert not (tmp_path / ".deviate").exists()


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--variant", "algo+impl"), "--variant as-is, control"),
        (("--variant", "control,impl"), "--variant control"),
        (("--level", "weights"), "--level metrics"),
        (("--python", "no-such-python"), "python3.12"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_to_write(
    words: tuple[str, ...], hint: str, tmp_path: Path, deviate_in: Any
) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    answer = deviate_in(tmp_path)("diverge", "train.py", *words)
    assert answer.code == 1
    assert hint in answer.err
    assert not (tmp_path / ".deviate").exists()


def test_an_interruption_leaves_records_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(
        'import time\nfor epoch in range(2):\n    print("test loss", epoch, flush=True)\n    time.sleep(1)\n'
    )
    words = [sys.executable, "-m", "deviate", "diverge", "train.py"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob(".deviate/experiments/train-diverge/runs/*/attempt-1/stdout.log")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert "What ran is on record" in err


def test_an_interruption_on_a_further_rung_tells_what_was_found_before(tmp_path: Path) -> None:
    (tmp_path / "closer.py").write_text(CLOSER)
    flags = ["--name", "waits", "--env", f"GO={tmp_path / 'go'}"]
    words = [sys.executable, "-u", "-m", "deviate", "diverge", "closer.py", *flags, "--", "waits"]
    process = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    logs = ".deviate/experiments/waits.2/runs/*/attempt-1/stdout.log"
    while not any("here" in it.read_text() for it in tmp_path.glob(logs)):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.stdout is not None
    assert any("No new runs" in line for line in process.stdout)
    (tmp_path / "go").touch()
    out, err = process.communicate()
    assert process.returncode == 130
    assert "Diverged at main-loop step 3" in out
    assert "interrupted before all pairs of runs were compared" in " ".join(out.split())
    assert (tmp_path / ".deviate/reports/waits/diverge.html").is_file()
    assert "What ran is on record" in err
