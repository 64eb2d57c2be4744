"""What runs are to keep: words into the pairs of a spec, and into words again."""

import pytest

from deviate.errors import InputError
from deviate.guest.observers.augmentations import CROPS, INNER, Copies
from deviate.replay.capture_options import (
    AUGMENTATIONS,
    bytes_of,
    capture_pairs,
    describe_capture,
    is_captured,
    with_defaults,
)


def test_nothing_asked_is_nothing_kept() -> None:
    assert capture_pairs() == capture_pairs(["none"]) == with_defaults(()) == ()
    assert describe_capture(()) == "nothing"


def test_what_is_asked_stands_in_one_order() -> None:
    asked = capture_pairs(["weights", "predictions"], every=5, limit="500MB", augmentations=["flip", "crop25", "flip"])
    assert asked == (
        ("predictions", "on"), ("weights", "on"), ("every", "5"), ("limit", "500000000"), ("tta", "flip,crop25")
    )  # fmt: skip
    assert describe_capture(asked) == (
        "predictions and weights, at the end and every 5 steps of the main loop, predictions also with flip, crop25"
    )


def test_augmentations_need_predictions() -> None:
    assert dict(capture_pairs(augmentations=["flip"])) == {"predictions": "on", "tta": "flip"}
    assert dict(capture_pairs(["weights"], augmentations=["flip"]))["predictions"] == "on"


def test_a_whole_spec_tells_its_limit() -> None:
    assert dict(with_defaults(capture_pairs(["weights"])))["limit"] == "1000000000"
    assert dict(with_defaults(capture_pairs(["weights"], limit="2k")))["limit"] == "2000"


def test_none_goes_before_settings_and_says_nothing() -> None:
    assert capture_pairs(["none"], every=3, augmentations=["flip"]) == ()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"kinds": ["logits"]}, "--capture logits is not one of predictions, weights"),
        ({"kinds": ["none", "weights"]}, "--capture none is not one of"),
        ({"every": 3}, "every 3 steps: there is nothing to capture"),
        ({"limit": "1GB"}, "a limit of 1GB: there is nothing to capture"),
        ({"kinds": ["weights"], "limit": "much"}, "much is not a file size"),
        ({"augmentations": ["flip", "spin"]}, "--tta spin: unknown augmentation"),
    ],
)
def test_what_cannot_be_kept_is_refused(asked: dict, message: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(InputError, match=message):
        capture_pairs(**asked)


@pytest.mark.parametrize(
    ("text", "size"),
    [("10", 10), ("10k", 10_000), ("10 KB", 10_000), ("1MiB", 1 << 20), ("1.5G", 1_500_000_000), ("2T", 2 * 10**12)],
)
def test_sizes_are_read_in_any_unit(text: str, size: int) -> None:
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["", "0", "-1", "GB", "1 apple", "1e9", "nan", "0.0001k"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a file size"):
        bytes_of(text)


def test_the_augmentations_are_those_that_the_guest_has() -> None:
    for name in AUGMENTATIONS:
        assert len(Copies(name, 32, 32)) > 0
    there = {"flip", *CROPS, INNER, *(f"flip_{crop}" for crop in (*CROPS, INNER))}
    assert set(AUGMENTATIONS) == there


def test_runs_that_keep_more_have_what_is_asked_for() -> None:
    kept = with_defaults(capture_pairs(["predictions", "weights"], every=2, augmentations=["flip", "crop25"]))
    assert is_captured((), ())
    assert is_captured((), kept)
    assert is_captured(capture_pairs(["predictions"]), kept)
    assert is_captured(capture_pairs(["weights"], every=2), kept)
    assert is_captured(capture_pairs(augmentations=["crop25"]), kept)


def test_runs_that_keep_less_or_otherwise_have_not() -> None:
    kept = with_defaults(capture_pairs(["predictions"], every=2, augmentations=["flip"]))
    assert not is_captured(capture_pairs(["weights"]), kept)
    assert not is_captured(capture_pairs(["predictions"], every=1), kept)
    assert not is_captured(capture_pairs(["predictions"], limit="2GB"), kept)
    assert not is_captured(capture_pairs(augmentations=["crop25"]), kept)
    assert not is_captured(capture_pairs(["predictions"]), ())


def test_a_trace_is_told_in_words_and_is_no_capture() -> None:
    whole_run, window = (("trace", "1"),), (("trace", "4"), ("trace-until", "10"))
    assert describe_capture(whole_run) == "a trace of losses, all updates"
    assert describe_capture(window) == "a trace of operations, updates 0 to 9, after which the run ends"
    late = (("trace", "3"), ("trace-from", "90"), ("trace-until", "120"), ("trace-keep", "module|0|0"))
    assert describe_capture(late) == (
        "a trace of modules, updates 90 to 119, after which the run ends, with the values of one of them"
    )
    assert with_defaults(window) == window, "it has no limit of bytes"
    assert is_captured(window, window)
    assert not is_captured((), window), "runs that end early are no runs of an experiment that keeps nothing"
    assert not is_captured(capture_pairs(["weights"]), whole_run)
