"""docs/explanation/what-is-observed.md: the program makes these statements, and every test that it names is there."""

import ast
import re
from functools import cache

import pytest
from each import check_each
from pages import ROOT

PAGE = (ROOT / "docs/explanation/what-is-observed.md").read_text(encoding="utf-8")
ROWS = [tuple(cell.strip() for cell in line[1:-1].split("|")) for line in PAGE.splitlines() if line.startswith("| `")]
"""Words, when they are said, record, test."""
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


@cache
def program() -> str:
    """The texts of the rooms that make statements, with strings that stand in several parts joined."""
    rooms = ("stats", "series", "report", "records", "project", "diverge", "stability", "replay")
    texts = [path.read_text(encoding="utf-8") for room in rooms for path in (ROOT / "deviate" / room).rglob("*.py")]
    return re.sub(r'"\s*\n\s*f?"', "", "\n".join(texts))


@cache
def functions_in(file: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {it.name: it for it in tree.body if isinstance(it, ast.FunctionDef)}


def check_row(row: tuple[str, ...]) -> None:
    words, said_where, record, test = row
    assert words.strip("`") in program(), "the program says so"
    assert said_where
    assert record
    named = NAMED.findall(test)
    assert named, "a test makes it false"
    for file, name in named:
        marks = [ast.unparse(it) for it in functions_in(file)[name].decorator_list]
        assert not any("skip" in mark or "xfail" in mark for mark in marks), f"{name} runs"


def test_every_statement_has_a_record_and_a_test_that_makes_it_false() -> None:
    assert len(ROWS) > 20
    check_each(((row[0], row) for row in ROWS), check_row)


@pytest.mark.parametrize("word", ["no source of spread", "Nothing was drawn from", "varies which examples"])
def test_what_nobody_observed_is_not_said(word: str) -> None:
    assert word not in program()
