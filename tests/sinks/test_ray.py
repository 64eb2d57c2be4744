from collections.abc import Callable


def test_version_1_reports_keywords(report: Callable[..., object]) -> None:
    assert report("ray.tune.report", loss=0.5) == [("Scalar", "loss", 0.5, None)]


def test_options_beside_a_mapping_are_no_values(report: Callable[..., object]) -> None:
    metrics = {"loss": 0.5}
    assert report("ray.train.report", metrics, checkpoint=None) == [("Record", metrics, None)]
    assert report("ray.train.report", metrics, checkpoint_dir_name="a") == [("Record", metrics, None)]
