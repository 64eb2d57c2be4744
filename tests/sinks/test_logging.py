from collections.abc import Callable

import pytest

from deviate.sinks import Template, find_sink


def test_the_arguments_of_a_log_call_fill_its_template() -> None:
    sink = find_sink("logging.info", "logging.info")
    assert sink is not None
    (carried,) = sink.carried(["loss %.3f", 0.5], {"extra": None})
    assert isinstance(carried, Template)
    assert (carried.template, list(carried.arguments)) == ("loss %.3f", [0.5])


@pytest.mark.parametrize(
    "callee", ["logging.log", "logging.getLogger().log", "absl.logging.log", "absl.logging.vlog", "?self.logger.log"]
)
def test_log_takes_the_level_first(callee: str, report: Callable[..., object]) -> None:
    assert report(callee, 20, "loss %.3f", 0.5) == [("Template", "loss %.3f", (0.5,))]


def test_one_argument_of_a_logger_of_unknown_type_is_what_it_logs(report: Callable[..., object]) -> None:
    assert report("?logger.log", {"loss": 0.5}, step=1) == [("Message", {"loss": 0.5})]
    assert report("logging.getLogger().log", {"loss": 0.5}) == []


@pytest.mark.parametrize("name", ["log_every_n", "log_first_n", "log_if"])
def test_absl_says_third_when_to_log(name: str, report: Callable[..., object]) -> None:
    expected = [("Template", "loss %.3f", (0.5,))]
    assert report(f"absl.logging.{name}", 20, "loss %.3f", 100, 0.5) == expected
    assert report(f"tensorflow.compat.v1.logging.{name}", 20, "loss %.3f", 100, 0.5) == expected


@pytest.mark.parametrize("module", ["accelerate.logging", "transformers.utils.logging", "multiprocessing"])
def test_loggers_are_known_by_who_made_them(module: str, report: Callable[..., object]) -> None:
    assert report(f"{module}.get_logger().info", "loss %.3f", 0.5) == [("Template", "loss %.3f", (0.5,))]


def test_a_call_that_does_not_fit_the_signature_carries_nothing() -> None:
    sink = find_sink("logging.info", "logging.info")
    assert sink is not None
    assert sink.carried([], {}) == []
