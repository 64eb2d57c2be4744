import pytest
from deviate_lab.importer import is_lab_book, read_lab_book

from deviate.errors import InputError


def test_each_line_is_a_run(tmp_path):
    path = tmp_path / "old.labbook"
    path.write_text("0.7\n0.72\n", encoding="utf-8")
    assert is_lab_book(path)
    (experiment,) = read_lab_book(path)
    assert [run.series["accuracy"].values for run in experiment.runs] == [(0.7,), (0.72,)]


def test_a_damaged_file_is_named(tmp_path):
    path = tmp_path / "old.labbook"
    path.write_text("0.7\nnone\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"old\.labbook is no lab book"):
        read_lab_book(path)
