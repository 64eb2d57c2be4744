"""A stored sample is read as what it was written from, and files of another format are refused."""

import json
import shutil
from pathlib import Path

import pytest
from recorded import edit_record

from deviate.base.digests import with_digest
from deviate.errors import RecordError
from deviate.records.plans import read_plan
from deviate.records.read import read_experiment
from deviate.records.runs import read_claim, read_result, read_spec, run_id

SAMPLE = Path(__file__).parent / "samples/base"


def test_a_spec_names_the_folder_of_its_run() -> None:
    for path in SAMPLE.glob("runs/*/spec.json"):
        assert run_id(read_spec(path)) == path.parent.name


@pytest.mark.parametrize("schema", [0, 99])
@pytest.mark.parametrize("name", ["experiment.json", "snapshot/manifest.json"])
def test_a_record_of_another_format_is_refused_with_the_cure(tmp_path: Path, name: str, schema: int) -> None:
    folder = tmp_path / "base"
    shutil.copytree(SAMPLE, folder)
    edit_record(folder / name, schema=schema)
    with pytest.raises(RecordError, match=f"has schema {schema}") as caught:
        read_experiment(folder)
    assert "the version of deviate that wrote it" in caught.value.hint


def test_the_sample_is_read_in_full() -> None:
    (experiment,) = read_experiment(SAMPLE)
    first, second = experiment.runs
    assert (first.status, first.attempt, first.series["acc"].values) == ("completed", 1, (0.1, 0.30000000000000004))
    assert [(it.kind, it.path.is_file()) for it in first.artifacts] == [("weights", True)]
    assert (second.status, second.attempt, second.series["acc"].values) == ("completed", 2, (0.1, 0.3))
    assert second.warnings == ("continues attempt 1, which was lost",)
    assert experiment.warnings == ()
    claim, result = read_claim(second.folder), read_result(second.folder)
    assert claim is not None
    assert (claim.boot, claim.namespace, claim.continues) == ("b0", "pid:[1]", 1)
    assert result is not None
    assert list(result.files) == ["claim.json", "events-14-1.jsonl", "stderr.log", "stdout.log"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cwd": ...}, "Object missing required field `cwd`"),
        (
            {"selection": {"metrics": [{"name": "acc"}]}},
            r"Object missing required field `metric` - at `\$\.selection\.metrics\[0\]`",
        ),
        ({"seed": "two"}, r"Expected `int`, got `str` - at `\$\.seed`"),
        (
            {"variants": [{"name": "a", "n_runs": 1, "definition": {}}]},
            r"Object missing required field `name` - at `\$\.variants\[0\]\.definition`",
        ),
        ({"settings": {"retries": "two"}}, r"Expected `int`, got `str` - at `\$\.settings\.retries`"),
    ],
)
def test_damage_is_told_with_its_place(tmp_path: Path, change: dict[str, object], message: str) -> None:
    document = {**json.loads((SAMPLE / "experiment.json").read_text()), **change}
    (tmp_path / "experiment.json").write_text(
        json.dumps(with_digest({name: value for name, value in document.items() if value is not ...}))
    )
    with pytest.raises(RecordError, match=rf"experiment\.json is damaged: {message}"):
        read_plan(tmp_path)
