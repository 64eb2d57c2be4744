from collections.abc import Callable

import pytest


@pytest.mark.parametrize("named", [{"key": "loss"}, {"name": "loss"}, {"metric": "loss"}, {"metric_name": "loss"}])
def test_the_name_has_several_names(named: dict[str, str], report: Callable[..., object]) -> None:
    assert report("?tracker.log_metric", **named, value=0.5, step=3) == [("Scalar", "loss", 0.5, None)]


def test_metrics_come_in_a_mapping_or_as_keywords(report: Callable[..., object]) -> None:
    mapping = {"loss": 0.5}
    assert report("?self.logger.log_metrics", mapping, 3) == [("Record", mapping, None)]
    assert report("?self.logger.log_metrics", metrics=mapping, step=3) == [("Record", mapping, None)]
    assert report("?tracking.log_metrics", step=3, loss=0.5) == [("Scalar", "loss", 0.5, None)]


def test_event_storage_takes_keywords(report: Callable[..., object]) -> None:
    callee = "detectron2.utils.events.get_event_storage().put_scalars"
    assert report(callee, smoothing_hint=False, loss=0.5) == [("Scalar", "loss", 0.5, None)]
