from collections.abc import Callable


def test_without_a_name_the_value_is_a_mapping(report: Callable[..., object]) -> None:
    assert report("aim.Run().track", {"loss": 0.5}, step=3) == [("Record", {"loss": 0.5}, None)]
    assert report("aim.Run().track", 0.5, name="loss", step=3) == [("Scalar", "loss", 0.5, None)]
