import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from experiments import experiment, run, scored, selected, trained, with_moments
from scipy import stats
from studies import equal, spread, study, usual

from deviate.model.analysis import LoopCounter
from deviate.model.records import Experiment, Series
from deviate.report.document import ReportFigure
from deviate.report.figures.bundle import CurveLine, bundle_of, line_of, thin
from deviate.report.figures.write import page_figure
from deviate.report.parts.build import build_report
from deviate.report.parts.noise import noise_section
from deviate.report.plots import CurvePlot, EstimationPlot, ForestPlot
from deviate.stats.judge import judge

EPOCHS = LoopCounter("epoch", 5, 1)
SVG = "{http://www.w3.org/2000/svg}"


def _estimation(*experiments: Experiment) -> EstimationPlot:
    estimation = build_report(judge(experiments)).metrics[0].estimation
    assert isinstance(estimation, ReportFigure)
    assert isinstance(estimation.plot, EstimationPlot)
    return estimation.plot


def _curves(*experiments: Experiment) -> CurvePlot:
    curve = build_report(judge(experiments)).metrics[0].curve
    assert isinstance(curve, ReportFigure)
    assert isinstance(curve.plot, CurvePlot)
    return curve.plot


def _forest(*experiments: Experiment) -> ForestPlot:
    (figure,) = noise_section(study(*experiments)).parts[0].figures
    assert isinstance(figure.plot, ForestPlot)
    return figure.plot


def _n_dots(svg: str) -> int:
    """Raw points are the paths a little see-through: a start for each of them."""
    paths = re.findall(r'<path d="([^"]*)"[^>]*opacity: 0.75[;"]', svg)
    return sum(path.count("M") for path in paths)


@pytest.mark.parametrize("n_experiments", [1, 2, 3])
def test_every_score_is_a_dot(n_experiments: int) -> None:
    sides = [scored(f"e{i}", np.random.default_rng(i).normal(90, 1, size=7 + i).tolist()) for i in range(n_experiments)]
    svg = page_figure(_estimation(*sides))
    assert _n_dots(svg) == sum(7 + i for i in range(n_experiments))


def test_equal_scores_lie_side_by_side() -> None:
    svg = page_figure(_estimation(scored("a", [1.0] * 9)))
    (path,) = re.findall(r'<path d="([^"]*)"[^>]*opacity: 0.75[;"]', svg)
    starts = re.findall(r"M ([\d.]+) ([\d.]+)", path)
    assert len(set(starts)) == 9


def test_figures_are_well_formed_named_for_screen_readers_and_in_the_ink_of_the_page() -> None:
    a, b = (trained(name, n_runs=5, n_metrics=1, n_points=30, seed=i) for i, name in enumerate("ab"))
    for svg in (page_figure(_estimation(a, b)), page_figure(_curves(a, b), 50), page_figure(_forest(*usual()))):
        root = ET.fromstring(svg)
        assert root.tag == f"{SVG}svg"
        assert root.get("role") == "img"
        named = {element.get("id"): element for element in root.iter() if element.get("id")}
        for key in (root.get("aria-labelledby") or "").split():
            assert named[key].text
        assert "currentColor" in svg
        assert "#000000" not in svg
        assert "<text" in svg


def test_n_stands_on_the_labels_of_both_figures() -> None:
    a, b = (trained(name, n_runs=5 + i, n_metrics=1, n_points=30, seed=i) for i, name in enumerate("ab"))
    estimation, curves = page_figure(_estimation(a, b)), page_figure(_curves(a, b), 50)
    for n in (5, 6):
        assert f"n = {n}<" in estimation
        assert f"n = {n}<" in curves


def test_the_same_figure_has_the_same_bytes_and_leaves_the_settings_of_matplotlib_alone() -> None:
    plot = _curves(trained("a", n_runs=3, n_metrics=1, n_points=30))
    before = dict(mpl.rcParams)
    assert page_figure(plot, 50) == page_figure(plot, 50)
    assert dict(mpl.rcParams) == before


def test_names_with_markup_dollars_and_rare_letters_are_drawn_as_they_are() -> None:
    name = "<b>$x_1$ 精度</b>"
    metric = selected(name, is_primary=True)
    runs = [run(i, {name: Series((0, 1), (1.0, 1.0 + i))}) for i in range(3)]
    item = experiment(name, runs, [metric])
    for svg in (page_figure(_estimation(item)), page_figure(_curves(item), 50)):
        assert "<b>" not in svg
        assert name in "".join(ET.fromstring(svg).itertext())


def test_a_run_that_diverged_is_dashed_and_does_not_flatten_the_others() -> None:
    counted = [run(i, {"loss": Series((0, 1, 2), (1.0, 0.5, 0.25))}) for i in range(3)]
    diverged = run(3, {"loss": Series((0, 1, 2), (1.0, 1e30, float("nan")))}, status="diverged")
    svg = page_figure(_curves(experiment("a", [*counted, diverged], [selected("loss")])), 50)
    assert "cut to the runs that count" in svg
    assert "1 failed" in svg
    assert "stroke-dasharray" in svg
    assert "e+" not in svg


def test_values_too_large_to_be_drawn_break_a_curve_and_not_the_report() -> None:
    runs = [run(i, {"loss": Series((0, 1), (3.3e307, 1.1e308))}) for i in range(3)]
    assert "<svg" in page_figure(_curves(experiment("a", runs, [selected("loss")])), 50)


def test_curves_over_magnitudes_say_that_their_axis_is_logarithmic() -> None:
    falling = Series(tuple(range(7)), tuple(10.0**-i for i in range(7)))
    svg = page_figure(_curves(experiment("a", [run(i, {"loss": falling}) for i in range(2)], [selected("loss")])), 50)
    assert "logarithmic" in svg


def test_thinning_keeps_both_ends_and_every_peak_within_its_budget() -> None:
    y = np.zeros(10_000)
    y[[17, 5_003, 9_998]] = (5.0, -3.0, 8.0)
    thinned = thin(CurveLine(np.arange(10_000.0), y), 100)
    assert len(thinned.x) <= 100 + 2
    assert (thinned.x[0], thinned.x[-1]) == (0, 9_999)
    assert {5.0, -3.0, 8.0} <= set(thinned.y)
    assert (np.diff(thinned.x) > 0).all()


def test_curves_are_drawn_over_the_counter_that_all_scripts_report() -> None:
    a, b = (replace(trained(name, n_runs=2, n_metrics=1, n_points=6), counter=EPOCHS) for name in "ab")
    alike, different = page_figure(_curves(a, b), 50), page_figure(_curves(a, replace(b, counter=None)), 50)
    assert ">epoch<" in alike
    assert ">10<" in alike
    assert ">main-loop step<" in different
    assert ">10<" not in different


def test_a_short_curve_is_not_thinned() -> None:
    line = CurveLine(np.arange(200.0), np.arange(200.0))
    assert thin(line, 200) is line


def test_a_gap_of_values_that_are_not_finite_stays_a_gap() -> None:
    values = [1.0] * 1000
    values[500:510] = [float("nan")] * 5 + [float("inf")] * 5
    thinned = thin(line_of(Series(tuple(range(1000)), tuple(values))), 60)
    inside = (thinned.x >= 500) & (thinned.x < 510)
    assert inside.any()
    assert np.isnan(thinned.y[inside]).all()


def test_values_outside_the_main_loop_are_no_part_of_a_curve() -> None:
    assert line_of(Series((None, 0, 1, None), (9.0, 1.0, 2.0, 9.0))).y.tolist() == [1.0, 2.0]


def test_several_values_within_a_step_are_spread_over_it() -> None:
    series = Series((0, None, 1, 1, 3, 3, 3, 3), tuple(map(float, range(8))))
    assert line_of(series).x.tolist() == [0, 1, 1.5, 3, 3.25, 3.5, 3.75]
    assert line_of(series).y.tolist() == [0, 2, 3, 4, 5, 6, 7]


def test_the_band_is_of_all_values_where_runs_share_their_places_and_else_of_the_means_within_steps() -> None:
    one, other = Series((0, 0, 1), (1.0, 3.0, 5.0)), Series((0, 1, 1), (4.0, math.nan, 7.0))
    band = bundle_of([one, one], 0.95, 400, 100).band
    assert band is not None
    assert (band.x.tolist(), band.mean.tolist()) == ([0, 0.5, 1], [1, 3, 5])
    band = bundle_of([one, other], 0.95, 400, 100).band
    assert band is not None
    assert (band.x.tolist(), band.mean.tolist(), band.n.tolist()) == ([0, 1], [3, 6], [2, 2])


def test_the_band_is_the_t_interval_of_the_mean_at_each_step() -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(6, 4))
    band = bundle_of([Series(range(4), row.tolist()) for row in table], 0.9, 400, 100).band
    assert band is not None
    expected = stats.ttest_1samp(table, 0).confidence_interval(0.9)
    np.testing.assert_allclose(band.low, expected.low)
    np.testing.assert_allclose(band.high, expected.high)


def test_runs_of_unequal_length_count_at_the_steps_that_they_have() -> None:
    bundle = bundle_of([Series(range(4), [1.0] * 4), Series(range(2), [3.0] * 2)], 0.95, 400, 100)
    band = bundle.band
    assert band is not None
    assert bundle.fewest == 1
    assert band.n.tolist() == [2, 2, 1, 1]
    assert band.mean.tolist() == [2.0, 2.0, 1.0, 1.0]
    assert np.isnan(band.low[2:]).all()


def test_of_too_many_runs_some_are_lines_and_all_are_in_the_mean() -> None:
    bundle = bundle_of([Series(range(2), [float(number)] * 2) for number in range(11)], 0.95, 400, 100, 3)
    assert [line.y[0] for line in bundle.lines] == [0, 5, 10]
    assert bundle.band is not None
    assert (bundle.n_curves, bundle.fewest, bundle.band.mean.tolist()) == (11, 11, [5.0, 5.0])


def test_a_forest_has_a_dot_for_each_run_behind_an_sd_and_words_where_there_is_no_spread() -> None:
    svg = page_figure(_forest(*usual()))
    assert _n_dots(svg) == 10 + 10
    text = "".join(ET.fromstring(svg).itertext())
    assert text.count("n = 10") >= 2
    assert "no implementation noise observed, 5 runs bitwise equal" in text
    assert "SD of test_acc (%)" in text


def test_a_forest_is_as_tall_as_it_has_variants() -> None:
    four, five = (_forest(*usual(), *more) for more in ([], [spread("init", [1.0, 2.0, 3.0])]))
    heights = [int(ET.fromstring(page_figure(plot)).get("height") or 0) for plot in (four, five)]
    assert heights[1] - heights[0] == 40


def test_an_interval_that_leaves_the_forest_is_said_to_go_on() -> None:
    short = page_figure(_forest(*usual()))
    long = page_figure(_forest(*usual(), spread("init", [93.0, 94.0])))
    assert "goes on" not in short
    assert "; arrow: goes on" in long


def test_variants_without_any_spread_leave_no_forest() -> None:
    (part,) = noise_section(study(equal("impl", 3), equal("control", 3))).parts
    assert part.figures == ()
    assert part.reasons == ("No spread to draw.",)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([1e9 + step * 1e-3 for step in range(8)], "test_acc (%) + 1e9"),
        ([step * 1e-7 for step in range(8)], "test_acc (%) × 1e−7"),
        ([0.93 + step * 1e-6 for step in range(8)], "test_acc (%)"),
    ],
)
def test_what_the_labels_of_an_axis_leave_out_stands_with_its_name_and_nowhere_else(
    values: list[float], told: str
) -> None:
    svg = page_figure(_estimation(scored("a", values), scored("b", values[::-1])))
    texts = ["".join(it.itertext()) for it in ET.fromstring(svg).iter(f"{SVG}text")]
    assert told in texts
    assert max(len(it) for it in texts if re.fullmatch(r"[−\d.]+", it)) < 10
    assert not [it for it in texts if re.fullmatch(r"\+?1e.*", it)]


def test_both_sides_of_a_comparison_and_their_difference_have_the_decimals_of_the_smaller_error() -> None:
    rng = np.random.default_rng(1)
    wide = scored("wide", with_moments(6, 96.26, 1.6, rng), selected(is_primary=True, unit="%"))
    narrow = scored("narrow", with_moments(6, 97.1, 0.62, rng), selected(is_primary=True, unit="%"))
    (sentence,) = build_report(judge([wide, narrow])).paste
    assert "was 97.10 ± 0.62 % with narrow and 96.26 ± 1.60 % with wide" in sentence
    assert "difference was +0.84 points" in sentence
