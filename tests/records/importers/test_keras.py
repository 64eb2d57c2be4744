"""Logs that `keras.callbacks.CSVLogger` wrote: two trainings of four epochs, validated in every second one."""

from pathlib import Path

from deviate.records.importing import read_files

LOGS = Path(__file__).parent / "data/keras"


def test_an_epoch_without_validation_has_no_value() -> None:
    (imported,) = read_files([LOGS / "training_0.log.csv"])
    (run,) = imported.runs
    assert imported.form == "csv"
    assert tuple(run.series["val_loss"].steps) == (1, 3)
    assert tuple(run.series["loss"].steps) == (0, 1, 2, 3)
    assert run.series["loss"].values[3] == 0.670720100402832


def test_files_of_one_training_each_are_runs_of_one_experiment() -> None:
    (imported,) = read_files([LOGS])
    assert (imported.name, [run.label for run in imported.runs]) == (
        "keras", ["training_0.log.csv", "training_1.log.csv"],
    )  # fmt: skip


def test_a_training_that_was_appended_is_another_run(tmp_path: Path) -> None:
    header, *rows = (LOGS / "training_0.log.csv").read_text().splitlines()
    path = tmp_path / "training.log"
    path.write_text("\n".join([header, *rows, *rows]) + "\n")
    (imported,) = read_files([path])
    assert [len(run.series["loss"].values) for run in imported.runs] == [4, 4]
