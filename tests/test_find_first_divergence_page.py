"""The page on where two runs part shows what its command prints; as a program, this writes it."""

import re
import tempfile
from pathlib import Path

from pages import ROOT, Reader, alone

from deviate.cli.app import load_command
from deviate.diverge.report.words import KINDS

PAGE = ROOT / "docs/how-to/find-first-divergence.md"


def alike(printed: str) -> str:
    """What is printed, whatever the numbers that the system gave, and wherever their widths break a line."""
    return re.sub(r"\s+", " ", re.sub(r"\d[\d.,]*(?:e\S?\d+)?", "1", printed))


def test_the_answer_on_the_page_is_the_one_that_its_command_gives(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert Reader(alone(tmp_path)).follow(page, alike) == page


def test_every_option_on_the_page_is_one_of_the_command() -> None:
    command = load_command("diverge")
    options = {name for parameter in command.params for name in parameter.opts}
    page = PAGE.read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if line.startswith("deviate diverge")]
    told = {word for line in lines for word in line.partition(" -- ")[0].split() if word.startswith("-")}
    assert len(told) > 4
    assert told <= options
    assert set(re.findall(r"`(--[a-z-]+)", page)) - options <= {"--require-control"}


def test_every_label_of_the_answer_is_explained() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert [label for label, *_ in KINDS.values() if label not in page] == []


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        PAGE.write_text(Reader(alone(Path(scratch))).follow(PAGE.read_text(encoding="utf-8"), alike), encoding="utf-8")
