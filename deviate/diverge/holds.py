"""What `--hold` holds in both runs of a pair, in addition to their variant."""

from collections.abc import Iterable

from deviate.errors import InputError
from deviate.replay.variants import Levels

HOLDS = {"listing": "sorted", "clock": "fixed", "entropy": "seeded", "workers": "one", "threads": "1", "hash": "0"}
"""Levels of controls by name."""


def parse_holds(texts: Iterable[str]) -> Levels:
    """The levels of all that the values of `--hold` name.

    Raises:
        InputError: a name is unknown.
    """
    names = dict.fromkeys(name.strip() for text in texts for name in text.split(",") if name.strip())
    for name in names:
        if name not in HOLDS:
            raise InputError(f"--hold {name}: nothing of this name can be held", f"choose among {', '.join(HOLDS)}")
    return tuple((name, HOLDS[name]) for name in names)
