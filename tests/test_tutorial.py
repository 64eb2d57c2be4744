"""What the tutorial shows is what its commands print, but for clock times; run as a program, this file writes it."""

import tempfile
from pathlib import Path

import pytest
from pages import ROOT, Reader, alone, blocks

PAGE = ROOT / "docs/tutorial.md"


@pytest.mark.slow
def test_whoever_installs_the_wheel_and_follows_the_tutorial_sees_what_it_shows(
    installation: Path, tmp_path: Path
) -> None:
    page = PAGE.read_text(encoding="utf-8")
    reader = Reader(alone(tmp_path), programs=installation)
    assert reader.run("python -c 'import deviate; print(deviate.__file__)'").startswith(f"{installation.parent}/")
    assert reader.follow(page) == page


def test_all_commands_of_the_tutorial_but_the_installation_are_carried_out() -> None:
    left = [block.text for block in blocks(PAGE.read_text(encoding="utf-8")) if not block.is_run]
    assert len(left) == 1
    assert "pip install" in left[0]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(Reader(Path(folder)).follow(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
