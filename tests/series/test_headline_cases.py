"""The headline of each case is the result that its script announces, with its values: `tests/support/headline.py`.

Of some, each output is looked at.
"""

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from headline import Case, Said, ask_deviate, find_problems, read_cases
from one_score import find_differences

CASES = read_cases(Path(__file__).parent / "cases")
QUICK = frozenset({
    "best-printed-each-epoch", "columns-once", "unknown-measure",
})  # fmt: skip
"""Cases that import nothing that takes seconds, in each of two runs; all others are slow."""


EACH_OUTPUT = frozenset({"columns-once", "folds-without-mean", "cv-auc", "epsilon-in-csv"})
"""A table, a mean over folds, what is announced after training, and a copy in a file."""


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


@pytest.fixture(scope="module")
def asked(
    tmp_path_factory: pytest.TempPathFactory, deviate_in: Callable[[Path], Callable[..., Any]]
) -> Callable[[Case], tuple[Said, Path]]:
    """What deviate said of a case, which is run once, and the project."""
    found: dict[str, tuple[Said, Path]] = {}

    def ask(case: Case) -> tuple[Said, Path]:
        if case.name not in found:
            folder = tmp_path_factory.mktemp("case") / case.name
            found[case.name] = ask_deviate(case, folder, deviate_in), folder
        return found[case.name]

    return ask


@pytest.mark.parametrize("case", [as_parameter(case) for case in CASES])
def test_the_result_that_a_script_announces_is_the_headline(
    case: Case, asked: Callable[[Case], tuple[Said, Path]]
) -> None:
    said, _ = asked(case)
    problems = find_problems(case, said)
    assert not problems, "\n- ".join([f"{case.name}, headline {said.headline}:", *problems, "", said.terminal])


@pytest.mark.parametrize("case", [as_parameter(case) for case in CASES if case.name in EACH_OUTPUT])
def test_every_output_gives_the_same_score_of_each_run(
    case: Case, asked: Callable[[Case], tuple[Said, Path]], deviate_in: Callable[[Path], Callable[..., Any]]
) -> None:
    said, folder = asked(case)

    def ask(*words: str) -> str:
        """What `deviate` says, on both of its streams."""
        answer = deviate_in(folder)(*words)
        assert answer.code == 0, answer.both
        return str(answer.both)

    assert not list(find_differences(ask, folder, "a", said.terminal))


def test_no_case_is_missing() -> None:
    assert len(CASES) == 26
