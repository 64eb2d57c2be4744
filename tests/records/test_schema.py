"""Every past format stays readable: stored samples, never to be changed, are read as what they were written from."""

import json
import shutil
from pathlib import Path

import pytest

from deviate.errors import RecordError
from deviate.model import Series
from deviate.records.attempts import Claim, Result, read_claim, read_result
from deviate.records.layout import attempts
from deviate.records.read import read_experiment
from deviate.records.schema import SCHEMA

SAMPLES = Path(__file__).parent / "samples"


def test_there_is_a_sample_of_every_number() -> None:
    highest = max(SCHEMA.values())
    assert sorted(int(path.name) for path in SAMPLES.iterdir()) == list(range(1, highest + 1))


def test_the_first_format_is_read_in_full() -> None:
    (experiment,) = read_experiment(SAMPLES / "1/base")
    assert (experiment.name, experiment.variant, experiment.n_planned) == ("base", "algo+impl", 2)
    assert [metric.name for metric in experiment.metrics] == ["test_acc"]
    (run,) = experiment.runs
    assert (run.status, run.exit_code, run.wall_time_s, run.seeds["init"]) == ("completed", 0, 2.5, 7)
    assert run.series == {"test_acc": Series((0, 1), (0.1, 0.30000000000000004))}
    assert run.warnings == ("beware",)


def test_claims_and_results_of_the_first_format_are_read(tmp_path: Path) -> None:
    (attempt,) = attempts(next((SAMPLES / "1/base/runs").iterdir()))
    assert read_claim(attempt) == Claim("host", 12, "345", 5.0, 6.0, 13, "346")
    assert read_result(attempt) == Result("ab" * 32, "completed", 0, None, 5.0, 2.5, "", ("beware",))


@pytest.mark.parametrize("name", ["experiment.json", "snapshot/manifest.json"])
def test_a_record_of_a_newer_deviate_is_refused_with_the_cure(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "base"
    shutil.copytree(SAMPLES / "1/base", folder)
    document = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps({**document, "schema": 99}))
    with pytest.raises(RecordError, match="schema 99") as caught:
        read_experiment(folder)
    assert "update deviate" in caught.value.hint
