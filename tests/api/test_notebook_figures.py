"""Results as a notebook shows them: a figure inline, parts that show themselves, figures that are saved."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from pypdf import PdfReader
from studies import study, usual

import deviate
from deviate.api import Results
from deviate.api.figure import COLOURS
from deviate.errors import InputError

OLD = [93.1, 93.4, 93.2, 93.6, 93.3, 93.5]
NEW = [94.0, 94.3, 94.1, 94.5, 93.9, 94.4]
VOID = {"br", "hr", "img", "input", "meta", "link"}


class _Markup(HTMLParser):
    """Ids, and whether every element that begins ends."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.open: list[str] = []
        self.names: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._note(tag, attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._note(tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def _note(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.ids += [value or "" for name, value in attributes if name == "id"]


def _compared() -> Results:
    return deviate.compare(OLD, NEW, [it + 1 for it in NEW], names=("old", "new", "newer"), direction="max")


def test_results_show_the_estimation_plot_of_the_primary_metric_above_their_table() -> None:
    results = deviate.compare({"loss": OLD, "acc": OLD}, {"loss": NEW, "acc": NEW}, metric="acc", direction="max")
    markup = results._repr_html_()
    assert _Markup(markup).names.count("svg") == 1
    assert markup.index("<svg") < markup.index("<table>")
    assert re.search(r"<desc[^>]*>Score of every run in acc", markup)


def test_colours_and_ground_are_those_of_the_notebook() -> None:
    markup = _compared()._repr_html_()
    assert "currentColor" in markup
    assert "--ground: var(--jp-layout-color0" in markup
    assert "max-width: 100%" in markup


@pytest.mark.parametrize("ground", [1.0, 0.0056])
def test_colours_are_seen_on_white_and_on_black(ground: float) -> None:
    """Three to one, as WCAG 2.2, 1.4.11 asks of graphics; the dark ground is #111."""
    for colour in COLOURS:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [it / 12.92 if it <= 0.04045 else ((it + 0.055) / 1.055) ** 2.4 for it in parts]
        light = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        assert (max(light, ground) + 0.05) / (min(light, ground) + 0.05) >= 3, colour


def test_ids_of_all_outputs_of_a_notebook_differ_even_of_the_same_figure_twice() -> None:
    results = _compared()
    outputs = [results, results, results.figure(), results.comparisons["new"], results.experiments["old"]]
    ids = [it for output in outputs for it in _Markup(output._repr_html_()).ids]
    assert len(ids) > len(outputs)
    assert len(ids) == len(set(ids))


def test_each_comparison_shows_itself_with_its_own_verdict_and_figures() -> None:
    results = _compared()
    assert list(results.comparisons) == ["new", "newer"]
    part = results.comparisons["newer"]
    assert part.verdict == results.verdicts["newer"]
    assert list(part.to_frame()["difference"]) == [results.to_frame()["difference"][1]]
    assert part.to_frame()["p_adjusted"].tolist() == [results.to_frame()["p_adjusted"][1]]
    assert "estimation-score" in part.figures()
    markup = part._repr_html_()
    assert "newer" in markup
    assert not re.search(r"\bnew\b", markup)


def test_each_experiment_shows_its_spread() -> None:
    results = _compared()
    assert list(results.experiments) == ["old", "new", "newer"]
    part = results.experiments["new"]
    assert part.verdict == ""
    assert part.to_frame()["mean"].tolist() == pytest.approx([sum(NEW) / len(NEW)])
    assert "<svg" in part._repr_html_()


def test_a_variant_of_a_study_alone_says_nothing_of_a_comparison_and_keeps_the_proof_of_its_runs() -> None:
    whole = Results(study(*usual()))
    page = whole.experiments["control"].to_html()
    assert whole.findings.noise is not None
    assert "Experiments are compared here" not in page
    assert "No candidate reported" not in page
    assert "No run was made with everything held" not in page
    assert page.count("bitwise equal") > 1


def test_a_single_experiment_has_no_comparisons_and_one_part() -> None:
    results = deviate.describe(OLD)
    assert dict(results.comparisons) == {}
    assert list(results.experiments) == ["scores"]
    assert "estimation-score" in results.figures()


def test_a_figure_is_saved_as_its_suffix_says(tmp_path: Path) -> None:
    figure = _compared().figure("estimation-score")
    for suffix in ("pdf", "svg", "png"):
        figure.savefig(tmp_path / f"figure.{suffix}")
    (page,) = PdfReader(tmp_path / "figure.pdf").pages
    assert float(page.mediabox.width) == pytest.approx(3.25 * 72)
    assert "n = 6" in page.extract_text()
    assert (tmp_path / "figure.svg").read_text(encoding="utf-8") == figure.to_svg() == figure._repr_svg_()
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    figure.savefig(str(tmp_path / "wide.PDF"), width_in=5.5)
    assert float(PdfReader(tmp_path / "wide.PDF").pages[0].mediabox.width) == pytest.approx(5.5 * 72)


def test_a_picture_of_dots_shows_what_the_pdf_shows_at_any_resolution(tmp_path: Path) -> None:
    from matplotlib.image import imread

    _compared().figure().savefig(tmp_path / "figure.png")
    pixels = imread(tmp_path / "figure.png")
    assert pixels.shape[1] == pytest.approx(3.25 * 300, abs=1)
    is_blue = (pixels[..., 2] > 0.6) & (pixels[..., 0] < 0.4)
    rows, columns = is_blue.nonzero()
    # Raw points of the first group stand in its panel, and not in a corner at a quarter of the size.
    assert 0.1 < columns.mean() / pixels.shape[1] < 0.5
    assert rows.max() - rows.min() > 0.1 * pixels.shape[0]


@pytest.mark.parametrize("name", ["figure.gif", "figure", "no/such/folder/figure.pdf"])
def test_a_name_that_cannot_be_written_is_refused_with_what_to_do(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        _compared().figure().savefig(tmp_path / name)
    assert caught.value.hint


def test_a_figure_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    results = _compared()
    with pytest.raises(InputError) as caught:
        results.figure("estimation-loss")
    assert "estimation-score" in (caught.value.hint or "")
    for width_in in (0, -1, float("nan"), 1000):
        with pytest.raises(InputError):
            results.figure().to_pdf(width_in)


def test_results_without_scores_show_themselves_without_a_figure() -> None:
    results = deviate.compare([], [])
    assert "<svg" not in results._repr_html_()
    with pytest.raises(InputError, match="no scores"):
        results.figure()
