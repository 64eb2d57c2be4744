"""`--paper FOLDER`: what a paper takes, from the command line."""

from collections.abc import Callable
from pathlib import Path

import pytest
from papers import compiled

from deviate.api import compare
from deviate.errors import InputError

SCORES = "test_acc,val_loss\n" + "".join(f"{93 + i / 10},{0.31 + i / 1000}\n" for i in (3, 1, 4, 1, 5, 9))
TRAIN = """\
import random

for epoch in range(3):
    acc = 90 + epoch + random.random()
    print("epoch", epoch, "acc %.4f" % acc)
"""
FILES = {"table.tex", "macros.tex", "references.bib", "checklist.md", "example.tex"}


@pytest.fixture
def deviate(project: Path, deviate_in):  # type: ignore[no-untyped-def]
    (project / "base.csv").write_text(SCORES)
    (project / "new.csv").write_text(SCORES.replace("93", "95"))
    return deviate_in(project)


def _paths(folder: Path) -> set[str]:
    return {str(it.relative_to(folder)) for it in folder.rglob("*") if it.is_file()}


def test_a_comparison_fills_the_folder_of_a_paper_and_leaves_what_is_there(
    project: Path,
    deviate,  # type: ignore[no-untyped-def]
    require: Callable[[str], None],
) -> None:
    require("pdflatex")
    (project / "paper").mkdir()
    (project / "paper" / "main.tex").write_text("mine")
    answer = deviate("compare", "base.csv", "new.csv", "--paper", "paper", "--siunitx", "--column-width", "3")
    assert answer.code == 0, answer.both
    assert "Paper    paper: example.tex shows how its files are used" in answer.out
    paths = _paths(project / "paper")
    assert FILES | {"main.tex", "figures/estimation-test-acc.pdf", "figures/estimation-test-acc.svg"} <= paths
    assert (project / "paper" / "main.tex").read_text() == "mine"
    paper = compiled(project / "paper" / "example.tex", n_times=3)
    assert paper.error == ""
    assert "The difference was" in paper.text


def test_a_run_fills_it_too_and_a_report_fills_it_again(project: Path, deviate) -> None:  # type: ignore[no-untyped-def]
    (project / "train.py").write_text(TRAIN)
    answer = deviate("run", "train.py", "--runs", "3", "--jobs", "2", "--name", "base", "--paper", "a")
    assert answer.code == 0, answer.both
    assert deviate("report", "base", "--paper", "b").code == 0
    assert deviate("resume", "base", "--paper", "c").code == 0
    assert (project / "a" / "macros.tex").read_text() == (project / "b" / "macros.tex").read_text()
    assert r"{\deviateBaseAccMean}" in (project / "a" / "macros.tex").read_text()
    assert _paths(project / "a") == _paths(project / "b") == _paths(project / "c") >= FILES


@pytest.mark.parametrize("place", ["file", "file/paper", "closed/paper"])
def test_a_folder_that_cannot_be_is_refused_before_anything_is_done(project: Path, deviate, place: str) -> None:  # type: ignore[no-untyped-def]
    (project / "file").write_text("mine")
    (project / "closed").symlink_to("nowhere")
    answer = deviate("compare", "base.csv", "new.csv", "--paper", place)
    assert (answer.code, answer.out) == (1, "")
    assert f"{place} cannot hold a paper: " in answer.err
    assert "is not a folder" in answer.err
    assert len(answer.err.splitlines()) == 2


@pytest.mark.parametrize(
    ("flags", "advice"),
    [(("--siunitx",), "add --latex FILE or --paper FOLDER"), (("--column-width", "3"), "add --paper FOLDER")],
)
def test_an_option_that_would_do_nothing_is_refused(deviate, flags: tuple[str, ...], advice: str) -> None:  # type: ignore[no-untyped-def]
    answer = deviate("report", "base.csv", *flags)
    assert answer.code == 1
    assert advice in answer.err


def test_siunitx_is_for_the_table_alone_too(deviate) -> None:  # type: ignore[no-untyped-def]
    answer = deviate("compare", "base.csv", "new.csv", "--latex", "-", "--siunitx")
    assert "S[table-format=" in answer.out


def test_a_notebook_fills_the_folder_too(tmp_path: Path) -> None:
    compare([93.1, 93.4, 93.9, 93.2, 93.6], [94.1, 94.4, 94.9, 94.2, 94.5]).to_paper(tmp_path / "p")
    assert _paths(tmp_path / "p") >= FILES
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="is not a folder"):
        compare([1, 2, 3], [2, 3, 4]).to_paper(tmp_path / "file")
