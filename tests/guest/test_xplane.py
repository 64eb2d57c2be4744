"""Traces of TensorFlow's profiler: read as Protocol Buffers have them, times of operations without what lies within."""

import pytest

from deviate.guest.frameworks.tensorflow.profile import read_device, read_host, space_of

pytestmark = pytest.mark.requires("tensorflow")


def varint(value: int) -> bytes:
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number: int, value: int | bytes | str) -> bytes:
    """One field of a message: an integer, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def trace(plane: str, line: str, events: list[tuple[str, int, int]]) -> bytes:
    """A trace of one line; events have a name, a beginning and a duration in picoseconds."""
    names = {name: number for number, name in enumerate(dict.fromkeys(name for name, _, _ in events), start=1)}
    told = b"".join(
        field(4, field(1, number) + field(2, field(1, number) + field(2, name))) for name, number in names.items()
    )
    occurred = b"".join(
        field(4, field(1, names[name]) + field(2, begin) + field(3, length) + field(4, field(1, 7)))
        for name, begin, length in events
    )
    fixed = varint(9 << 3 | 1) + b"12345678" + varint(9 << 3 | 5) + b"1234"
    return field(1, field(1, 1) + field(2, plane) + fixed + field(3, field(2, line) + occurred) + told)


def test_operations_of_a_kind_are_added_up_and_what_is_none_is_left_out() -> None:
    second = 10**12
    data = trace("/host:CPU", "tf_Compute/1", [
        ("a/dense/MatMul:MatMul", 0, 2 * second),
        ("b/dense/MatMul:MatMul", 3 * second, second),
        ("ExecutorState::Process", 0, 9 * second),
        ("EagerLocalExecute: MakeIterator", 0, second),
    ])  # fmt: skip
    assert read_host(space_of(data)) == {"MatMul": [2, pytest.approx(3.0)]}
    assert read_device(space_of(data)) == {}


def test_time_of_an_operation_within_another_is_not_told_twice() -> None:
    second = 10**12
    data = trace("/host:CPU", "python", [
        ("f:PartitionedCall", 0, 10 * second),
        ("g:While", 1 * second, 6 * second),
        ("x:Add", 2 * second, 2 * second),
        ("x:Add", 4 * second, 1 * second),
        ("y:Mul", 8 * second, 1 * second),
    ])  # fmt: skip
    assert {name: seconds for name, (_, seconds) in read_host(space_of(data)).items()} == pytest.approx(
        {"PartitionedCall": 3.0, "While": 3.0, "Add": 3.0, "Mul": 1.0}
    )


def test_kernels_of_a_gpu_are_those_of_its_streams_without_copies() -> None:
    events = [("volta_sgemm", 0, 500_000), ("MemcpyH2D", 500_000, 900_000)]
    both = trace("/device:GPU:0", "Stream #13", events) + trace("/device:GPU:0", "Steps", [("0", 0, 10**9)])
    assert read_device(space_of(both)) == {"volta_sgemm": [1, pytest.approx(5e-7)]}


def test_what_is_no_trace_is_refused() -> None:
    with pytest.raises(Exception, match="parsing message"):
        space_of(b"\x0a\xff")
