"""Converts numbers and foreign text to strings of a report; all rounding happens here.

Foreign text is text from the user's code or files: names, expressions, commands, last lines of stderr.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Literal, TypeVar

from deviate.model.estimates import level_text
from deviate.model.texts import ranges

Key = TypeVar("Key")
Item = TypeVar("Item")
MINUS = "\N{MINUS SIGN}"
ELLIPSIS = "…"
SIZES = ("B", "kB", "MB", "GB", "TB")
LONGEST_NAME = 100
"""Letters of a name that a reader takes in; longer ones keep beginning and end."""

ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])")
CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
OVERRIDE = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""They turn the order of what is shown after them, so that a name can look like another one."""
SURROGATE = re.compile("[\ud800-\udfff]")


def printable(text: str) -> str:
    """Text without control codes: what names, strings and messages of others must not do to a terminal."""
    return "".join(character if character.isprintable() else " " for character in text)


def clean(text: str) -> str:
    """Foreign text on one line without control characters; escaping for markup is done by each form."""
    without_codes = ANSI.sub("", text).replace("\t", "    ")
    without_breaks = re.sub(r"[\r\n]+", " ", without_codes)
    return SURROGATE.sub("\ufffd", show_overrides(CONTROL.sub("", without_breaks)))


def show_overrides(text: str) -> str:
    """Characters that turn the order of a text, as escapes."""
    return OVERRIDE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def shorten(text: str, n_characters: int) -> str:
    return text if len(text) <= n_characters else text[: n_characters - 1] + ELLIPSIS


def shorten_middle(text: str, n_characters: int) -> str:
    """Shorten a long name in the middle, as names differ most often at the beginning or end.

    >>> shorten_middle("validation_accuracy_of_class_7", 16)
    'validatio…lass_7'
    """
    n_last = (n_characters - 1) * 2 // 5
    return text if len(text) <= n_characters else f"{text[: n_characters - 1 - n_last]}{ELLIPSIS}{text[-n_last:]}"


def name_text(name: str) -> str:
    """A foreign name for headings, tables and sentences; data contain it unchanged.

    Invisible names are described in words, so that links and table headings are not empty.
    """
    text = clean(name)
    is_seen = any(not character.isspace() and unicodedata.category(character) != "Cf" for character in text)
    return shorten_middle(text, LONGEST_NAME) if is_seen else "(no name)"


def size_text(n_bytes: int) -> str:
    """A size in the unit that suits it, decimal.

    >>> size_text(0), size_text(1_234_567)
    ('0 B', '1.2 MB')
    """
    value, index = float(n_bytes), 0
    while value >= 999.5 and index < len(SIZES) - 1:
        value, index = value / 1000, index + 1
    return f"{value:.0f} {SIZES[index]}" if value >= 10 or not index else f"{value:.1f} {SIZES[index]}"


def decimals(standard_error: float) -> int | None:
    """Decimals that show two significant digits of a standard error; None when it says nothing (0 or not finite).

    >>> decimals(0.0694), decimals(0.0996), decimals(4.2), decimals(1200.0)
    (3, 2, 1, -2)
    """
    if not math.isfinite(standard_error) or standard_error <= 0:
        return None
    return 1 - int(f"{standard_error:.1e}".partition("e")[2])


def number(value: float, places: int | None) -> str:
    """A value with the decimals given by its standard error; without them, six significant digits.

    >>> number(93.4142, 2), number(-0.0004, 2), number(0.000000231, 9), number(1.5e9, -6)
    ('93.41', '0.00', '2.31e−7', '1.500e9')
    """
    mantissa, exponent = digits(value, places)
    return f"{mantissa}e{exponent}" if exponent else mantissa


def digits(value: float, places: int | None) -> tuple[str, str]:
    """A number as sign with digits, and a power of ten, which is empty for most numbers."""
    if not math.isfinite(value):
        return {math.inf: "inf", -math.inf: f"{MINUS}inf"}.get(value, "NaN"), ""
    if places is None:
        return _typographic(f"{value:.6g}")
    exponent = int(f"{value:e}".partition("e")[2]) if value else 0
    if exponent >= 7 or (exponent <= -4 and places > 6):
        return _typographic(f"{value:.{max(0, places + exponent)}e}")
    return _typographic(f"{value:.{max(0, places)}f}")


def rough(value: float) -> str:
    """A size with two significant digits, for differences that span many powers of ten.

    >>> rough(1.1920929e-07), rough(0.0341), rough(1234.0)
    ('1.2e−7', '0.034', '1234')
    """
    if value and math.isfinite(value) and abs(value) < 1e-3:
        return "e".join(_typographic(f"{value:.1e}"))
    return number(value, decimals(abs(value)) if value else 0)


def sign_number(value: float, places: int | None) -> str:
    """A number with a plus sign if positive, as differences are written; a rounded zero has no sign."""
    return plus(value, number(value, places))


def plus(value: float, text: str) -> str:
    """Add a plus sign to the text of a positive value, unless it is rounded to zero."""
    is_zero = not any(digit in text for digit in "123456789")
    return text if is_zero or value < 0 or not math.isfinite(value) else f"+{text}"


def between(low: float, high: float, places: int | None) -> str:
    return f"{number(low, places)} {ELLIPSIS} {number(high, places)}"


def ratio(value: float) -> str:
    """Ratios, effect sizes and probabilities, with two decimals."""
    return number(value, 2)


PStyle = Literal["0.031", ".031"]
P_STYLE: ContextVar[PStyle] = ContextVar("P_STYLE", default="0.031")
"""Whether p-values have a zero before the point; some journals have none (APA style, section 6.36)."""


def p_cell(p_value: float) -> str:
    """A p-value without its letter, with three decimals.

    >>> p_cell(0.0041), p_cell(0.0004), p_cell(1.0)
    ('0.004', '< 0.001', '1.000')
    """
    text = "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"
    return text if P_STYLE.get() == "0.031" else text.replace("0.", ".")


def p_text(p_value: float) -> str:
    """A p-value as in a sentence: `p = 0.004`, `p < 0.001`."""
    cell = p_cell(p_value)
    return f"p {cell}" if cell.startswith("<") else f"p = {cell}"


def confidence_text(confidence: float) -> str:
    return level_text(confidence)


def percentage(fraction: float) -> str:
    """A dimensionless fraction in percent with two significant digits, as for a coefficient of variation."""
    percent = 100 * fraction
    return f"{number(percent, max(0, decimals(abs(percent)) or 0))} %"


def with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}" if unit else text


def unit_head(text: str, unit: str) -> str:
    """`accuracy (%)`, as heads of columns and names of axes have it."""
    return f"{text} ({unit})" if unit else text


def difference_unit(unit: str) -> str:
    """The unit of a difference: differences of percentages are in points."""
    return "points" if unit == "%" else unit


def duration(seconds: float) -> str:
    """A duration in its two largest units.

    >>> duration(0.84), duration(12.3), duration(185), duration(93784)
    ('0.8 s', '12 s', '3 min 5 s', '1 d 2 h')
    """
    return "".join(part if isinstance(part, str) else number(*part) for part in duration_parts(seconds))


def duration_parts(seconds: float) -> tuple[str | tuple[float, int], ...]:
    """A duration as numbers with their decimals, and the units between them."""
    if not math.isfinite(seconds) or seconds < 0:
        return ("unknown",)
    if seconds < 9.95:
        return ((seconds, 1), " s")
    whole = round(seconds)
    if whole < 60:
        return ((whole, 0), " s")
    if whole < 3600:
        return ((whole // 60, 0), " min ", (whole % 60, 0), " s")
    minutes = round(seconds / 60)
    if minutes < 24 * 60:
        return ((minutes // 60, 0), " h ", (minutes % 60, 0), " min")
    hours = round(seconds / 3600)
    return ((hours // 24, 0), " d ", (hours % 24, 0), " h")


def instant(seconds_since_epoch: float) -> str:
    """A point in time in UTC; an unrecorded time is 0."""
    if seconds_since_epoch <= 0:
        return "not recorded"
    return datetime.fromtimestamp(seconds_since_epoch, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def counted_of(n: int, noun: str) -> str:
    """The same with thousands apart."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def group_pairs(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """Group pairs by their first item, in order of first appearance."""
    groups: dict[Key, list[Item]] = {}
    for key, item in pairs:
        groups.setdefault(key, []).append(item)
    return groups


def replicates(indices: Sequence[int]) -> str:
    """Replicate indices, with consecutive ones combined to ranges.

    >>> replicates((0, 1, 2, 5)), replicates((7,))
    ('replicates 0–2, 5', 'replicate 7')
    """
    return f"{'replicate' if len(indices) == 1 else 'replicates'} {', '.join(ranges(indices))}"


def _typographic(text: str) -> tuple[str, str]:
    """Use a proper minus sign and short exponents, without negative zero."""
    mantissa, _, exponent = text.partition("e")
    if mantissa.startswith("-"):
        has_digit = any(digit in mantissa for digit in "123456789")
        mantissa = MINUS + mantissa[1:] if has_digit else mantissa[1:]
    return mantissa, str(int(exponent)).replace("-", MINUS) if exponent else ""
