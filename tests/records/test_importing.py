"""Files are read by the format that knows them, and joined where each holds one run."""

from pathlib import Path

import pytest

from deviate.errors import InputError
from deviate.records import all_importers, read_files


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
    paths = [write(tmp_path, f"runs/{seed}/metrics.txt", CURVE) for seed in (1, 2)]
    (imported,) = read_files(paths)
    assert (imported.name, [run.label for run in imported.runs]) == ("metrics", ["1/metrics.txt", "2/metrics.txt"])


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


def test_names_are_such_that_a_folder_can_bear_them(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", "method,seed,acc\nA (tuned)/1,0,1\nA (tuned) 1,0,2\n../é,0,3\n")
    assert [it.name for it in read_files([path])] == ["A_tuned_1", "A_tuned_1-2", "imported"]


def test_a_file_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", CURVE)
    with pytest.raises(InputError, match="given more than once"):
        read_files([path, path])


def test_the_format_can_be_said(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", "epoch,loss\n0,0.5\n")
    assert [read_files([path], form=form)[0].form for form in (None, "csv", "keras")] == ["keras", "csv", "keras"]
    with pytest.raises(InputError, match="no format 'excel'") as caught:
        read_files([path], form="excel")
    assert "csv" in caught.value.hint


def test_what_no_format_knows_is_refused_with_all_formats(tmp_path: Path) -> None:
    for path in (write(tmp_path, "x.xlsx", "PK"), tmp_path):
        with pytest.raises(InputError, match="no format knows it") as caught:
            read_files([path])
        assert all(it.name in caught.value.hint for it in all_importers())
    with pytest.raises(InputError, match="there is no such file"):
        read_files([tmp_path / "nothing.csv"])
