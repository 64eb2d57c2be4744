"""Files in the forms of the DEVIATE release of 2021: columns as its code writes them, numbers of our own."""

from pathlib import Path

import pytest

from deviate.errors import InputError
from deviate.records.importers.deviate2021 import published_table
from deviate.records.importing import read_files

DATA = Path(__file__).parent / "data/deviate2021"


def test_numbered_folders_are_runs() -> None:
    (imported,) = read_files([DATA / "mine"])
    assert (imported.name, imported.form, [run.label for run in imported.runs]) == (
        "mine", "deviate2021", ["run 0", "run 1"],
    )  # fmt: skip
    assert tuple(imported.runs[0].series["adv_acc * 100"].steps) == (0, 200)
    assert imported.runs[1].series["nat_acc * 100"].values[-1] == 42.1875
    assert any("Time is the duration of the written iteration in seconds" in note for note in imported.notes)


def test_rows_are_counted_where_the_iteration_never_changes() -> None:
    (imported,) = read_files([DATA / "mine/0/DLVarLogNoLoop.csv"])
    assert tuple(imported.runs[0].series["100 * acc_nat"].steps) == (0, 1)
    assert "rows are counted" in imported.notes[0]


def test_the_bounds_of_the_sd_are_put_right() -> None:
    """SD 2.5556 of [1, 2, 3, 4, 5, 6, 7, 8.5] has the 90 % interval 1.8028 to 4.5929."""
    table = published_table(DATA / "variance_analysis_mine.csv")
    assert table is not None
    comments, header, first = table.splitlines()[:2], table.splitlines()[2], table.splitlines()[3]
    assert header == "metric,iteration,range,max,min,sd (ddof 1),sd 90% low,sd 90% high,mean"
    assert first == "acc,0,7.5000,8.5000,1.0000,2.5556,1.8028,4.5929,4.5625"
    assert "SDev_t was the lower bound and SDev_b the upper one" in comments[0]
    assert "nan" not in table


def test_p_values_are_doubled_and_it_is_said() -> None:
    table = published_table(DATA / "comparison_mine_other.csv")
    assert table is not None
    assert "one-sided: they are doubled" in table
    rows = [line.split(",") for line in table.splitlines()[3:]]
    assert [(row[0], row[3]) for row in rows] == [
        ("acc", "0.6476"),
        ("acc", "none: all values equal"),
        ("loss", "0.0010"),
        ("loss", "< 0.0001"),
    ]


def test_summaries_are_no_runs() -> None:
    with pytest.raises(InputError, match="summary over runs") as caught:
        read_files([DATA / "variance_analysis_mine.csv"])
    assert "DLVarLog.csv" in caught.value.hint


def test_a_damaged_summary_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(",acc,,,,,,\nIter,max_diff,max,min,SDev,SDev_b,SDev_t,mean\n0,1,1,1,1,1,1,1\n")
    with pytest.raises(InputError, match="unknown columns"):
        published_table(path)


def test_other_files_are_no_published_tables() -> None:
    assert published_table(DATA / "mine/0/DLVarLog.csv") is None
    assert published_table(DATA) is None
