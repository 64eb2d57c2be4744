"""The report for a terminal: a block per experiment, noise, verdict, other metrics, and warnings at the end."""

import math
import textwrap
from collections.abc import Iterator, Sequence

from deviate.report.document import (
    Absent,
    Answer,
    Block,
    Case,
    Cell,
    Check,
    Document,
    Items,
    Point,
    Report,
    Section,
    Summary,
    SummaryLine,
    Table,
    Tone,
    Verdict,
)
from deviate.report.format import ELLIPSIS, clean, counted, shorten_middle
from deviate.report.forms.registry import document_form
from deviate.report.lines import align_rows, cut, fill_lines, join_parts, name, pad, widest
from deviate.report.medium import Medium

NARROWEST = 40
MOST_FAILURES = 3
MOST_LAST_WORDS = 5
CODES: dict[Tone, str] = {"good": "\x1b[1;32m", "bad": "\x1b[1;31m", "neutral": "\x1b[1m"}
WARNING_CODE, RESET = "\x1b[1;33m", "\x1b[0m"
OUTCOME_CODES = {"failed": "\x1b[1;31m", "error": "\x1b[1;31m", "undecided": "\x1b[1;33m", "passed": "\x1b[1;32m"}


@document_form("terminal")
def render_terminal(document: Document, medium: Medium) -> str:
    match document:
        case Check():
            return check_lines(document, medium)
        case Report():
            return _report(document, medium)
    return _document(document, medium)


def _document(document: Document, medium: Medium) -> str:
    """Plain lines within the width of the medium where words allow; only the answer, if the document has one."""
    width = max(medium.width, NARROWEST)
    if document.answer is not None:
        first, *lines = screen(document.answer, document.subtitle, document.warnings, width)
        word = document.answer.word
        lines.insert(0, first.replace(word, _paint(word, CODES[document.answer.tone], medium), 1))
        return "\n".join(lines) + "\n"
    title = clean(document.title)
    head, *rest = fill_lines(f"{title}   {clean(document.subtitle)}", width, "", "  ")
    lines = [head.replace(title, _paint(title, CODES["neutral"], medium), 1), *rest]
    for section in document.sections:
        lines += ["", *(line for block in section.blocks for line in _block(block, section, width))]
    lines.append("")
    for sentence in document.paste:
        lines += fill_lines(clean(sentence), width)
    for warning in document.warnings:
        lines += _warning(clean(warning), medium, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _block(block: Block, section: Section, width: int) -> Iterator[str]:
    """Lines of a block; figures, code and lists are only on the page."""
    match block:
        case Absent():
            yield from fill_lines(f"{section.heading}: {block.reason}", width, "", "  ")
        case str():
            yield from fill_lines(clean(block), width, "", "  ")
        case Table():
            yield from _table(block, width)


def _table(table: Table, width: int) -> Iterator[str]:
    rows = [(row.label, *(entry.text for entry in row.cells)) for row in table.rows]
    return align_rows([table.columns, *rows], width, [row.note for row in table.rows])


def _warning(text: str, medium: Medium, width: int) -> list[str]:
    label = _paint("Warning", WARNING_CODE, medium)
    first, *rest = fill_lines(text, width - 9) or [""]
    return [f"{label}  {first}", *(f"         {line}" for line in rest)]


def _report(report: Report, medium: Medium) -> str:
    """Plain lines no wider than the medium, as far as words allow."""
    width = max(medium.width, NARROWEST)
    columns = _columns(report)
    lines: list[str] = []
    for experiment in report.experiments:
        lines += _experiment(experiment, columns, width)
    lines.append("")
    if report.noise is not None:
        lines += [*_brief(report.noise, width), ""]
    for verdict in report.verdicts:
        lines += _verdict(verdict, report.scope, medium, width)
    if report.no_verdict and report.candidates:
        lines += [*fill_lines(report.no_verdict, width, "  "), ""]
    lines += [*fill_lines(clean(report.primary), width, "  "), ""] if report.primary else []
    lines += _together(report, width)
    for label, sentences in (("Stability", report.stability), ("Outcomes", report.outcomes)):
        lines += [*_list_sentences(label, sentences, width), ""] if sentences else []
    lines += _others(report, width)
    lines += _failures(report, medium, width)
    for warning in report.warnings:
        lines += _warning(clean(warning), medium, width)
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _failures(report: Report, medium: Medium, width: int) -> list[str]:
    """Last log lines of failed runs, as space permits, and the paths of the logs."""
    lines: list[str] = []
    for failure in report.failures[:MOST_FAILURES]:
        text = join_parts(
            f"Failed   {name(failure.experiment)}, {clean(failure.run)}: ",
            [failure.outcome] if failure.reason in failure.outcome else [failure.outcome, clean(failure.reason)],
            width,
            indent=9,
        )
        first, *rest = text
        lines += [first.replace("Failed", _paint("Failed", WARNING_CODE, medium), 1), *rest]
        lines += [_last_words(clean(line), width) for line in failure.stderr[-MOST_LAST_WORDS:]]
        # Not broken: a path is there to be copied.
        lines += [f"         {clean(failure.log)}"] if failure.log else []
    n_left = len(report.failures) - MOST_FAILURES
    return lines + (fill_lines(f"… and {n_left} more: see the report, Failures", width, " " * 9) if n_left > 0 else [])


def _last_words(line: str, width: int) -> str:
    """Truncate a log line at its end; paths in tracebacks are shortened in the middle to keep line numbers."""
    label = "         | "
    if line.lstrip().startswith('File "'):
        line = shorten_middle(line, width - len(label))
    return cut(label + line, width)


def _columns(report: Report) -> tuple[int, int]:
    """Widths of the columns of labels and of values in all blocks."""
    rows = [row for experiment in report.experiments for row in (*experiment.lines, *experiment.others)]
    return widest([name(row.label) for row in rows]), widest([clean(row.value) for row in rows])


def _experiment(experiment: Summary, columns: tuple[int, int], width: int) -> list[str]:
    head = f"{f'{experiment.role}  ':<11}{name(experiment.label)}   "
    lines = list(join_parts(head, experiment.state, width, indent=4))
    for row in (*experiment.lines, *experiment.others):
        lines += _row(row, columns, width)
    return lines


def _row(row: SummaryLine, columns: tuple[int, int], width: int) -> Iterator[str]:
    label, value = name(row.label), clean(row.value)
    if sum(columns) <= width:
        label, value = pad(label, columns[0]), pad(value, columns[1])
    return join_parts(f"  {label}  {value}   ", row.details, width, indent=4)


def _verdict(verdict: Verdict, scope: str, medium: Medium, width: int) -> list[str]:
    word = clean(verdict.word)
    change = f"{name(verdict.metric)} {verdict.change}"
    parts = [clean(part) for part in (change, verdict.interval, verdict.effect) if part]
    first, *rest = join_parts(f"Verdict: {word}   ", parts, width, indent=2, join="  ")
    lines = [first.replace(f"Verdict: {word}", f"Verdict: {_paint(word, CODES[verdict.tone], medium)}", 1), *rest]
    sides = f"{name(verdict.candidate)} against {name(verdict.baseline)}"
    lines += fill_lines(f"{sides}: {clean(verdict.reason)}", width, "  ")
    if verdict.tests:
        lines += join_parts("  ", verdict.tests, width, indent=2)
    lines += fill_lines(clean(verdict.spread), width, "  ")
    lines += fill_lines(f"{clean(verdict.detectable)} {scope}", width, "  ")
    return [*lines, ""]


def _brief(section: Section, width: int) -> list[str]:
    """Sentences beside the heading, tables below."""
    lines: list[str] = []
    for block in section.blocks:
        match block:
            case Items():
                lines += _list_sentences(section.heading, block.sentences, width)
            case Section():
                lines += _brief(block, width)
            case Table():
                lines += ["", *(f"  {line}" for line in _table(block, width - 2))]
            case str():
                lines += fill_lines(block, width, "  ")
    return lines


def _list_sentences(label: str, sentences: Sequence[str], width: int) -> list[str]:
    """Sentences beside a label, one per line."""
    lines = [line for text in sentences for line in fill_lines(clean(text), width - 11, "", "  ")]
    return [f"{label if index == 0 else '':<11}{line}" for index, line in enumerate(lines)]


def _together(report: Report, width: int) -> list[str]:
    """Comparison of three or more experiments in the primary metric, or in a few metrics; several tasks."""
    lines = [line for sentences in report.together for line in _list_sentences("Together", sentences, width)]
    if report.together_left:
        remark = f"… and {counted(report.together_left, 'more metric')}: see the report, All experiments"
        lines += fill_lines(remark, width, " " * 11)
    lines += _list_sentences("Tasks", report.tasks, width)
    return [*lines, ""] if lines else []


def _others(report: Report, width: int) -> list[str]:
    """The other comparisons, a row per metric and candidate."""
    rows: list[tuple[str, ...]] = []
    remarks: list[str] = []
    methods: dict[str, None] = {}
    for metric in report.metrics:
        if metric.is_primary:
            continue
        for candidate, judgement in zip(report.candidates, metric.judgements, strict=True):
            if isinstance(judgement, Absent):
                continue
            whose = name(metric.name) if len(report.candidates) == 1 else f"{name(metric.name)}, {name(candidate)}"
            interval, p_adjusted = judgement.interval, judgement.p_adjusted
            has_interval = isinstance(interval, Cell)
            methods |= {judgement.method: None} if judgement.method else {}
            remarks.append(judgement.remark)
            bracket = f"[{interval.text}]" if has_interval else ""
            p_text = p_adjusted.text if has_interval and isinstance(p_adjusted, Cell) else ""
            rows.append((whose, judgement.difference.text, bracket, p_text, judgement.word))
    if not rows:
        return []
    head = ("Other metrics", "difference", f"CI ({', '.join(methods) or 'none'})", "p (Holm)", "verdict")
    return [*align_rows([head, *rows], width, remarks), ""]


def check_lines(check: Check, medium: Medium) -> str:
    """A block per metric, one line for everything else that is in order, and the result at the end."""
    lines: list[str] = []
    for case in check.cases:
        lines += _case_lines(case, medium)
    for warning in check.warnings:
        lines += _wrap(f"Warning  {warning}", medium, "         ")
    colour = "failed" if check.code else "passed" if check.word == "passed" else "undecided"
    word = _paint(check.word, OUTCOME_CODES[colour], medium)
    lines += [""] if lines else []
    lines += [f"Result: {word}   {check.result}"]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _case_lines(case: Case, medium: Medium) -> Iterator[str]:
    if case.kind == "metric":
        head, *rest = _wrap(f"Check: {case.headline}", medium, "  ")
        yield head.replace(case.word, _paint(case.word, OUTCOME_CODES.get(case.outcome, ""), medium), 1)
        yield from rest
        yield from _wrap(f"  {case.reason}", medium, "  ")
        figures = [f"{label} {text}" for label, text in case.figures[2:]]
        yield from _wrap(f"  {' · '.join(figures)}", medium, "  ")
    else:
        yield from _wrap(f"{case.kind.capitalize():<11}{case.state}: {case.reason}", medium, " " * 11)
    if case.advice:
        yield from _wrap(f"  What to do: {case.advice}", medium, "  ")


def _wrap(text: str, medium: Medium, indent: str) -> list[str]:
    width = max(medium.width, NARROWEST)
    first = text[: len(text) - len(text.lstrip())]
    return textwrap.wrap(
        text.strip(), width, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
    ) or [""]


def _paint(text: str, code: str, medium: Medium) -> str:
    return f"{code}{text}{RESET}" if medium.is_coloured and code else text


# The answer of a document on one screen: its headline, a labelled line per point, and limitations.

N_LINES = 23
"""Of a screen of 24, so that where the page lies still stands below."""
LINES_PER_POINT = (8, 4, 3, 2, 1)
"""Lines that a point may take, fewer where the screen would not hold all; the page has the rest."""
MOST_NOTES = 2
SHORTEST_LABEL = 9
APART = "   "


def screen(answer: Answer, subtitle: str, notes: Sequence[str], width: int) -> list[str]:
    """The lines of the screen, headline first."""
    lines: list[str] = []
    for most in LINES_PER_POINT:
        lines = [
            *fill_lines(f"{answer.word} {clean(answer.rest)}", width, "", "  ")[:most],
            *fill_lines(clean(subtitle), width, "", "  ")[:most],
            "",
            *_points([*answer.points, *_notes(notes)], width, most),
        ]
        if _n_rows(lines, width) <= N_LINES:
            break
    return lines


def _n_rows(lines: Sequence[str], width: int) -> int:
    """Number of terminal rows that the line needs, as long commands are wrapped by the terminal."""
    return sum(max(1, math.ceil(widest([line]) / width)) for line in lines)


def _notes(notes: Sequence[str]) -> Iterator[Point]:
    for note in notes[:MOST_NOTES]:
        yield Point("Note", note)
    if len(notes) > MOST_NOTES:
        yield Point("Note", f"{len(notes) - MOST_NOTES} more on the page")


def _points(points: Sequence[Point], width: int, most: int) -> Iterator[str]:
    column = max(SHORTEST_LABEL, widest([point.label for point in points])) + 2
    for point in points:
        head = pad(point.label, column)
        for line in _point_lines(point, width - column, most):
            yield f"{head}{line}".rstrip()
            head = " " * column


def _point_lines(point: Point, width: int, most: int) -> Iterator[str]:
    """Text with code beside it if it fits, else below."""
    text = fill_lines(clean(point.text), width)
    code = [clean(line) for line in point.code.splitlines() if line.strip()]
    beside = f"{text[0]}{APART}{code[0]}" if len(text) == len(code) == 1 else ""
    if beside and widest([beside]) <= width:
        yield beside
        return
    if len(text) > most:
        text = [*text[: most - 1], cut(f"{text[most - 1]} {ELLIPSIS}", width)]
    yield from text
    # A command that is truncated or wrapped here could not be copied.
    yield from code if point.is_command else (cut(line, width) for line in code[:most])
