import re

from hypothesis import given
from hypothesis import strategies as st

from deviate.report.paper.macros import letters, prefixes

ENDINGS = ("Mean", "SD", "N", "CILow", "SDLow", "Difference", "DifferenceLow")
NAMES = st.lists(
    st.tuples(st.text(max_size=60) | st.from_regex(r"[a-c]?[._-]?[A-C0-2]?(Mean|SD|_low)?", fullmatch=True)),
    unique=True,
    max_size=12,
)


@given(NAMES)
def test_commands_are_letters_and_no_two_are_alike(names: list[tuple[str]]) -> None:
    commands = [f"{prefix}{ending}" for prefix in prefixes(names, ENDINGS, ("Version",)) for ending in ENDINGS]
    assert len(set(commands)) == len(commands)
    assert "Version" not in commands
    assert all(re.fullmatch(r"[A-Za-z]{1,80}", it) for it in commands)


@given(NAMES, NAMES)
def test_a_name_keeps_its_commands_when_others_are_added_after_it(
    names: list[tuple[str]], more: list[tuple[str]]
) -> None:
    added = [it for it in more if it not in names]
    assert prefixes([*names, *added], ENDINGS)[: len(names)] == prefixes(names, ENDINGS)


def test_names_that_differ_in_signs_alone_are_told_apart_by_letters_of_their_own() -> None:
    first, second, third = prefixes([("test_acc",), ("test.acc",), ("testAcc",)], ENDINGS)
    assert first == "TestAcc"
    assert re.fullmatch(r"TestAcc[A-Z][a-z]{5}", second)
    assert second != third
    assert prefixes([("test_acc",), ("testAcc",)], ENDINGS)[1] == third


def test_a_metric_called_like_a_quantity_is_no_other_ones_quantity() -> None:
    plain, other = prefixes([("acc",), ("accSD",)], ("Low", "SDLow"))
    assert plain == "Acc"
    assert other.startswith("AccSD")
    assert other != "AccSD"


def test_digits_accents_and_greek_are_spelt() -> None:
    assert letters("Resnet50") == "ResnetFiveZero"
    assert letters("naïve-σ") == "NaiVeSigma"
    assert letters("\U0001f680") == ""
