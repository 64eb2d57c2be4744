from collections.abc import Callable


def test_a_row_has_a_name_and_values(report: Callable[..., object]) -> None:
    callee = "azureml.core.Run.get_context().log_row"
    assert report(callee, "results", description="", loss=0.5) == [("Scalar", "loss", 0.5, None)]
