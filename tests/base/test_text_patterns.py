"""A pattern of printed text finds one number in a line."""

import math
import re

import pytest

from deviate.base.text_patterns import pattern_regex
from deviate.errors import InputError


@pytest.mark.parametrize(
    ("pattern", "line", "number"),
    [
        ("val acc: {value}", "Epoch 3 val acc:   0.93, best", 0.93),
        ("val acc: {value}", "val  acc:94.2%", 94.2),
        ("acc: {value}", "val_acc: 0.9", None),
        ("acc: {value}", "val acc: 1e-3 acc: 2", 1e-3),
        ("loss={value}", "loss=-INF", -math.inf),
        ("loss {value}", "loss nancy", None),
        ("[{}] loss {value} ({} s)", "[3/10] loss .5 (took 2 s)", 0.5),
        ("{{'f1': {value}}}", "{'f1': 5.}", 5.0),
        ("{value} it/s", "speed 12.5 it/s", 12.5),
        ("(a.b*) {value}", "(axbb) 3", None),
    ],
)
def test_the_first_number_that_fits_is_read(pattern: str, line: str, number: float | None) -> None:
    match = re.search(pattern_regex(pattern, "here"), line)
    assert (None if match is None else float(match[1])) == number


def test_nan_is_a_number() -> None:
    match = re.search(pattern_regex("loss: {value}", "here"), "loss: NaN")
    assert match is not None
    assert math.isnan(float(match[1]))


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("val acc", "no {value}"),
        ("{value} and {value}", "2 {value}"),
        ("{value}", "no text beside"),
        ("{} {value}", "no text beside"),
        ("{epoch} acc {value}", "{epoch}, which means nothing"),
        ("{ acc {value}", "{, which means nothing"),
    ],
)
def test_a_bad_pattern_is_answered_with_a_good_one(pattern: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        pattern_regex(pattern, "here")
    assert message in caught.value.message
    assert "val acc: {value}" in caught.value.hint
