"""A baseline as projects commit it: every past format is read, floats keep all bits, damage is told."""

import json
from pathlib import Path

import pytest

from deviate.errors import InputError
from deviate.records.importers import MetricEntry
from deviate.records.importers.baseline import Baseline, BaselineRun, baseline_text, load_baseline
from deviate.records.importing import experiment_of, read_files
from deviate.series.score import aggregate_series

SAMPLE = Path(__file__).parent / "data" / "baseline" / "schema-1.json"


def test_a_file_of_the_first_format_is_read_to_the_last_bit() -> None:
    (imported,) = read_files([SAMPLE])
    assert (imported.form, imported.name) == ("baseline", "train-baseline")
    experiment = experiment_of(imported)
    assert [run.status for run in experiment.runs] == ["completed", "crashed", "completed"]
    assert experiment.runs[0].seeds == {"init": 2132280686, "shuffle": 2941560640}
    assert experiment.runs[0].environment["torch"] == "2.13.0+cpu"
    acc, loss = experiment.metrics
    assert (acc.name, acc.direction, acc.unit, acc.is_primary, acc.margin) == ("test_acc", "max", "%", True, 0.5)
    assert (loss.name, loss.direction, loss.aggregate, loss.margin) == ("val_loss", "min", "at:10", None)
    scores = [aggregate_series(experiment.runs[0].series[it.name], it.aggregate, it.direction) for it in (acc, loss)]
    assert scores == [0.1 + 0.2, 5e-324]


def test_what_was_read_is_written_byte_by_byte() -> None:
    assert baseline_text(load_baseline(SAMPLE)) == SAMPLE.read_text()


def test_other_json_is_read_as_before(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text('{"acc": [0.5, 0.25]}')
    (imported,) = read_files([path])
    assert imported.form == "json"


RUN = {"replicate": 0, "status": "completed", "seeds": {}, "scores": {}}
METRIC = {"role": "quality", "direction": "max", "margin": None, "aggregate": "last", "unit": "", "primary": True}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "has schema 2; this deviate reads up to 1"),
        ({"schema": "one"}, "is a damaged baseline: "),
        ({"runs": 3}, "is a damaged baseline"),
        ({"runs": [{"replicate": 0}]}, r"Object missing required field `status` - at `\$\.runs"),
        (
            {"runs": [{"replicate": 0, "status": "fine", "seeds": {}, "scores": {}}]},
            r"Invalid enum value 'fine' - at `\$\.runs\[0\]\.status`",
        ),
        ({"metrics": {"a": {**METRIC, "role": "x"}}}, "Invalid enum value 'x'"),
        ({"metrics": {"a": {**METRIC, "margin": -1}}}, r"Expected `float` > 0.0 - at `\$\.metrics\[...\]\.margin`"),
        ({"metrics": {"a": {**METRIC, "margin": float("nan")}}}, "is a damaged baseline: JSON is malformed"),
    ],
)
def test_damage_and_newer_formats_are_told(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(json.dumps({**json.loads(SAMPLE.read_text()), **change}))
    with pytest.raises(InputError, match=message):
        read_files([path])


def test_five_metrics_of_ten_runs_take_less_than_twenty_thousand_bytes_and_a_line_for_each_score() -> None:
    names = [f"a_metric_with_a_long_name/{index}" for index in range(5)]
    metrics = {name: MetricEntry("last", "max", None, primary=False, role="quality", unit="") for name in names}
    seeds = dict.fromkeys(("augment", "dropout", "hash", "init", "other", "shuffle", "split"), 2**32 - 1)
    runs = tuple(
        BaselineRun(index, "completed", seeds, dict.fromkeys(names, 0.123456789012345 + index / 7))
        for index in range(10)
    )
    facts = {f"variable {index}": "value" * 10 for index in range(30)}
    whole = Baseline(
        name="n", variant="v", command=("python",) * 20, deviate="0.1.0", date="2026-11-22", commit="f" * 40,
        is_dirty=True, environment=facts, metrics=metrics, runs=runs,
    )  # fmt: skip
    text = baseline_text(whole)
    assert len(text.encode()) < 20_000
    assert sum(": 0." in line or ": 1." in line for line in text.splitlines()) == 50
