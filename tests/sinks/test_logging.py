from deviate.sinks import Template, find_sink


def test_the_arguments_of_a_log_call_fill_its_template() -> None:
    sink = find_sink("logging.info", "logging.info")
    assert sink is not None
    (carried,) = sink.carried(["loss %.3f", 0.5], {"extra": None})
    assert isinstance(carried, Template)
    assert (carried.template, list(carried.arguments)) == ("loss %.3f", [0.5])


def test_log_takes_the_level_first() -> None:
    sink = find_sink("logging.log", "logging.log")
    assert sink is not None
    (carried,) = sink.carried([20, "loss %.3f", 0.5], {})
    assert isinstance(carried, Template)
    assert carried.template == "loss %.3f"


def test_a_call_that_does_not_fit_the_signature_carries_nothing() -> None:
    sink = find_sink("logging.info", "logging.info")
    assert sink is not None
    assert sink.carried([], {}) == []
