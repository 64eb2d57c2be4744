"""What runs should capture: converts the user's options to the pairs of a spec, and pairs to text."""

import re
from collections.abc import Mapping, Sequence

from deviate.errors import InputError

KINDS = ("predictions", "weights")
NONE = "none"
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
CROPS = ("crop25", "crop81", "crop_mnist", "crop_imagenet")
AUGMENTATIONS = ("flip", *CROPS, *(f"flip_{crop}" for crop in CROPS))
"""Augmentations of the guest; a test compares both lists, because neither room imports the other."""
DEFAULT_LIMIT = "1GB"
TRACE = "trace"
"""Prefix of the pairs of a trace, which only `deviate diverge` requests."""
LEVELS = ("losses", "steps", "modules", "operations")
"""Contents of a trace, by its level from 1."""

Pairs = tuple[tuple[str, str], ...]


def capture_pairs(
    kinds: Sequence[str] = (),
    *,
    every: int | None = None,
    limit: str | None = None,
    augmentations: Sequence[str] = (),
    flag: str = "--capture",
) -> Pairs:
    """Pairs as in `Spec.capture`; empty to capture nothing. Options that were not set are left out.

    Args:
        kinds: some of KINDS, or `none` alone, which goes before all else.
        every: steps of the main loop between two captures; None for the end alone.
        limit: of one run, as 500MB or 1GB; None for the default.
        augmentations: of the input at test time; they need predictions.
        flag: what to call the kinds in messages.

    Raises:
        InputError: there is no such kind, the limit is no size, or a setting is there with nothing to keep.
    """
    if tuple(kinds) == (NONE,):
        return ()
    for kind in kinds:
        if kind not in KINDS:
            raise InputError(
                f"{flag} {kind} is not one of {', '.join(KINDS)}",
                f"write it as {flag} {','.join(KINDS)}, or {flag} none",
            )
    for name in augmentations:
        if name not in AUGMENTATIONS:
            raise InputError(f"--tta {name}: unknown augmentation", f"choose from: {', '.join(AUGMENTATIONS)}")
    if not kinds and not augmentations:
        if every is not None or limit is not None:
            limit_text = f"every {every} step{'s' * (every != 1)}" if every is not None else f"a limit of {limit}"
            raise InputError(f"{limit_text}: there is nothing to capture", f"add {flag} predictions,weights")
        return ()
    wanted = {kind: "on" for kind in KINDS if kind in kinds or (kind == "predictions" and augmentations)}
    if every is not None:
        wanted["every"] = str(every)
    if limit is not None:
        try:
            wanted["limit"] = str(bytes_of(limit))
        except InputError as error:
            where = "[capture] limit" if flag.startswith("[") else "--capture-limit"
            raise InputError(f"{where} {limit}: {error.message}", error.hint) from None
    if augmentations:
        wanted["tta"] = ",".join(dict.fromkeys(augmentations))
    return tuple(wanted.items())


def with_defaults(pairs: Pairs) -> Pairs:
    """Add defaults for options that were not set, so that a spec is complete."""
    if not pairs or is_trace(pairs):
        return pairs
    return (*pairs, *(() if "limit" in dict(pairs) else (("limit", str(bytes_of(DEFAULT_LIMIT))),)))


def is_trace(pairs: Pairs) -> bool:
    """Whether these runs belong to a ladder of `deviate diverge`, and write a trace."""
    return TRACE in dict(pairs)


def is_captured(wanted: Pairs, recorded: Pairs) -> bool:
    """Whether runs with the captured pairs have everything that is requested. An empty request is always satisfied."""
    if is_trace(wanted) or is_trace(recorded):
        return wanted == recorded
    recorded_values = dict(recorded)
    names = set(recorded_values.get("tta", "").split(","))
    return all(
        set(value.split(",")) <= names if name == "tta" else recorded_values.get(name) == value
        for name, value in wanted
    )


def describe_capture(pairs: Pairs) -> str:
    """In words, such as "predictions and weights, at the end and every 5 steps of the main loop", or "nothing"."""
    wanted: Mapping[str, str] = dict(pairs)
    if TRACE in wanted:
        return _describe_trace(wanted)
    kinds = [kind for kind in KINDS if kind in wanted]
    if not kinds:
        return f"a profile of steps {wanted['profile']} of the main loop" if "profile" in wanted else "nothing"
    every = wanted.get("every", "")
    steps = "step" if every == "1" else f"{every} steps"
    when = f"at the end and every {steps} of the main loop" if every else "at the end"
    names = wanted.get("tta", "").replace(",", ", ")
    return f"{' and '.join(kinds)}, {when}" + (f", predictions also with {names}" if names else "")


def _describe_trace(wanted: Mapping[str, str]) -> str:
    """`a trace of operations, updates 0 to 9, where the run ends`, for level 4 until 10."""
    first, until = wanted.get("trace-from", "0"), wanted.get("trace-until")
    level = LEVELS[int(wanted[TRACE]) - 1]
    if until is not None:
        when = f"updates {first} to {int(until) - 1}, after which the run ends"
    else:
        when = "all updates" if first == "0" else f"updates from {first} on"
    values_clause = ", with the values of one of them" if "trace-keep" in wanted else ""
    return f"a trace of {level}, {when}{values_clause}"


def bytes_of(text: str) -> int:
    """A size in bytes: K, M, G and T are powers of 1000, with an i of 1024.

    >>> bytes_of("1GB"), bytes_of("1.5 k"), bytes_of("2MiB")
    (1000000000, 1500, 2097152)

    Raises:
        InputError: it is none, or zero.
    """
    match = SIZE.fullmatch(text.strip())
    base = 1024 if match and match[3] else 1000
    size = round(float(match[1]) * base ** " kmgt".index(match[2].lower() or " ")) if match else 0
    if size <= 0:
        raise InputError(f"{text} is not a file size", "write bytes, or a unit: 500MB, 1GB")
    return size
