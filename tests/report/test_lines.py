"""Lines are no wider than asked, in the columns that a terminal gives to letters, and lose nothing."""

from hypothesis import example, given
from hypothesis import strategies as st
from rich.cells import cell_len

from deviate.report.document import Document, Facts, fact, listing, paragraph
from deviate.report.forms.registry import render
from deviate.report.lines import cut, fill_lines, pad
from deviate.report.medium import WHOLE

LETTERS = st.sampled_from("ab é中文字👩🏽\u200d🔬\u0301שלום")
TEXTS = st.text(LETTERS, max_size=60)
WIDTHS = st.integers(40, 60)


def _letters(text: str) -> str:
    """Without blanks, and without what has no width of its own."""
    return "".join(filter(str.isalnum, text))


@given(TEXTS, WIDTHS)
@example("中" * 50, 41)
def test_filled_lines_fit_and_keep_every_letter(text: str, width: int) -> None:
    lines = fill_lines(text, width)

    assert all(cell_len(line) <= width for line in lines)
    assert _letters("".join(lines)) == _letters(text)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4), WIDTHS)
@example([("", "", "\u200da")], 40)
@example([("", "", "aa 中中"), (f"{'a' * 6}b{'中' * 8}", "aaa中中", "a")], 40)
@example([(f"{'a' * 11}{'中' * 9}", "中字", "aaaa")], 40)
def test_a_table_fits(rows: list[tuple[str, str, str]], width: int) -> None:
    text = render(Document(sections=(paragraph(listing(("a", "b", "c"), rows)),)), "terminal", width=width)

    assert all(cell_len(line) <= width for line in text.splitlines())
    assert all(_letters(cell) in _letters(text) for row in rows for cell in row if len(cell) < 10)


def test_columns_of_wide_letters_stand_below_each_other() -> None:
    table = listing(("metric", "value"), [("精度", "1.0"), ("acc", "2.0")])
    _, first, second = render(Document(sections=(paragraph(table),)), "terminal", width=80).splitlines()

    assert cell_len(first.partition("1.0")[0]) == cell_len(second.partition("2.0")[0])


def test_a_pipe_gets_every_text_on_one_line() -> None:
    long = "many words " * 300
    document = Document(sections=(paragraph(long, Facts((fact("label", long),)), listing(("", "a"), [("x", long)])),))
    lines = render(document, "terminal", width=WHOLE).splitlines()

    assert sum(long.strip() in line for line in lines) == 3


def test_what_fits_is_left_alone() -> None:
    assert (cut("abc", 3), cut("abcd", 3), pad("中", 4)) == ("abc", "ab…", "中  ")
