"""A sheet on a terminal: what was found, the tables, warnings last."""

from collections.abc import Iterator

from deviate.report.form_registry import Medium
from deviate.report.format import clean
from deviate.report.forms.sheet.forms import sheet_form
from deviate.report.forms.sheet.screen import screen
from deviate.report.lines import filled, tabled
from deviate.report.view.sheet import Sheet, SheetTable

NARROWEST = 40
BOLD, ALARM, RESET = "\x1b[1m", "\x1b[1;33m", "\x1b[0m"
TONES = {"good": "\x1b[1;32m", "bad": "\x1b[1;31m", "neutral": BOLD}


@sheet_form("terminal")
def render_terminal(sheet: Sheet, surface: Medium) -> str:
    """Plain lines no wider than the surface, as far as words allow; of a sheet with an answer, that one."""
    width = max(surface.width, NARROWEST)
    if sheet.answer is not None:
        first, *lines = screen(sheet.answer, sheet.subtitle, sheet.warnings, width)
        word = sheet.answer.word
        lines.insert(0, first.replace(word, _painted(word, TONES[sheet.answer.tone], surface), 1))
        return "\n".join(lines) + "\n"
    head, *rest = filled(f"{clean(sheet.title)}   {clean(sheet.subtitle)}", width, "", "  ")
    title = clean(sheet.title)
    lines = [head.replace(title, _painted(title, BOLD, surface), 1), *rest]
    for section in sheet.sections:
        lines.append("")
        if section.absent:
            lines += filled(f"{section.heading}: {section.absent}", width, "", "  ")
        for sentence in section.sentences:
            lines += filled(clean(sentence), width, "", "  ")
        for table in section.tables:
            lines += _table(table, width)
    lines.append("")
    for sentence in sheet.paste:
        lines += filled(clean(sentence), width)
    for warning in sheet.warnings:
        first, *others = filled(clean(warning), width - 9) or [""]
        lines += [f"{_painted('Warning', ALARM, surface)}  {first}", *(f"         {line}" for line in others)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _table(table: SheetTable, width: int) -> Iterator[str]:
    rows = [(row.label, *(cell.text for cell in row.cells)) for row in table.rows]
    yield from tabled([(table.first, *table.headers), *rows], width, [row.note for row in table.rows])


def _painted(text: str, code: str, surface: Medium) -> str:
    return f"{code}{text}{RESET}" if surface.is_coloured else text
