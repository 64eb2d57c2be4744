"""Variants: streams and factors that vary between runs or are held, and the resulting seeds."""

import dataclasses
import difflib
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import get_args

from deviate.errors import InputError
from deviate.model.plan import Stream, Variant

Levels = tuple[tuple[str, str], ...]

STREAMS: tuple[str, ...] = get_args(Stream)
"""Purposes for which random numbers are drawn."""
HASH = "hash"
"""The seed of Python's string hash, a separate factor: it decides the order of sets."""
GROUPS = {
    "algo": tuple(stream for stream in STREAMS if stream != "split"),
    "impl": ("kernels", "autotune", "precision"),
    "config": ("threads", "onednn"),
}
"""Names for several streams or factors. `split` is in none: compared runs must be tested on the same data."""
NAMES = (*STREAMS, HASH, *GROUPS["impl"], *GROUPS["config"])
"""Every stream and factor."""
PARTS = ("algo", *STREAMS, HASH, "impl", *GROUPS["impl"], "config", *GROUPS["config"])
"""Names that a combination may have, in its order."""
ENTROPY = "entropy"
"""Random numbers of the operating system; a control and no stream, as they are no draws of a generator."""
DRAWN = "drawn"
"""Level of the hash seed and of entropy where each run has a seed of its own and nothing else is touched."""
FREE = "default"
HELD = {"kernels": "deterministic", "autotune": "off", "precision": "full"}
"""Levels of the implementation factors that are held; free ones have the framework's default."""
ONE_BIT = "one-bit"
ONE_BIT_STEP = "one-bit-step"
LATER_BIT = re.compile(r"one-bit@(\d{1,9})")
"""Variant whose bit is flipped before this step of the main loop; up to there all runs are equal."""
ON_MISSING = "on-missing"
VARY = "vary"
"""Control that names lines of draws which vary although they may make the data, with commas between."""
PLACE = re.compile(r"[^,]+:\d+")
PERTURBATIONS: tuple[Levels, ...] = (
    (),
    (("threads", "1"),),
    (("onednn", "off"),),
    (("onednn", "off"), ("threads", "1")),
    (("threads", "3"),),
    (("onednn", "off"), ("threads", "3")),
)
"""Configurations that round differently and are equally valid; the first is the machine's own. Three threads and not
two, which many small machines have anyway."""


def make_variant(
    name: str,
    description: str,
    varied: Iterable[str] = (),
    *,
    also_held: Iterable[str] = (),
    levels: Iterable[tuple[str, str]] = (),
) -> Variant:
    """A variant that varies these streams and factors, and holds all others.

    Args:
        also_held: what is held of the configuration; threads and oneDNN stay as they are unless named.
        levels: levels beyond those that follow.
    """
    free = set(varied)
    held_words = {*STREAMS, HASH, *HELD, *also_held} - free
    is_perturbed = not free.isdisjoint(GROUPS["config"])
    follow = {factor: FREE if factor in free else level for factor, level in HELD.items()}
    return Variant(
        name=name,
        description=description,
        varied=tuple(word for word in NAMES if word in free),
        held=tuple(word for word in NAMES if word in held_words),
        controls=tuple(sorted({**follow, **dict(levels)}.items())),
        perturbations=tuple(perturbation for perturbation in PERTURBATIONS if free.issuperset(dict(perturbation)))
        if is_perturbed
        else (),
    )


_BUILT_IN = (
    Variant("as-is", "nothing is changed: the script's own seeds and defaults", are_trackers_offline=False),
    make_variant("algo+impl", "training varies: seeds and kernels", (*GROUPS["algo"], HASH, *GROUPS["impl"])),
    make_variant("algo", "randomness of the algorithm", GROUPS["algo"]),
    make_variant("impl", "noise of the implementation", GROUPS["impl"]),
    make_variant("control", "nothing varies: the runs are compared bit by bit"),
    make_variant("init", "initial weights", ["init"]),
    make_variant("shuffle", "order of the examples", ["shuffle"]),
    make_variant("augment", "augmentation", ["augment"]),
    make_variant("dropout", "dropout and other draws of a forward pass", ["dropout"]),
    make_variant("split", "division of the data into training and test examples", ["split"]),
    make_variant("other", "draws that belong to no other stream", ["other"]),
    make_variant(ONE_BIT, "the lowest bit of one weight, flipped before training", levels=[(ONE_BIT, "flip")]),
    make_variant("config", "thread count and oneDNN: different rounding, not noise", GROUPS["config"]),
)
VARIANTS = {variant.name: variant for variant in _BUILT_IN}


def choose_variants(
    names: Iterable[str], defined: Iterable[Variant] = (), *, is_warning_only: bool = False
) -> tuple[Variant, ...]:
    """The variants with these names, without duplicates, in order.

    Args:
        defined: the user's own variants.
        is_warning_only: where kernels are held, go on where an operation has no deterministic version.

    Raises:
        InputError: there is no such variant, or none is named.
    """
    user_variants = tuple(defined)
    variants = [find_variant(name.strip(), user_variants) for name in names if name.strip()]
    if not variants:
        raise InputError("no variant is named", f"name one of {', '.join(VARIANTS)}, or several with commas")
    chosen = {variant.name: _warning_only(variant) if is_warning_only else variant for variant in variants}
    return tuple(chosen.values())


def find_variant(name: str, defined: Iterable[Variant] = ()) -> Variant:
    """The variant of this name: built in, the user's own, or a combination as `init+shuffle`.

    A combination varies the streams and factors it names and holds the rest; `impl+init` is `init+impl`.

    Raises:
        InputError: there is none; the hint names the nearest, and lists all.
    """
    variant_of = {**VARIANTS, **{variant.name: variant for variant in defined}}
    if name in variant_of:
        return variant_of[name]
    if (later := LATER_BIT.fullmatch(name)) and int(later[1]):
        return _later_bit(int(later[1]))
    parts = name.split("+")
    if set(parts) <= set(PARTS):
        ordered = "+".join(part for part in PARTS if part in parts)
        return variant_of.get(ordered) or make_variant(ordered, "", expand_groups(parts))
    likely = [part if part in PARTS else nearest(part, PARTS) for part in parts] if "+" in name else []
    guess = "+".join(part for part in likely if part) if likely and all(likely) else nearest(name, variant_of)
    listed = (
        f"known variants: {', '.join(variant_of)}; one-bit@K; combinations such as init+shuffle, of {', '.join(PARTS)}"
    )
    raise InputError(f"no variant named {name!r}", f"did you mean {guess}? {listed}" if guess else listed)


def vary_more(variant: Variant, words: Iterable[str]) -> Variant:
    """The variant with further streams, factors or lines that vary.

    Args:
        words: names as in a combination, or the places of draws as `train.py:7`.

    Raises:
        InputError: the variant holds nothing, or a word is neither.
    """
    if not variant.varied and not variant.held:
        raise InputError(f"--vary: variant {variant.name} holds nothing", "leave --vary away")
    names = {word for word in words if not PLACE.fullmatch(word)}
    for name in names.difference(PARTS):
        raise _unknown(name, PARTS, "--vary names the unknown stream or factor")
    places = ",".join(word for word in words if word not in names)
    hashed = names and {HASH} & {*variant.varied}
    wider = find_variant("+".join((variant.name, *hashed, *names))) if names else variant
    wider = with_levels(wider, [(VARY, places)] if places else ())
    return dataclasses.replace(wider, are_trackers_offline=variant.are_trackers_offline)


def with_levels(variant: Variant, levels: Iterable[tuple[str, str]]) -> Variant:
    """The variant with levels of controls in addition to its own."""
    return dataclasses.replace(variant, controls=tuple(sorted({**dict(variant.controls), **dict(levels)}.items())))


def _later_bit(step: int) -> Variant:
    """Source: Summers & Dinneen (2021), where training goes on from the checkpoint of an epoch with one bit changed."""
    return make_variant(
        f"{ONE_BIT}@{step}",
        f"the lowest bit of one weight, flipped before step {step} of the main loop, counted from 0",
        levels=[(ONE_BIT, "flip"), (ONE_BIT_STEP, str(step))],
    )


def _warning_only(variant: Variant) -> Variant:
    is_held = ("kernels", HELD["kernels"]) in variant.controls
    return with_levels(variant, [(ON_MISSING, "warn")]) if is_held else variant


def expand_groups(names: Iterable[str]) -> tuple[str, ...]:
    """Streams and factors, with groups expanded."""
    return tuple(dict.fromkeys(word for name in names for word in GROUPS.get(name, (name,))))


def nearest(name: str, known_names: Iterable[str]) -> str | None:
    """The known name that is most similar; None if none is similar."""
    return next(iter(difflib.get_close_matches(name, list(known_names), 1, 0.6)), None)


def describe_variant(variant: Variant) -> str:
    """What varies and what is held, in one line."""
    if not variant.varied and not variant.held:
        return variant.description
    rest = "the other streams" if set(STREAMS) & set(variant.varied) else "all streams"
    levels = {name: level for name, level in variant.controls if level not in {FREE, HELD.get(name)}}
    flipped = ["one bit of one weight"] if levels.pop(ONE_BIT, None) else []
    if ONE_BIT_STEP in levels:
        flipped = [f"{flipped[0]} before step {levels.pop(ONE_BIT_STEP)}"]
    varied = [*variant.varied, *filter(None, levels.pop(VARY, "").split(","))]
    if set(varied) & set(STREAMS) == set(STREAMS) - {"split"}:
        varied = ["all streams but split", *(name for name in varied if name not in STREAMS)]
    parts = [
        f"varies {', '.join([*varied, *flipped]) or 'nothing'}",
        f"holds {', '.join(_shorten(variant.held, rest)) or 'nothing'}",
        *(f"{name} {level}" for name, level in levels.items()),
    ]
    if set(variant.varied) >= {*GROUPS["algo"], *GROUPS["impl"]}:
        parts[0] = "training varies, seeds and kernels"
    is_own = variant.name not in VARIANTS and bool(variant.description)
    return "; ".join(parts) + (f" ({variant.description})" if is_own else "")


def _shorten(names: Sequence[str], streams: str) -> list[str]:
    """Short list of names, with several streams combined; a single held stream is described by its seed or its data."""
    among = [name for name in names if name in STREAMS]
    single = ["the data (split)" if name == "split" else f"the seed of {name}" for name in among]
    held_names = single if len(among) < 2 else [streams]
    return [*held_names, *(name for name in names if name not in STREAMS)]


def seed_set(variant: Variant, seed: int, replicate: int) -> tuple[tuple[str, int], ...]:
    """The seeds of one run: (stream, seed) in order of the names, empty when the variant touches none.

    They do not depend on the variant: what varies in two variants has the same seeds in both, and what both hold has
    one seed, so that runs of different variants and experiments pair.
    """
    if not variant.varied and not variant.held:
        return ()
    levels = dict(variant.controls)
    seeds = {name: derive_seed(seed, name, replicate) for name in variant.varied if name in {*STREAMS, HASH}}
    seeds |= {name: derive_seed(seed, name, None) for name in variant.held if name in {*STREAMS, HASH}}
    return tuple(sorted({**seeds, **({HASH: int(levels[HASH])} if HASH in levels else {})}.items()))


def levels_of(variant: Variant, seed: int, replicate: int) -> Levels:
    """The controls of one run: those of the variant, one of its perturbations, and the bit to flip."""
    levels = dict(variant.controls)
    if variant.perturbations:
        levels |= dict(variant.perturbations[replicate % len(variant.perturbations)])
    if ONE_BIT in levels:
        levels[ONE_BIT] = str(derive_seed(seed, ONE_BIT, replicate))
    for name in (HASH, ENTROPY):
        if levels.get(name, "").startswith(DRAWN):
            levels[name] = levels[name].replace(DRAWN, str(derive_seed(seed, name, replicate)))
    return tuple(sorted(levels.items()))


def derive_seed(seed: int, stream: str, replicate: int | None) -> int:
    """A seed in [0, 2**32) for one stream; the replicate is None where the stream is held.

    SHA-256, so that neighbouring seeds and replicates share nothing, and the same on every machine and every Python.
    """
    text = json.dumps(["deviate", seed, stream, replicate])
    return int.from_bytes(hashlib.sha256(text.encode("ascii")).digest()[:4], "big")


# ---------------------------------------------------------------- variants of the user
#
# `[variants.NAME]` of `deviate.toml` is converted, or rejected with a reason.

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,59}")
LEVELS = {
    **{factor: (level, FREE) for factor, level in HELD.items()},
    "onednn": ("on", "off"),
    ONE_BIT: ("flip",),
    ON_MISSING: ("warn",),
}
"""Levels of factors that are set by a word."""
NUMBERS = {"threads": range(1, 1025), HASH: range(2**32)}
"""Levels of factors that are set by a number."""


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
        raise InputError(f"{title}: {both} is in both vary and hold", "remove it from one of them")
    for factor, level in level_of.items():
        is_free = factor in HELD and level == FREE
        if (factor in varied and not is_free) or (factor in held_words and is_free):
            side = "vary" if factor in varied else "hold"
            raise InputError(
                f"{title}: {factor} = {level!r} contradicts {side}, which names {factor} too",
                f"remove it from {side}, or from set",
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
            f"{title}: {name!r} is not a valid variant name",
            "use only letters, digits and . _ -; + is for combinations",
        )


def _refuse_levels(levels: Mapping[str, str], title: str) -> None:
    for factor, level in levels.items():
        if factor not in LEVELS and factor not in NUMBERS:
            raise _unknown(factor, (*LEVELS, *NUMBERS), f"{title}: set has the unknown factor")
        if factor in NUMBERS and not (level.isdecimal() and int(level) in NUMBERS[factor]):
            numbers = NUMBERS[factor]
            raise InputError(
                f"{title}: {factor} cannot be set to {level!r}",
                f"write a whole number from {numbers[0]} to {numbers[-1]}",
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
