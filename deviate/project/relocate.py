"""Finds places of `deviate.toml` again in a script that has changed, by the statements that were there."""

import dataclasses
import difflib
import re
from collections.abc import Mapping, Sequence

from deviate.analysis import Statements, normalise, read_statements
from deviate.model import Analysis, Metric, Place, Rejected
from deviate.project.config import MetricConfig

ALIKE, CLEARLY_MORE = 0.5, 0.05
"""Share of its text that a rewritten statement has in common with the old one, and lead before the next candidate."""
SCOPE = re.compile(r"\w+(\.\w+)*")
CLEARLY_NEARER = 3
"""By this factor the nearest of several statements is nearer than the next, where nothing is remembered."""


def relocate(
    analysis: Analysis, sections: Sequence[MetricConfig], remembered: Mapping[Place, str]
) -> tuple[MetricConfig, ...]:
    """The sections with the current places of their statements; places that are not found are unchanged.

    A statement is identified by its text. If no text is stored for a place, or the statement was rewritten, the
    expression is searched: in the statement most similar to the old one, or nearest to the old place.

    Args:
        remembered: what stood at a place when the file was saved.
    """
    relocator = _Relocator(analysis, remembered)
    same = [None if section.where is None else relocator.same_statement(section.where) for section in sections]
    occupied = {
        (place, _key(section))
        for section, place in zip(sections, same, strict=True)
        if place is not None and section.expression
    }
    relocated = []
    for section, place in zip(sections, same, strict=True):
        now = place or relocator.same_expression(
            section, {occupied_place for occupied_place, key in occupied if key == _key(section)}
        )
        path = section.path and tuple(relocator.same_statement(step) or step for step in section.path)
        relocated.append(dataclasses.replace(section, where=now, path=path))
    return tuple(relocated)


def place_now(analysis: Analysis, place: Place, remembered: Mapping[Place, str]) -> Place:
    """The current place of a statement; the old place if it is not found."""
    return _Relocator(analysis, remembered).same_statement(place) or place


def places_now(analysis: Analysis, remembered: Mapping[Place, str]) -> frozenset[Place]:
    """Current places of the stored statements; those that no longer exist are left out."""
    relocator = _Relocator(analysis, remembered)
    return frozenset(place for place in map(relocator.same_statement, remembered) if place is not None)


def _key(section: MetricConfig) -> str:
    return normalise(section.expression or "")


class _Relocator:
    """Reads each file with places once."""

    def __init__(self, analysis: Analysis, remembered: Mapping[Place, str]) -> None:
        self.analysis = analysis
        self.remembered = remembered
        self.read: dict[str, Statements] = {}

    def same_statement(self, place: Place) -> Place | None:
        """The current place of the statement that was at a place; None if no text is stored or it no longer exists."""
        text = self.remembered.get(place)
        if text is None:
            return None
        if (line := self._statements_of(place.file).line_of(text)) is not None:
            return Place(place.file, line)
        lines = {file: self._statements_of(file).line_of(text) for file in self.analysis.files if file != place.file}
        places = [Place(file, line) for file, line in lines.items() if line is not None]
        return places[0] if len(places) == 1 else None

    def same_expression(self, section: MetricConfig, occupied: set[Place]) -> Place | None:
        """The current place of a section's expression, excluding places of other sections."""
        where = section.where
        if where is None or section.expression is None:
            return where
        wanted, statements = normalise(section.expression), self._statements_of(where.file)
        values: list[Metric | Rejected] = [*self.analysis.metrics, *self.analysis.rejected]
        reported = [item.line for item in values if item.file == where.file and normalise(item.expression) == wanted]
        evaluated = statements.lines_with(section.expression)
        text = self.remembered.get(where)
        if text is None:
            at_place = [line for line in (where.line, statements.start(where.line)) if line in {*reported, *evaluated}]
            if at_place:
                return Place(where.file, at_place[0])
        lines = dict.fromkeys([*reported, *evaluated] if text else reported or evaluated)
        free_lines = [line for line in lines if Place(where.file, line) not in occupied]
        line = (
            _nearest(where.line, free_lines)
            if text is None
            else self._rewritten(text, section.expression, free_lines, statements)
        )
        return where if line is None else Place(where.file, line)

    def _rewritten(self, text: str, expression: str, lines: Sequence[int], statements: Statements) -> int | None:
        """The line of the statement that is a rewritten version of the old one; None if that is ambiguous.

        It is in the same function, is new, and has similar text around the expression.
        """
        remembered_texts = set(self.remembered.values())
        texts = {line: statements.text_at(line) or "" for line in lines}
        alike = {
            line: _likeness(text.replace(expression, ""), now.replace(expression, ""))
            for line, now in texts.items()
            if now not in remembered_texts and _scope(now) == _scope(text)
        }
        ranked = sorted(alike, key=lambda line: -alike[line])
        if not ranked or alike[ranked[0]] < ALIKE:
            return None
        return ranked[0] if len(ranked) == 1 or alike[ranked[0]] - alike[ranked[1]] >= CLEARLY_MORE else None

    def _statements_of(self, file: str) -> Statements:
        if file not in self.read:
            self.read[file] = read_statements(self.analysis.root / file)
        return self.read[file]


def _scope(text: str) -> str:
    """Functions and classes around a statement; empty at the top level."""
    scope = text.partition(": ")[0]
    return scope if SCOPE.fullmatch(scope) else ""


def _likeness(one: str, other: str) -> float:
    """Similarity of two texts, from 0 to 1."""
    return difflib.SequenceMatcher(None, one, other, autojunk=False).ratio()


def _nearest(wanted: int, lines: Sequence[int]) -> int | None:
    """The line nearest to another one; None if that is ambiguous."""
    ranked = sorted(lines, key=lambda line: abs(line - wanted))
    distances = [abs(line - wanted) for line in ranked]
    if len(ranked) > 1 and distances[1] < CLEARLY_NEARER * distances[0]:
        return None
    return ranked[0] if ranked else None
