"""User-defined variants: converts `[variants.NAME]` of `deviate.toml`, or rejects it with a reason."""

import re
from collections.abc import Iterable, Mapping, Sequence

from deviate.errors import InputError
from deviate.model import Variant
from deviate.replay.variants import (
    FREE,
    GROUPS,
    HASH,
    HELD,
    NAMES,
    ON_MISSING,
    ONE_BIT,
    PARTS,
    VARIANTS,
    expand_groups,
    make_variant,
    nearest,
)

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,59}")
LEVELS = {
    **{factor: (level, FREE) for factor, level in HELD.items()},
    "onednn": ("on", "off"),
    ONE_BIT: ("flip",),
    ON_MISSING: ("warn",),
}
"""The levels of what is set by a word."""
NUMBERS = {"threads": range(1, 1025), HASH: range(2**32)}
"""The levels of what is set by a number."""


def define_variant(
    name: str,
    *,
    vary: Sequence[str] = (),
    hold: Sequence[str] = (),
    levels: Mapping[str, str] | None = None,
    description: str = "",
) -> Variant:
    """The variant that varies some streams and factors and holds the rest, with some factors at levels of its own.

    Threads and oneDNN stay as they are unless they are named. Of kernels, autotune and precision, the level "default"
    varies, any other holds.

    Args:
        vary, hold: streams, factors, or groups of them: algo, impl, config.
        levels: factor to level.

    Raises:
        InputError: the name is taken or cannot be used, something is unknown, or the parts contradict each other.
    """
    title = f"[variants.{name}]"
    _refuse_name(name, title)
    level_of = levels or {}
    _refuse_levels(level_of, title)
    varied, held_words = _streams_and_factors(vary, title), _streams_and_factors(hold, title)
    for both in (word for word in varied if word in held_words):
        raise InputError(f"{title}: {both} is in both vary and hold", "leave it in one of them")
    for factor, level in level_of.items():
        is_free = factor in HELD and level == FREE
        if (factor in varied and not is_free) or (factor in held_words and is_free):
            side = "vary" if factor in varied else "hold"
            raise InputError(
                f"{title}: {factor} = {level!r} contradicts {side}, which names {factor} too",
                f"take it out of {side}, or out of set",
            )
    free = {factor for factor in level_of if factor in HELD and level_of[factor] == FREE}
    set_ones = [factor for factor in level_of if factor in GROUPS["config"]]
    return make_variant(
        name,
        description,
        {*varied, *free},
        also_held=[*held_words, *set_ones],
        levels=level_of.items(),
    )


def _refuse_name(name: str, title: str) -> None:
    if name in VARIANTS or set(name.split("+")) <= set(PARTS):
        raise InputError(f"{title}: there is a built-in variant of this name", "give yours another name")
    if not NAME.fullmatch(name):
        raise InputError(
            f"{title}: {name!r} cannot name a variant", "use letters, digits and . _ - only; + is for combinations"
        )


def _refuse_levels(levels: Mapping[str, str], title: str) -> None:
    for factor, level in levels.items():
        if factor not in LEVELS and factor not in NUMBERS:
            raise _unknown(factor, (*LEVELS, *NUMBERS), f"{title}: set has the unknown factor")
        if factor in NUMBERS and not (level.isdecimal() and int(level) in NUMBERS[factor]):
            numbers = NUMBERS[factor]
            raise InputError(
                f"{title}: {factor} cannot be set to {level!r}",
                f"give a whole number from {numbers[0]} to {numbers[-1]}",
            )
        if factor in LEVELS and level not in LEVELS[factor]:
            raise InputError(f"{title}: {factor} cannot be set to {level!r}", f"levels: {', '.join(LEVELS[factor])}")


def _streams_and_factors(names: Iterable[str], title: str) -> tuple[str, ...]:
    known_names = (*GROUPS, *NAMES)
    for name in names:
        if name not in known_names:
            raise _unknown(name, known_names, f"{title} names the unknown stream or factor")
    return expand_groups(names)


def _unknown(name: str, known_names: Sequence[str], kind: str) -> InputError:
    near = nearest(name, known_names)
    guess = f"did you mean {near}? " if near else ""
    return InputError(f"{kind} {name!r}", f"{guess}known: {', '.join(known_names)}")
