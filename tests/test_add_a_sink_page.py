"""The files of the page on sinks, put into a copy of the package, do what it shows; as a program, this writes it."""

import shutil
import tempfile
from pathlib import Path

from pages import ROOT, Reader

PAGE = ROOT / "docs/how-to/add-a-sink.md"


def followed(page: str, folder: Path) -> str:
    """The page with what its commands print in a copy of the repository."""
    aside = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "deviate", folder / "deviate", ignore=aside)
    (folder / "tests/sinks").mkdir(parents=True)
    shutil.copy(ROOT / "tests/sinks/conftest.py", folder / "tests/sinks")
    shutil.copy(ROOT / "pyproject.toml", folder)
    return Reader(folder, {"PYTHONPATH": str(folder)}).follow(page)


def test_the_sink_of_the_page_is_found_and_tested_as_the_page_shows(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert followed(page, tmp_path) == page


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        PAGE.write_text(followed(PAGE.read_text(encoding="utf-8"), Path(scratch)), encoding="utf-8")
