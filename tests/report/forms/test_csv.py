import csv
import io

from experiments import experiment, run, selected, single

from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.stats.judge import judge


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_each_run_and_metric_is_a_row_and_scores_keep_all_bits() -> None:
    values = [0.1 + 0.2, 1 / 3, 1e-300]
    runs = [run(i, {"acc": single(value), "loss": single(-value)}) for i, value in enumerate(values)]
    rows = _rows(render(build_report(judge([experiment("a", runs, [selected("acc"), selected("loss")])])), "csv"))
    assert len(rows) == 6
    assert [float(row["score"]) for row in rows if row["metric"] == "acc"] == values
    assert set(rows[0]) == {"experiment", "variant", "replicate", "status", "metric", "score"}


def test_a_run_without_a_score_has_an_empty_one_and_its_status() -> None:
    runs = [run(0, {"acc": single(1.0)}), run(1, {}, status="crashed")]
    rows = _rows(render(build_report(judge([experiment("a", runs, [selected("acc")])])), "csv"))
    assert (rows[1]["status"], rows[1]["score"]) == ("crashed", "")


def test_names_with_commas_quotes_and_formulas_are_only_text() -> None:
    name = '=HYPERLINK("x"),\n"y"'
    rows = _rows(render(build_report(judge([experiment("a", [run(0, {name: single(1.0)})], [selected(name)])])), "csv"))
    assert rows[0]["metric"] == '\'=HYPERLINK("x"), "y"'
