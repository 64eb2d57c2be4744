"""How fast main loops went, and what profilers saw, read from the files of an attempt."""

import dataclasses
import json
from pathlib import Path

import pytest
from experiments import run
from recorded import make_plan

from deviate.errors import RecordError
from deviate.eventlog import encode
from deviate.model.cost import KernelTime, Pace
from deviate.model.plan import SweptValue
from deviate.model.records import Artifact, Run
from deviate.records.events import pace_of, profile_of
from deviate.records.plans import create_experiment, new_experiment_folder, read_plan

DOCUMENT = {
    "schema": 1, "framework": "torch", "window": [1, 4], "n_updates": 12, "wall_s": 0.5, "reading_s": 0.1,
    "device": "cpu", "measure": "self time", "kernels": [["aten::mm", 24, 0.25], ["aten::add", 3, 0.125]],
}  # fmt: skip


def write_steps(attempt: Path, process: int, *steps: tuple[int, int, float], torn: str = "") -> None:
    events = [encode("start", 1, {"pid": process, "time": 0.0}), *(encode("step", *step) for step in steps)]
    (attempt / f"events-{process}-0.jsonl").write_text("".join(events) + torn)


def profiled(attempt: Path, text: str) -> Run:
    path = attempt / "profile-torch-1.json"
    path.write_text(text)
    kept = (Artifact("weights", "exit", None, "torch", attempt / "w.npz", 1),
            Artifact("profile", "torch", 1, "torch", path, 2))  # fmt: skip
    return dataclasses.replace(run(3, {}), folder=attempt, artifacts=kept)


def test_the_pace_is_the_mean_time_from_one_step_to_the_next(tmp_path: Path) -> None:
    write_steps(tmp_path, 1, (0, 0, 2.0), (7, 0, 2.5), (0, 1, 3.0), (0, 2, 5.0), torn='["step", 0, 3, 9')
    assert pace_of(tmp_path, 0) == Pace(3, 1.5)


def test_the_process_that_took_most_steps_counts(tmp_path: Path) -> None:
    write_steps(tmp_path, 1, (0, 0, 1.0), (0, 1, 9.0))
    write_steps(tmp_path, 2, (0, 0, 1.0), (0, 1, 2.0), (0, 2, 3.0))
    assert pace_of(tmp_path, 0) == Pace(3, 1.0)


def test_a_loop_of_a_framework_counts_and_one_step_tells_nothing(tmp_path: Path) -> None:
    write_steps(tmp_path, 1, (-1, 0, 1.0), (-1, 1, 1.5))
    assert pace_of(tmp_path, None) == pace_of(tmp_path, 4) == Pace(2, 0.5)
    write_steps(tmp_path, 1, (0, 0, 1.0))
    assert pace_of(tmp_path, 0) is None


def test_a_profile_is_read_as_the_guest_wrote_it(tmp_path: Path) -> None:
    found = profile_of(profiled(tmp_path, json.dumps(DOCUMENT)))
    assert found is not None
    assert (found.replicate, found.window, found.n_updates, found.device) == (3, (1, 4), 12, "cpu")
    assert found.kernels == (KernelTime("aten::mm", 24, 0.25), KernelTime("aten::add", 3, 0.125))
    assert found.total_s == 0.375


def test_a_run_without_a_profile_has_none(tmp_path: Path) -> None:
    assert profile_of(dataclasses.replace(run(0, {}), folder=tmp_path)) is None


@pytest.mark.parametrize(
    "text", ["{", json.dumps({**DOCUMENT, "window": None}), json.dumps({**DOCUMENT, "schema": 99})]
)
def test_a_damaged_profile_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(RecordError, match=r"profile-torch-1\.json"):
        profile_of(profiled(tmp_path, text))


def test_a_plan_remembers_its_place_in_a_sweep(tmp_path: Path) -> None:
    plan = dataclasses.replace(make_plan(name="t-lr-1"), sweep=SweptValue("t", "--lr", "1"))
    folder = new_experiment_folder(tmp_path, "t-lr-1")
    create_experiment(folder, plan)
    assert read_plan(folder) == plan
