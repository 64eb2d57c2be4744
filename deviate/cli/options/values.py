"""Values of options: durations, choices, pairs, numbers and commands; messages on mistakes state valid values."""

import re
import shlex
from collections.abc import Sequence
from typing import TypeVar

from deviate.errors import InputError

Word = TypeVar("Word", bound=str)
DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d|)")
SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(text: str | None, flag: str) -> float | None:
    """Parse a duration in seconds; None for None.

    Raises:
        InputError: it is none, or zero.
    """
    if text is None:
        return None
    match = DURATION.fullmatch(text.strip().lower())
    value = float(match[1]) * SECONDS[match[2]] if match else 0.0
    if value <= 0:
        raise InputError(f"{flag} {text} is no time", f"write seconds, or a unit: {flag} 90s, {flag} 20m, {flag} 8h")
    return value


def choice(text: str, flag: str, words: Sequence[Word]) -> Word:
    """The word that a value is. Raises InputError if it is none of them."""
    for word in words:
        if word == text:
            return word
    import difflib  # not for calls without a mistake

    near = difflib.get_close_matches(text, words, 1)
    hint = f"did you mean {flag} {near[0]}?" if near else f"for example {flag} {words[0]}"
    raise InputError(f"{flag} {text} is none of {', '.join(words)}", hint)


def pair(text: str, flag: str, form: str) -> tuple[str, str]:
    """Split at the first equals sign. Raises InputError if there is none."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"{flag} {text} is not of the form {form}", f"write it as {flag} {form}")
    return name, value


def number_of(text: str, value: str, flag: str, example: str) -> float:
    """Parse a number. Raises InputError if it is invalid; `example` is a valid value for the message."""
    try:
        return float(value)
    except ValueError:
        raise InputError(f"{flag} {text}: {value!r} is no number", f"write it as {flag} {example}") from None


def number_pair(text: str, flag: str, example: str) -> tuple[str, float]:
    """Parse METRIC=VALUE. Raises InputError if it is none; `example` is a valid one for the message."""
    name, value = pair(text, flag, "METRIC=VALUE")
    return name, number_of(text, value, flag, example)


def commands(texts: Sequence[str] | None, flag: str) -> tuple[tuple[str, ...], ...]:
    """Split a command like a shell. Raises InputError for an unclosed quotation or an empty command."""
    split = []
    for text in texts or ():
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise InputError(f"{flag} {text!r}: {error}", "close the quotation") from error
        if not words:
            raise InputError(f"{flag} is empty", f'give a command: {flag} "python eval.py"')
        split.append(words)
    return tuple(split)
