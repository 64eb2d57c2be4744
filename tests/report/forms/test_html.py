import base64
import dataclasses
import functools
import hashlib
import json
import re
from pathlib import Path

import pytest
from experiments import experiment, run, scored, selected, trained
from markup import Page
from studies import equal, flip, noisy_run, spread, study, usual, variant

from deviate.model.findings import Findings
from deviate.model.records import ControlEvent, EvaluationData, Experiment, Flip, SeedEvent, Series, Weights
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge

NASTY = (
    "<script>alert(1)</script>",
    "]]>",
    "{{ 7 * 7 }}",
    "{% raw %}",
    '"><img src=x onerror=alert(1)>',
    "&lt;b&gt;",
    "<!--",
    "Größe 精度 \x1b[31mred\x1b[0m \x00\x07\u202e\udcff",
)


def _compared() -> Findings:
    return judge(
        [
            trained("small", n_runs=6, n_metrics=3, n_points=20),
            trained("wide", n_runs=6, n_metrics=3, n_points=20, seed=1),
        ]
    )


def _studied() -> Findings:
    """A noise study with every part that a report of one can have."""
    bits = [noisy_run(i, (50.0, 93.0 + i), f"b{i}", flips=(flip(i),)) for i in range(3)]
    return study(*usual(), spread("init", [93.0, 94.0, 92.0]), variant("one-bit", bits))


@functools.cache
def _page(kind: str) -> str:
    return render(build_report(_compared() if kind == "comparison" else _studied()), "html")


def _hostile(text: str) -> Experiment:
    """An experiment in which the user's text is `text` wherever it can be."""
    metric = selected(text, expression=text, unit=text, is_primary=True)
    runs = [
        run(i, {text: Series((0, 1), (1.0, 1.0 + i))}, environment={text: text}, warnings=(text,)) for i in range(5)
    ]
    crashed = run(5, {}, status="crashed", reason=text, stderr_tail=(text,))
    item = experiment(text, [*runs, crashed], [metric], command=("python", text), warnings=(text,), variant=text)
    object.__setattr__(item.runs[0], "seed_events", (SeedEvent(text, text, text, 1, "kept"),))
    return item


def test_the_page_asks_nothing_of_the_network() -> None:
    page = Page(_page("comparison"))
    for tag, attributes in page.elements:
        for name in ("src", "href", "action", "data", "srcset"):
            value = attributes.get(name) or ""
            assert value == "" or value.startswith(("#", "data:")), (tag, name, value)
        assert tag not in {"link", "iframe", "img", "object", "embed", "base", "form"}


def test_the_policy_forbids_everything_but_inline_style_data_images_and_the_script_with_this_hash() -> None:
    page = Page(_page("comparison"))
    policy = next(it for tag, it in page.elements if tag == "meta" and it.get("http-equiv"))
    digest = base64.b64encode(hashlib.sha256(page.script.encode()).digest()).decode()
    assert policy["content"] == (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
    )


def test_the_only_scripts_are_data_and_the_one_that_is_packaged_and_no_element_listens() -> None:
    page = Page(_page("comparison"))
    assert [it.get("type") for it in page.of("script")] == ["application/json", None]
    assert page.script == (Path(__file__).parents[3] / "templates" / "report.js").read_text(encoding="utf-8")
    for reach in ("fetch", "XMLHttpRequest", "eval(", "localStorage", "sessionStorage", "innerHTML", "import("):
        assert reach not in page.script
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)


@pytest.mark.parametrize("kind", ["comparison", "study"])
def test_ids_are_unique_and_every_inner_reference_has_its_target(kind: str) -> None:
    text = _page(kind)
    page = Page(text)
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    targets = {(it.get("href") or "")[1:] for _, it in page.elements if (it.get("href") or "").startswith("#")}
    labels = {key for _, it in page.elements for key in (it.get("aria-labelledby") or "").split()}
    clips = set(re.findall(r"url\(#([^)]*)\)", text))
    assert targets | labels | clips <= set(ids)


@pytest.mark.parametrize("kind", ["comparison", "study"])
def test_tables_have_captions_and_scoped_heads(kind: str) -> None:
    page = Page(_page(kind))
    tags = [tag for tag, _ in page.elements]
    assert tags.count("table") == tags.count("caption") > 0
    assert all(it.get("scope") in {"row", "col", "rowgroup"} for tag, it in page.elements if tag == "th")
    assert tags.count("h1") == 1


def test_equal_findings_give_equal_bytes() -> None:
    assert render(build_report(_compared()), "html") == _page("comparison")


def test_the_data_in_the_page_are_the_json_report_without_figures_per_step() -> None:
    view = build_report(_compared())
    page = Page(render(view, "html"))
    document = json.loads(render(view, "json"))
    for comparison in document["pairs"][0]["comparisons"]:
        per_step = {"steps", "baseline", "candidate", "difference", "band"}
        per_step |= {"baseline_half_widths", "candidate_half_widths"}
        assert all(len(comparison["curve"].pop(name)) > 1 for name in per_step)
    assert json.loads(page.data) == document


DRAWN = {"defs", "g", "path", "text", "title", "use"}
"""Of a figure, whose layout depends on the width of names."""


def _tags(page: Page) -> list[str]:
    return sorted(tag for tag, _ in page.elements if tag not in DRAWN)


@functools.cache
def _plain_tags(*, is_study: bool) -> list[str]:
    findings = _hostile_study("plain") if is_study else judge([_hostile("plain"), scored("b", [1.0] * 5)])
    return _tags(Page(render(build_report(findings), "html")))


@pytest.mark.parametrize("text", NASTY)
def test_text_of_the_user_is_shown_and_never_obeyed(text: str) -> None:
    rendered = render(build_report(judge([_hostile(text), scored("b", [1.0] * 5)])), "html")
    page = Page(rendered)
    assert _tags(page) == _plain_tags(is_study=False)
    assert "49" not in "".join(page.text) or "7 * 7" not in text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", rendered)
    rendered.encode()
    json.loads(page.data)


def _hostile_study(text: str) -> Findings:
    """Variants in which the user's text stands wherever the guest may have found it."""
    event = ControlEvent(text, text, text, text, 1, "overridden")
    runs = [
        dataclasses.replace(
            run(i, {text: Series((0, 1), (1.0, 1.0 + i))}),
            controls={text: text},
            control_events=(event,),
            draws={text: (text,)},
            weights=(Weights(text, text, text, 1),),
            evaluation=(EvaluationData(text, text, i),),
            flips=(Flip(text, text, (1,), 1.0, 2.0),),
            operations=(text,),
            uncontrolled=(text,),
            seed_events=(SeedEvent(text, str(i), text, 1, "kept"),),
        )
        for i in range(5)
    ]
    metric = selected(text, expression=text, unit=text, is_primary=True)
    variants = (experiment(text, runs, [metric], variant=name) for name in (text, f"{text}2", "one-bit"))
    return study(*(dataclasses.replace(it, varied=(text,), held=(text,)) for it in variants))


@pytest.mark.parametrize("text", NASTY)
def test_text_of_the_user_in_a_noise_study_is_shown_and_never_obeyed(text: str) -> None:
    report = build_report(_hostile_study(text))
    rendered = render(report, "html")
    page = Page(rendered)
    assert _tags(page) == _plain_tags(is_study=True)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", rendered)
    rendered.encode()
    json.loads(page.data)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e]", render(report, "terminal"))


def test_the_users_markup_is_readable_as_text() -> None:
    page = Page(render(build_report(judge([_hostile("<script>alert(1)</script>")])), "html"))
    assert "<script>alert(1)</script>" in "".join(page.text)


@pytest.mark.parametrize("n_runs", [0, 1, 2])
def test_a_page_of_few_runs_says_why_parts_are_absent(n_runs: int) -> None:
    runs = [run(i, {"test_acc": Series((0,), (float(i),))}) for i in range(n_runs)]
    text = "".join(Page(render(build_report(judge([experiment("a", runs, [selected()], n_planned=3)])), "html")).text)
    assert "No metric was reported at more than one step." in text
    assert "Every recorded run completed." in text
    assert "nan" not in text.lower().split()


def test_thirty_two_curves_of_two_hundred_points_stay_below_half_a_megabyte() -> None:
    page = render(build_report(judge([trained("a", n_runs=32, n_metrics=1, n_points=200)])), "html")
    assert len(page.encode()) < 500_000


def test_a_large_experiment_stays_below_four_megabytes() -> None:
    page = render(build_report(judge([trained("a", n_runs=100, n_metrics=12, n_points=1000)])), "html")
    assert len(page.encode()) < 4_000_000 * 12 / 30 + 1_500_000


def test_a_page_of_one_variant_says_how_to_separate_the_sources() -> None:
    page = Page(render(build_report(study(equal("control", 3))), "html"))
    assert "--variants algo+impl,algo,impl,control" in "".join(page.text)


def test_equal_studies_give_equal_bytes() -> None:
    assert render(build_report(_studied()), "html") == _page("study")
