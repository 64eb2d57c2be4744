"""The CSV files beside a page, and the curves in it."""

import csv
import io
import math

import numpy as np
import pytest
from experiments import experiment, run, scored, selected, trained, with_moments

from deviate.model.estimates import Interval
from deviate.model.findings import Findings
from deviate.model.records import Series
from deviate.report.data import tables as data
from deviate.report.data.tables import data_section, table_files
from deviate.stats.judge import judge

RNG = np.random.default_rng(4)


def files(findings: Findings) -> dict[str, list[dict[str, str]]]:
    texts = {it.name: "".join(it.chunks()) for it in table_files(findings)}
    return {name: list(csv.DictReader(io.StringIO(text))) for name, text in texts.items()}


def two() -> Findings:
    return judge([scored("base", with_moments(8, 93.4, 0.22, RNG)), scored("new", with_moments(7, 93.7, 0.2, RNG))])


def test_every_figure_of_a_description_reads_back_bit_for_bit() -> None:
    findings = two()
    rows = files(findings)["descriptions.csv"]
    assert [row["experiment"] for row in rows] == ["base", "new"]
    for row, item in zip(rows, findings.experiments, strict=True):
        (description,) = item.descriptions
        assert float(row["mean"]) == description.mean
        assert float(row["sd"]) == description.sd
        assert isinstance(description.sd_interval, Interval)
        assert float(row["sd_interval_low"]) == description.sd_interval.low
        assert float(row["sd_interval_high"]) == description.sd_interval.high
        assert int(row["n"]) == description.n


def test_every_figure_of_a_comparison_reads_back_bit_for_bit() -> None:
    findings = two()
    (row,) = files(findings)["comparisons.csv"]
    headline = findings.pairs[0].headline
    assert headline is not None
    assert (row["baseline"], row["candidate"], row["verdict"]) == ("base", "new", headline.verdict.word)
    for name in ("difference", "p_adjusted", "hedges_g", "superiority", "sd_ratio", "detectable"):
        assert float(row[name]) == getattr(headline, name), name
    for name in ("welch", "mann_whitney", "permutation"):
        assert float(row[f"{name}_p_value"]) == getattr(headline, name).p_value, name
        assert float(row[f"{name}_statistic"]) == getattr(headline, name).statistic, name
    for name in ("difference_interval", "hedges_g_interval", "detectable_interval"):
        assert float(row[f"{name}_low"]) == getattr(headline, name).low, name


def test_what_is_not_there_is_an_empty_cell() -> None:
    (row,) = files(judge([scored("one", [93.0])]))["descriptions.csv"]
    assert row["sd"] == row["sd_interval_low"] == ""
    assert row["mean"] == "93.0"


def test_every_measurement_reads_back_bit_for_bit() -> None:
    found = [trained("a", n_runs=3, n_metrics=2, n_points=50), trained("b", n_runs=2, n_metrics=2, n_points=40, seed=1)]
    rows = files(judge(found))["curves.csv"]
    for it in found:
        for one in it.runs:
            for name, series in one.series.items():
                own = [
                    row
                    for row in rows
                    if (row["experiment"], row["replicate"], row["metric"]) == (it.name, str(one.replicate), name)
                ]
                assert [float(row["value"]) for row in own] == list(series.values)
                assert [int(row["step"]) for row in own] == list(series.steps)
    assert len(rows) == 3 * 2 * 50 + 2 * 2 * 40


def test_odd_values_and_steps_are_kept() -> None:
    values = (0.1 + 0.2, math.nan, math.inf, -math.inf, 5e-324, -0.0)
    series = Series((0, 1, 2, 3, 4, None), values)
    rows = files(judge([experiment("a", [run(0, {"acc": series})], [selected("acc")])]))["curves.csv"]
    assert [row["value"] for row in rows] == ["0.30000000000000004", "nan", "inf", "-inf", "5e-324", "-0.0"]
    assert [row["step"] for row in rows] == ["0", "1", "2", "3", "4", ""]


def test_names_with_commas_and_formulas_stay_one_cell() -> None:
    name = '=cmd("a"),b'
    series = Series((0, 1), (0.5, 0.6))
    rows = files(judge([experiment("x,y", [run(0, {name: series})], [selected(name)])]))["curves.csv"]
    assert [(row["metric"], row["experiment"]) for row in rows] == [(f"'{name}", "x,y")] * 2


def test_scores_alone_have_no_file_of_curves() -> None:
    findings = two()
    assert "curves.csv" not in files(findings)
    assert "no metric was reported more than once" in data_section(findings).reasons[0]


def test_one_experiment_has_no_file_of_comparisons() -> None:
    assert set(files(judge([scored("one", [93.0, 94.0])]))) == {"scores.csv", "descriptions.csv"}


def test_more_measurements_than_anybody_reads_are_refused_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "MOST_VALUES", 99)
    findings = judge([trained("a", n_runs=2, n_metrics=1, n_points=50)])
    assert "curves.csv" not in files(findings)
    assert "100 measurements are more than the 99 that are written out" in data_section(findings).reasons[0]


def test_the_number_of_values_is_told() -> None:
    view = data_section(judge([trained("a", n_runs=2, n_metrics=1, n_points=50)]))
    assert [(it.label, it.cell.text) for it in view.facts][-1] == ("curves.csv", "a row per measurement, 100 values")
