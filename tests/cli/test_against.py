"""`deviate compare NAME --against RESULT`, as typed."""

import json
from pathlib import Path

import pytest

from deviate.cli.app import run_arguments
from deviate.records import find_experiment, read_plan


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    scores = [94.1, 94.5, 94.7, 94.6, 94.9, 94.8]
    rows = "".join(f"{seed},{score}\n" for seed, score in enumerate(scores))
    (tmp_path / "new.csv").write_text(f"seed,test_acc\n{rows}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run_arguments(["import", "new.csv", "--name", "new"]) == 0
    return tmp_path


def test_the_answer_comes_first_and_what_was_assumed_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run_arguments(["compare", "new", "--against", "Smith 2020: test_acc=94.2±0.3, n=5, SD"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Undecided: their scores are not known"
    text = " ".join(" ".join(lines).split())
    assert "test_acc, Smith 2020 +0.40 [95% CI −0.04 … 0.84, Welch]" in text
    assert "Published mean ± SD 94.20 ± 0.34, n = 5" in text
    assert "write 'Smith 2020: test_acc=94.2±0.3, n=5, SD, ddof=1'" in text
    assert (folder / ".deviate/reports/new/against.html").is_file()


def test_to_look_at_a_published_number_is_a_look(folder: Path) -> None:
    assert run_arguments(["compare", "new", "--against", "test_acc=94.2, n=1"]) == 0
    plan = read_plan(find_experiment(folder / ".deviate", "new"))
    assert [report.is_comparison for report in plan.reported] == [True]


def test_several_numbers_stand_in_one_document(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    texts = ("A: test_acc=94.2±0.3, n=5, SE, ddof=1", "B: test_acc=94.0, n=5")
    arguments = [argument for text in texts for argument in ("--against", text)]
    assert run_arguments(["compare", "new.csv", *arguments, "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["published"]["text"] for one in document["comparisons"]] == list(texts)
    assert {one["verdict"]["verdict"] for one in document["comparisons"]} == {"undecided"}
