"""Files are read by the format that knows them, and joined where each holds one run."""

from pathlib import Path

import pytest

from deviate.errors import InputError
from deviate.records.importers import IMPORTERS
from deviate.records.importing import experiment_of, read_files, unique_names, write_imported


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


CURVE = "epoch,acc\n0,0.5\n1,0.6\n"


def test_files_of_one_run_each_are_one_experiment_named_by_what_they_share(tmp_path: Path) -> None:
    paths = [write(tmp_path, f"resnet_seed{seed}.csv", CURVE) for seed in (1, 2)]
    (imported,) = read_files(paths)
    assert (imported.name, [run.label for run in imported.runs]) == ("resnet", ["resnet_seed1.csv", "resnet_seed2.csv"])
    assert imported.notes[0] == "2 files, one run each, are one experiment"


def test_runs_in_folders_of_their_own_are_called_by_their_paths(tmp_path: Path) -> None:
    paths = [write(tmp_path, f"runs/{seed}/curve.txt", CURVE) for seed in (1, 2)]
    (imported,) = read_files(paths)
    assert (imported.name, [run.label for run in imported.runs]) == ("curve", ["1/curve.txt", "2/curve.txt"])


@pytest.mark.parametrize("place", ["mine/{}/metrics.csv", "mine/lightning_logs/version_{}/metrics.csv"])
def test_what_loggers_call_every_file_names_no_experiment(tmp_path: Path, place: str) -> None:
    paths = [write(tmp_path, place.format(seed), CURVE) for seed in (1, 2)]
    (imported,) = read_files(paths)
    assert imported.name == "mine"


def test_the_files_of_a_folder_are_one_experiment_named_after_it(tmp_path: Path) -> None:
    for seed in (1, 2):
        write(tmp_path, f"mine/{seed}.csv", CURVE)
    write(tmp_path, "mine/readme.md", "no results")
    (imported,) = read_files([tmp_path / "mine"])
    assert (imported.name, len(imported.runs)) == ("mine", 2)


def test_files_of_several_runs_are_experiments_of_their_own(tmp_path: Path) -> None:
    paths = [write(tmp_path, f"{name}.csv", "seed,acc\n0,0.5\n1,0.6\n") for name in ("a", "b")]
    assert [(it.name, len(it.runs)) for it in read_files(paths)] == [("a", 2), ("b", 2)]


def test_experiments_of_one_run_in_one_file_are_not_joined(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", "method,seed,acc\nA,0,1\nB,0,2\n")
    assert [(it.name, len(it.runs)) for it in read_files([path])] == [("A", 1), ("B", 1)]


def test_names_keep_their_letters_and_on_record_those_that_a_folder_can_bear(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", "method,seed,acc\nA (tuned)/1,0,1\nA (tuned) 1,0,2\n../基线,0,3\n模型,0,4\n")
    found = read_files([path])
    assert [it.name for it in found] == ["A_tuned_1", "A_tuned_1-2", "_基线", "模型"]
    assert unique_names([it.name for it in found]) == ("A_tuned_1", "A_tuned_1-2", "imported", "imported-2")


def test_a_file_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", CURVE)
    with pytest.raises(InputError, match="given more than once"):
        read_files([path, path])
    scores = write(tmp_path, "scores.csv", "seed,acc\n0,0.5\n1,0.6\n")
    with pytest.raises(InputError, match="given more than once"):
        read_files([scores, path, scores])


@pytest.mark.parametrize("step", ["1e300", "1700000000000000000"])
def test_a_step_that_no_record_can_hold_is_refused(tmp_path: Path, step: str) -> None:
    (imported,) = read_files([write(tmp_path, "x.csv", f"step,acc\n0,0.5\n{step},0.6\n")])
    with pytest.raises(InputError, match=r"acc of run 1: step 1\S* is too large"):
        experiment_of(imported)
    with pytest.raises(InputError, match="is too large"):
        write_imported(tmp_path / ".deviate", imported, "x")
    assert not (tmp_path / ".deviate").exists()


def test_the_format_can_be_said(tmp_path: Path) -> None:
    path = write(tmp_path, "metrics.csv", "epoch,step,loss\n0,1,0.5\n")
    forms = (None, "csv", "lightning")
    assert [read_files([path], form=form)[0].form for form in forms] == ["lightning", "csv", "lightning"]
    with pytest.raises(InputError, match="unknown import format 'excel'") as caught:
        read_files([path], form="excel")
    assert "csv" in caught.value.hint


def test_what_no_format_knows_is_refused_with_all_formats(tmp_path: Path) -> None:
    for path in (write(tmp_path, "x.xlsx", "PK"), tmp_path):
        with pytest.raises(InputError, match="not a known format") as caught:
            read_files([path])
        assert all(name in caught.value.hint for name in IMPORTERS)
    with pytest.raises(InputError, match="no such file"):
        read_files([tmp_path / "nothing.csv"])
