"""The cures of `--hold`: what both runs of a pair do alike in addition to their variant."""

import dataclasses
from collections.abc import Iterable, Sequence

from deviate.diverge.findings import Switch
from deviate.errors import InputError


def _hold(
    name: str, *, levels: tuple[tuple[str, str], ...] = (), environment: tuple[tuple[str, str], ...] = ()
) -> Switch:
    return Switch(f"--hold {name}", levels=levels, environment=environment)


HOLDS = {
    "listing": _hold("listing", levels=(("listing", "sorted"),)),
    "clock": _hold("clock", levels=(("clock", "fixed"),)),
    "entropy": _hold("entropy", levels=(("entropy", "seeded"),)),
    "workers": _hold("workers", levels=(("workers", "one"),)),
    "threads": _hold("threads", levels=(("threads", "1"),)),
    "hash": _hold("hash", environment=(("PYTHONHASHSEED", "0"),)),
}
"""Cures by name."""


def parse_holds(texts: Iterable[str]) -> Switch:
    """The cures named in the values of `--hold`, as one switch.

    Raises:
        InputError: a name is unknown.
    """
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    for name in names:
        if name not in HOLDS:
            raise InputError(f"--hold {name}: there is no such cure", f"choose among {', '.join(HOLDS)}")
    return combine_switches([HOLDS[name] for name in dict.fromkeys(names)])


def combine_switches(switches: Sequence[Switch]) -> Switch:
    """One switch that does what all of these do; a later one wins where two set the same."""
    variants = [switch for switch in switches if switch.variant]
    levels = {name: level for switch in switches for name, level in switch.levels}
    environment = {name: value for switch in switches for name, value in switch.environment}
    words = list(dict.fromkeys(switch.flags for switch in switches))
    names = [word.removeprefix("--hold ") for word in words if word.startswith("--hold ")]
    others = [word for word in words if not word.startswith("--hold ")]
    flags = " ".join([*others, *([f"--hold {','.join(names)}"] if names else [])])
    return dataclasses.replace(
        variants[-1] if variants else Switch(""),
        flags=flags,
        levels=tuple(levels.items()),
        environment=tuple(environment.items()),
    )
