"""The package of the page on extensions, installed, does what the page shows; as a program, this writes the page."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from pages import ROOT, Reader, blocks

PAGE = ROOT / "docs/how-to/extend.md"


def followed(page: str, folder: Path) -> str:
    """The page with what its commands print beside the installed package."""
    reader = Reader(folder / "reader", {"PYTHONPATH": str(folder / "target")})
    reader.folder.mkdir()
    shutil.copy(ROOT / "examples/tiny.py", reader.folder / "train.py")
    for block in blocks(page):
        if block.title.startswith("deviate-lab/"):
            reader.save(block)
    (reader.folder / "deviate-lab/deviate_lab/__init__.py").touch()
    install = ["pip", "install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target"]
    source = reader.folder / "deviate-lab"
    subprocess.run([sys.executable, "-m", *install, str(folder / "target"), str(source)], check=True)
    return reader.follow(page)


@pytest.mark.slow
def test_the_extensions_of_the_page_are_found_and_do_what_it_shows(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert followed(page, tmp_path) == page


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        PAGE.write_text(followed(PAGE.read_text(encoding="utf-8"), Path(scratch)), encoding="utf-8")
