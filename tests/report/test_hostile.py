"""Whatever users' code and files bring is shown in every form of a report, and obeyed in none.

What the browser makes of it is in tests/browser, what LaTeX does in tests/report/forms/test_latex.py.
"""

import csv
import functools
import io
import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from html.parser import HTMLParser

import pytest
from hostile import KINDS, NASTY, Kind, controls, harmless_findings, hostile_findings
from markdown_it import MarkdownIt
from rich.cells import cell_len
from tiers import slow_but

from deviate.api import Results
from deviate.report.data.tables import table_files
from deviate.report.document import Report
from deviate.report.format import clean
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report

POINTS_ELSEWHERE = ("href", "xlink:href", "src", "srcset", "action", "formaction", "data", "poster", "background")
DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""With what a cell begins that a spreadsheet takes for a formula. Source: OWASP, CSV Injection."""


@functools.cache
def _hostile(kind: Kind) -> Report:
    return build_report(hostile_findings(kind))


@functools.cache
def _harmless(kind: Kind) -> Report:
    return build_report(harmless_findings(kind))


@functools.cache
def _page(kind: Kind) -> str:
    return render(_hostile(kind), "html")


class Elements(HTMLParser):
    """Elements with their attributes, and the text of the elements that hold none but text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: set[tuple[str, str]] = set()
        self.values: list[tuple[str, str, str]] = []
        self.other: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes |= {(tag, name) for name, _ in attrs}
        self.values += [(tag, name, value or "") for name, value in attrs]

    def handle_comment(self, data: str) -> None:
        self.other.append(data)

    def handle_decl(self, decl: str) -> None:
        self.other.append(decl)

    def unknown_decl(self, data: str) -> None:
        self.other.append(data)

    def handle_pi(self, data: str) -> None:
        self.other.append(data)


@functools.cache
def _elements(kind: Kind, *, hostile: bool) -> Elements:
    return Elements(_page(kind) if hostile else render(_harmless(kind), "html"))


@pytest.mark.parametrize("kind", slow_but(KINDS, ["single", "study"]))
def test_the_page_has_no_element_and_no_attribute_but_ours(kind: Kind) -> None:
    found, expected = _elements(kind, hostile=True), _elements(kind, hostile=False)
    assert found.tags.keys() == expected.tags.keys()
    assert found.attributes <= expected.attributes
    assert found.other == expected.other
    for tag in ("script", "style", "svg", "title", "meta", "table", "section", "h1", "h2", "h3"):
        assert found.tags[tag] == expected.tags[tag], tag
    assert found.tags["script"] > 0


@pytest.mark.parametrize("kind", KINDS)
def test_no_attribute_of_the_page_listens_or_leads_away(kind: Kind) -> None:
    for tag, name, value in _elements(kind, hostile=True).values:
        assert not name.startswith("on"), (tag, name)
        if name in POINTS_ELSEWHERE:
            assert re.match(r"#|data:text/csv;[\w=;-]*base64,|data:image/png;base64,|$", value), (tag, name, value[:80])
        if name == "style":
            assert not re.search(r"url\((?!#)|expression|@import", value), value[:80]


@pytest.mark.parametrize("kind", KINDS)
def test_ids_of_the_page_are_unique_and_have_no_spaces(kind: Kind) -> None:
    ids = [value for _, name, value in _elements(kind, hostile=True).values if name == "id"]
    assert [it for it, n in Counter(ids).items() if n > 1] == []
    assert [it for it in ids if not re.fullmatch(r"[!-~]{1,200}", it)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_has_no_control_characters_and_evaluates_nothing(kind: Kind) -> None:
    assert controls(_page(kind)) == set()
    assert "{{7*7}}" in _page(kind)
    _page(kind).encode()


@pytest.mark.parametrize("kind", KINDS)
def test_every_figure_is_well_formed_and_has_a_title(kind: Kind) -> None:
    figures = re.findall(r"<svg\b.*?</svg>", _page(kind), flags=re.DOTALL)
    assert figures
    for figure in figures:
        root = ET.fromstring(figure)
        assert root.tag.endswith("svg")
        assert {it.tag.rpartition("}")[2] for it in root.iter()}.isdisjoint({"script", "foreignObject", "a"})
        pictures = [it for it in root.iter() if it.tag.endswith("}image")]
        assert all((it.get("href") or "").startswith("data:image/png;base64,") for it in pictures)


@pytest.mark.parametrize("kind", KINDS)
def test_the_data_of_the_page_are_those_of_the_json(kind: Kind) -> None:
    (data,) = re.findall(
        r'<script type="application/json" id="deviate-data">(.*?)</script>', _page(kind), flags=re.DOTALL
    )
    assert [it["name"] for it in json.loads(data)["experiments"]] == [
        it["name"] for it in json.loads(render(_hostile(kind), "json"))["experiments"]
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [120, 80])
def test_the_terminal_gets_lines_that_fit_and_no_codes(kind: Kind, width: int) -> None:
    text = render(_hostile(kind), "terminal", width=width)
    assert controls(text) == set()
    # A path is for copying, and the user's own lines are whole: they are not broken.
    lines = [line for line in text.splitlines() if not line.endswith("stderr.log") and "  | " not in line]
    assert [line for line in lines if cell_len(line) > width] == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_coloured_terminal_gets_no_codes_but_colours_of_ours(kind: Kind) -> None:
    text = render(_hostile(kind), "terminal", width=80, is_coloured=True)
    ours = set(re.findall(r"\x1b\[[\d;]*m", render(_harmless(kind), "terminal", width=80, is_coloured=True)))
    assert controls(re.sub("|".join(map(re.escape, sorted(ours))) or "(?!)", "", text)) == set()


@pytest.mark.parametrize("kind", KINDS)
def test_markdown_becomes_the_same_elements_as_harmless_names_give(kind: Kind) -> None:
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    found, expected = (Elements(reader.render(render(it(kind), "markdown"))) for it in (_hostile, _harmless))
    assert found.attributes == expected.attributes
    assert found.tags.keys() == expected.tags.keys()
    # Warnings and paragraphs that become equal once names are cleaned are told once.
    for tag in found.tags.keys() - {"p", "sup", "li"}:
        assert found.tags[tag] == expected.tags[tag], tag
    assert found.tags["li"] <= expected.tags["li"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_row_of_the_markdown_table_has_the_cells_of_its_head(kind: Kind) -> None:
    text = render(_hostile(kind), "markdown")
    tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert tables
    for table in tables:
        rows = [re.split(r"(?<!\\)(?:\\\\)*\|", line) for line in table]
        assert {len(row) for row in rows} == {len(rows[0])}
    assert controls(text) == set()
    assert not re.search(r"(?<![\w&;])@\w|://|(?<!\\)`|\bwww\.", text)


@pytest.mark.parametrize("kind", KINDS)
def test_csv_has_a_row_for_each_run_and_metric_and_no_formula(kind: Kind) -> None:
    text = render(_hostile(kind), "csv")
    rows = list(csv.reader(io.StringIO(text), strict=True))
    assert len(rows) == len(list(csv.reader(io.StringIO(render(_harmless(kind), "csv")))))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert controls(text) == set()
    head = rows[0]
    for row in rows[1:]:
        for name, cell in zip(head, row, strict=True):
            if name in {"experiment", "variant", "metric"}:
                assert not cell.lstrip().startswith(DANGEROUS), cell[:80]
            elif name == "score" and cell:
                float(cell)


@pytest.mark.parametrize("kind", KINDS)
def test_tables_beside_the_page_have_even_rows_and_no_formula(kind: Kind) -> None:
    for file in table_files(hostile_findings(kind)):
        text = "".join(file.chunks())
        rows = list(csv.reader(io.StringIO(text), strict=True))
        assert {len(row) for row in rows} == {len(rows[0])}, file.name
        assert controls(text) == set(), file.name
        cells = {cell.lstrip() for row in rows for cell in row}
        assert not [it for it in cells if it.startswith(DANGEROUS) and not re.fullmatch(r"-[\d.e+-]+|-inf", it)], (
            file.name
        )


def test_csv_tells_metrics_apart_by_the_names_that_people_can_read() -> None:
    rows = list(csv.DictReader(io.StringIO(render(_hostile("single"), "csv"))))
    found = {row["metric"] for row in rows}
    cleaned = {clean(name) for name in NASTY.values()}
    assert found <= cleaned | {f"'{name}" for name in cleaned}
    assert len(found) == len(cleaned)


@pytest.mark.parametrize("kind", ["single", "pair"])
def test_json_keeps_every_name_but_for_halves_of_characters(kind: Kind) -> None:
    text = render(_hostile(kind), "json")
    assert text.isascii()
    found = {it["metric"] for it in json.loads(text)["experiments"][0]["metrics"]}
    assert found == {re.sub("[\ud800-\udfff]", "\ufffd", name) for name in NASTY.values()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_notebook_shows_what_it_shows_of_harmless_names(kind: Kind) -> None:
    hostile, harmless = Results(hostile_findings(kind)), Results(harmless_findings(kind))
    shown = hostile._repr_html_()
    found, expected = Elements(shown), Elements(harmless._repr_html_())
    assert found.tags.keys() == expected.tags.keys()
    assert found.attributes <= expected.attributes
    assert found.tags["table"] == expected.tags["table"]
    assert controls(shown) == set()
    assert controls(repr(hostile)) == set()
    # Not by `nunique`: pandas 2.0 takes names for equal that differ behind a zero character.
    assert len(set(hostile.scores()["metric"])) == len(set(harmless.scores()["metric"]))
