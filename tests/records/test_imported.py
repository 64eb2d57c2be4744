"""What was imported is an experiment like any other: in memory, and on disk with all its bits."""

import dataclasses
import math
from pathlib import Path

import pytest

from deviate.errors import InputError
from deviate.model.records import Run, Series
from deviate.records.importers import Imported, ImportedRun
from deviate.records.importing import experiment_of, write_imported
from deviate.records.plans import list_experiments
from deviate.records.read import read_experiment

TENTH = 0.1 + 0.2  # no short number


def made(*runs: ImportedRun, name: str = "other", tasks: tuple[str, ...] = ()) -> Imported:
    return Imported(name, "csv", (Path("/data/other.csv"),), runs, tasks, ("run = seed",))


def a_run(label: str = "seed 3", **series: Series) -> ImportedRun:
    return ImportedRun(label, series, started=1.5e9, wall_time_s=2.5, environment={"torch": "2.1"}, seeds={"seed": 3})


def comparable(run: Run) -> Run:
    return dataclasses.replace(run, folder=Path())


WHOLE = made(
    a_run(
        "seed 3",
        test_acc=Series((0, 1, 7), (0.1, TENTH, 5e-324), (0.5, 1.0, 1.5)),
        loss=Series((0, 7), (math.inf, 1e308)),
        final=Series((None,), (-0.0,)),
    ),
    a_run("seed 4", test_acc=Series((0, 1), (0.5, math.nan))),
    dataclasses.replace(a_run("seed 5"), status="crashed"),
)


def test_an_experiment_folder_reads_back_as_it_stood_in_memory(tmp_path: Path) -> None:
    folder = write_imported(tmp_path / ".deviate", WHOLE, "mine")
    (read,) = read_experiment(folder)
    memory = experiment_of(dataclasses.replace(WHOLE, name="mine"))
    assert [comparable(run) for run in read.runs[:1]] == [comparable(run) for run in memory.runs[:1]]
    assert repr([comparable(run) for run in read.runs]) == repr([comparable(run) for run in memory.runs])
    for field in ("name", "variant", "command", "n_planned", "metrics", "sources_hash", "root", "imported", "tasks"):
        assert getattr(read, field) == getattr(memory, field)
    assert read.warnings == ()


def test_values_keep_all_bits_and_times_that_nobody_knows_stay_unknown(tmp_path: Path) -> None:
    (read,) = read_experiment(write_imported(tmp_path, WHOLE, "mine"))
    series = read.runs[0].series
    assert [value.hex() for value in series["test_acc"].values] == [(0.1).hex(), TENTH.hex(), (5e-324).hex()]
    assert math.copysign(1, series["final"].values[0]) == -1
    assert tuple(series["test_acc"].times) == (0.5, 1.0, 1.5)
    assert (tuple(series["loss"].times), tuple(series["final"].steps)) == ((), (None,))


def test_runs_are_judged_as_those_on_record() -> None:
    experiment = experiment_of(WHOLE)
    assert [run.status for run in experiment.runs] == ["completed", "diverged", "crashed"]
    assert experiment.runs[1].reason == "test_acc ended NaN"


def test_roles_and_directions_are_guessed_from_names() -> None:
    one = Series((None,), (1.0,))
    names = ("top1 acc", "val_loss", "lr", "step_time", "Time Pilot: score", "whatever")
    experiment = experiment_of(made(ImportedRun("0", dict.fromkeys(names, one)), tasks=("Time Pilot: score",)))
    assert [(it.role, it.direction) for it in experiment.metrics] == [
        ("quality", "max"),
        ("quality", "min"),
        ("other", None),
        ("time", "min"),
        ("quality", "max"),
        ("quality", None),
    ]
    assert experiment.tasks == ("Time Pilot: score",)


def test_notes_are_told_with_the_experiment() -> None:
    assert experiment_of(WHOLE).imported == ("imported from /data/other.csv (csv)", "run = seed")


def test_settings_in_which_some_runs_differ_are_told_and_seeds_are_not() -> None:
    one = {"acc": Series((None,), (1.0,))}
    settings = [("0.1", "1"), ("0.1", "2"), ("0.2", "3")]
    runs = [ImportedRun(seed, one, environment={"lr": lr, "seed": seed, "id": seed}) for lr, seed in settings]
    assert experiment_of(made(*runs)).imported[-1] == "the runs differ in lr (0.1 in 2, 0.2 in 1)"
    assert experiment_of(made(*runs[:2])).imported[-1] == "run = seed"


def test_steps_rise_and_the_last_value_of_a_step_stands(tmp_path: Path) -> None:
    mixed = made(ImportedRun("0", {"acc": Series((None, 5, 2, 5), (0.9, 0.1, 0.2, 0.3), (9.0, 1.0, 2.0, 3.0))}))
    expected = Series((2, 5, None), (0.2, 0.3, 0.9))
    assert experiment_of(mixed).runs[0].series == {"acc": expected}
    (read,) = read_experiment(write_imported(tmp_path, mixed, "mine"))
    assert read.runs[0].series == {"acc": expected}
    assert tuple(read.runs[0].series["acc"].times) == (2.0, 3.0, 9.0)


def test_a_name_in_use_is_refused_and_what_it_names_stays(tmp_path: Path) -> None:
    folder = write_imported(tmp_path, WHOLE, "mine")
    before = {path: path.read_bytes() for path in folder.rglob("*.json*")}
    with pytest.raises(InputError, match="mine exists already") as caught:
        write_imported(tmp_path, made(a_run()), "mine")
    assert "--name" in caught.value.hint
    assert {path: path.read_bytes() for path in folder.rglob("*.json*")} == before


def test_an_import_that_fails_leaves_nothing(tmp_path: Path) -> None:
    one = {"acc": Series((None,), (1.0,))}
    spoilt = made(ImportedRun("0", one), ImportedRun("1", one, seeds={"seed": object()}))  # type: ignore[dict-item]
    with pytest.raises(TypeError):
        write_imported(tmp_path, spoilt, "mine")
    assert list_experiments(tmp_path) == ()
    assert not (tmp_path / "experiments/mine").exists()


def test_what_an_import_that_was_cut_off_left_is_no_part_of_the_next(tmp_path: Path) -> None:
    folder = write_imported(tmp_path, WHOLE, "mine")
    (folder / "experiment.json").unlink()
    (read,) = read_experiment(write_imported(tmp_path, made(a_run(acc=Series((0,), (1.0,)))), "mine"))
    assert len(read.runs) == 1
    assert len(list((folder / "runs").iterdir())) == 1


def test_the_same_file_imported_twice_has_runs_of_the_same_ids(tmp_path: Path) -> None:
    assert [run.id for run in experiment_of(WHOLE).runs] == [run.id for run in experiment_of(WHOLE).runs]
    assert len({run.id for run in experiment_of(WHOLE).runs}) == 3


def test_any_text_can_name_a_metric(tmp_path: Path) -> None:
    names = ['a "b"', "x\ny", "é", "\udc80", "a: b", ""]
    imported = made(ImportedRun("0", {name: Series((0,), (float(i),)) for i, name in enumerate(names)}))
    (read,) = read_experiment(write_imported(tmp_path, imported, "mine"))
    assert {name: tuple(series.values) for name, series in read.runs[0].series.items()} == {
        name: (float(i),) for i, name in enumerate(names)
    }
