"""Files with the columns that the README of the dl-variance artifact lists; numbers of our own."""

from pathlib import Path

import pytest

from deviate.errors import InputError
from deviate.records.importing import read_files

RAW = Path(__file__).parent / "data/dl_variance/analysis_raw.csv"


def test_every_set_is_an_experiment_and_every_try_a_run() -> None:
    fixed, free = read_files([RAW])
    assert (fixed.name, free.name, fixed.form) == ("fixed-seed", "random-seed", "dl_variance")
    assert [run.label for run in fixed.runs] == ["try 0", "try 1", "try 2"]
    assert {name: series.values[0] for name, series in free.runs[2].series.items()} == {
        "accuracy": 0.984,
        "convergent": 145.5,
        "convergent_epoch": 12,
    }


def test_summaries_do_not_state_their_ddof_and_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "analysis_result.csv"
    path.write_text("network,stopping_type,max_accuracy_diff,std_dev_accuracy,mean_accuracy\nlenet5,loss,1,0.5,98\n")
    with pytest.raises(InputError, match="do not state their ddof") as caught:
        read_files([path])
    assert "analysis_raw.csv" in caught.value.hint
