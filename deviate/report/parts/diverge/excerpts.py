"""The user's source where runs part: the line, and the lines around it."""

from collections.abc import Iterator
from dataclasses import dataclass

from deviate.model.divergence import Difference, DivergenceFindings, Place
from deviate.report.document import Absent, Excerpt, ExcerptLine, Section
from deviate.report.format import clean, name_text
from deviate.report.parts.diverge.difference_text import where

MOST_EXCERPTS = 6


def source_section(found: DivergenceFindings) -> Section:
    """The line at which the runs part, then the lines that its causes name."""
    excerpts = tuple(_excerpts(found))
    return Section("source", "Source", excerpts[:MOST_EXCERPTS] or (Absent(_why_none(found)),))


def _excerpts(found: DivergenceFindings) -> Iterator[Excerpt]:
    """One for all places of a file whose lines are next to each other, the first place first."""
    captions: dict[tuple[str, int], list[str]] = {}
    shown: list[_Shown] = []
    for place, caption in _places(found):
        said = captions.setdefault((place.file, place.line), [])
        if caption not in said:
            said.append(caption)
        if place.text or place.around:
            _add(shown, place)
    for it in shown:
        told = [f"line {line} {'; '.join(captions[it.file, line])}" for line in sorted(it.meant)]
        yield Excerpt(f"{name_text(it.file)}: {', '.join(told)}", tuple(_lines(it)))


def _add(shown: list["_Shown"], place: Place) -> None:
    first, around = (place.from_line, place.around) if place.around else (place.line, (place.text,))
    lines = dict(enumerate(around, start=first))
    for it in shown:
        if it.file == place.file and any(line - 1 in it.lines or line + 1 in it.lines for line in lines):
            it.lines.update(lines)
            it.meant.add(place.line)
            return
    shown.append(_Shown(place.file, lines, {place.line}))


@dataclass(slots=True)
class _Shown:
    """Lines of a file by number, and those that are meant."""

    file: str
    lines: dict[int, str]
    meant: set[int]


def _places(found: DivergenceFindings) -> Iterator[tuple[Place, str]]:
    first = found.first
    if first is not None and first.place is not None:
        yield first.place, f"where the runs part {where(first)}"
    called = called_at(first)
    if called is not None:
        yield called, "begins the backward pass"
    told = {it and (it.file, it.line) for it in (first and first.place, called)}
    for cause in found.causes:
        for place in cause.places:
            if (place.file, place.line) not in told:
                yield place, f"may be a cause ({clean(cause.title)})"


def called_at(it: Difference | None) -> Place | None:
    """Where the program calls backward(), of an operation in a backward pass."""
    called = None if it is None else it.more.get("called")
    return called if isinstance(called, Place) else None


def _lines(it: _Shown) -> Iterator[ExcerptLine]:
    width = len(str(max(it.lines)))
    for number in sorted(it.lines):
        text = clean(it.lines[number].replace("\t", "    "))
        yield ExcerptLine(str(number).rjust(width), text, is_marked=number in it.meant)


def _why_none(found: DivergenceFindings) -> str:
    if found.is_equal is not False:
        return "No line to show: no difference was found."
    return "No line to show: what was recorded does not lead to a place in the program, or the file was not to be read."
