"""Sheets of overheads and sweeps: every form of them, with names that no markup obeys, and figures of every point."""

import csv
import dataclasses
import io
import json
import os
import re
from pathlib import Path

import pytest
from markup import Page
from schemas import schema_flaws

from deviate.model.comparisons import Ground, Verdict
from deviate.model.cost import CostFactor, CostFindings, KernelCost, ProfileFindings
from deviate.model.estimates import Interval, Unavailable
from deviate.model.published_results import PublishedComparison, PublishedFindings, PublishedResult
from deviate.model.stability import Measure
from deviate.model.sweep import Scale, SweepFindings, SweepMeasure, SweepRow
from deviate.report.data.schema import schema_of
from deviate.report.document import Document
from deviate.report.forms.registry import RENDERERS, render
from deviate.report.parts.overhead import overhead_document
from deviate.report.parts.published_results import published_document
from deviate.report.parts.sweep import sweep_document

COPIES = Path(__file__).parents[2] / "docs" / "reference" / "schemas"
HOSTILE = "<script>alert(1)</script>&\x1b[31m_%$#{}\\|`@you"
NONE = Unavailable("needs 5 runs, has 3")


def interval(low: float, high: float) -> Interval:
    return Interval(low, high, 0.95, "Student t")


def row(value: str, mean: float, sd: float, *, variant: str = "shuffle", churn: float | None = None) -> SweepRow:
    measures = () if churn is None else (
        SweepMeasure("test", Measure("churn", churn, interval(churn / 2, 2 * churn))),
        SweepMeasure("", Measure("weight-distance", 0.5, NONE)),
    )  # fmt: skip
    scores = (mean - sd, mean, mean + sd)
    return SweepRow(value, f"t-{value}", variant, 3, scores, mean, interval(mean - 1, mean + 1), sd,
                    interval(sd / 2, 6 * sd), measures)  # fmt: skip


def swept(*rows: SweepRow, scale: Scale = "log", name: str = "t") -> SweepFindings:
    values = tuple(dict.fromkeys(it.value for it in rows))
    return SweepFindings(name, "--size", values, scale, "test_acc", "%", 0.95, ("train.py",), rows)


def costed(kernel: str = "conv") -> CostFindings:
    factor = CostFactor("run", (10.0, 11.0, 12.0), (80.0, 82.1, 84.2), 11.0, 82.1, 82.1 / 11, interval(6.5, 8.6))
    kernels = (
        KernelCost(kernel, 2.5, 0.0004, 100, 100, 0.00016),
        KernelCost("only held", 0.0, 1e-6, 0, 3, Unavailable("in one mode only")),
    )
    profile = ProfileFindings("torch", "cuda", "self time of kernels", (10, 110), 100, 2, 2, 2, kernels, 2.5, 0.0004,
                              1.0, 1.5)  # fmt: skip
    return CostFindings("t", ("train.py",), "impl", "control", 3, 3, 0.95, (factor,), profile)


def published(source: str = "Smith 2020", *, n: int = 5) -> PublishedFindings:
    result = PublishedResult(source, source, "test_acc", n, 94.2, 0.3 if n > 1 else NONE, "", 0.1, is_percentage=False)
    found = interval(0.1, 0.7) if n > 1 else NONE
    comparison = PublishedComparison(
        result, "%", "max", "last", (94.5, 94.6, 94.7), 3, 94.6, interval(94.4, 94.8), 0.1, 0.4, found,
        NONE, NONE, NONE, NONE, Verdict("undecided", Ground.REFUSED, NONE), 0.5, found,
    )  # fmt: skip
    return PublishedFindings(source, "algo", ("train.py", source), 0.95, (comparison,), ())


@pytest.mark.parametrize("form", sorted(RENDERERS))
@pytest.mark.parametrize("document", [
    sweep_document(swept(row("1", 90.0, 0.5), row("8", 91.0, 0.25, churn=0.125), name=HOSTILE)),
    overhead_document(costed(HOSTILE)),
    published_document(published(HOSTILE)),
])  # fmt: skip
def test_no_form_lets_a_name_speak(document: Document, form: str) -> None:
    text = render(document, form)
    assert text.endswith("\n")
    assert "\x1b" not in text
    if form == "html":
        assert "<script>alert" not in text
    if form == "latex":
        assert not re.search(r"(?<!\\)[_#$&%]you|(?<!\\)%\$", text)
    if form == "markdown":
        assert "<script>" not in text
        assert "@you" not in text
    if form == "json":
        assert json.loads(text)["schema"] == 1
    if form == "csv":
        table = list(csv.reader(io.StringIO(text)))
        assert len({len(line) for line in table}) == 1
        assert not [it for line in table for it in line if it.startswith(("=", "@", "--", "\x1b"))]


def test_a_factor_is_told_as_times_with_its_interval_and_both_modes() -> None:
    text = render(overhead_document(costed()), "terminal")
    assert re.search(r"whole run +11\.0 s +82\.1 s +7\.46x +6\.50 … 8\.60 +3 and 3", text)
    assert re.search(r"conv +2\.50 s +400 µs +0\.00x +100, 100", text)
    assert re.search(r"only held +none +1\.00 µs +in one mode only +0, 3", text)


def test_a_table_of_a_sweep_has_a_row_per_value_and_shares_in_percent() -> None:
    text = render(sweep_document(swept(row("1", 90.0, 0.5), row("8", 91.0, 0.25, churn=0.125))), "terminal")
    assert re.search(r"1 +3/3 +90\.00 ± 0\.50 % +0\.50 +0\.25 … 3\.00 +not captured", text)
    assert re.search(r"8 +3/3 +91\.00 ± 0\.25 % +0\.25 +0\.12 … 1\.50 +12 % +6 … 25 +0\.50 +none", text)
    assert "no interval of distance of weights: needs 5 runs, has 3" in text


def dots(page: str) -> int:
    """Points in the colour of an experiment: a path with a start for each."""
    return sum(path.count("M") for path in re.findall(r'<path d="([^"]*)"[^>]*opacity: 0.75[;"]', page))


@pytest.mark.parametrize(
    ("values", "scale"), [(("1", "8", "64"), "log"), (("2", "3"), "linear"), (("a", "b"), "names")]
)
def test_every_run_is_a_point_beside_the_mean_of_its_value(values: tuple[str, ...], scale: Scale) -> None:
    rows = [row(value, 90.0 + place, 0.5) for place, value in enumerate(values)]
    page = render(sweep_document(swept(*rows, scale=scale)), "html")
    assert page.count("<svg") == 2
    assert dots(page) == 3 * len(values)
    assert ("logarithmic" in page) == (scale == "log")
    for value in values:
        assert f">{value}</text>" in page, "each value stands on the axis"


@pytest.mark.parametrize(("n", "n_points"), [(5, 3), (1, 4)])
def test_a_published_mean_is_drawn_without_points_and_a_single_run_as_one(n: int, n_points: int) -> None:
    assert dots(render(published_document(published(n=n)), "html")) == n_points


def test_variants_stand_beside_each_other_and_each_row_names_its_own() -> None:
    rows = [row(value, 90.0, 0.5, variant=variant) for value in "18" for variant in ("shuffle", "init")]
    document = sweep_document(swept(*rows))
    page = Page(render(document, "html"))
    assert [it.label for it in document.sections[0].tables[0].rows] == [
        "1 · shuffle",
        "1 · init",
        "8 · shuffle",
        "8 · init",
    ]
    assert len(document.paste) == 2
    classes = {element.get("class") for tag, element in page.elements if tag == "g"}
    assert {"series-0", "series-1"} <= classes


def test_without_a_primary_metric_the_reason_stands_in_place_of_the_table() -> None:
    found = SweepFindings("t", "--size", ("1", "2"), "linear", "", "", 0.95, ("train.py",), ())
    for form in RENDERERS:
        text = render(sweep_document(found), form)
        assert form in {"csv", "latex"} or "name one with --metric" in text


@pytest.mark.parametrize("name", ["diverge", "overhead", "sweep", "published"])
def test_the_published_copy_is_the_schema(name: str) -> None:
    """`DEVIATE_GOLDEN=write` writes it."""
    copy = COPIES / f"{name}-1.schema.json"
    text = json.dumps(schema_of(name), indent=1, ensure_ascii=False) + "\n"
    if os.environ.get("DEVIATE_GOLDEN") == "write":
        copy.write_text(text, encoding="utf-8")
    assert copy.read_text(encoding="utf-8") == text
    assert f"(schemas/{copy.name})" in (COPIES.parent / "json.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("document", "schema"),
    [
        (overhead_document(costed(HOSTILE)), "overhead"),
        (overhead_document(dataclasses.replace(costed(), profile=NONE)), "overhead"),
        (sweep_document(swept(row("1", 90.0, 0.5), row("8", 91.0, 0.25, churn=0.125))), "sweep"),
        (sweep_document(swept()), "sweep"),
        (published_document(published(HOSTILE)), "published"),
        (published_document(published(n=1)), "published"),
    ],
)
def test_documents_are_as_their_schema_says(document: Document, schema: str) -> None:
    assert list(schema_flaws(render(document, "json"), schema)) == []


def test_a_sheet_is_the_same_text_each_time() -> None:
    first, second = (render(overhead_document(costed()), "html") for _ in range(2))
    assert first == second
