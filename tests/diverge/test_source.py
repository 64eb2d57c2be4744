"""Lines around a place are those of the file as it was frozen, with secrets covered."""

from pathlib import Path

import pytest
from partings import operation, parted

from deviate.diverge.findings import CodeLine, DivergenceFindings
from deviate.diverge.source import AROUND, attach_source_context
from deviate.records.layout import snapshot_folder
from deviate.records.snapshot import TREE

LINES = [f"line {number}" for number in range(1, 21)]


@pytest.fixture
def attempt(tmp_path: Path) -> Path:
    """Of an experiment whose project has one file."""
    file = snapshot_folder(tmp_path) / TREE / "train.py"
    file.parent.mkdir(parents=True)
    file.write_text("\n".join([*LINES, "    api_key = 'abcdefghij0123456789'"]), encoding="utf-8")
    return tmp_path / "runs/0/attempt-0"


def found_at(line: int, attempt: Path, file: str = "train.py") -> tuple[CodeLine, DivergenceFindings]:
    place = CodeLine(file, line)
    found = attach_source_context(parted(operation(place=place, more={"called": place})), attempt)
    assert found.first is not None
    assert found.first.place is not None
    return found.first.place, found


def test_a_place_has_as_many_lines_on_both_sides_as_the_file_has(attempt: Path) -> None:
    middle, found = found_at(10, attempt)
    assert (middle.from_line, middle.text) == (10 - AROUND, "line 10")
    assert middle.around == tuple(LINES[9 - AROUND : 10 + AROUND])
    assert found.first is not None
    assert found.first.more["called"] == middle
    assert found_at(1, attempt)[0].around == tuple(LINES[: 1 + AROUND])


def test_a_secret_beside_the_line_is_covered(attempt: Path) -> None:
    last, _ = found_at(19, attempt)
    assert last.around[-1].startswith("    api_key = ")
    assert "abcdefghij" not in "".join(last.around)


@pytest.mark.parametrize(("line", "file"), [(0, "train.py"), (99, "train.py"), (1, "absent.py")])
def test_a_place_that_is_not_there_stays_as_it_is(line: int, file: str, attempt: Path) -> None:
    assert found_at(line, attempt, file)[0] == CodeLine(file, line)
