"""`deviate compare NAME --against RESULT`, as typed and as its page shows it."""

import json
from pathlib import Path

import pytest
from samples import sample

from deviate.cli.app import run_arguments
from deviate.records.plans import find_experiment, read_plan

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "results-from-elsewhere.md"
SAID = "Smith 2020: test_acc=94.2±0.3, n=5, SD, ddof=1"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    rows = "".join(f"{seed},{score}\n" for seed, score in enumerate(sample(94.6, 0.25, 10)))
    (tmp_path / "new.csv").write_text(f"seed,test_acc\n{rows}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    assert run_arguments(["import", "new.csv", "--name", "new"]) == 0
    capsys.readouterr()
    return tmp_path


def test_the_page_shows_what_the_command_prints_and_to_look_is_a_look(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_arguments(["compare", "new", "--against", SAID]) == 0
    printed, report = capsys.readouterr().out.replace("(imported)", "(algo+impl)").split("Report   ")
    text = PAGE.read_text(encoding="utf-8")
    assert f"deviate compare new --against '{SAID}'\n" in text
    assert f"```text\n{printed}```" in text
    assert (folder / report.strip()).is_file()
    plan = read_plan(find_experiment(folder / ".deviate", "new"))
    assert [shown.is_comparison for shown in plan.reported] == [True]


def test_several_numbers_stand_in_one_document_with_what_was_assumed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = ("A: test_acc=94.2±0.3, n=5, SE, ddof=1", "test_acc=94.0±0.1, n=5, SD", "B: test_acc=94.0, n=5")
    arguments = [argument for text in texts for argument in ("--against", text)]
    assert run_arguments(["compare", "new.csv", *arguments, "--json", "-"]) == 0
    comparisons = json.loads(capsys.readouterr().out)["comparisons"]
    assert [one["published"]["text"] for one in comparisons] == list(texts)
    assert ["ddof=1" in one["published"]["assumption"] for one in comparisons] == [False, True, False]
    assert {one["verdict"]["verdict"] for one in comparisons} == {"undecided"}
