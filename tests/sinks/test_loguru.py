from collections.abc import Callable

import pytest


@pytest.mark.parametrize("callee", ["loguru.logger.info", "loguru.logger.opt().debug", "loguru.logger.bind().success"])
def test_arguments_fill_the_template_by_place_and_by_name(callee: str, report: Callable[..., object]) -> None:
    expected = [("FormatTemplate", "{} {loss:.3f}", (1,), {"loss": 0.5})]
    assert report(callee, "{} {loss:.3f}", 1, loss=0.5) == expected


def test_log_takes_the_level_first(report: Callable[..., object]) -> None:
    assert report("loguru.logger.log", "INFO", "loss {}", 0.5) == [("FormatTemplate", "loss {}", (0.5,), {})]
