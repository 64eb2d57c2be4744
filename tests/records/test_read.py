"""Experiments read back from their folder."""

import shlex
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from recorded import edit_record, start, value_line

from deviate.eventlog import encode
from deviate.model.records import Series
from deviate.records.output import read_output
from deviate.records.read import read_experiment
from deviate.records.runs import Claim, write_claim
from deviate.replay.live_estimates import ExperimentScores
from deviate.series.naming import LoggedOutput

AddRun = Callable[..., Path]


def values(*numbers: float, site: int = 0) -> str:
    lines = (value_line(site, number, loops=(0, step)) for step, number in enumerate(numbers))
    return start() + "".join(lines)


def test_runs_come_in_order_of_replicate_with_their_series(experiment: Path, add_run: AddRun) -> None:
    add_run(1, values(0.3, 0.4))
    folder = add_run(0, values(0.1, 0.2))
    (read,) = read_experiment(experiment)
    assert [run.replicate for run in read.runs] == [0, 1]
    assert read.runs[0].series == {"acc": Series((0, 1), (0.1, 0.2))}
    assert read.runs[0].series["acc"].times == (0.1, 0.1)
    assert (read.runs[0].folder, read.runs[0].status, read.runs[0].wall_time_s) == (folder, "completed", 1.5)
    assert (read.name, read.variant, read.n_planned) == ("base", "as-is", 2)


def test_the_output_of_each_run_is_read_once(
    experiment: Path, add_run: AddRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    for replicate in (0, 1):
        add_run(replicate, values(0.5, 0.25))
    asked: list[str] = []

    def counted(attempts: Sequence[Path], *rest: Any) -> LoggedOutput:
        asked.append(attempts[-1].parent.name)
        return read_output(attempts, *rest)

    monkeypatch.setattr("deviate.records.output.read_output", counted)
    read_experiment(experiment)
    assert len(asked) == len(set(asked)) == 2
    scores = ExperimentScores(experiment)
    asked.clear()
    scores.read()
    assert scores.primary() is not None
    assert len(asked) == len(set(asked)) == 2


def test_a_quality_metric_that_ends_in_nan_makes_the_run_diverged(experiment: Path, add_run: AddRun) -> None:
    add_run(0, values(0.1, float("nan")))
    add_run(1, values(float("nan"), 0.1))
    (read,) = read_experiment(experiment)
    assert [(run.status, run.reason) for run in read.runs] == [("diverged", "acc ended NaN"), ("completed", "")]


def test_a_metric_that_only_some_runs_name_is_added_once(experiment: Path, add_run: AddRun) -> None:
    add_run(0, values(0.1))
    add_run(1, values(0.1) + encode("named", "f1", 0, [], 0.2, 0.5))
    (read,) = read_experiment(experiment)
    assert [metric.name for metric in read.metrics] == ["acc", "f1"]
    assert "f1" not in read.runs[0].series
    assert read.runs[1].series["f1"].values == (0.5,)


def test_the_latest_attempt_that_ended_counts(experiment: Path, add_run: AddRun) -> None:
    add_run(0, values(0.1), "lost", attempt=1)
    add_run(0, values(0.2), attempt=2)
    add_run(0, values(0.3), None, attempt=10)
    (read,) = read_experiment(experiment)
    assert [run.series["acc"].values for run in read.runs] == [(0.2,)]


def test_a_run_without_a_result_is_lost_unless_somebody_is_at_it(experiment: Path, add_run: AddRun) -> None:
    add_run(0, values(0.1), None)
    running = add_run(1, values(0.1), None)
    write_claim(running, Claim("host", 1, "", 0.0, heartbeat=time.time() + 20))
    (read,) = read_experiment(experiment)
    assert [(run.replicate, run.status) for run in read.runs] == [(0, "lost")]
    assert "without a result" in read.runs[0].reason
    assert "still running just now, and not read: replicate 1" in read.warnings


def test_a_failed_run_shows_its_last_lines(experiment: Path, add_run: AddRun) -> None:
    folder = add_run(0, values(0.1), "crashed")
    (folder / "stderr.log").write_text("\n".join(f"line {number}" for number in range(100)) + "\n")
    (read,) = read_experiment(experiment)
    assert read.runs[0].stderr_tail[-1] == "line 99"
    assert len(read.runs[0].stderr_tail) == 20


def test_faults_and_cut_lines_are_told_and_never_fatal(experiment: Path, add_run: AddRun) -> None:
    add_run(0, values(0.1) + encode("error", "tap", "oops") + encode("write", "/out") + "bad\n" + '["val')
    (read,) = read_experiment(experiment)
    text = "\n".join(read.runs[0].warnings)
    for part in ("cut off", "1 line of", "/out", "oops"):
        assert part in text


def test_what_is_written_outside_is_one_warning_and_caches_of_libraries_are_none(
    experiment: Path, add_run: AddRun
) -> None:
    theirs = ("/home/me/.cache/matplotlib/fontlist.json", "/usr/lib/torch/__pycache__/nn.cpython-311.pyc")
    ours = ("/data/cache/features.npy", "/out/a.pt", "/out/b.pt")
    add_run(0, values(0.1) + "".join(encode("write", path) for path in (*theirs, *ours)))
    add_run(1, values(0.1) + "".join(encode("write", path) for path in theirs))
    (read,) = read_experiment(experiment)
    assert read.runs[0].warnings == ("wrote outside its work copy: /data/cache/features.npy, /out (2 files)",)
    assert read.runs[1].warnings == ()


def test_runs_that_differ_in_a_version_are_warned_of(experiment: Path, add_run: AddRun) -> None:
    add_run(0, values(0.1) + encode("environment", {"torch": "2.13.0"}))
    add_run(1, values(0.1) + encode("environment", {"torch": "2.12.1"}))
    (read,) = read_experiment(experiment)
    assert [warning for warning in read.warnings if "differ in torch" in warning]


def test_runs_beyond_the_plan_are_not_listed(experiment: Path, add_run: AddRun) -> None:
    add_run(5, values(0.1))
    assert read_experiment(experiment)[0].runs == ()


def test_a_damaged_result_is_named_and_its_run_left_out(experiment: Path, add_run: AddRun) -> None:
    (add_run(0, values(0.1)) / "result.json").write_text('{"schema": 1}')
    (read,) = read_experiment(experiment)
    assert (read.runs[0].status, read.runs[0].series) == ("lost", {})
    assert any("replicate 0 is damaged and left out: result.json" in warning for warning in read.warnings)


def test_a_secret_in_the_command_is_told_to_no_reader(experiment: Path) -> None:
    plan = experiment / "experiment.json"
    edit_record(plan, command=["python", "train.py", "--api-key", "Zq7"])
    (read,) = read_experiment(experiment)
    assert read.command == ("python", "train.py", "--api-key", "[redacted]")


def test_what_runs_are_to_be_given_to_be_like_these_is_told_without_secrets(experiment: Path) -> None:
    assert read_experiment(experiment)[0].flags == ()
    plan = experiment / "experiment.json"
    told = {
        "environment": [["A", "1 2"], ["HF_TOKEN", "Zq7"]],
        "prepare": [["python", "a b.py"]],
        "wrap": ["docker", "run", "image"],
        "seed": 3,
    }
    edit_record(plan, **told)
    (read,) = read_experiment(experiment)
    shown = "--env 'A=1 2' --env HF_TOKEN=[redacted] --prepare \"python 'a b.py'\" --wrap 'docker run image' --seed 3"
    assert list(read.flags) == shlex.split(shown)
    edit_record(plan, imported=["from a file"])
    assert read_experiment(experiment)[0].flags == ()
