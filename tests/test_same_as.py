"""`scripts/same_as` finds a word that changed, and nothing where there is nothing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.sameness.outcomes import Folder, differences, lines_of, outcome

ROOT = Path(__file__).parents[1]
PAGE = "<style>{}</style><p>Verdict: <b>better</b></p><svg><title>Curves</title><path d='{}'/></svg>{}"


def same_as(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The script of that tree, with the interpreter of the tests."""
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin", "HOME": str(Path.home())}
    command = [str(root / "scripts/same_as"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_changed_word_is_found_and_nothing_else(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    only = r"deviate (--help|plan --effect 0.5 --power 0.8)$"
    arguments = ("HEAD", "--inputs", str(tmp_path / "inputs"), "--only", only)
    words = "How many runs does it take?"
    (file,) = (path for path in (clone / "deviate").rglob("*.py") if f'"{words}"' in path.read_text())
    file.write_text(file.read_text().replace(words, "How many trials does it take?"))
    changed = same_as(clone, *arguments, "--tree", "--keep", str(tmp_path / "kept"))
    assert changed.returncode == 1, changed.stdout + changed.stderr
    assert "differs: [fresh] deviate --help  (stdout)" in changed.stdout
    assert re.search(r"^ +\+.*How many trials does it take\?$", changed.stdout, re.MULTILINE)
    assert "plan --effect" not in changed.stdout
    assert re.search(r"^[1-9]\d* commands equal", changed.stdout, re.MULTILINE)
    assert "How many trials" in (tmp_path / "kept/001/new/stdout").read_text()

    (tmp_path / "expected.txt").write_text("# A run is called a trial.\nHow many (runs|trials) does it take\n")
    expected = same_as(clone, *arguments, "--tree", "--expect", str(tmp_path / "expected.txt"))
    assert expected.returncode == 0, expected.stdout + expected.stderr
    assert "differs as expected: [fresh] deviate --help" in expected.stdout


@pytest.mark.parametrize(
    ("page", "is_same"),
    [
        (PAGE.format("b {}", "M 2 2", ""), True),
        (PAGE.format("", "M 1 1", "<script>run()</script>"), True),
        (PAGE.format("", "M 1 1", "").replace("better", "worse"), False),
        (PAGE.format("", "M 1 1'/><path d='", ""), False),
        (PAGE.format("", "M 1 1", "").replace("Curves", "Scores"), False),
        (PAGE.format("", "M 1 1", "<img alt='a dog'>"), False),
        (PAGE.format("", "M 1 1", '<script type="application/json">[1]</script>'), False),
    ],
)
def test_of_a_page_counts_what_is_shown(page: str, is_same: bool) -> None:  # noqa: FBT001 - one of two answers
    assert (lines_of("a.html", page.encode()) == lines_of("a.html", PAGE.format("", "M 1 1", "").encode())) is is_same


def test_places_and_line_numbers_are_no_difference() -> None:
    old = outcome("1", b"", b'in /x/environments/old/bin\n  File "a.py", line 3, in f\n', {"a.txt": b"1"})
    new = outcome("1", b"", b'in /x/environments/new/bin\n  File "a.py", line 40, in f\n', {"a.txt": b"1"})
    assert list(differences(old, new)) == []
    assert [name for name, _ in differences(old, outcome("0", b"", b"", {"b.txt": b"1"}))] == [
        "exit code", "stderr", "a.txt", "b.txt",
    ]  # fmt: skip


def test_a_project_becomes_as_it_was(tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    for name in ("a.txt", "in/b.txt", "in/deep/c.txt"):
        (origin / name).parent.mkdir(parents=True, exist_ok=True)
        (origin / name).write_text(name)
    folder = Folder(origin, tmp_path / "copy")
    (folder.path / "a.txt").write_text("changed")
    (folder.path / "in/deep/c.txt").unlink()
    (folder.path / "in/deep").rmdir()
    (folder.path / "new").mkdir()
    (folder.path / "new/d.txt").write_text("new")
    assert folder.changes() == {"a.txt": b"changed", "in/deep/c.txt": None, "new/d.txt": b"new"}
    assert folder.changes() == {}
    folder.mend()
    paths = sorted(folder.path.rglob("*"))
    assert {str(path.relative_to(folder.path)): path.is_file() and path.read_text() for path in paths} == {
        "a.txt": "a.txt", "in": False, "in/b.txt": "in/b.txt", "in/deep": False, "in/deep/c.txt": "in/deep/c.txt",
    }  # fmt: skip
