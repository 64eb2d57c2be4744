"""What a pair of runs tells beside its records."""

from typing import cast

from traced import a_record, a_trace

from deviate.diverge.requests import Pair
from deviate.model.records import Run

NOTE = "while operations are traced, its gradient is another"


def test_an_operation_that_tracing_touches_is_noted_once_by_name() -> None:
    records = [
        a_record(0, "operation", "aten.prod.default", note=NOTE),
        a_record(0, "operation", "aten.mul.Tensor"),
        a_record(1, "operation", "aten.min.default", note=NOTE),
        a_record(1, "operation", "aten.prod.default", note=NOTE),
    ]
    run = cast(Run, None)
    assert Pair(("it",), (run, run), ((a_trace(records),), ())).notes == (
        f"aten.prod.default, aten.min.default: {NOTE}",
    )
    assert Pair(("it",), (run, run), ((a_trace(records[1:2]),), ())).notes == ()
