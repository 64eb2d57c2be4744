"""What a user reads who names a folder."""

from pathlib import Path

import pytest

from deviate.analysis.entries import EntryScript, EntryScripts
from deviate.cli.entries import entries_document, refuse_folder
from deviate.errors import InputError
from deviate.report.forms.registry import render

HERE = Path("/home/me/project")
FIRST = EntryScript("train.py", 9.0, ("calls backward", "has a main guard"))
SECOND = EntryScript("other/tr ain.py", 8.0, ("calls fit",))


def entries(*scripts: EntryScript, folder: Path = HERE, notebooks: tuple[str, ...] = ()) -> EntryScripts:
    return EntryScripts(folder, scripts, notebooks, 7)


def render_entries(entries: EntryScripts, cwd: Path, width: int) -> str:
    return render(entries_document(entries, cwd), "terminal", width=width)


def test_one_clear_script_comes_with_the_command() -> None:
    assert render_entries(entries(FIRST), HERE, 80) == (
        "Folder     /home/me/project\n"
        "           1 of 7 Python files may be training scripts\n"
        "\n"
        "  1  train.py\n"
        "      calls backward; has a main guard\n"
        "\n"
        "Next       deviate analyze train.py\n"
    )


def test_several_are_numbered_and_notebooks_are_mentioned() -> None:
    text = render_entries(entries(SECOND, FIRST, notebooks=("a.ipynb", "b.ipynb")), HERE, 80)
    assert "  2  train.py\n" in text
    assert "a.ipynb and 1 more" in text
    assert "not ranked" in text
    assert text.endswith("Try        deviate analyze 'other/tr ain.py'\n")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_asked_and_only_ten_are_shown(width: int) -> None:
    many = [EntryScript(f"train_{number}.py", 5.0, ("a reason " * 30,)) for number in range(14)]
    lines = render_entries(entries(*many), HERE, width).splitlines()
    assert max(map(len, lines)) <= width
    assert any("and 4 more" in line for line in lines)


def test_commands_are_for_the_folder_where_the_user_is() -> None:
    assert "deviate analyze src/train.py" in render_entries(entries(FIRST, folder=HERE / "src"), HERE, 80)
    assert "cd ../else && deviate analyze train.py" in render_entries(
        entries(FIRST, folder=HERE.parent / "else"), HERE, 80
    )


def test_a_run_of_a_folder_is_refused_with_its_scripts() -> None:
    error = refuse_folder(entries(FIRST, SECOND), HERE, "run")
    assert "train.py" in error.message
    assert "other/tr ain.py" in error.message
    assert "deviate run train.py" in error.hint
    assert "deviate analyze --save train.py" in refuse_folder(entries(FIRST), HERE, "analyze --save").hint


def test_a_folder_without_a_training_script_is_told() -> None:
    with pytest.raises(InputError, match="has 7 Python files, but no likely training script") as caught:
        render_entries(entries(notebooks=("a.ipynb",)), HERE, 80)
    assert "deviate analyze a.ipynb" in caught.value.hint
    assert "no likely training script" in refuse_folder(entries(), HERE, "run").message


def test_the_document_holds_all() -> None:
    assert entries_document(entries(FIRST), HERE).data() == {
        "schema": 1,
        "folder": "/home/me/project",
        "scripts": [{"file": "train.py", "score": 9.0, "reasons": ["calls backward", "has a main guard"]}],
        "notebooks": [],
    }
