"""Writes of threads are compared in their order, other inputs of threads in any."""

from traced import a_record, a_trace

from deviate.diverge.findings import InputEvent, Place
from deviate.diverge.inputs import compare_inputs


def test_only_the_order_of_writes_is_an_input_that_threads_have() -> None:
    def events(*digests: int) -> tuple[InputEvent, ...]:
        return tuple(
            InputEvent(source, "", digest, str(digest), Place("train.py", line), is_in_thread=True)
            for digest in digests
            for source, line in (("thread-order", 3), ("file", 9))
        )

    one, other = ((a_trace([a_record()], inputs=events(*digests)),) for digests in ((1, 2), (2, 1)))
    differences = compare_inputs(one, other, None)
    assert [(it.source, it.shown) for it in differences] == [("thread-order", ("1", "2"))]
