"""What a call says of capture goes before what `deviate.toml` says; both before nothing at all."""

import pytest

from deviate.cli.options.results import AnalysisFlags
from deviate.cli.options.runs import CaptureFlags
from deviate.errors import InputError
from deviate.project.config import CaptureConfig

NOTHING = CaptureConfig()
SAVED = CaptureConfig(("weights",), 3, "5MB", None)


def kept(
    capture: str | None, every: int | None, limit: str | None, tta: str | None, saved: CaptureConfig
) -> tuple[tuple[str, str], ...]:
    return CaptureFlags(capture, every, limit, tta).spec(saved)


def weak_below(text: str | None) -> tuple[str, float] | None:
    return AnalysisFlags(weak_below=text).options().weak_below


def test_nothing_said_is_nothing_kept() -> None:
    assert kept(None, None, None, None, NOTHING) == ()


def test_the_file_counts_where_the_call_says_nothing() -> None:
    assert dict(kept(None, None, None, None, SAVED)) == {"weights": "on", "every": "3", "limit": "5000000"}


def test_each_word_of_the_call_goes_before_that_of_the_file() -> None:
    assert dict(kept("predictions", None, None, None, SAVED)) == {
        "predictions": "on", "every": "3", "limit": "5000000"
    }  # fmt: skip
    assert dict(kept(None, 7, "1k", None, SAVED)) == {"weights": "on", "every": "7", "limit": "1000"}
    assert dict(kept(None, None, None, "flip", SAVED))["predictions"] == "on"


def test_none_keeps_nothing_whatever_the_file_says() -> None:
    assert kept("none", None, None, None, SAVED) == ()
    assert kept("none", None, None, None, CaptureConfig(("predictions",), None, None, ("flip",))) == ()


def test_augmentations_of_the_file_are_for_predictions() -> None:
    saved = CaptureConfig(("predictions",), None, None, ("flip",))
    assert kept("weights", None, None, None, saved) == (("weights", "on"),)
    assert dict(kept("predictions,weights", None, None, None, saved))["tta"] == "flip"


def test_kinds_that_there_are_not_are_refused_where_they_stand() -> None:
    with pytest.raises(InputError, match="--capture logits is not one of"):
        kept("logits", None, None, None, NOTHING)
    with pytest.raises(InputError, match=r"\[capture\] keep logits is not one of"):
        kept(None, None, None, None, CaptureConfig(("logits",)))
    with pytest.raises(InputError, match="--tta is empty"):
        kept(None, None, None, ",", NOTHING)
    with pytest.raises(InputError, match="nothing to capture") as caught:
        kept(None, 2, None, None, NOTHING)
    assert "--capture predictions,weights" in caught.value.hint


def test_weak_runs_are_those_beyond_a_value_of_a_metric() -> None:
    assert weak_below(None) is None
    assert weak_below("acc=0.5") == ("acc", 0.5)
    for text in ("acc", "=0.5", "acc=low"):
        with pytest.raises(InputError):
            weak_below(text)
