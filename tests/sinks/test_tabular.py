from collections.abc import Callable

import pytest

from deviate.sinks import find_sink


@pytest.mark.parametrize(
    "callee",
    ["baselines.logger.logkv", "?logger.record_tabular", "?self.logger.record", "?epoch_logger.log_tabular", "?logkv"],
)
def test_values_stand_behind_their_keys(callee: str, report: Callable[..., object]) -> None:
    assert report(callee, "loss", 0.5, "stdout") == [("Scalar", "loss", 0.5, None)]
    assert report(callee, "loss", average_only=True) == []


def test_mappings_and_keywords_are_taken_too(report: Callable[..., object]) -> None:
    assert report("?logger.logkvs", {"loss": 0.5}) == [("Record", {"loss": 0.5}, None)]
    assert report("?logger.store", loss=0.5) == [("Scalar", "loss", 0.5, None)]


def test_other_recordings_are_none() -> None:
    assert find_sink(None, "event.record") is None
    assert find_sink("torch.cuda.Event().record", "start.record") is None
