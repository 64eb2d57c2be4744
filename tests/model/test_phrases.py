"""Phrases: texts that are known by their kind and the values in them."""

import copy
import pickle

import pytest

from deviate.model.estimates import Unavailable
from deviate.model.phrases import Method, Note, Phrase, Reason, listed, remarks


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        (Reason.TOO_FEW(5, "run", 1), "needs 5 runs, has 1"),
        (Reason.WARM_UP(1), "needs 1 completed run of each: the first warms up"),
        (Reason.NO_LOOK((7, 9)), "no look is declared at 7 and 9 runs"),
        (Reason.SMALLEST_P(2 / 252, 0.001), "the smallest possible p of so few runs is 0.0079, not below 0.001"),
        (Reason.CONTAINS_ONE(0.95), "the 95% interval of the SD ratio contains 1"),
        (Reason.OF("baseline", Reason.EQUAL(5)), "baseline: all 5 values equal"),
        (Note.PAIRING_COST(-0.125), "pairing cost power: the correlation of the pairs is −0.12"),
        (Method.REPEATED(Method.BOTH, 2, 3), "Welch and permutation, repeated at look 2 of 3"),
    ],
)
def test_a_phrase_is_the_text_of_its_kind_with_values(phrase: Phrase, text: str) -> None:
    assert phrase == text


def test_a_reason_without_values_is_its_own_kind_and_a_phrase_has_that_of_its_text() -> None:
    assert Unavailable(Reason.NO_SPREAD).kind is Reason.NO_SPREAD
    assert Unavailable(Reason.EQUAL(5)).kind is Reason.EQUAL
    assert Unavailable("needs two classes").kind is None
    assert Unavailable("NaN at step 3", Reason.NOT_FINITE).kind is Reason.NOT_FINITE


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda phrase: pickle.loads(pickle.dumps(phrase))])
def test_a_copy_keeps_kind_and_values(copied: object) -> None:
    assert callable(copied)
    phrase = copied(Reason.OF("baseline", Reason.EQUAL(5)))
    assert (phrase, phrase.kind, phrase.values) == (
        "baseline: all 5 values equal",
        Reason.OF,
        ("baseline", "all 5 values equal"),
    )


def test_empty_parts_leave_no_separator() -> None:
    assert (listed("", "exact", ""), remarks("", ""), remarks("a", "b")) == ("exact", "", "a; b")
