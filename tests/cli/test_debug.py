"""`--debug` logs decisions a line each, without secrets; a defect has one message and a traceback that is kept."""

import errno
import logging
import os
import re
import tempfile
from pathlib import Path

import pytest

from deviate.cli.app import run_arguments
from deviate.cli.defects import latest_defect, report_defect

LINE = re.compile(r"\d\d:\d\d:\d\d\.\d{3} deviate\.[a-z]+: \S.*")
TRAIN = 'for epoch in range(3):\n    print("epoch", epoch)\n    print(f"test acc: {epoch / 10:.3f}")\n'


def test_decisions_are_lines_on_standard_error_without_secrets_and_only_where_they_are_asked_for(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "train.py").write_text(TRAIN, encoding="utf-8")
    monkeypatch.setenv("MY_API_KEY", "hunter2-hunter2")
    words = ["run", "train.py", "--dry-run", "--env", "TOKEN=abcdefgh", "--", "--note", "hunter2-hunter2"]
    assert run_arguments(words) == 0
    assert capsys.readouterr().err == ""
    assert run_arguments([words[0], "--debug", *words[1:]]) == 0
    error = capsys.readouterr().err
    lines = error.splitlines()
    assert [line for line in lines if not LINE.fullmatch(line)] == []
    assert "abcdefgh" not in error
    assert "hunter2-hunter2" not in error
    said = " ".join(lines)
    for text in (
        "there is no",
        "main loop train.py:1 ",
        "metric test_acc at train.py:3",
        "no metric: epoch at train.py:2",
    ):
        assert text in said
    monkeypatch.setenv("DEVIATE_DEBUG", "1")
    assert run_arguments(["list"]) == 0
    assert LINE.match(capsys.readouterr().err)
    monkeypatch.delenv("DEVIATE_DEBUG")
    assert run_arguments(["list"]) == 0
    assert capsys.readouterr().err == ""


def test_a_program_that_uses_deviate_hears_of_decisions_by_its_own_handlers(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    damaged = project / ".deviate/experiments/base/experiment.json"
    damaged.parent.mkdir(parents=True)
    damaged.write_text("{", encoding="utf-8")
    with caplog.at_level(logging.DEBUG, "deviate"):
        run_arguments(["list"])
    assert any(
        it.name == "deviate.records" and "experiment base is left out" in it.getMessage() for it in caplog.records
    )


def test_a_defect_is_one_message_and_its_traceback_is_kept_without_secrets(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", "hunter2-hunter2")
    monkeypatch.setattr(tempfile, "tempdir", str(project))
    for number in range(12):
        report_defect(KeyError(f"hunter2-hunter2 {number}"))
        if number == 0:
            assert [path.suffix for path in project.glob("deviate-defect-*")] == [".txt"]
            assert "KeyError: '[redacted] 0'" in str(latest_defect())
            (project / ".deviate").mkdir()
    (*_, first, second) = capsys.readouterr().err.splitlines()
    assert first == "Error: this is a defect of deviate: KeyError: '[redacted] 11'"
    kept = sorted((project / ".deviate/defects").iterdir())
    assert len(kept) <= 10
    assert latest_defect() in {path.read_text(encoding="utf-8") for path in kept}
    assert str(kept[-1]) in second
    assert second.endswith("deviate doctor --report")


def test_an_unexpected_exception_of_a_verb_is_a_defect_and_its_traceback_is_printed_where_no_person_looks(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(project))

    def refuse() -> str:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "getcwd", refuse)
    assert run_arguments(["list"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("Traceback (most recent call last):\n")
    assert "\nError: this is a defect of deviate: PermissionError: " in error


def test_a_current_folder_that_was_deleted_is_no_defect(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "deleted"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert run_arguments(["list"]) == 1
    assert capsys.readouterr().err.splitlines()[0] == "Error: the current folder does not exist any more"
