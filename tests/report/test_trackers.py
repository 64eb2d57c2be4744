"""The aggregate in TensorBoard, wandb and MLflow, as their own libraries read it back."""

import dataclasses
import json
import math
import re
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from experiments import experiment, run, selected

from deviate.errors import InputError, ToolError
from deviate.model.estimates import Interval
from deviate.model.findings import Findings
from deviate.model.records import Revision, Series
from deviate.records.importers.wandb import _records, read_wandb
from deviate.report.parts.build import build_report
from deviate.report.trackers.aggregate import AggregateReport, aggregate_report
from deviate.report.trackers.registry import Destination, destination_of, write_to_tracker

WRITTEN = datetime(2026, 11, 26, 17, 30, tzinfo=UTC)
METRIC = "val/acc@5 (%)"
"""MLflow takes neither the at sign nor brackets."""
IN_MLFLOW = "val/acc_5 ___"


def _side(name: str, shift: float) -> Any:
    runs = [
        run(i, {METRIC: Series((0, 1, 1, 2), (shift + i, shift + i + 1, shift + i + 3, shift + 2 * i + 0.1))})
        for i in range(6)
    ]
    runs.append(run(6, {METRIC: Series((0,), (shift,))}, status="crashed"))
    made = experiment(name, runs, [selected(METRIC, is_primary=True, margin=0.5)])
    return dataclasses.replace(made, revision=Revision("c0ffee", "main", is_dirty=True, n_untracked=0))


@pytest.fixture(scope="module")
def findings() -> Findings:
    from deviate.stats.judge import judge
    from deviate.stats.options import AnalysisOptions

    return judge([_side("base", 10.0), _side("new", 19.0)], AnalysisOptions(margin=0.5))


@pytest.fixture(scope="module")
def report(findings: Findings) -> AggregateReport:
    return aggregate_report(findings, build_report(findings), WRITTEN)


def _expected(findings: Findings) -> dict[str, float]:
    """The figures of the candidate, read from the findings by hand."""
    [described] = findings.experiments[1].descriptions
    [compared] = findings.pairs[0].comparisons
    assert isinstance(described.mean_interval, Interval)
    assert isinstance(compared.difference_interval, Interval)
    figures: dict[str, Any] = {
        "mean": described.mean,
        "mean_low": described.mean_interval.low,
        "mean_high": described.mean_interval.high,
        "sd": described.sd,
        "n": 6,
        "difference": compared.difference,
        "difference_low": compared.difference_interval.low,
        "difference_high": compared.difference_interval.high,
        "p_value_adjusted": compared.p_adjusted,
        "margin": 0.5,
    }
    return {f"{METRIC}/{name}": value for name, value in figures.items()}


def _is_part(expected: Mapping[str, float], read: Mapping[str, Any], *, rel: float = 0.0) -> bool:
    return all(math.isclose(read[name], value, rel_tol=rel, abs_tol=0) for name, value in expected.items())


def test_a_run_has_the_figures_of_the_findings_and_the_mean_of_every_step(
    findings: Findings, report: AggregateReport
) -> None:
    base, new = report.runs
    assert _is_part(_expected(findings), new.figures)
    assert (new.words[f"{METRIC}/verdict"], new.facts["verdict"], report.verdict) == ("better", "better", "better")
    assert not any("difference" in name or "verdict" in name for name in (*base.figures, *base.words, *base.facts))
    assert [base.figures[f"runs/{name}"] for name in ("completed", "failed", "total")] == [6, 1, 7]
    assert base.facts["commit"] == "c0ffee with changes"
    # The mean of what the six completed runs reported within each step.
    assert base.curves[f"{METRIC}/curve"] == ((0, 12.5), (1, 14.5), (2, pytest.approx(15.1)))
    assert new.rows()[2][f"{METRIC}/curve_low"] == pytest.approx(new.figures[f"{METRIC}/mean_low"])


@pytest.mark.parametrize(("text", "said"), [("neptune", "neptune"), ("wandb:", "after the colon")])
def test_a_destination_that_there_is_not_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        destination_of(text)


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "tensorboard").mkdir()  # a folder of that name is no package
    monkeypatch.setattr("sys.path", [str(project)])
    monkeypatch.setattr("sys.path_importer_cache", {})
    monkeypatch.delitem(sys.modules, "tensorboard", raising=False)
    with pytest.raises(ToolError) as caught:
        destination_of("tensorboard:runs")
    assert "-m pip install tensorboard" in caught.value.hint


@pytest.mark.requires("tensorboard")
def test_a_second_report_is_new_runs(report: AggregateReport, tmp_path: Path) -> None:
    for minute in (0, 1):
        again = dataclasses.replace(report, written=WRITTEN.replace(minute=minute))
        write_to_tracker(again, Destination("tensorboard", str(tmp_path)))
    assert len(list(tmp_path.glob("base-vs-new-*/new/*tfevents*"))) == 2


@pytest.mark.slow
@pytest.mark.requires("tensorboard")
def test_tensorboard_reads_figures_curves_and_texts(
    project: Path, deviate_in: Callable[[Path], Callable[..., Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # TensorBoard's own way to do without TensorFlow, which takes seconds to import.
    monkeypatch.setitem(sys.modules, "tensorboard.compat.notf", ModuleType("notf"))
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugins.custom_scalar import layout_pb2, metadata

    for name, shift in (("base", 0), ("new", 3)):
        rows = "".join(f"{i},{step},{i * 0.1 + shift + step}\n" for i in range(6) for step in range(4))
        (project / f"{name}.csv").write_text(f"run,step,acc\n{rows}", encoding="utf-8")
    answer = deviate_in(project)("report", "base.csv", "new.csv", "--to", "tensorboard:my logs", "--json", "all.json")
    assert answer.code == 0, answer.both
    assert "show: tensorboard --logdir 'my logs'" in answer.out
    [comparison] = json.loads((project / "all.json").read_text())["pairs"][0]["comparisons"]
    [place] = (project / "my logs").glob("base-vs-new-*/new")
    events = EventAccumulator(str(place)).Reload()
    scalars = {tag: [(it.step, it.value) for it in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
    [(step, difference)] = scalars["acc/difference"]
    assert (step, difference) == (0, pytest.approx(comparison["difference"], rel=1e-6))
    assert scalars["acc/curve"] == [(step, pytest.approx(3.25 + step)) for step in range(4)]
    assert {tag.partition("/")[0] for tag in events.Tags()["tensors"]} >= {"report", "figures"}
    [figures] = events.Tensors("figures")[0].tensor_proto.string_val
    assert "| acc/verdict | better |" in figures.decode()
    layout = layout_pb2.Layout.FromString(events.Tensors(metadata.CONFIG_SUMMARY_TAG)[0].tensor_proto.string_val[0])
    [series] = layout.category[0].chart[0].margin.series
    assert {series.value, series.lower, series.upper} <= scalars.keys()


@pytest.mark.slow
@pytest.mark.requires("wandb")
@pytest.mark.filterwarnings("ignore")
def test_wandb_writes_offline_what_its_own_messages_read_back(
    findings: Findings, report: AggregateReport, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("WANDB_MODE", "WANDB_DIR", "WANDB_PROJECT", "WANDB_ENTITY"):
        monkeypatch.delenv(name, raising=False)
    written = write_to_tracker(report, Destination("wandb", "lab/study"))
    from wandb.proto.wandb_internal_pb2 import Record

    folders = re.findall(r"\S*offline-run-\S+", written.next_step)
    assert len(folders) == 2
    [file] = (project / folders[1]).glob("*.wandb")
    summary: dict[str, Any] = {}
    curve: dict[int, float] = {}
    for content in _records(file.read_bytes()):
        record = Record.FromString(content)
        summary |= {item.key: json.loads(item.value_json) for item in record.summary.update if item.key}
        row = {"/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
        if row:
            curve[row["_step"]] = row[f"{METRIC}/curve"]
        if record.HasField("run"):
            started = record.run
    assert _is_part(_expected(findings), summary)
    assert summary[f"{METRIC}/verdict"] == "better"
    assert curve == {step: row[f"{METRIC}/curve"] for step, row in report.runs[1].rows().items()}
    assert (started.entity, started.project, started.run_group) == ("lab", "study", report.group)
    assert {"deviate", "better", "new"} == set(started.tags)
    assert started.host == ""
    config = {item.key: json.loads(item.value_json) for item in started.config.update}
    assert config["deviate_commit"] == "c0ffee with changes"
    with pytest.raises(InputError, match="written by deviate report, left out"):
        read_wandb(project / "wandb")
    [page] = (project / folders[1]).glob("files/media/html/*.html")
    assert page.read_text(encoding="utf-8") == report.page()
    monkeypatch.setenv("WANDB_MODE", "disabled")
    with pytest.raises(InputError, match="lets wandb write nothing"):
        write_to_tracker(report, Destination("wandb", None))


@pytest.mark.slow
@pytest.mark.requires("mlflow")
@pytest.mark.filterwarnings("ignore")
def test_mlflow_finds_the_runs_by_their_tags(
    findings: Findings, report: AggregateReport, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    write_to_tracker(report, Destination("mlflow", "store.db"))
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{project / 'store.db'}")
    experiment = client.get_experiment_by_name("deviate")
    assert experiment is not None
    [run] = client.search_runs([experiment.experiment_id], "tags.`deviate.verdict` = 'better'")
    names = {name.replace(METRIC, IN_MLFLOW): value for name, value in _expected(findings).items()}
    assert _is_part(names, run.data.metrics)
    history = client.get_metric_history(run.info.run_id, f"{IN_MLFLOW}/curve")
    rows = report.runs[1].rows()
    assert {it.step: it.value for it in history} == {step: row[f"{METRIC}/curve"] for step, row in rows.items()}
    assert run.info.status == "FINISHED"
    assert run.data.tags["deviate.group"] == report.group
    assert run.data.tags["deviate.experiment"] == "new"
    assert [it.path for it in client.list_artifacts(run.info.run_id)] == ["report.html"]
