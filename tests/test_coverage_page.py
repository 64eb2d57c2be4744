"""docs/coverage.md has a row for everything that it is to cover, and every test that it names is there and runs."""

import ast
import functools
import re

from each import check_each
from pages import ROOT

PAGE = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
ROWS = [
    tuple(cell.strip() for cell in line[1:-1].split("|"))
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| row |", "| oracle |", "| test |"))
]
"""Of all tables: id, what it is about, tests, remarks."""
RANGES = {"D": 35, "V": 12, "Z": 16, "S": 10, "O": 22, "T": 11}
FURTHER = ["CKA", "Logits", "Classes", "Times"]
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
SKIPS = {"pytest.skip", "pytest.fail", "pytest.xfail", "pytest.mark.skip", "pytest.mark.xfail"}


@functools.cache
def defined_in(file: str) -> dict[str, ast.FunctionDef]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {it.name: it for it in tree.body if isinstance(it, ast.FunctionDef) and it.name.startswith("test_")}


def is_skip(node: ast.expr) -> bool:
    return ast.unparse(node.func if isinstance(node, ast.Call) else node) in SKIPS


def is_module_skipped(file: str) -> bool:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    at_top = [it.value for it in tree.body if isinstance(it, ast.Expr | ast.Assign)]
    marks = [mark for it in at_top for mark in (it.elts if isinstance(it, ast.List | ast.Tuple) else [it])]
    return any(map(is_skip, marks))


def test_every_row_is_there_once_and_in_order() -> None:
    expected = {kind: [f"{kind}{number}" for number in range(1, n + 1)] for kind, n in RANGES.items()}
    expected["O"] += FURTHER
    assert [row[0] for row in ROWS] == [name for names in expected.values() for name in names]


def check_row(row: tuple[str, ...]) -> None:
    _, what, tests, remarks = row
    assert what
    named = NAMED.findall(tests)
    assert [f"`{file}::{name}`" for file, name in named] == tests.split("<br>") if tests else len(remarks) > 40
    for file, name in named:
        assert name in defined_in(file), f"{file} has no {name}"
        test = defined_in(file)[name]
        top = [it.value for it in test.body if isinstance(it, ast.Expr)]
        assert not any(map(is_skip, [*test.decorator_list, *top])), f"{name} is always skipped"
        assert not is_module_skipped(file), f"{file} is always skipped"
    assert len(set(named)) == len(named)


def test_a_row_has_tests_that_run_or_the_reason_why_not() -> None:
    check_each(((row[0], row) for row in ROWS), check_row)
