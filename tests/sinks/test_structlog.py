from collections.abc import Callable

import pytest


@pytest.mark.parametrize(
    "callee", ["structlog.get_logger().info", "structlog.get_logger().bind().info", "structlog.stdlib.get_logger().msg"]
)
def test_keywords_are_values_beside_the_event(callee: str, report: Callable[..., object]) -> None:
    expected = [("Template", "epoch done", ()), ("Scalar", "loss", 0.5, None)]
    assert report(callee, "epoch done", loss=0.5, exc_info=False) == expected
