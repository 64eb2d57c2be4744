"""The headline of each case is the result that its script announces, with its values: `tests/support/headline.py`."""

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from headline import Case, ask_deviate, find_problems, read_cases

CASES = read_cases(Path(__file__).parent / "cases")
QUICK = frozenset({
    "best-printed-each-epoch", "columns-once", "unknown-measure",
})  # fmt: skip
"""Cases that import nothing that takes seconds, in each of two runs; all others are slow."""


def imported(case: Case) -> set[str]:
    """The packages that a script names in its imports, without those of the standard library."""
    nodes = list(ast.walk(ast.parse((case.folder / "train.py").read_text(encoding="utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names


def as_parameter(case: Case):  # type: ignore[no-untyped-def]
    packages = imported(case)
    marks = [pytest.mark.requires(*sorted(packages)), *[pytest.mark.slow] * (case.name not in QUICK)]
    return pytest.param(case, id=case.name, marks=marks)


@pytest.mark.parametrize("case", [as_parameter(case) for case in CASES])
def test_the_result_that_a_script_announces_is_the_headline(
    case: Case, tmp_path: Path, deviate_in: Callable[[Path], Callable[..., Any]]
) -> None:
    said = ask_deviate(case, tmp_path / case.name, deviate_in)
    problems = find_problems(case, said)
    assert not problems, "\n- ".join([f"{case.name}, headline {said.headline}:", *problems, "", said.terminal])


def test_no_case_is_missing() -> None:
    assert len(CASES) == 26
