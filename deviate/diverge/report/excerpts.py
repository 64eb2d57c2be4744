"""Excerpts of the user's source where runs diverge: the line with its surroundings."""

from collections.abc import Iterator
from dataclasses import dataclass

from deviate.diverge.findings import Difference, DivergenceFindings, Place
from deviate.diverge.report.difference_text import where
from deviate.report import Absent, Excerpt, ExcerptLine, Section, clean, name_text

MOST_EXCERPTS = 6


def source_section(findings: DivergenceFindings) -> Section:
    """Section with the line at which the runs diverge, then lines that the causes refer to."""
    excerpts = tuple(_excerpts(findings))
    return Section("source", "Source", excerpts[:MOST_EXCERPTS] or (Absent(_why_none(findings)),))


def _excerpts(findings: DivergenceFindings) -> Iterator[Excerpt]:
    """Excerpts by file, first place first; places close to each other share one."""
    captions: dict[tuple[str, int], list[str]] = {}
    excerpts: list[_Shown] = []
    for place, caption in _places(findings):
        texts = captions.setdefault((place.file, place.line), [])
        if caption not in texts:
            texts.append(caption)
        if place.text or place.around:
            _add(excerpts, place)
    for excerpt in excerpts:
        notes = [f"line {line} {'; '.join(captions[excerpt.file, line])}" for line in sorted(excerpt.meant)]
        yield Excerpt(f"{name_text(excerpt.file)}: {', '.join(notes)}", tuple(_lines(excerpt)))


def _add(excerpts: list["_Shown"], place: Place) -> None:
    first, around = (place.from_line, place.around) if place.around else (place.line, (place.text,))
    lines = dict(enumerate(around, start=first))
    for excerpt in excerpts:
        if excerpt.file == place.file and any(line - 1 in excerpt.lines or line + 1 in excerpt.lines for line in lines):
            excerpt.lines.update(lines)
            excerpt.meant.add(place.line)
            return
    excerpts.append(_Shown(place.file, lines, {place.line}))


@dataclass(slots=True)
class _Shown:
    """Numbered lines of a file, with those to mark."""

    file: str
    lines: dict[int, str]
    meant: set[int]


def _places(findings: DivergenceFindings) -> Iterator[tuple[Place, str]]:
    first = findings.first
    if first is not None and first.place is not None:
        yield first.place, f"where the runs part {where(first)}"
    called = called_at(first)
    if called is not None:
        yield called, "begins the backward pass"
    positions = {place and (place.file, place.line) for place in (first and first.place, called)}
    for cause in findings.causes:
        for place in cause.places:
            if (place.file, place.line) not in positions:
                yield place, f"may be a cause ({clean(cause.title)})"


def called_at(difference: Difference | None) -> Place | None:
    """The place where the program calls backward(), for an operation in a backward pass."""
    called = None if difference is None else difference.more.get("called")
    return called if isinstance(called, Place) else None


def _lines(excerpt: _Shown) -> Iterator[ExcerptLine]:
    width = len(str(max(excerpt.lines)))
    for number in sorted(excerpt.lines):
        text = clean(excerpt.lines[number].replace("\t", "    "))
        yield ExcerptLine(str(number).rjust(width), text, is_marked=number in excerpt.meant)


def _why_none(findings: DivergenceFindings) -> str:
    if findings.is_equal is not False:
        return "No line to show: no difference was found."
    return "No line to show: what was recorded does not lead to a place in the program, or the file was not to be read."
