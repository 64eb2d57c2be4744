import sys

import pytest

from deviate.errors import InputError
from deviate.records.trackers.addresses import read_project


def test_a_missing_library_is_named_with_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(InputError, match="the package wandb is not installed") as caught:
        read_project("wandb:https://wandb.ai/lab/cifar/runs/abc")
    assert "reading wandb:lab/cifar:" in caught.value.message
    assert "pip install --upgrade wandb" in caught.value.hint


@pytest.mark.parametrize("address", ["wandb:", "wandb:/", "wandb:lab//cifar", "wandb:lab/cifar/runs"])
def test_what_names_no_project_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="no project"):
        read_project(address)
