"""Logs that the CSVLogger of Lightning 2.6 wrote: two trainings of three epochs, with validation and test."""

from pathlib import Path

from deviate.records.importing import read_files

LOGS = Path(__file__).parent / "data/lightning_logs"


def test_every_version_is_a_run_with_its_settings() -> None:
    (imported,) = read_files([LOGS])
    assert (imported.name, imported.form, [run.label for run in imported.runs]) == (
        "lightning_logs", "lightning", ["version_0", "version_1"],
    )  # fmt: skip
    assert [run.environment for run in imported.runs] == [{"lr": "0.1"}] * 2


def test_training_validation_and_test_stand_at_trainer_steps() -> None:
    (imported,) = read_files([LOGS / "version_0/metrics.csv"])
    (run,) = imported.runs
    assert {name: tuple(series.steps) for name, series in run.series.items()} == {
        "train_loss": (1, 3, 5, 7, 9, 11),
        "val_loss": (3, 7, 11),
        "test_loss": (12,),
    }
    assert run.series["train_loss"].values[0] == 0.2780809700489044
    assert "not used = epoch" in imported.notes[0]


def test_versions_named_one_by_one_are_joined() -> None:
    (imported,) = read_files(sorted(LOGS.glob("version_*")))
    assert [run.label for run in imported.runs] == ["version_0", "version_1"]


def test_the_step_is_the_step_where_a_row_stands_for_an_epoch(tmp_path: Path) -> None:
    path = tmp_path / "version_0" / "metrics.csv"
    path.parent.mkdir()
    path.write_text("epoch,step,val_acc\n0,49,0.5\n1,99,0.6\n")
    (imported,) = read_files([path])
    assert imported.runs[0].series["val_acc"].steps == (49, 99)
