"""The page as a document: order of its parts, headings, tables, figures, what a keyboard or a screen reader meets."""

import dataclasses
import itertools
import re
from pathlib import Path

import numpy as np
import pytest
from experiments import experiment, run, scored, selected, trained, with_moments
from markup import Page
from stabilities import everything
from studies import spread, study, usual

from deviate.model.estimates import Unavailable
from deviate.model.findings import Findings
from deviate.model.records import Experiment, Series
from deviate.report.document import Quote
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge
from deviate.stats.options import AnalysisOptions

ORDER = [
    *("verdict", "metrics", "points", "curves", "many", "tasks", "noise", "failures", "outcomes", "divergence"),
    *("limits", "rest"),
]
ALWAYS = {"verdict", "metrics", "rest"}
CSS = Path(__file__).parents[2] / "templates" / "report.css"


def _compared() -> Findings:
    return judge([trained(name, n_runs=6, n_metrics=5, n_points=8, seed=i) for i, name in enumerate(("small", "wide"))])


def _tasks() -> Findings:
    """Four experiments over three tasks, none of which is the primary metric."""
    rng = np.random.default_rng(0)
    names = ["reading", "writing", "sums"]

    def of(name: str, shift: float) -> Experiment:
        runs = [
            run(i, {task: Series((0, 1), (50.0, 80 + shift + float(rng.normal()))) for task in names}) for i in range(6)
        ]
        return experiment(name, runs, [selected(task, unit="%") for task in names])

    return judge(
        [of(name, shift) for shift, name in enumerate(("base", "a", "b", "c"))], AnalysisOptions(tasks=",".join(names))
    )


def _failed() -> Findings:
    runs = [run(i, {"test_acc": Series((0, 1), (1.0, 2.0 + i))}) for i in range(6)]
    crashed = run(6, {}, status="crashed", reason="no memory", stderr_tail=("Killed",))
    return judge(
        [experiment("a", [*runs, crashed], [selected(is_primary=True)]), scored("b", [1.0, 2.0, 3.0, 2.5, 4.0])]
    )


KINDS = {
    "one experiment": lambda: judge([trained("small", n_runs=4, n_metrics=2, n_points=5)]),
    "comparison": _compared,
    "undecided": lambda: judge([scored("a", [1.0, 2.0]), scored("b", [1.5])]),
    "tasks": _tasks,
    "study": lambda: study(*usual(), spread("init", [93.0, 94.0, 92.0])),
    "failures": _failed,
    "captured": everything,
}


@pytest.fixture(scope="module", params=list(KINDS))
def page(request: pytest.FixtureRequest) -> Page:
    return Page(render(build_report(KINDS[request.param]()), "html"))


def test_parts_stand_in_their_order_and_the_contents_name_each(page: Page) -> None:
    ids = [it["id"] for tag, it in page.elements if tag == "section" and it.get("id") in ORDER]
    assert ids == [name for name in ORDER if name in ids]
    assert set(ids) >= ALWAYS
    links = [(it.get("href") or "")[1:] for it in page.of("a")]
    assert [it for it in links if it in ORDER][: len(ids)] == ids


def test_ids_are_unique_and_references_have_their_targets(page: Page) -> None:
    ids = [it["id"] for _, it in page.elements if "id" in it]
    assert len(ids) == len(set(ids))
    targets = {(it.get("href") or "")[1:] for _, it in page.elements if (it.get("href") or "").startswith("#")}
    labels = {key for _, it in page.elements for key in (it.get("aria-labelledby") or "").split()}
    assert targets | labels <= set(ids)


def test_headings_begin_with_one_of_the_first_level_and_skip_none(page: Page) -> None:
    levels = [level for level, _ in page.headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert all(text.strip() for _, text in page.headings)


def test_every_table_lies_in_a_region_that_has_its_name_and_takes_the_focus(page: Page) -> None:
    regions = page.of("div", role="region")
    assert len(regions) == len(page.of("table")) == len(page.captions) > 0
    assert [" ".join((it["aria-label"] or "").split()) for it in regions] == [
        " ".join(it.split()) for it in page.captions
    ]
    assert all(it.get("tabindex") == "0" for it in regions)


def test_every_figure_has_a_title_and_a_description(page: Page) -> None:
    drawn = [it for it in page.of("svg") if "aria-hidden" not in it]
    assert drawn
    assert all(it.get("role") == "img" for it in drawn)
    assert all(len((it.get("aria-labelledby") or "").split()) == 2 for it in drawn)
    assert sum(tag == "desc" for tag, _ in page.elements) >= len(drawn)


def test_without_a_script_there_is_no_control_that_would_do_nothing(page: Page) -> None:
    controls = {"button", "input", "select", "fieldset", "label", "textarea"}
    assert not controls & {tag for tag, _ in page.elements}
    assert {"input", "fieldset", "label"} <= {tag for tag, _ in page.dormant}


def test_a_keyboard_can_pass_over_the_contents(page: Page) -> None:
    first = next(it for tag, it in page.elements if tag == "a")
    assert first["class"] == "skip"
    assert page.of("main", id=(first["href"] or "")[1:])


def test_metrics_stand_by_what_they_are_after_the_primary_one() -> None:
    rng = np.random.default_rng(0)
    names = ["lr", "epoch_time", "val_loss", "zorp", "val_acc", "test_acc", "mine"]
    scores = {name: with_moments(5, 10.0, 0.1 * place, rng) for place, name in enumerate(names, start=1)}
    runs = [run(i, {name: Series((0,), (scores[name][i],)) for name in names}) for i in range(5)]
    metrics = [selected(name, is_primary=name == "mine") for name in names]
    metrics[:2] = [selected("lr", role="other", direction=None), selected("epoch_time", role="time", direction="min")]
    view = build_report(judge([experiment("a", runs, metrics)]))
    ordered = ["mine", "test_acc", "val_acc", "zorp", "val_loss", "epoch_time", "lr"]
    assert [metric.name for metric in view.metrics] == ordered
    assert [metric.is_result for metric in view.metrics] == [True] * 5 + [False] * 2
    page = render(view, "html", is_full=True)
    overview = page[page.index('id="metrics"') : page.index('id="points"')]
    assert sorted(ordered, key=overview.index) == ordered


def test_metrics_can_be_sorted_by_their_coefficient_of_variation() -> None:
    findings = _compared()
    page = render(build_report(findings), "html")
    table = page[page.index("<table data-sortable", page.index('id="metrics"')) : page.index("</table>")]
    head, body = table.split("<tbody")
    assert re.search(r'<th scope="col" class="num">CV</th>\s*</tr>', head)
    shown = re.findall(r'<td data-value="([^"]*)" class="num">[^<]*</td>\s*</tr>', body)
    expected = [it.cv for it in findings.experiments[0].descriptions if it.metric.role == "quality"]
    assert [float(it) for it in shown] == pytest.approx(expected)


def test_cells_carry_the_number_unrounded() -> None:
    findings = _compared()
    text = render(build_report(findings), "html")
    for side in findings.experiments:
        for description in side.descriptions:
            assert not isinstance(description.mean, Unavailable)
            assert f'data-value="{description.mean!r}"' in text


def test_every_mean_of_the_overview_has_its_n() -> None:
    findings = judge([scored("a", [1.0, 2.0, 3.0, 4.0, 6.0]), scored("b", [1.0, 2.0, 3.0, 4.0, 5.0, 7.0])])
    text = render(build_report(findings), "html")
    overview = text[text.index('id="metrics"') : text.index("</table>")]
    assert re.findall(r" \((\d)\)</td>", overview) == ["5", "6"]
    same = render(build_report(judge([scored(name, [1.0, 2.0, 3.0, 4.0, 6.0]) for name in "ab"])), "html")
    assert "Mean ± SD over 5 runs each" in same


def test_long_names_keep_beginning_and_end_in_headings_and_are_whole_in_the_data() -> None:
    long = f"begin{'x' * 4000}end"
    runs = [run(i, {long: Series((0,), (float(i),))}) for i in range(5)]
    page = Page(render(build_report(judge([experiment(long, runs, [selected(long, is_primary=True)])])), "html"))
    for _, text in page.headings:
        assert len(text) < 300
    assert any("begin" in text and "…" in text and "end" in text for _, text in page.headings)
    assert long in page.data


def test_experiments_whose_shortened_names_are_equal_are_told_apart() -> None:
    names = [f"{'x' * 100}{middle}{'y' * 100}" for middle in "ab"]
    view = build_report(judge([scored(name, [1.0, 2.0, 3.0, 2.5, 4.0]) for name in names]))
    assert len({it.label for it in view.experiments}) == 2


def test_summaries_have_their_metrics_in_one_order_and_say_how_many_more_there_are() -> None:
    rng = np.random.default_rng(0)
    names = [f"m{index}" for index in range(6)]

    def of(label: str, spreads: list[float]) -> Experiment:
        scores = {name: with_moments(5, 10.0, sd, rng) for name, sd in zip(names, spreads, strict=True)}
        runs = [run(i, {name: Series((0,), (scores[name][i],)) for name in names}) for i in range(5)]
        found = experiment(label, runs, [selected(name, direction=None) for name in names])
        return dataclasses.replace(
            found, imported=("read from scores.csv",)
        )  # so that their order makes none the primary one

    rising = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    first, second = build_report(judge([of("a", rising), of("b", rising[::-1])])).experiments
    assert [it.label for it in first.lines] == [f"m{i} (mean ± SD)" for i in range(4)]
    assert [it.label for it in first.lines] == [it.label for it in second.lines]
    assert first.more == "2 more metrics in the tables"


def test_after_an_unplanned_look_the_page_says_why_no_curves_are_compared() -> None:
    sides = [
        dataclasses.replace(trained(name, n_runs=6, n_metrics=1, n_points=8, seed=i), n_unplanned_looks=1)
        for i, name in enumerate(("a", "b"))
    ]
    text = " ".join("".join(Page(render(build_report(judge(sides)), "html")).text).split())
    assert "Curves against a, exploratory" not in text
    assert re.search(r"Curves are not compared: [^.]*look", text)


def test_what_holds_over_all_tasks_stands_with_the_verdict() -> None:
    view = build_report(_tasks())
    tasks = view.section("tasks")
    assert tasks is not None
    assert tasks.of(Quote)[0].sentence in view.paste
    text = render(view, "html")
    assert "IQM over 3 tasks" in text[text.index('id="verdict"') : text.index('id="metrics"')]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_enough_on_every_ground(scheme: str) -> None:
    css = CSS.read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", css, re.DOTALL)[:2]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", light))
    if scheme == "dark":
        colours |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", dark))
    for text in ("ink", "quiet", "link", "good", "bad"):
        for ground in ("ground", "raised"):
            assert _contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for text in ("ink", "alarm"):
        assert _contrast(colours[text], colours["alarm-ground"]) >= 4.5, text


def _contrast(one: str, other: str) -> float:
    """Source: WCAG 2.2, contrast ratio of relative luminances."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [it / 12.92 if it <= 0.04045 else ((it + 0.055) / 1.055) ** 2.4 for it in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_warnings_name_long_names_by_their_beginning_and_their_end() -> None:
    name = "test_" + "long_" * 200 + "end"
    sides = [scored(it, [1.0, 2.0, 3.0], selected(name, is_primary=True)) for it in ("a", "b")]
    findings = judge(sides, AnalysisOptions(aggregate="max"))
    (warning,) = [it for it in build_report(findings).warnings if "chooses its step" in it]
    assert len(warning) < 250
    assert warning.startswith("max of test_long_")
    assert "end chooses its step on test data" in warning
