"""The user's source as it was frozen: the text of a line, and the lines around the places in findings."""

from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from deviate.base.redaction import redact
from deviate.diverge.findings import CodeLine, DivergenceFindings
from deviate.records.layout import snapshot_folder
from deviate.records.snapshot import ORIGINALS, TREE

AROUND = 4
"""Number of lines before a place, and after it."""
LONGEST_LINE = 400


class Texts:
    """Lines of the user's files in the snapshot, before instrumentation; secrets are redacted."""

    def __init__(self, snapshot: Path) -> None:
        self.snapshot = snapshot
        self.known: dict[str, list[str]] = {}

    def lines(self, file: str) -> list[str]:
        """Lines without line ends, not yet redacted; empty if the file cannot be read."""
        if file not in self.known:
            self.known[file] = self._lines(file)
        return self.known[file]

    def place(self, file: str, line: int) -> CodeLine:
        lines = self.lines(file)
        return CodeLine(file, line, redact(lines[line - 1], is_code=True).strip() if 0 < line <= len(lines) else "")

    def _lines(self, file: str) -> list[str]:
        for folder in (ORIGINALS, TREE):
            try:
                text = (self.snapshot / folder / file).read_bytes().decode("utf-8", "replace")
            except (OSError, ValueError):
                continue
            return [line.rstrip("\r") for line in text.split("\n")]
        return []


def texts_of(attempt: Path) -> Texts:
    """The files of the experiment that an attempt belongs to."""
    return Texts(snapshot_folder(attempt.parent.parent.parent))


def attach_source_context(findings: DivergenceFindings, attempt: Path) -> DivergenceFindings:
    """Add the text of each place and the lines around it to the findings, with secrets redacted.

    They are read at the end, as traces contain millions of places.

    Args:
        attempt: of one of the runs; files are read as they were frozen for its experiment.
    """
    filled: DivergenceFindings = _fill_places(findings, texts_of(attempt))
    return filled


def _fill_places(value: Any, texts: Texts) -> Any:
    """A value with every place in it filled."""
    match value:
        case CodeLine():
            return _filled(value, texts.lines(value.file))
        case tuple():
            return tuple(_fill_places(item, texts) for item in value)
        case dict():
            return {key: _fill_places(item, texts) for key, item in value.items()}
    if not is_dataclass(value) or isinstance(value, type):
        return value
    return replace(value, **{field.name: _fill_places(getattr(value, field.name), texts) for field in fields(value)})


def _filled(place: CodeLine, lines: list[str]) -> CodeLine:
    if not 0 < place.line <= len(lines):
        return place
    first = max(1, place.line - AROUND)
    # Redacted as one text, as a secret may span lines; the number of lines must not change.
    lines_shown = redact("\n".join(lines[first - 1 : place.line + AROUND]), is_code=True).split("\n")
    if len(lines_shown) != len(lines[first - 1 : place.line + AROUND]):
        return place
    around = tuple(line[:LONGEST_LINE] for line in lines_shown)
    return replace(place, text=around[place.line - first].strip(), around=around, from_line=first)
