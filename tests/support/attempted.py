"""An experiment on disk, and runs in it as an executor and the guest leave them."""

from collections.abc import Callable
from pathlib import Path

import pytest
from recorded import make_metric, make_plan, write_manifest

from deviate.model.plan import Spec
from deviate.model.records import Status
from deviate.records.layout import attempt_folder, runs_folder, snapshot_folder, spec_file
from deviate.records.plans import create_experiment, new_experiment_folder
from deviate.records.runs import Result, run_id, spec_hash, write_result, write_spec


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """An experiment of two planned runs with one metric `acc` at site 0, and no run yet."""
    folder = new_experiment_folder(tmp_path / ".deviate", "base")
    write_manifest(snapshot_folder(folder), [make_metric("acc")])
    create_experiment(folder, make_plan())
    return folder


@pytest.fixture
def add_run(experiment: Path) -> Callable[..., Path]:
    """Adds an attempt with these events; gives its folder. Without a status it has not ended."""

    def add(
        replicate: int,
        events: str,
        status: Status | None = "completed",
        *,
        attempt: int = 1,
        process: str = "1-1",
        started: float = 5.0,
        environment: tuple[tuple[str, str], ...] = (),
        capture: tuple[tuple[str, str], ...] = (),
    ) -> Path:
        spec = Spec("0" * 64, ("python", "train.py"), ".", "as-is", replicate, environment=environment, capture=capture)
        run = runs_folder(experiment) / run_id(spec)
        folder = attempt_folder(run, attempt)
        folder.mkdir(parents=True, exist_ok=True)
        write_spec(spec_file(run), spec)
        (folder / f"events-{process}.jsonl").write_text(events)
        if status:
            write_result(folder, Result(spec_hash(spec), status, 0, None, started, 1.5))
        return folder

    return add
