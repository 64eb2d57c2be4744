"""What `--hold` holds: names and levels."""

import pytest

from deviate.diverge.holds import HOLDS, parse_holds
from deviate.errors import InputError


def test_names_are_given_with_commas_or_one_by_one_and_each_counts_once() -> None:
    held = parse_holds(["clock,listing", " hash ", "clock"])
    assert held == (("clock", "fixed"), ("listing", "sorted"), ("hash", "0"))
    assert parse_holds([]) == ()


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="--hold clocks: nothing of this name can be held") as raised:
        parse_holds(["listing,clocks"])
    assert all(name in str(raised.value.hint) for name in HOLDS)
