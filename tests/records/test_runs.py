"""Specs: the same run has the same id everywhere, another run another."""

import dataclasses
import json
from pathlib import Path

import pytest

from deviate.errors import RecordError
from deviate.model.plan import Spec
from deviate.records.runs import read_spec, run_id, spec_hash, write_spec

SPEC = Spec("ab", ("python", "träin.py"), ".", "algo+impl", 3, (("init", 5),), (("PYTHONHASHSEED", "7"),))


def test_a_spec_reads_back_as_it_was_written(tmp_path: Path) -> None:
    write_spec(tmp_path / "spec.json", SPEC)
    assert read_spec(tmp_path / "spec.json") == SPEC
    assert json.loads((tmp_path / "spec.json").read_text())["seeds"] == [["init", 5]]


def test_the_streams_that_vary_are_read_back_and_change_no_hash(tmp_path: Path) -> None:
    varied = dataclasses.replace(SPEC, varied=("split",))
    write_spec(tmp_path / "spec.json", varied)
    assert read_spec(tmp_path / "spec.json").varied == ("split",)
    assert (spec_hash(varied), varied) == (spec_hash(SPEC), SPEC), "the seeds say the same"


def test_the_hash_never_changes_for_records_depend_on_it() -> None:
    assert spec_hash(SPEC) == "499a33046347a6c438bd25427ba04b43236f7875c850c158f2e18f400154b9ca"
    assert run_id(SPEC) == spec_hash(SPEC)[:16]


@pytest.mark.parametrize(
    "change",
    [{"sources_hash": "x"}, {"command": ("python",)}, {"cwd": "a"}, {"variant": "as-is"}, {"replicate": 4},
     {"seeds": ()}, {"environment": ()}, {"controls": (("kernels", "default"),)}],
)  # fmt: skip
def test_every_field_is_part_of_the_hash(change: dict[str, object]) -> None:
    assert spec_hash(dataclasses.replace(SPEC, **change)) != spec_hash(SPEC)  # type: ignore[arg-type]


def test_a_damaged_spec_is_named(tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text('{"schema": 1, "seeds": []}')
    with pytest.raises(RecordError, match=r"spec\.json"):
        read_spec(tmp_path / "spec.json")
