"""What no report may hold: NaN and infinities, missing figures without a reason, tables and JSON out of shape."""

import base64
import dataclasses
import json
import math
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, NoReturn

from schemas import schema_flaws

from deviate.api import Results
from deviate.model.estimates import Interval, Unavailable
from deviate.model.findings import Findings
from deviate.report.document import Absent, Cell, DocumentTable
from deviate.report.forms.registry import RENDERERS, render
from deviate.report.parts.build import build_report

TOLD = re.compile(
    r"NaN (?:at (?:the last )?step\b|first at steps? \d|outside the main loop|or infinite\b|in replicate)"
    r"|ended NaN\b|if NaN is a valid value"
)
"""Words that name NaN as what happened to a run, or as the reason why there is no figure."""
NUMBERLESS = re.compile(r"(?<![\w.])(?:(?i:nan|inf|infinity)|None(?! [a-z])|<NA>|NaT)(?!\w)")
AS_THEY_ARE = frozenset({"experiment", "band", "parting"})
"""Fields with numbers that may be none: what was recorded; bands of curves at steps of which nothing can be said."""
VOID = frozenset({"meta", "link", "br", "hr", "img", "input"})


def flaws_of(findings: Findings) -> Iterator[str]:
    """What is wrong with these findings in any form that they can take."""
    yield from (f"findings: {flaw}" for flaw in _reasonless(findings, "findings"))
    view, results = build_report(findings), Results(findings)
    yield from (f"report: {flaw}" for flaw in _reasonless_document(view, "report"))
    texts = {form: render(view, form) for form in RENDERERS}
    texts |= {"repr": repr(results), "narrow": render(view, "terminal", width=40, is_coloured=True)}
    texts |= {"notebook": results._repr_html_(), "sentence": "\n".join((results.sentence, *results.warnings))}
    assert (results.to_latex(), results.to_markdown()) == (texts["latex"], texts["markdown"])
    for form, text in texts.items():
        yield from (f"{form}: {flaw}" for flaw in _checks(form)(text))
    frames = {"frame": results.to_frame(), "scores": results.scores()}
    for name, frame in frames.items():
        yield from (f"{name}: {flaw}" for flaw in frame_flaws(frame))


def text_flaws(text: str) -> Iterator[str]:
    """Words that stand for no number, but where they are told as a reason."""
    told = TOLD.sub("", " ".join(text.split()))
    for found in NUMBERLESS.finditer(told):
        yield f"{found[0]!r} in {told[max(0, found.start() - 60) : found.end() + 60]!r}"


def _checks(form: str) -> Any:
    known = {"html": page_flaws, "notebook": page_flaws, "json": _document_or_schema_flaws, "csv": csv_flaws}
    return {**known, "latex": _latex_flaws, "markdown": _markdown_flaws}.get(form, text_flaws)


def json_flaws(text: str) -> Iterator[str]:
    """It is read strictly; a string in place of a number is as bad as NaN."""
    yield from _document_flaws(json.loads(text, parse_constant=_refuse), "")


def _document_or_schema_flaws(text: str) -> Iterator[str]:
    yield from json_flaws(text)
    yield from schema_flaws(text)


def _refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is not JSON")


def _document_flaws(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, dict):
        if "unavailable" in value and not value["unavailable"]:
            yield f"no reason in {place}"
        has_no_end = value.get("high") == "inf" and value["note"].startswith("no upper end")
        for key, item in value.items():
            if key not in AS_THEY_ARE and not (key == "high" and has_no_end):
                yield from _document_flaws(item, f"{place}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _document_flaws(item, f"{place}[{index}]")
    elif isinstance(value, str):
        yield from (f"{place}: {flaw}" for flaw in text_flaws(value))


def csv_flaws(text: str) -> Iterator[str]:
    header, *rows = text.splitlines()
    yield from text_flaws(text)
    yield from (row for row in rows if row.count(",") != header.count(","))


def _markdown_flaws(text: str) -> Iterator[str]:
    yield from text_flaws(text)
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("|")]
    yield from (f"columns of {row}" for row in rows if len(row) != len(rows[0]))
    for row in rows:
        is_said = "not compared" in row[-1]
        yield from (f"no footnote in {row}" for cell in row if "—" in cell and "<sup>" not in cell and not is_said)


def _latex_flaws(text: str) -> Iterator[str]:
    yield from text_flaws(text)
    if flaw := latex_flaw(text):
        yield flaw
    for line in text.splitlines():
        cells = line.removesuffix(r"\\").split(" & ")
        is_said = "not compared" in line
        if len(cells) > 1 and not is_said:
            yield from (f"no footnote in {line}" for cell in cells if "---" in cell and "textsuperscript" not in cell)


def latex_flaw(text: str) -> str:
    """Why it is no LaTeX, by what any compiler asks for; empty where nothing is wrong."""
    if not text.isascii():
        return "not ASCII"
    plain = re.sub(r"\\[\\{}%&$#_]", lambda found: "" if found[0] != r"\\" else found[0], text)
    body = "\n".join(line.partition("%")[0] for line in plain.splitlines())
    if body.count("{") != body.count("}") or body.count("$") % 2:
        return "not balanced"
    opened = re.findall(r"\\(begin|end)\{(\w+)\}", body)
    if [name for kind, name in opened if kind == "begin"] != [name for kind, name in opened if kind == "end"][::-1]:
        return "environments are not closed"
    begun = re.search(r"\\begin\{(?:tabular|longtable)\}\{(.*)\}$", body, re.MULTILINE)
    columns = re.sub(r"@\{\}|\[.*?\](?=[lrS]|$)", "", begun[1]) if begun else ""
    rows = [line for line in body.splitlines() if line.rstrip().endswith(r"\\") and "caption" not in line]
    spans = re.compile(rf"\s*\\multicolumn\{{{len(columns)}\}}")
    if not columns or any(row.count("&") != len(columns) - 1 for row in rows if not spans.match(row)):
        return "rows have other columns than the table"
    return ""


def page_flaws(page: str) -> Iterator[str]:
    """Of a page or a part of one: its text, its cells, what its figures draw, and the data in it."""
    parser = _Page()
    parser.feed(page)
    parser.close()
    yield from parser.flaws
    yield from (f"<{tag}> is not closed" for tag in parser.open)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self._holds_data = False
        self.flaws: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open += [] if tag in VOID else [tag]
        self._holds_data = dict(attrs).get("type") == "application/json"
        self.handle_startendtag(tag, attrs)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and value != "none":
                self.flaws += (f"<{tag} {name}>: {flaw}" for flaw in text_flaws(value))
            if value and value.startswith("data:text/csv"):
                self.flaws += csv_flaws(base64.b64decode(value.partition(",")[2]).decode())

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.flaws.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            self.flaws += json_flaws(data) if self._holds_data else ()
        elif self.open[-1:] != ["style"]:
            self.flaws += text_flaws(data)


def frame_flaws(frame: Any) -> Iterator[str]:
    """A frame knows missing values, and each that was asked for has its reason."""
    for name, column in frame.items():
        yield from (f"{name} is of {column.dtype}" for _ in [0] if str(column.dtype) not in KINDS)
        for place, value in enumerate(column):
            if column.isna()[place]:
                row = frame.iloc[place]
                told = TOLD_FIELD.findall(f"{row['reasons']}; {row['remarks']}" if "reasons" in frame else "score: ")
                if not (NEEDS_NO_REASON.fullmatch(name) or any(name.startswith(field) for field in told)):
                    yield f"no reason for {name} in row {place}"
            elif isinstance(value, float) and not math.isfinite(value):
                yield f"{value} in {name}"
            elif isinstance(value, str):
                yield from (f"{name}: {flaw}" for flaw in text_flaws(value))


KINDS = ("Float64", "Int64", "boolean", "string")
TOLD_FIELD = re.compile(r"(?:^|; )(\w+): ")
NEEDS_NO_REASON = re.compile(
    r"margin|direction|(?:attainment|equivalence|paired)_\w+|\w+_df|n_examples|curve_first_difference"
)
"""Columns of what nobody asked for; of what a test does not have; of what may not be so at all."""


def _reasonless(value: object, place: str) -> Iterator[str]:
    """Figures that are missing without a reason; numbers that are none, but for curves as they were recorded."""
    if isinstance(value, Unavailable):
        yield from (f"no reason in {place}" for _ in [0] if not value.reason.strip())
    elif isinstance(value, float):
        yield from (f"{value} in {place}" for _ in [0] if not math.isfinite(value))
    elif isinstance(value, tuple):
        for item in value:
            yield from _reasonless(item, place)
    elif isinstance(value, Interval) and value.high == math.inf:
        yield from (f"an open end without a note in {place}" for _ in [0] if not value.note.startswith("no upper end"))
    elif dataclasses.is_dataclass(value):
        for it in dataclasses.fields(value):
            if it.name not in AS_THEY_ARE:
                yield from _reasonless(getattr(value, it.name), f"{place}.{it.name}")


def _reasonless_document(value: object, place: str) -> Iterator[str]:
    """Cells and reasons without text."""
    if isinstance(value, Cell | Absent):
        yield from (f"an empty cell in {place}" for _ in [0] if not value.text.strip() and "matrix" not in place)
    elif isinstance(value, tuple):
        for item in value:
            yield from _reasonless_document(item, place)
    elif dataclasses.is_dataclass(value):
        # All pairs have cells below the diagonal alone; for a terminal, what is missing is left out and said below.
        inner = f"{place}.matrix" if isinstance(value, DocumentTable) and value.kind == "matrix" else place
        for it in dataclasses.fields(value):
            if inner != "report" or it.name != "noise":
                yield from _reasonless_document(getattr(value, it.name), f"{inner}.{it.name}")
