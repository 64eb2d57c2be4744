"""The table of shape and cross-checks: every figure with how it was computed, or the reason why there is none."""

from dataclasses import replace

import numpy as np
from experiments import run, scored, selected, single, with_moments

from deviate.model.comparisons import Description
from deviate.model.records import EvaluationData
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.report.parts.describe import description_row
from deviate.report.parts.metrics import shape_rows
from deviate.stats.describe import describe_runs
from deviate.stats.estimates.bootstrap import Resamples
from deviate.stats.judge import judge


def described(values: tuple[float, ...], **settings: object) -> Description:
    one = scored("base", values, selected(unit="%", **settings))
    return describe_runs(one, one.metrics[0], rng=Resamples(np.random.default_rng(0)))


def scores(n: int) -> tuple[float, ...]:
    return with_moments(n, 93.4, 0.2, np.random.default_rng(1))


def shown(*descriptions: Description) -> dict[str, list[str]]:
    return {row.label: [cell.text for cell in row.cells] for row in shape_rows(descriptions)}


def test_outliers_are_named_by_run_in_the_table_and_below_heavy_tails() -> None:
    found = described((93.1, 93.2, 93.3, 88.0, 93.4, 93.25, 93.15, 93.35))
    assert shown(found)["outliers"] == ["replicate 3"]
    assert description_row(found, "base").note.endswith("the interval of the SD is not reliable; far out: replicate 3")
    assert shown(described(tuple(93 + k / 10 for k in range(8))))["outliers"] == ["none"]
    assert shown(described((93.0,) * 7 + (94.0,)))["outliers"] == ["not shown: most scores are equal"]


def test_what_does_not_apply_to_a_metric_has_no_row() -> None:
    loss = scored("base", scores(12), selected("test_loss", direction="min"))
    found = shown(describe_runs(loss, loss.metrics[0]))
    assert "CV of the error rate" not in found
    assert "error of the test set" not in found
    assert "interval of the SD" not in found
    assert "MAD" in found


def test_the_error_of_the_test_set_tells_its_examples_and_that_runs_do_not_reduce_it() -> None:
    accuracy = selected(unit="%")
    values = (93.41, 93.52, 93.37, 93.46, 93.33)
    runs = [
        replace(run(i, {"test_acc": single(value)}), evaluation=(EvaluationData("torch", "5f1c", 10_000),))
        for i, value in enumerate(values)
    ]
    found = describe_runs(replace(scored("base", values, accuracy), runs=tuple(runs)), accuracy)
    row = shape_rows([found])[-1]
    assert (row.label, row.cells[0].text) == ("error of the test set", "0.248 points")
    assert row.method == "√(p (1 − p) / N), 10000 examples: no number of runs reduces it"


def test_the_page_shows_the_table_of_each_metric_and_says_how_large_the_error_of_the_test_set_is() -> None:
    accuracy = replace(selected(unit="%", is_primary=True), n_examples=10_000)
    view = build_report(judge([scored("base", (93.41, 93.52, 93.37, 93.46, 93.33), accuracy)]))
    page = render(view, "html", is_full=True)
    assert page.count("<summary>Shape and cross-checks</summary>") == 1
    assert "<td>0.248 points</td>" in page
    assert "a finite test set (SE 0.25 points of test_acc with 10000 examples), and no number of runs" in " ".join(
        view.said("limits")
    )


def test_below_two_runs_there_is_no_table_and_no_cell_is_empty_or_nan() -> None:
    assert shape_rows([described((93.4,))]) == shape_rows([described(())]) == ()
    for values in ((93.4, 93.4), (93.4, 93.5), (5.0,) * 12, (1e9, 1e9 + 1e-6, 1e9) * 4, (0.0,) * 11 + (1.0,)):
        for texts in shown(described(values), described((93.4,))).values():
            assert all(text and "nan" not in text.lower() for text in texts)
