"""What the page that follows one run shows is what its commands print; run as a program, this file writes it there."""

import re
import tempfile
from pathlib import Path

from pages import ROOT, Reader, alone, without_clock

PAGE = ROOT / "docs/explanation/follow-one-run.md"
CLOCK = re.compile(r"(?<=,)\d+\.\d+(?=[,\]])")
"""The reading of the clock in an event; it is the first one in the line of a value."""


def without_times(page: str) -> str:
    """The page with all readings of the clock alike: those of values stand before them, those of steps come last."""
    lines = (CLOCK.sub("0.0", line, count=1) if line.startswith("[") else line for line in page.splitlines())
    return without_clock("\n".join(lines))


def test_one_run_leaves_what_the_page_shows(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert Reader(alone(tmp_path)).follow(page, without_times) == page


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(Reader(Path(folder)).follow(PAGE.read_text(encoding="utf-8"), without_times), encoding="utf-8")
