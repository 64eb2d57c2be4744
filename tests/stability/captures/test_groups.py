"""Sub-groups from files stand beside the examples that they are of, or are refused in one sentence."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from deviate.errors import InputError
from deviate.model.records import Alignment, Captured, CapturedSet
from deviate.stability.captures.groups import read_groups, refuse_unknown, with_groups


def one_set(name: str = "test", n: int = 4, *, positions=None, alignment: Alignment = "position", columns=None):  # type: ignore[no-untyped-def]
    places = np.arange(n) if positions is None else np.array(positions)
    labels = np.zeros((2, len(places)), int)
    return CapturedSet(name, None, (0, 1), "labels", None, labels, None, columns or {}, places, alignment)


def table(folder: Path, text: str, name: str = "groups.csv") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


SEX = "sex,age\nf,1\nm,2\nf,3\nm,4\n"


def columns(captured: Captured, index: int = 0) -> dict[str, list[str]]:
    return {name: column.tolist() for name, column in captured.sets[index].columns.items()}


def test_rows_are_those_of_the_examples_in_their_order(tmp_path: Path) -> None:
    found = with_groups(Captured((one_set(),)), read_groups([table(tmp_path, SEX)]), "train")
    assert columns(found) == {"sex": ["f", "m", "f", "m"], "age": ["1", "2", "3", "4"]}


def test_columns_that_are_named_are_taken_alone(tmp_path: Path) -> None:
    found = with_groups(Captured((one_set(),)), read_groups([f"{table(tmp_path, SEX)}:sex"]), "train")
    assert columns(found) == {"sex": ["f", "m", "f", "m"]}


def test_examples_that_were_left_out_leave_their_rows_out(tmp_path: Path) -> None:
    captured = Captured((one_set(positions=[1, 3]),))
    assert columns(with_groups(captured, read_groups([f"{table(tmp_path, SEX)}:sex"]), "train")) == {"sex": ["m", "m"]}


def test_the_last_example_may_be_left_out_too(tmp_path: Path) -> None:
    captured = Captured((dataclasses.replace(one_set(positions=[1, 2]), n_seen=4),))
    assert columns(with_groups(captured, read_groups([f"{table(tmp_path, SEX)}:sex"]), "train")) == {"sex": ["m", "f"]}
    by_id = table(tmp_path, "id,sex\n3,a\n2,b\n1,c\n0,d\n", "ids.csv")
    assert columns(with_groups(captured, read_groups([by_id]), "train")) == {"sex": ["c", "b"]}


def test_parts_of_an_example_are_in_its_group(tmp_path: Path) -> None:
    captured = Captured((one_set(positions=[0, 0, 1, 1, 2, 2, 3, 3]),))
    found = with_groups(captured, read_groups([f"{table(tmp_path, SEX)}:age"]), "train")
    assert columns(found) == {"age": ["1", "1", "2", "2", "3", "3", "4", "4"]}


@pytest.mark.parametrize("head", ["id", "index", "ID"])
def test_ids_say_which_example_a_row_is_of(tmp_path: Path, head: str) -> None:
    text = f"{head},sex\n2,c\n0,a\n3,d\n1,b\n"
    assert columns(with_groups(Captured((one_set(),)), read_groups([table(tmp_path, text)]), "train")) == {
        "sex": ["a", "b", "c", "d"]
    }


def test_a_file_is_for_every_set_of_its_size(tmp_path: Path) -> None:
    captured = Captured((one_set("val", 3), one_set()))
    found = with_groups(captured, read_groups([table(tmp_path, SEX)]), "train")
    assert (columns(found, 0), list(columns(found, 1))) == ({}, ["sex", "age"])


def test_a_file_may_be_for_one_set(tmp_path: Path) -> None:
    captured = Captured((one_set("val"), one_set()))
    found = with_groups(captured, read_groups([f"val={table(tmp_path, SEX)}:sex"]), "train")
    assert (list(columns(found, 0)), columns(found, 1)) == (["sex"], {})


def test_several_files_stand_beside_each_other(tmp_path: Path) -> None:
    texts = [f"{table(tmp_path, SEX)}:sex", table(tmp_path, "hue\tid\nr\t0\ng\t1\nb\t2\nr\t3\n", "hues.tsv")]
    assert list(columns(with_groups(Captured((one_set(),)), read_groups(texts), "train"))) == ["sex", "hue"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sex\nf\nm\nf\n", r"its 3 rows match no set of train \(examples: test 4\)"),
        ("id,sex\n0,f\n1,m\n2,f\n", "its 3 rows match no set"),
        ("id,sex\n0,f\n1,m\n2,f\n9,m\n", "its 4 rows match no set"),
        ("id,sex\n0,f\n0,m\n2,f\n3,m\n", "repeats a number"),
        ("id,sex\na,f\nb,m\nc,f\nd,m\n", "must hold the numbers"),
        ("id\n0\n1\n2\n3\n", "has only an id column"),
        ("sex,age\nf,1\nm\nf,3\nm,4\n", "row 3 does not have as many columns"),
        ("", "has no rows"),
        ("sex\n", "has no rows"),
        ("sex,sex\nf,1\nm,2\nf,3\nm,4\n", "has more than one column 'sex'"),
    ],
)
def test_what_fits_no_set_is_refused_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        with_groups(Captured((one_set(),)), read_groups([table(tmp_path, text)]), "train")


def test_rows_of_a_file_fit_no_set_that_is_shuffled_in_each_run(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="order of examples differs") as caught:
        with_groups(Captured((one_set(alignment="input"),)), read_groups([table(tmp_path, SEX)]), "train")
    assert "deviate.log_predictions" in caught.value.hint


def test_other_sets_columns_and_files_are_told_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no set 'val'") as caught:
        with_groups(Captured((one_set(),)), read_groups([f"val={table(tmp_path, SEX)}"]), "train")
    assert caught.value.hint == "it has: test"
    with pytest.raises(InputError, match="no column 'hue'") as caught:
        read_groups([f"{table(tmp_path, SEX)}:hue"])
    assert caught.value.hint == "it has: sex, age"
    with pytest.raises(InputError, match=r"none\.csv"):
        read_groups(["none.csv"])


def test_columns_on_record_are_named_and_others_refused() -> None:
    captured = Captured((one_set(columns={"sex": np.arange(4)}),))
    refuse_unknown([captured], read_groups(["sex"]))
    with pytest.raises(InputError, match="no run has logged a column") as caught:
        refuse_unknown([captured], read_groups(["age"]))
    assert "recorded columns: sex" in caught.value.hint
