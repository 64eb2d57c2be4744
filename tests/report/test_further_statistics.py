"""A statistic in one file, registered with a label, appears in every form of a report."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from scipy import stats

ROOT = Path(__file__).parents[2]
PATH = [ROOT, ROOT / "tests/support"]
PROGRAM = """
import json
import kuiper
import numpy as np
from deviate.stats.judge import judge
from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report
from deviate.report.data.schema import schema_of
from deviate.report.data.tables import table_files
from deviate.report.paper.bibliography import references_source
from deviate.report.paper.macros import macros_of, macros_source
from experiments import scored
from schemas import schema_flaws
from scripts.reference.statistics import page

rng = np.random.default_rng(0)
runs = [scored(name, (centre + rng.normal(0, 1, 8)).tolist()) for name, centre in (("base", 90.0), ("new", 90.8))]
findings = judge(runs)
report = build_report(findings)
(table,) = (file for file in table_files(findings) if file.name == "comparisons.csv")
scores = [[score.value for score in description.scores]
          for it in findings.experiments for description in it.descriptions]
print(json.dumps({
    **{form: render(report, form, is_full=True) for form in ("terminal", "html", "json", "latex", "markdown", "csv")},
    "schema": schema_of("report"), "flaws": list(schema_flaws(render(report, "json"))),
    "comparisons": "".join(table.chunks()), "macros": macros_source(macros_of(findings, report)),
    "references": references_source(findings, report), "page": page(), "scores": scores,
}))
"""


@pytest.fixture(scope="module")
def forms() -> dict[str, object]:
    """What becomes of a comparison, in a process of its own: a statistic that is registered stays so."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={"PYTHONPATH": os.pathsep.join(map(str, PATH))},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def figures(forms: dict[str, object]) -> tuple[float, float]:
    """Both statistics, by scipy."""
    ((baseline,), (candidate,)) = ([scores] for scores in forms["scores"])  # type: ignore[attr-defined]
    distances = [stats.ks_2samp(candidate, baseline, alternative=side).statistic for side in ("less", "greater")]
    u = stats.mannwhitneyu(candidate, baseline).statistic
    return sum(distances), u / (len(baseline) * len(candidate))


def test_tables_have_its_label_in_its_group(forms: dict[str, object]) -> None:
    distance, share = figures(forms)
    page = re.sub(r"<[^>]*>", " ", str(forms["html"]))
    assert re.search(rf"Kuiper test\s+V = {distance:.2f}, p", page)
    assert re.search(rf"Vargha–Delaney A\s+{share:.2f} \[", page)
    groups = [page.index(text) for text in ("Kolmogorov–Smirnov test", "Kuiper test", "as DEVIATE")]
    assert groups == sorted(groups)


def test_json_has_its_name_and_the_schema_knows_it(forms: dict[str, object]) -> None:
    distance, share = figures(forms)
    ((comparison,),) = [pair["comparisons"] for pair in json.loads(str(forms["json"]))["pairs"]]
    assert comparison["kuiper"]["statistic"] == pytest.approx(distance)
    assert comparison["vargha_delaney"] == pytest.approx(share)
    assert comparison["vargha_delaney_interval"]["low"] < share < comparison["vargha_delaney_interval"]["high"]
    assert forms["flaws"] == []
    members = forms["schema"]["$defs"]["Comparison"]["properties"]  # type: ignore[index]
    assert members["kuiper"]["description"].startswith("Whether two distributions are one")


def test_csv_has_its_columns(forms: dict[str, object]) -> None:
    distance, share = figures(forms)
    (row,) = csv.DictReader(io.StringIO(str(forms["comparisons"])))
    assert float(row["kuiper_statistic"]) == pytest.approx(distance)
    assert 0 < float(row["kuiper_p_value"]) <= 1
    assert float(row["vargha_delaney"]) == pytest.approx(share)
    assert float(row["vargha_delaney_interval_low"]) < share


def test_a_paper_has_its_commands_and_cites_it(forms: dict[str, object]) -> None:
    distance, share = figures(forms)
    macros = str(forms["macros"])
    assert re.search(rf"\\deviateNewTestAccKuiper}}{{.*V = {distance:.2f}", macros)
    assert re.search(rf"\\deviateNewTestAccVarghaDelaney}}{{\\ensuremath{{{share:.2f}", macros)
    assert "deviateNewTestAccVarghaDelaneyLow" in macros
    assert "@article{kuiper1960," in str(forms["references"])
    assert str(forms["references"]).count("{vargha2000,") == 1


def test_the_page_of_statistics_describes_it(forms: dict[str, object]) -> None:
    assert "### kuiper\n" in str(forms["page"])
    assert "Stephens (1970)" in str(forms["page"])
