"""Published results as people write them, and what a text must say before it is compared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from deviate.errors import InputError
from deviate.model.estimates import Unavailable
from deviate.stats.published_text import parse_published

METRICS = ("test_acc", "val/acc", "val:acc", "loss", "acc@k=5")
SD_OF_N = 0.3 * (5 / 4) ** 0.5


@pytest.mark.parametrize(
    ("text", "sd"),
    [
        ("test_acc=94.2±0.3, n=5, SD, ddof=1", 0.3),
        ("test_acc = 94.2 +- 0.3; N = 5; std; ddof 1", 0.3),
        (r"test_acc=$94.2 \pm 0.3$, 5 runs, std dev, ddof=1", 0.3),
        (r"test_acc=94.2\%+/-0.3\%, 5 seeds, SD, ddof=1", 0.3),
        ("test_acc=94,2 ± 0,3, n=5, SD, ddof=1", 0.3),
        ("test_acc=94.2 (0.3), n=5, SD, ddof=1", 0.3),
        ("test_acc=94.2, SD = 0.3, n = 5, ddof = 1", 0.3),
        ("test_acc=(94.2±0.3)%, SD over 5 runs, ddof=1", 0.3),
        ("test_acc=94.2±0.3, n=5, SD, ddof=0", SD_OF_N),
        ("test_acc=94.2±0.3, n=5, SD", SD_OF_N),
        ("test_acc=94.2±0.3, n=5, SEM, ddof=1", 0.3 * 5**0.5),
        ("test_acc=94.2±0.3, n=5, standard error, ddof=0", SD_OF_N * 5**0.5),
        ("test_acc=94.2 ± 0.3 std. err. of 5 random seeds, ddof=1.", 0.3 * 5**0.5),
        ("test_acc=94.2±0.3, n=5, 95% CI by t", 0.3 * 5**0.5 / 2.7764451),
        ("test_acc=94.2 [93.9, 94.5], n=5, 95% CI by t", 0.3 * 5**0.5 / 2.7764451),
        ("test_acc=94.2, 95% CI 93.9 to 94.5, n=5", 0.3 * 5**0.5 / 1.9599640),
        ("test_acc=94.2±0.3, n=5, 90% confidence interval (z)", 0.3 * 5**0.5 / 1.6448536),
        ("test_acc=94.2, n=5", None),
        ("test_acc=94.2, single run", None),
    ],
)
def test_every_spelling_gives_mean_number_and_sd(text: str, sd: float | None) -> None:
    result = parse_published(text, METRICS)
    assert (result.metric, result.mean, result.n, result.last_digit) == ("test_acc", 94.2, 5 if "5" in text else 1, 0.1)
    assert result.is_percentage == (r"\%" in text or ")%" in text)
    if sd is None:
        assert isinstance(result.sd, Unavailable)
    else:
        assert result.sd == pytest.approx(sd, rel=1e-6)
    has_gap = sd is not None and not any(word in text for word in ("ddof", "by t", "(z)"))
    assert bool(result.assumption) == has_gap


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
    st.sampled_from([("SD", 0), ("SD", 1), ("SE", 1), ("SE", 0), ("CI", 1)]),
)
def test_the_sd_is_that_of_the_runs_whatever_was_printed_of_them(scores: list[float], printed: tuple[str, int]) -> None:
    (kind, ddof), n = printed, len(scores)
    spread = float(np.std(scores, ddof=ddof))
    if spread < 1e-6:
        return
    if kind == "SE":
        spread = spread / n**0.5
    if kind == "CI":
        spread = float(scipy_stats.sem(scores)) * float(scipy_stats.t.ppf(0.975, n - 1))
    words = "95% CI by t" if kind == "CI" else f"{kind}, ddof={ddof}"
    result = parse_published(f"loss={np.mean(scores):.12f}±{spread:.12f}, n={n}, {words}", METRICS)
    assert result.sd == pytest.approx(np.std(scores, ddof=1), rel=1e-4)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("test_acc=94.2±0.3, n=5", ["±0.3", "n=5, SD, ddof=1'", "n=5, SE, ddof=1'", "n=5, 95% CI by t'"]),
        ("test_acc=94.2±0.3, SD", ["how many runs", "'test_acc=94.2±0.3, n=5, SD, ddof=1'"]),
        ("test_acc=94.2", ["how many runs", "'test_acc=94.2, n=1'", "'test_acc=94.2±0.3, n=5, SD, ddof=1'"]),
        ("test_acc=94.2, n=5, SD", ["how large", "±0.3, n=5, SD"]),
        ("test_acc=94.2±0.3, n=1, SD", ["one run has no spread", "'test_acc=94.2, n=1'"]),
        ("test_acc=94.2±0, n=5, SD", ["spread of 0", "'test_acc=94.2, n=5'"]),
        ("test_acc=94.2±-0.3, n=5, SD", ["negative"]),
        ("test_acc=94.2±0.3, n=2.5, SD", ["2.5", "n=5"]),
        ("test_acc=94.2±0.3, n=5, SD or SE", ["SE and SD", "say one of"]),
        ("test_acc=94.2 [90, 94.5], n=5, 95% CI", ["not symmetric"]),
        ("test_acc=94.2±0.3,5 runs, SD", ["0.3,5", "two ways", "space"]),
        ("test_acc=1,234, n=1", ["1,234", "two ways"]),
        ("test_acc=94.2±0.3, n=5, IQR", ["'IQR' is not understood", "--against 'test_acc"]),
        ("test_acc=94.2±0.3, n=5, SD, ddof=2", ["ddof=2"]),
        ("test_ac=94.2, n=1", ["test_ac", "Did you mean test_acc?"]),
        ("94.2±0.3, n=5", ["name of a metric", "--against 'test_acc"]),
        ("test_acc=high", ["'high'", "number"]),
    ],
)
def test_what_is_missing_or_has_two_meanings_is_asked_with_texts_to_choose_from(text: str, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        parse_published(text, METRICS)
    answer = f"{caught.value.message}\n{caught.value.hint}"
    assert answer.count("\n") == 1
    for word in words:
        assert word in answer
