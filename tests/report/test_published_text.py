"""Published results as text, and what a text must say before it is compared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviate.errors import InputError
from deviate.model.estimates import Unavailable
from deviate.report.published_text import parse_published

METRICS = ("test_acc", "val/acc", "val:acc", "loss", "acc@k=5")
SD_OF_N = 0.3 * (5 / 4) ** 0.5


@pytest.mark.parametrize(
    ("text", "sd"),
    [
        ("test_acc=94.2±0.3, n=5, SD, ddof=1", 0.3),
        ("test_acc = 94.2 +- 0.3, N = 5, sd, ddof = 1", 0.3),
        ("test_acc=94.2%+/-0.3%, SD, ddof=1, n=5", 0.3),
        ("test_acc=94.2±0.3, n=5, SD, ddof=0", SD_OF_N),
        ("test_acc=94.2±0.3, n=5, SD", SD_OF_N),
        ("test_acc=94.2±0.3, n=5, SE, ddof=1", 0.3 * 5**0.5),
        ("test_acc=94.2±0.3, n=5, SE, ddof=0", SD_OF_N * 5**0.5),
        ("test_acc=94.2, n=5", None),
        ("test_acc=94.2, n=1", None),
    ],
)
def test_mean_number_and_sd_are_read(text: str, sd: float | None) -> None:
    result = parse_published(text, METRICS)
    assert (result.metric, result.mean, result.n, result.last_digit) == ("test_acc", 94.2, 5 if "5" in text else 1, 0.1)
    assert result.is_percentage == ("%" in text)
    if sd is None:
        assert isinstance(result.sd, Unavailable)
    else:
        assert result.sd == pytest.approx(sd, rel=1e-6)
    assert bool(result.assumption) == (sd is not None and "ddof" not in text)


@pytest.mark.parametrize(
    ("text", "source", "metric"),
    [
        ("Smith 2020: loss=1, n=1", "Smith 2020", "loss"),
        ("val:acc=1, n=1", "", "val:acc"),
        ("Table 3: row 2: val:acc = 1, n=1", "Table 3: row 2", "val:acc"),
        ("acc@k=5=1, n=1", "", "acc@k=5"),
    ],
)
def test_a_name_before_the_metric_is_the_source(text: str, source: str, metric: str) -> None:
    result = parse_published(text, METRICS)
    assert (result.source, result.metric) == (source, metric)


@given(
    st.lists(st.floats(-100, 100), min_size=2, max_size=12),
    st.sampled_from(["SD", "SE"]),
    st.sampled_from([0, 1]),
)
def test_the_sd_is_that_of_the_runs_whatever_was_printed_of_them(scores: list[float], kind: str, ddof: int) -> None:
    n, spread = len(scores), float(np.std(scores, ddof=ddof))
    if spread < 1e-6:
        return
    if kind == "SE":
        spread = spread / n**0.5
    text = f"loss={np.mean(scores):.12f}±{spread:.12f}, n={n}, {kind}, ddof={ddof}"
    assert parse_published(text, METRICS).sd == pytest.approx(np.std(scores, ddof=1), rel=1e-4)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("test_acc=94.2±0.3, n=5", ["does not say what ±0.3 is", "SD, or SE"]),
        ("test_acc=94.2±0.3, SD", ["how many runs"]),
        ("test_acc=94.2", ["how many runs", "n=1"]),
        ("test_acc=94.2, n=0", ["how many runs"]),
        ("test_acc=94.2, n=5, SD", ["how large"]),
        ("test_acc=94.2±0.3, n=1, SD", ["one run has none"]),
        ("test_acc=94.2±0, n=5, SD", ["not positive"]),
        ("test_acc=94.2±-0.3, n=5, SD", ["not positive"]),
        ("test_acc=94.2±0.3, n=2.5, SD", ["'n=2.5'"]),
        ("test_acc=94.2±0.3, n=5, SD, SE", ["'SE'"]),
        ("test_acc=94,2±0.3, n=5, SD", ["'2±0.3'"]),
        ("test_acc=94.2±0.3, n=5, 95% CI", ["'95% CI'"]),
        ("test_acc=94.2±0.3, n=5, SD, ddof=2", ["ddof=2"]),
        ("test_acc=1e999, n=1", ["too large"]),
        ("test_ac=94.2, n=1", ["test_ac", "Did you mean test_acc?"]),
        ("94.2±0.3, n=5", ["name of a metric"]),
        ("test_acc=high", ["'high'", "no mean"]),
    ],
)
def test_what_is_missing_or_not_understood_is_refused_in_one_message(text: str, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        parse_published(text, METRICS)
    answer = f"{caught.value.message}\n{caught.value.hint}"
    assert answer.count("\n") == 1
    for word in words:
        assert word in answer
    if "test_ac=" not in text:
        assert "=94.2±0.3, n=5, SD'" in caught.value.hint
