from collections.abc import Callable


def test_a_writer_of_unknown_type_may_use_other_names(report: Callable[..., object]) -> None:
    expected = [("Scalar", "loss", 0.5, None)]
    assert report("?writer.add_scalar", "loss", 0.5, 3) == expected
    assert report("?writer.add_scalar", name="loss", value=0.5, step=3) == expected
    assert report("?vis_backend.add_scalar", tag="loss", scalar_value=0.5, global_step=3) == expected
    assert report("?logger.scalar_summary", "loss", 0.5, 3) == expected


def test_a_scalar_of_tensorflow_1_is_bound_by_the_name_of_2(report: Callable[..., object]) -> None:
    assert report("tensorflow.summary.scalar", "loss", tensor="loss:0") == [("Scalar", "loss", "loss:0", None)]
    assert report("tensorflow.summary.scalar", "loss", data=0.5, step=3) == [("Scalar", "loss", 0.5, None)]


def test_text_is_for_a_reader(report: Callable[..., object]) -> None:
    assert report("?self.writer.add_text", "result", "acc 0.9", 3) == [("Message", "acc 0.9")]
