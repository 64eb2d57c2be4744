from pathlib import Path

import pytest

from deviate.errors import InputError
from deviate.records.trackers.addresses import read_project


def test_a_folder_without_runs_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are no TensorBoard event files"):
        read_project(f"tensorboard:{tmp_path}")
    with pytest.raises(InputError, match="there is no such folder"):
        read_project(f"tensorboard:{tmp_path}/nothing")
