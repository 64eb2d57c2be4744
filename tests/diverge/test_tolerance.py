"""Sums of two environments: tensors whose elements are within the tolerance are never told apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from traced import a_record, a_trace

from deviate.diverge.compare import compare_traces
from deviate.diverge.findings import Difference
from deviate.diverge.traces import TraceRecord

quick = settings(max_examples=60, deadline=None)


def of(array: np.ndarray, **rest: object) -> TraceRecord:
    wide = array.astype(np.float64)
    form = f"{array.dtype}[{','.join(map(str, array.shape))}]"
    digest = hash(array.tobytes()) & 0xFFFFFFFF
    return a_record(digest=digest, form=form, sums=[float(wide.sum()), float(np.abs(wide).sum())], **rest)


def difference(one: TraceRecord, other: TraceRecord, tolerance: int) -> Difference | None:
    return compare_traces([a_trace([one])], [a_trace([other])], "steps", tolerance_ulps=tolerance).difference


@quick
@given(
    st.sampled_from([np.float16, np.float32, np.float64]),
    st.integers(1, 400),
    st.integers(0, 2**32 - 1),
    st.integers(1, 8),
    st.sampled_from([1e-30, 1.0, 1e4]),
)
def test_elements_within_the_tolerance_are_never_told_apart(
    kind: type[np.floating], n: int, seed: int, tolerance: int, scale: float
) -> None:
    rng = np.random.default_rng(seed)
    one = (rng.standard_normal(n) * scale).astype(kind)
    other = one.copy()
    side = np.where(rng.random(n) < 0.9, np.inf, -np.inf).astype(kind)
    for _ in range(tolerance):
        other = np.nextafter(other, side)

    assert difference(of(one), of(other), tolerance) is None


@quick
@given(st.integers(1, 400), st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_elements_that_are_all_too_large_by_more_than_the_tolerance_are_told(n: int, seed: int, tolerance: int) -> None:
    one = np.random.default_rng(seed).standard_normal(n).astype(np.float32)
    other = (one.astype(np.float64) * (1 + 2 * (tolerance + 1) * 2.0**-23)).astype(np.float32)
    assert difference(of(one), of(other), tolerance) is not None


def test_without_a_tolerance_the_checksum_decides() -> None:
    one = np.ones(4, np.float32)
    other = np.nextafter(one, np.float32(2))
    assert difference(of(one), of(other), 0) is not None
    assert difference(of(one), of(other), 1) is None


def test_whole_numbers_have_no_tolerance() -> None:
    assert difference(of(np.asarray([1, 2])), of(np.asarray([1, 3])), 9) is not None


def test_another_shape_is_never_within_the_tolerance() -> None:
    assert difference(of(np.zeros(3, np.float32)), of(np.zeros((3, 1), np.float32)), 9) is not None


@pytest.mark.parametrize(
    ("form", "apart", "is_within"),
    [
        ("float32[]", 0, True),
        ("float32[]", 4 * 2**-23, True),
        ("float32[]", 5 * 2**-23, False),
        ("float64[]", 4 * 2**-52, True),
        ("float64[]", 5 * 2**-52, False),
        ("bfloat16[]", 4 * 2**-7, True),
        ("bfloat16[]", 5 * 2**-7, False),
        ("float16[]", 4 * 2**-10, True),
        ("float16[]", 5 * 2**-10, False),
    ],
)
def test_losses_are_compared_in_ulps_of_their_type(form: str, apart: float, is_within: bool) -> None:  # noqa: FBT001
    one = a_record(kind="loss", name="loss", digest=1, form=form, value=1.0)
    other = a_record(kind="loss", name="loss", digest=2, form=form, value=1.0 + apart)
    assert (difference(one, other, 4) is None) == is_within


def test_a_record_without_sums_is_told_apart_by_its_checksum() -> None:
    assert difference(a_record(digest=1), a_record(digest=2), 4) is not None


def test_sums_that_are_no_numbers_in_both_are_equal() -> None:
    one = np.asarray([1, np.nan], np.float32)
    other = np.asarray([np.nextafter(np.float32(1), np.float32(2)), np.nan], np.float32)
    assert difference(of(one), of(other), 1) is None
    assert difference(of(np.asarray([1, 2], np.float32)), of(other), 1) is not None
    infinite = np.asarray([1, np.inf], np.float32)
    assert difference(of(infinite), of(np.asarray([1, 2], np.float32)), 1) is not None


def test_a_tolerance_beyond_all_numbers_takes_everything_finite_for_equal() -> None:
    one, other = np.asarray([1, -2], np.float32), np.asarray([3e38, 5], np.float32)
    assert difference(of(one), of(other), 10**12) is None
    assert difference(of(one), of(np.asarray([1, np.inf], np.float32)), 10**12) is not None
    assert difference(of(np.zeros(2, np.float32)), of(-np.zeros(2, np.float32)), 10**12) is None


def test_generators_of_one_device_alone_are_left_out() -> None:
    one = a_trace([a_record(kind="state", name="torch.cuda:0"), a_record()])
    assert compare_traces([one], [a_trace([a_record()])], "steps", tolerance_ulps=1).difference is None
    assert compare_traces([one], [a_trace([a_record()])], "steps").difference is not None
