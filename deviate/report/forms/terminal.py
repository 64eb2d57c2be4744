"""The report for a terminal: the answer first, then a block per experiment, other metrics, and warnings at the end."""

import math
from collections.abc import Iterator, Sequence

from deviate.model.texts import first_few
from deviate.report.document import (
    NOTHING,
    Absent,
    Answer,
    Block,
    CandidateVerdict,
    Case,
    Cell,
    Check,
    Document,
    DocumentTable,
    Entry,
    ExperimentSummary,
    Items,
    MetricPart,
    Point,
    Report,
    Section,
    SummaryLine,
    Tone,
)
from deviate.report.format import ELLIPSIS, clean, counted, group_pairs, shorten_middle
from deviate.report.forms.registry import document_form
from deviate.report.lines import align_rows, cut, fill_lines, hang, join_parts, name, pad, widest
from deviate.report.medium import Medium

NARROWEST = 40
MOST_FAILURES = 3
MOST_OTHERS = 8
"""Metrics beside the primary one; the page has all."""
MOST_FAILED_RUNS = 5
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
        case DocumentTable():
            yield from _table(block, width)


def _table(table: DocumentTable, width: int) -> Iterator[str]:
    rows = [(row.label, *(entry.text for entry in row.cells)) for row in table.rows]
    return align_rows([table.columns, *rows], width, [row.note for row in table.rows])


def _warning(text: str, medium: Medium, width: int) -> list[str]:
    label = _paint("Warning", WARNING_CODE, medium)
    first, *rest = fill_lines(text, width - 9) or [""]
    return [f"{label}  {first}", *(f"         {line}" for line in rest)]


def _report(report: Report, medium: Medium) -> str:
    """Plain lines no wider than the medium, as far as words allow."""
    width = max(medium.width, NARROWEST)
    paragraphs = [
        _answer(report, medium, width),
        list(_experiments(report, width)),
        _brief(report.noise, width) if report.noise is not None else [],
        _others(report, width),
        _together(report, width),
        *(
            _list_sentences(label, sentences, width)
            for label, sentences in (("Stability", report.stability), ("Outcomes", report.outcomes))
        ),
        [*_failures(report, medium, width), *_remarks(report, medium, width)],
    ]
    text = "\n\n".join("\n".join(line.rstrip() for line in lines) for lines in paragraphs if lines)
    return f"{text}\n"


def _answer(report: Report, medium: Medium, width: int) -> list[str]:
    """The verdicts, or the figures that answer where nothing is compared; then what was measured, and why that."""
    lines = [line for verdict in report.verdicts for line in _verdict(verdict, medium, width)]
    if report.result is not None:
        result = report.result
        head = f"Result: {name(result.label)}  {clean(result.value)}".rstrip()
        lines += join_parts(f"{head}   ", result.details, width, indent=2)
    lines += fill_lines(report.no_verdict, width, "  ") if report.candidates else []
    remarks = dict.fromkeys(remark for one in report.experiments for line in one.lines for remark in line.remarks)
    measured = (report.primary, "; ".join(remarks)) if report.primary else ()
    return [*lines, *(line for text in measured for line in fill_lines(clean(text), width, "  "))]


def _remarks(report: Report, medium: Medium, width: int) -> list[str]:
    """Warnings, then notes, which ask for nothing."""
    notes = set(report.notes)
    lines = [line for text in report.warnings if text not in notes for line in _warning(clean(text), medium, width)]
    return [*lines, *(line for text in report.notes for line in fill_lines(clean(text), width, "Note     ", " " * 9))]


def _failures(report: Report, medium: Medium, width: int) -> list[str]:
    """Failed runs, together where they ended alike: last log lines of the first, and the path of its log."""
    lines: list[str] = []
    kinds = group_pairs(((one.experiment, one.outcome, one.reason), one) for one in report.failures)
    for (label, outcome, reason), failures in list(kinds.items())[:MOST_FAILURES]:
        text = join_parts(
            f"Failed   {name(label)}, {first_few([clean(one.run) for one in failures], MOST_FAILED_RUNS)}: ",
            [outcome] if reason in outcome else [outcome, clean(reason)],
            width,
            indent=9,
        )
        first, *rest = text
        lines += [first.replace("Failed", _paint("Failed", WARNING_CODE, medium), 1), *rest]
        example = failures[0]
        lines += [_last_words(clean(line), width) for line in example.stderr[-MOST_LAST_WORDS:]]
        # Not broken: a path is there to be copied.
        lines += [f"         {clean(example.log)}"] if example.log else []
    n_left = sum(len(failures) for failures in list(kinds.values())[MOST_FAILURES:])
    return lines + (fill_lines(f"… and {n_left} more: see the report, Failures", width, " " * 9) if n_left > 0 else [])


def _last_words(line: str, width: int) -> str:
    """Truncate a log line at its end; paths in tracebacks are shortened in the middle to keep line numbers."""
    label = "         | "
    if line.lstrip().startswith('File "'):
        line = shorten_middle(line, width - len(label))
    return cut(label + line, width)


def _experiments(report: Report, width: int) -> Iterator[str]:
    """A block per experiment: how its runs ended, its figures, and for a candidate the tests against the baseline."""
    verdicts = {verdict.candidate: verdict for verdict in report.verdicts}
    blocks = [(experiment, _lines_of(experiment, report)) for experiment in report.experiments]
    rows = [row for _, lines in blocks for row in lines]
    columns = widest([name(row.label) for row in rows]), widest([clean(row.value) for row in rows])
    for experiment, lines in blocks:
        head = f"{f'{experiment.role}  ':<11}{name(experiment.label)}   "
        yield from join_parts(head, experiment.state, width, indent=4)
        for row in lines:
            yield from _row(row, columns, width)
        if experiment.label in verdicts:
            yield from _verdict_details(verdicts[experiment.label], report.scope, width)


def _lines_of(experiment: ExperimentSummary, report: Report) -> tuple[SummaryLine, ...]:
    """The primary metric with its range; of an experiment alone, the answer has the first line already."""
    if not any(metric.is_primary for metric in report.metrics):
        return ()
    if report.result in experiment.lines:
        return experiment.lines[1:]
    return experiment.lines if report.candidates else experiment.lines[:1]


def _row(row: SummaryLine, columns: tuple[int, int], width: int) -> Iterator[str]:
    label, value = name(row.label), clean(row.value)
    if sum(columns) <= width:
        label, value = pad(label, columns[0]), pad(value, columns[1])
    return join_parts(f"  {label}  {value}   ", row.details, width, indent=4)


def _verdict(verdict: CandidateVerdict, medium: Medium, width: int) -> list[str]:
    word = clean(verdict.word)
    change = f"{name(verdict.metric)} {verdict.change}"
    parts = [clean(part) for part in (change, verdict.interval, verdict.effect) if part]
    first, *rest = join_parts(f"Verdict: {word}   ", parts, width, indent=2, join="  ")
    lines = [first.replace(f"Verdict: {word}", f"Verdict: {_paint(word, CODES[verdict.tone], medium)}", 1), *rest]
    sides = f"{name(verdict.candidate)} against {name(verdict.baseline)}"
    return [*lines, *fill_lines(f"{sides}: {clean(verdict.reason)}", width, "  ")]


def _verdict_details(verdict: CandidateVerdict, scope: str, width: int) -> Iterator[str]:
    """Tests, spread, and what can be detected."""
    yield from join_parts("  ", [*verdict.tests, clean(verdict.spread)], width, indent=2)
    yield from fill_lines(f"{clean(verdict.detectable)} {scope}", width, "  ")


def _brief(section: Section, width: int) -> list[str]:
    """Sentences beside the heading, tables below."""
    lines: list[str] = []
    for block in section.blocks:
        match block:
            case Items():
                lines += _list_sentences(section.heading, block.sentences, width)
            case Section():
                lines += _brief(block, width)
            case DocumentTable():
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
    return [*lines, *_list_sentences("Tasks", report.tasks, width)]


def _others(report: Report, width: int) -> list[str]:
    """The metrics that stand in no block, a row each; with several candidates, a row per metric and candidate."""
    primary = next((metric for metric in report.metrics if metric.is_primary), None)
    metrics = [metric for metric in report.metrics if metric is not primary and metric.is_result]
    if not metrics:
        return []
    heading = "Metrics" if primary is None else "Other metrics"
    most_asked = _most_asked(metrics, report.runners_up)
    chosen = [metric for metric in metrics if metric in most_asked]
    rows = [(metric, _sides(metric, primary)) for metric in chosen]
    if report.candidates:
        lines = _compared(rows, report, heading, width)
    elif len(report.experiments) > 1:
        lines = _of_variants(rows, report, heading, width)
    else:
        lines = _of_one(chosen, "" if primary is None else _note(primary), heading, width)
    n_left = len(metrics) - len(chosen)
    return [*lines, *([f"  … and {counted(n_left, 'more metric')}: see the report, Metrics"] if n_left else [])]


def _most_asked(metrics: Sequence[MetricPart], runners_up: Sequence[str]) -> Sequence[MetricPart]:
    """The metrics of the table, where there are too many: those that might have been the primary one come first."""
    return sorted(metrics, key=lambda metric: metric.name not in runners_up)[:MOST_OTHERS]


def _of_one(metrics: Sequence[MetricPart], of_primary: str, heading: str, width: int) -> Iterator[str]:
    """The metrics of one experiment with their intervals, and remarks that the primary one does not have too."""
    with_spread = next((metric for metric in metrics if isinstance(_cells(metric)[2], Cell)), metrics[0])
    intervals = (head.partition(" (")[0] for head in with_spread.descriptions.columns[3:5])
    rows = [(heading, "mean ± SD", *intervals, "n")]
    for metric in metrics:
        n, _, of_mean, of_sd = _cells(metric)
        rows.append((name(metric.name), metric.overview[0].text, _number(of_mean), _number(of_sd), n.text))
    return align_rows(rows, width, ["" if _note(metric) == of_primary else _note(metric) for metric in metrics])


def _note(metric: MetricPart) -> str:
    return metric.descriptions.rows[0].note


def _cells(metric: MetricPart) -> tuple[Entry, ...]:
    """n, mean ± SD, and the intervals of both, in the only experiment."""
    return metric.descriptions.rows[0].cells[:4]


def _of_variants(
    rows: Sequence[tuple[MetricPart, Sequence[str]]], report: Report, heading: str, width: int
) -> Iterator[str]:
    """Mean ± SD in each variant, which are too many for intervals."""
    head = (f"{heading}, mean ± SD", *(name(experiment.label) for experiment in report.experiments))
    return align_rows([head, *((name(metric.name), *sides) for metric, sides in rows)], width)


def _compared(
    rows: Sequence[tuple[MetricPart, Sequence[str]]], report: Report, heading: str, width: int
) -> Iterator[str]:
    """Both sides of each comparison, the difference with its interval, and the verdict; then how they are computed."""
    is_alone = len(report.candidates) == 1
    judged = [one for metric, _ in rows for one in metric.judgements if not isinstance(one, Absent)]
    p_head = "p (adj.)" if any(one.is_adjusted for one in judged) else "p"
    lines = [(f"{heading}, mean ± SD", name(report.experiments[0].label),
              name(report.candidates[0]) if is_alone else "candidate",
              "difference", "CI", p_head, "verdict")]  # fmt: skip
    remarks: list[str] = []
    methods: dict[str, None] = {}
    obstacles: list[tuple[str, str]] = []
    for metric, sides in rows:
        for index, (candidate, judgement) in enumerate(zip(report.candidates, metric.judgements, strict=True), start=1):
            label = name(metric.name) if is_alone else f"{name(metric.name)}, {name(candidate)}"
            figures = ("", "", "", "")
            if not isinstance(judgement, Absent):
                has_interval = isinstance(judgement.interval, Cell)
                bracket = f"[{judgement.interval.text}]" if has_interval else ""
                p_text = _number(judgement.p) if has_interval else ""
                figures = (judgement.difference.text, bracket, p_text, judgement.word)
                methods |= {judgement.method: None} if judgement.method else {}
                obstacles += [(judgement.obstacle, label)] if judgement.obstacle else []
            lines.append((label, sides[0], sides[index], *figures))
            remarks.append("" if isinstance(judgement, Absent) else judgement.remark)
    is_any_compared = any(line[3] for line in lines[1:])
    yield from align_rows([line if is_any_compared else line[:3] for line in lines], width, remarks)
    if methods:
        adjusted = ", in parentheses p adjusted by Holm, which decides" if p_head != "p" else ""
        yield from fill_lines(f"CI and p by {' or '.join(methods)}{adjusted}", width, "  ")
    for obstacle, labels in group_pairs(obstacles).items():
        yield from fill_lines(f"{'; '.join(labels)}: {obstacle}", width, "  ")


def _sides(metric: MetricPart, primary: MetricPart | None) -> list[str]:
    """Mean ± SD in each experiment, with its number of runs where that is not the one of the primary metric."""
    of_primary = [""] * len(metric.overview) if primary is None else primary.overview_n
    return [
        f"{entry.text}, {n}" if isinstance(entry, Cell) and n != expected else _number(entry)
        for entry, n, expected in zip(metric.overview, metric.overview_n, of_primary, strict=True)
    ]


def _number(entry: Entry) -> str:
    return entry.text if isinstance(entry, Cell) else NOTHING


def check_lines(check: Check, medium: Medium) -> str:
    """The result, a block per metric, one line for everything else that is in order, and warnings."""
    colour = "failed" if check.code else "passed" if check.word == "passed" else "undecided"
    word = _paint(check.word, OUTCOME_CODES[colour], medium)
    head, *rest = _wrap(f"Result: {check.word}   {check.result}", medium, "  ")
    lines = [head.replace(check.word, word, 1), *rest, f"  exit code {check.code}", ""]
    for case in check.cases:
        lines += _case_lines(case, medium)
    for warning in check.warnings:
        lines += _wrap(f"Warning  {warning}", medium, "         ")
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
    first = text[: len(text) - len(text.lstrip())]
    return hang(text.strip(), max(medium.width, NARROWEST), first, indent) or [""]


def _paint(text: str, code: str, medium: Medium) -> str:
    return f"{code}{text}{RESET}" if medium.is_coloured and code else text


# The answer of a document on one screen: its headline, a labelled line per point, and limitations.

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
        if _n_rows(lines, width) <= answer.n_lines:
            break
    return lines[: answer.n_lines]


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
