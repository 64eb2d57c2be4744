"""Figures of papers: PDF and SVG of a column's width, with the same numbers as the page."""

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import numpy as np
import pytest
from experiments import experiment, run, scored, selected, trained
from matplotlib.figure import Figure
from matplotlib.text import Text
from pypdf import PageObject, PdfReader
from studies import spread, study, usual

from deviate.model.records import Series
from deviate.report.document import Report
from deviate.report.figures.pictures import pictures
from deviate.report.figures.surface import PAGE, Surface, paper, style
from deviate.report.figures.write import draw, page_figure, paper_pdf, paper_svg
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.report.plots import Plot
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

LONG = "validation_accuracy_of_the_large_model_with_augmentation_on_all_images"


def _scores(n: int, seed: int) -> list[float]:
    return np.random.default_rng(seed).normal(93 + 0.3 * seed, 0.3, n).tolist()


def _compared(n_experiments: int, name: str = "net", metric: str = "test_acc") -> Report:
    chosen = selected(metric, is_primary=True, unit="%")
    return build_report(judge([scored(f"{name}_{i}", _scores(7 + i, i), chosen) for i in range(n_experiments)]))


def _trained() -> Report:
    sides = [trained(name, n_runs=6, n_metrics=2, n_points=40, seed=i, shift=i) for i, name in enumerate(("a", "b"))]
    return build_report(judge(sides))


def _views() -> Iterator[Report]:
    yield from (_compared(n) for n in (1, 2, 3, 8))
    yield _compared(2, "a_name_that_is_much_longer_than_any_column_" * 4, LONG)
    yield _compared(7, "a_name_that_is_much_longer_than_any_column_" * 4, LONG)
    yield _trained()
    yield build_report(study(*usual(), spread("init", [93.0, 94.0])))


def _plot(view: Report, name: str) -> Plot:
    return next(picture.plot for picture in pictures(view) if picture.name == name)


def _page(pdf: bytes) -> PageObject:
    (page,) = PdfReader(io.BytesIO(pdf)).pages
    return page


@pytest.mark.parametrize("width_in", [3.25, 5.5])
def test_a_pdf_is_as_wide_as_asked_and_its_text_names_the_metric_and_every_n(width_in: float) -> None:
    page = _page(paper_pdf(_plot(_compared(2), "estimation-test-acc"), width_in))
    assert float(page.mediabox.width) == pytest.approx(72 * width_in)
    text = page.extract_text()
    assert "test_acc (%)" in text
    assert {"n = 7", "n = 8"} <= set(re.findall(r"n = \d+", text))


def test_fonts_of_a_pdf_are_embedded_truetype() -> None:
    for picture in pictures(_trained()):
        fonts = [it.get_object() for it in _page(paper_pdf(picture.plot))["/Resources"]["/Font"].values()]
        assert fonts
        for font in fonts:
            below = font["/DescendantFonts"][0].get_object() if font["/Subtype"] == "/Type0" else font
            assert below["/Subtype"] in {"/CIDFontType2", "/TrueType"}
            assert "/FontFile2" in below["/FontDescriptor"]


def test_a_pdf_carries_no_date_and_all_files_have_the_same_bytes_each_time() -> None:
    view = _trained()
    for one, other in zip(pictures(view), pictures(view), strict=True):
        pdf = paper_pdf(one.plot)
        assert pdf == paper_pdf(other.plot)
        assert paper_svg(one.plot) == paper_svg(other.plot)
        assert PdfReader(io.BytesIO(pdf)).metadata.get("/CreationDate") is None


def test_an_svg_for_papers_needs_no_font_and_tells_its_numbers_to_those_who_cannot_see_it() -> None:
    root = ET.fromstring(paper_svg(_plot(_compared(2), "estimation-test-acc"), 3.25).encode())
    assert root.get("width") == "234pt"
    space = "{http://www.w3.org/2000/svg}"
    assert not list(root.iter(f"{space}text"))
    assert "n = 7" in (root.findtext(f"{space}desc") or "")


def test_names_of_pictures_are_names_of_files_and_unique() -> None:
    metrics = [selected(name, is_primary=not index) for index, name in enumerate(("a b", "a/b", "精度", "x" * 4000))]
    runs = [
        run(i, {it.name: Series((0, 1), (1.0, at + (1.0 + i) ** at)) for at, it in enumerate(metrics, 1)})
        for i in range(3)
    ]
    names = [it.name for it in pictures(build_report(judge([experiment("e", runs, metrics)])))]
    assert len(set(names)) == len(names) == 2 * len(metrics) + sum(it.startswith("planning") for it in names)
    assert {"estimation-a-b", "estimation-a-b-2", "estimation-metric", "curves-a-b"} <= set(names)
    assert all(re.fullmatch(r"[a-z0-9-]{1,80}", it) for it in names)


def test_ids_are_unique_over_all_figures_of_a_page_and_every_reference_has_its_id() -> None:
    for view in (_trained(), _compared(3)):
        page = render(view, "html")
        figures = "".join(re.findall(r"<svg.*?</svg>", page, re.DOTALL))
        ids = re.findall(r'\bid="([^"]*)"', figures)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'url\(#([^)]*)\)|href="#([^"]*)"', figures)) <= {
            pair for it in ids for pair in ((it, ""), ("", it))
        }


def test_text_on_a_telephone_is_nine_pixels_high() -> None:
    for view in (_compared(8), _trained()):
        for picture in pictures(view):
            svg = page_figure(picture.plot)
            width = float(ET.fromstring(svg).get("width") or 0)
            sizes = [float(it) for it in re.findall(r"font(?:-size)?: ([\d.]+)px", svg)]
            assert sizes
            assert min(sizes) * 350 / width >= 9


def test_a_salt_makes_ids_of_two_copies_differ() -> None:
    plot = _plot(_compared(2), "estimation-test-acc")
    one, other = (set(re.findall(r'\bid="([^"]*)"', page_figure(plot, salt=salt))) for salt in ("a-", "b-"))
    assert one
    assert not one & other


@pytest.mark.parametrize("n_experiments", [1, 2, 3, 8])
def test_points_of_each_experiment_are_as_many_as_its_scores_and_bear_its_class(n_experiments: int) -> None:
    svg = page_figure(_plot(_compared(n_experiments), "estimation-test-acc"))
    for index in range(n_experiments):
        groups = re.findall(rf'<g class="series-{index}"> <path d="([^"]*)"[^>]*opacity: 0.75[;"]', svg)
        assert sum(path.count("M") for path in groups) == 7 + index


def test_experiments_differ_in_shape_and_not_only_in_colour() -> None:
    svg = page_figure(_plot(_compared(3), "estimation-test-acc"))
    dots = [re.findall(rf'<g class="series-{i}"> <path d="([^"]*)"[^>]*opacity: 0.75[;"]', svg)[0] for i in range(3)]
    corners = [path.partition("M")[2].partition("M")[0].count("L") for path in dots]
    assert len(set(corners)) == 3


def test_pairs_are_joined_where_they_decide_and_only_there() -> None:
    sides = [scored(name, _scores(6, i)) for i, name in enumerate("ab")]
    joined, apart = (
        page_figure(_plot(build_report(judge(sides, AnalysisOptions(is_paired=is_paired))), "estimation-test-acc"))
        for is_paired in (True, False)
    )
    lines = re.findall(r'<path d="([^"]*)"[^>]*opacity: 0.4[;"]', joined)
    assert sum(path.count("M") for path in lines) == 6
    assert not re.findall(r'<path d="([^"]*)"[^>]*opacity: 0.4[;"]', apart)


def test_an_interval_too_wide_for_the_runs_ends_in_an_arrow_that_is_explained() -> None:
    narrow = page_figure(_plot(_compared(2), "estimation-test-acc"))
    two_runs_each = build_report(judge([scored("a", [93.0, 94.0]), scored("b", [93.2, 93.6])]))
    wide = page_figure(_plot(two_runs_each, "estimation-test-acc"))
    assert "goes on" not in narrow
    assert "arrow: goes on" in wide


def test_no_text_of_any_figure_covers_another_or_leaves_the_figure() -> None:
    """On paper, where the font that is measured is the one that is drawn; and on the page in the widest font."""
    for view in _views():
        for picture in pictures(view):
            for surface in (paper(3.25), PAGE):
                with style(surface, "x"):
                    _check_text(draw(picture.plot, surface), surface, picture.name)


def _check_text(figure: Figure, surface: Surface, name: str) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    hidden = _not_drawn(figure)
    texts = [it for it in figure.findobj(Text) if it.get_visible() and it.get_text().strip() and id(it) not in hidden]
    # Boxes reach from ascender to descender of any letter: a fifth less on each side is what letters cover.
    boxes = [(it.get_text(), it.get_window_extent(canvas.get_renderer())) for it in texts]
    width, height = figure.get_size_inches() * 72
    for index, (text, box) in enumerate(boxes):
        assert box.x0 >= -1, (surface, name, text)
        assert box.x1 <= width + 1, (surface, name, text)
        assert box.y0 >= -2, (surface, name, text)
        assert box.y1 <= height + 2, (surface, name, text)
        for other, theirs in boxes[:index]:
            across = min(box.x1, theirs.x1) - max(box.x0, theirs.x0)
            up = min(box.y1, theirs.y1) - max(box.y0, theirs.y0)
            assert across <= 0.5 or up <= 0.35 * min(box.height, theirs.height), (surface.width, name, text, other)


def _not_drawn(figure: Figure) -> set[int]:
    """Labels of ticks beyond the limits exist, and are not drawn."""
    found = set()
    for axes in figure.axes:
        for axis, limits, place in ((axes.xaxis, axes.get_xlim(), 0), (axes.yaxis, axes.get_ylim(), 1)):
            labels = [it for tick in axis.majorTicks for it in (tick.label1, tick.label2)]
            found |= {id(it) for it in labels if not min(limits) <= it.get_position()[place] <= max(limits)}
    return found
