"""The CSV files on stability: every figure, class and run, sub-group and pair reads back bit for bit."""

import csv
import io

from experiments import scored
from stabilities import everything

from deviate.model.estimates import Interval
from deviate.model.findings import Findings
from deviate.report.data.tables import table_files
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge

NAMES = ("stability.csv", "classes.csv", "groups.csv", "disagreement.csv")


def _rows(findings: Findings) -> dict[str, list[dict[str, str]]]:
    texts = {it.name: "".join(it.chunks()) for it in table_files(findings)}
    return {name: list(csv.DictReader(io.StringIO(text), strict=True)) for name, text in texts.items()}


def test_without_captures_there_is_no_such_file() -> None:
    assert not set(NAMES) & set(_rows(judge([scored("a", [1.0, 2.0])])))


def test_the_page_names_each_file() -> None:
    page = render(build_report(everything()), "html")
    for name in NAMES:
        assert f"<code>{name}</code>" in page


def test_every_measure_has_its_value_and_interval() -> None:
    findings = everything()
    rows = _rows(findings)["stability.csv"]
    for it in findings.stability.sets:
        name = findings.experiments[it.experiment].experiment.name
        own = {
            row["measure"]: row
            for row in rows
            if (row["experiment"], row["set"], row["part"]) == (name, it.name, "set")
        }
        for measure in it.measures:
            row, interval = own[measure.name], measure.interval
            assert isinstance(interval, Interval)
            found = [float(row[key]) for key in ("value", "low", "high", "confidence")]
            assert found == [measure.value, interval.low, interval.high, interval.confidence]


def test_every_part_has_its_figures() -> None:
    rows = _rows(everything())["stability.csv"]
    counts = {part: sum(row["part"] == part for row in rows) for part in {row["part"] for row in rows}}
    assert counts["layer"] == 2 * 6
    assert counts["class"] == 2 * 10 * 5
    assert counts["example"] == 2 * 20
    assert counts["ensemble"] == 2 * 2 * 6
    assert counts["run"] == 2 * 8 * 2
    assert counts["weak"] == 4
    assert counts["difference"] == 2
    assert {row["value"] for row in rows if row["item"] == "within 1% of the best val_acc, replicate 2"} == {""}


def test_every_accuracy_of_a_class_reads_back_bit_for_bit() -> None:
    findings = everything()
    rows = _rows(findings)["classes.csv"]
    it = findings.stability.sets[1]
    found = [float(row["accuracy"]) for row in rows if (row["experiment"], row["class"]) == ("wide", "3")]
    assert found == list(next(one for one in it.classes if one.label == 3).accuracies)
    assert len(rows) == 2 * 10 * 8


def test_groups_have_their_composition_and_empty_cells_where_a_rate_is_not_there() -> None:
    findings = everything()
    rows = _rows(findings)["groups.csv"]
    first, *_, last = rows[:5]
    assert (first["column"], first["value"], first["n_positive"], first["share"]) == ("", "All", "1490", "1.0")
    assert (last["column"], last["value"], last["false_negative_rate_sd"]) == ("age", "1", "")
    accuracy = findings.stability.sets[0].groups[4].accuracy
    assert isinstance(accuracy.ratio_interval, Interval)
    assert float(last["accuracy_ratio"]) == accuracy.ratio
    assert float(last["accuracy_ratio_low"]) == accuracy.ratio_interval.low


def test_each_pair_of_runs_stands_once() -> None:
    findings = everything()
    rows = _rows(findings)["disagreement.csv"]
    own = [row for row in rows if (row["experiment"], row["measure"]) == ("small", "churn")]
    assert len(own) == len({(row["replicate"], row["other"]) for row in own}) == 8 * 7 // 2
    matrix = findings.stability.sets[0].disagreement
    assert all(float(row["value"]) == matrix[int(row["replicate"])][int(row["other"])] for row in own)
    assert sum(row["measure"] == "weight-distance" for row in rows) == 2 * 28
