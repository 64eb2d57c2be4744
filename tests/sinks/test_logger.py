from collections.abc import Callable

from deviate.sinks import find_sink


def test_a_home_made_logger_takes_rows(report: Callable[..., object]) -> None:
    assert report("?self.logger.append", [0.1, 0.5]) == [("Row", [0.1, 0.5])]
    assert find_sink(None, "self.loggers.append") is None
