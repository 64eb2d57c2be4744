"""A byte that changes in a record changes no number without a word: its run is named, left out and run again."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from damaging import look, record_files, unnoticed

from deviate.base.digests import FIELD
from deviate.model.records import Series
from deviate.records.importers import Imported, ImportedRun
from deviate.records.importing import write_imported
from deviate.records.layout import attempts
from deviate.records.read import read_experiment
from deviate.records.runs import collect_continued, damaged_files, read_result

SAMPLE = Path(__file__).parent / "samples/base"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Two runs, of which one was killed and goes on in a second attempt; the other has kept its weights."""
    shutil.copytree(SAMPLE, tmp_path / "base")
    return tmp_path / "base"


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    runs = tuple(ImportedRun(f"r{i}", {"acc": Series((0, 1), (0.5 + i / 10, 0.25))}) for i in range(2))
    return write_imported(tmp_path / ".deviate", Imported("x", "csv", (tmp_path / "x.csv",), runs), "x")


def test_single_bytes_of_killed_continued_and_imported_attempts_change_nothing_unnoticed(
    base: Path, imported: Path
) -> None:
    flaws, counts = unnoticed([base, imported], 120, seed=20)
    assert flaws == []
    assert counts["told"] > 60


def test_a_changed_digit_leaves_its_run_out_and_names_it(base: Path) -> None:
    events = next(base.glob("runs/*/attempt-1/artifacts")).parent / "events-12-1.jsonl"
    events.write_text(events.read_text().replace("0.30000000000000004", "0.90000000000000004"))
    (experiment,) = read_experiment(base)
    damaged, other = experiment.runs
    assert (damaged.status, damaged.series, other.status) == ("lost", {}, "completed")
    (told,) = experiment.warnings
    assert told.startswith("replicate 0 is damaged and left out: events-12-1.jsonl in ")
    assert "deviate resume base runs it again" in told


def test_a_run_is_damaged_by_what_it_goes_on_from(base: Path) -> None:
    second = next(base.glob("runs/*/attempt-2"))
    (second.parent / "attempt-1/events-12-1.jsonl").write_text("[]\n")
    result = read_result(second)
    assert result is not None
    assert damaged_files(second, result) == ("attempt-1/events-12-1.jsonl",)


@pytest.mark.parametrize("name", ["events-12-1.jsonl", "stdout.log", "claim.json", "environment.json"])
def test_a_file_that_is_gone_is_missed(base: Path, name: str) -> None:
    next(base.glob("runs/*/attempt-1/artifacts")).with_name(name).unlink()
    (experiment,) = read_experiment(base)
    assert experiment.runs[0].reason == f"damaged: {name} changed after the run ended"


@pytest.mark.parametrize("name", ["experiment.json", "snapshot/manifest.json"])
def test_a_digest_that_is_gone_is_missed(base: Path, name: str) -> None:
    document = (base / name).read_text()
    (base / name).write_text(document.replace(f'"{FIELD}"', '"digesu"'))
    assert f"{Path(name).name} is damaged: its digest is missing" in look(base).error


def test_what_was_meant_to_be_removed_is_not_damaged(base: Path) -> None:
    shutil.rmtree(next(base.glob("runs/*/attempt-1/artifacts")))
    (experiment,) = read_experiment(base)
    assert experiment.runs[0].status == "completed"
    assert "are missing" in experiment.runs[0].warnings[0]


def test_events_that_come_after_the_end_are_told_and_a_new_file_is_left_out(base: Path) -> None:
    attempt = next(base.glob("runs/*/attempt-1/artifacts")).parent
    with (attempt / "events-12-1.jsonl").open("a") as file:
        file.write('["end", 1.0, 1]\n')
    shutil.copy(attempt / "events-12-1.jsonl", attempt / "events-13-1.jsonl")
    (experiment,) = read_experiment(base)
    assert experiment.runs[0].status == "completed"
    assert [it.partition(" ")[0] for it in experiment.runs[0].warnings] == ["events-12-1.jsonl", "events-13-1.jsonl"]


def test_a_run_whose_spec_is_damaged_is_named_by_its_id(base: Path) -> None:
    spec = next(base.glob("runs/*/spec.json"))
    spec.write_text(spec.read_text().replace('"algo+impl"', '"algo+imql"'))
    (experiment,) = read_experiment(base)
    assert len(experiment.runs) == 1
    assert any(f"run {spec.parent.name} is damaged and left out" in it for it in experiment.warnings)


def test_a_spec_of_another_run_is_not_believed(base: Path) -> None:
    one, other = sorted(base.glob("runs/*/spec.json"))
    shutil.copy(one, other)
    (experiment,) = read_experiment(base)
    assert any(f"run {other.parent.name} is damaged" in it for it in experiment.warnings)


@pytest.mark.slow
def test_five_hundred_bytes_of_real_records_change_nothing_unnoticed(base: Path, imported: Path, real: Path) -> None:
    assert len(record_files(real)) > 20
    flaws, counts = unnoticed([base, imported, real, real], 500, seed=21, report_every=20)
    assert flaws == []
    assert sum(counts.values()) == 500
    assert counts["told"] > 250


SCRIPT = """
import os, pathlib, random, time
for epoch in range(3):
    acc = 0.5 + random.random() / 10
    print(f"acc: {acc:.6f}", flush=True)
    mark = pathlib.Path(os.environ["MARK"])
    if os.environ["DEVIATE_REPLICATE"] == "1" and epoch == 1 and not mark.exists():
        mark.touch()
        time.sleep(1)
        os.system(f"kill -9 {os.getpid()}")
"""


@pytest.fixture
def real(tmp_path: Path, deviate_in: Callable[[Path], Callable[..., Any]]) -> Path:
    """Three runs by the executor: one was killed, and went on in a second attempt."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "train.py").write_text(SCRIPT)
    done = deviate_in(project)(
        "run", "train.py", "--runs", "3", "--name", "real", "--requeue", "continue", "--env", f"MARK={tmp_path}/mark"
    )
    assert done.code == 0, done.both
    place = project / ".deviate/experiments/real"
    assert sorted(len(attempts(run)) for run in place.glob("runs/*")) == [1, 1, 2]
    (second,) = place.glob("runs/*/attempt-2")
    assert [it.name for it in collect_continued(second)] == ["attempt-1", "attempt-2"]
    return place


@pytest.mark.slow
def test_a_damaged_run_is_run_again(real: Path, deviate_in: Callable[[Path], Callable[..., Any]]) -> None:
    (experiment,) = read_experiment(real)
    values = [run.series["acc"].values for run in experiment.runs]
    events = next(experiment.runs[0].folder.glob("events-*"))
    events.write_text(events.read_text().replace("0.5", "0.6", 1))
    result = experiment.runs[2].folder / "result.json"
    result.write_text(result.read_text().replace('"completed"', '"campleted"'))
    deviate = deviate_in(real.parents[2])
    told = " ".join(deviate("report", "real").both.split())
    assert "replicate 0 is damaged and left out" in told
    assert "replicate 2 is damaged and left out" in told
    assert "2 damaged: see deviate show real" in deviate("list").out
    shown = deviate("show", "real").out
    assert "damaged: events-" in shown
    done = deviate("resume", "real")
    assert done.code == 0, done.both
    (experiment,) = read_experiment(real)
    assert [run.series["acc"].values for run in experiment.runs] == values
    assert [len(attempts(run.folder.parent)) for run in experiment.runs] == [2, 2, 2]
    assert experiment.warnings == ()
