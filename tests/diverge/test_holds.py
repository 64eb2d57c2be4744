"""The cures of `--hold`: names, levels and their union."""

import pytest

from deviate.diverge.findings import Switch
from deviate.diverge.holds import HOLDS, combine_switches, parse_holds
from deviate.errors import InputError


def test_names_are_given_with_commas_or_one_by_one_and_each_counts_once() -> None:
    held = parse_holds(["clock,listing", " hash ", "clock"])
    assert held.flags == "--hold clock,listing,hash"
    assert dict(held.levels) == {"clock": "fixed", "listing": "sorted"}
    assert held.environment == (("PYTHONHASHSEED", "0"),)
    assert parse_holds([]) == Switch("")


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="--hold clocks: there is no such cure") as raised:
        parse_holds(["listing,clocks"])
    assert all(name in str(raised.value.hint) for name in HOLDS)


def test_switches_together_name_what_each_does() -> None:
    control = Switch("--variant control", "control", (("onednn", "off"),))
    both = combine_switches(
        [HOLDS["listing"], control, HOLDS["workers"], Switch("--env A=1", environment=(("A", "1"),))]
    )
    assert both.flags == "--variant control --env A=1 --hold listing,workers"
    assert both.variant == "control"
    assert dict(both.levels) == {"listing": "sorted", "onednn": "off", "workers": "one"}
    assert both.environment == (("A", "1"),)
