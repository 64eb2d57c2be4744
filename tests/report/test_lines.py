"""Lines are no wider than asked, in the columns that a terminal gives to letters, and lose nothing."""

from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from deviate.report.lines import align_rows, cut, fill_lines, join_parts, name, pad

LETTERS = st.sampled_from("ab é中文字👩🏽\u200d🔬\u0301שלום")
TEXTS = st.text(LETTERS, max_size=60)
WIDTHS = st.integers(20, 60)


@given(TEXTS, WIDTHS)
@example("中" * 50, 21)
def test_filled_lines_fit_and_keep_every_letter(text: str, width: int) -> None:
    lines = fill_lines(text, width, "  ", "    ")

    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(TEXTS, st.lists(TEXTS, max_size=5), WIDTHS)
def test_joined_parts_fit_and_keep_every_letter(head: str, parts: list[str], width: int) -> None:
    lines = list(join_parts(head, parts, width, indent=4, join="|"))

    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).replace("|", "").split()) == "".join("".join((head, *parts)).split())


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4), WIDTHS)
def test_a_table_fits(rows: list[tuple[str, str, str]], width: int) -> None:
    assert all(cell_len(line) <= max(width, 40) for line in align_rows(rows, max(width, 40)))


def test_columns_of_wide_letters_stand_below_each_other() -> None:
    _, first, second = align_rows([("metric", "value"), ("精度", "1.0"), ("acc", "2.0")], 80)

    assert cell_len(first.partition("1.0")[0]) == cell_len(second.partition("2.0")[0])


def test_what_fits_is_left_alone() -> None:
    assert (cut("abc", 3), cut("abcd", 3), pad("中", 4), name("loss")) == ("abc", "ab…", "中  ", "loss")


def test_a_long_name_keeps_its_beginning_and_its_end() -> None:
    short = name("validation_" + "x" * 4000 + "_class_7")

    assert cell_len(short) <= 60
    assert short.startswith("validation_")
    assert short.endswith("_class_7")
