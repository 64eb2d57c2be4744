"""Parser of published results as people write them: `Smith 2020: test_acc=94.2±0.3, n=5, SD`."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from deviate.errors import InputError
from deviate.model.estimates import Unavailable
from deviate.model.published_results import PublishedResult, PublishedSpread, SpreadKind
from deviate.stats.lookup import require_metric

OPTION = "--against"
EXAMPLE = f"write it as {OPTION} 'test_acc=94.2±0.3, n=5, SD, ddof=1'"
NUMBER = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
NUMERAL = re.compile(r"\d+(?:[.,]\d+)+")
SIGNS = (
    (re.compile(r"\\pm|\+/[-−]|\+[-−](?=\s*[\d.])|&plusmn;"), "±"),
    (re.compile(r"\\%"), "%"),
    (re.compile(r"\\,|[\u00a0\u2009\u202f~]"), " "),
    (re.compile(r"[−‐‑](?=[\d.])"), "-"),
    (re.compile(r"[${}]"), ""),
)
"""Signs of LaTeX and of typesetting, and what they mean."""
MEAN = re.compile(rf"\s*\(?\s*(?P<mean>{NUMBER})\s*%?")
SPREAD = re.compile(rf"\s*(?:±\s*(?P<plain>{NUMBER})|\(\s*(?:±\s*)?(?P<inside>{NUMBER})\s*%?\s*\))\s*\)?\s*%?")
ENDS = re.compile(
    rf"(?P<open>[\[(]\s*)?(?P<low>{NUMBER})\s*%?\s*(?:(?(open)[,;]|(?!))|[…–]|to|\.\.+)\s*(?P<high>{NUMBER})\s*%?\s*[\])]?"
)
INTERVAL = re.compile(
    r"(?:(?P<level>\d+(?:\.\d+)?)\s*%\s*-?\s*(?:CI|confidence intervals?)\b|\bCI\s*(?P<level_after>\d\d)?\b%?)"
    r"(?:\s*\(?\s*(?:by|from|with)?\s*(?P<how>student'?s? t|student|t|z|normal|1\.96)\b\s*\)?)?",
    re.IGNORECASE,
)
ERROR = re.compile(r"\b(?:SEM|SE|std\.?\s*err(?:or)?\.?|standard error(?: of the mean)?)\b", re.IGNORECASE)
DEVIATION = re.compile(r"\b(?:SD|std\.?\s*dev\.?|stdev|std|standard deviation)\b|σ", re.IGNORECASE)
WORDS: tuple[tuple[SpreadKind, re.Pattern[str]], ...] = (("SE", ERROR), ("SD", DEVIATION))
"""In this order, for `std err` begins like `std`."""
VALUE = re.compile(rf"\s*[=:]?\s*(?P<value>{NUMBER})\s*%?")
"""The number after a word for the spread, as in `SD = 0.3`."""
DDOF = re.compile(r"\bddof\s*[=:]?\s*(?P<ddof>[01])\b", re.IGNORECASE)
RUNS = re.compile(
    r"\bn\s*[=:]\s*(?P<n>[-+]?[\d.]+)|(?P<runs>[\d.]+)\s*(?:random\s+)?(?:runs?|seeds?|trials?|repetitions?|repeats?)\b"
    r"|\b(?P<single>(?:a\s+)?single|one)\s+(?:run|seed)\b",
    re.IGNORECASE,
)
FILLER = re.compile(r"[\s,;.()\[\]]+|\b(?:over|of|with|and|mean|in|from|across)\b", re.IGNORECASE)
SPELLINGS = ("SD, ddof=1", "SE, ddof=1", "95% CI by t")


@dataclass(slots=True)
class _Reader:
    """The rest of a text, from which what is understood is taken away."""

    rest: str

    def take(self, pattern: re.Pattern[str], *, at_start: bool = False) -> re.Match[str] | None:
        match = pattern.match(self.rest) if at_start else pattern.search(self.rest)
        if match is not None:
            self.rest = f"{self.rest[: match.start()]} {self.rest[match.end() :]}"
        return match


@dataclass(frozen=True, slots=True)
class _Statement:
    """What a text says; None for what it does not say. The digits of the mean are as written."""

    head: str
    digits: str
    spread: float | None
    kind: SpreadKind | None
    confidence: float
    has_t: bool | None
    ddof: int | None
    n: int | None

    def complete(self, *, kind: str | None = None, n: int | None = None, spread: str | None = None) -> str:
        """The text in full, with what was missing."""
        value = spread if spread is not None or self.spread is None else f"±{self.spread:g}"
        runs = n or self.n
        words = [f"{self.head}={self.digits}{value or ''}", *([f"n={runs}"] if runs else []), *([kind] if kind else [])]
        return f"'{', '.join(words)}'"


def parse_published(text: str, metrics: Sequence[str]) -> PublishedResult:
    """Parse a published result. What is not said of a spread, and can be read in two ways, is read as the larger SD.

    Args:
        metrics: names of the metrics of the experiment.

    Raises:
        InputError: it is not understood, names none of the metrics, or does not say of how many runs it is or what
            stands behind the ±.
    """
    source, metric, value = _split(text, metrics)
    plain = _plain(value, text)
    reader = _Reader(plain)
    mean = reader.take(MEAN, at_start=True)
    if mean is None:
        raise InputError(f"{OPTION} {text!r}: {value.strip()!r} does not begin with a number", EXAMPLE)
    head = f"{source}: {metric}" if source else metric
    statement = _read(reader, text, head, mean["mean"])
    if reader.rest.strip("% "):
        raise InputError(f"{OPTION} {text!r}: {reader.rest.strip()!r} is not understood", EXAMPLE)
    if not math.isfinite(float(mean["mean"])) or not math.isfinite(statement.spread or 0.0):
        raise InputError(f"{OPTION} {text!r}: a number is too large", EXAMPLE)
    spread = _spread_of(statement, text)
    n = _runs_of(statement, text)
    sd = Unavailable("1 run has no spread" if n == 1 else "their spread is not known")
    return PublishedResult(
        text=text,
        source=source,
        metric=metric,
        n=n,
        mean=float(mean["mean"]),
        sd=sd if spread is None else _sd(spread, n),
        assumption="" if spread is None else _assumption(spread, statement),
        last_digit=_last_digit(mean["mean"]),
        is_percentage="%" in INTERVAL.sub("", plain),
    )


def _split(text: str, metrics: Sequence[str]) -> tuple[str, str, str]:
    """Source, metric and value. The metric may have any name, so the names are looked for first."""
    for name in sorted(metrics, key=len, reverse=True):
        match = re.fullmatch(rf"\s*(?:(?P<source>.*\S)\s*:\s*)?{re.escape(name)}\s*=(?P<value>.*)", text, re.DOTALL)
        if match is not None:
            return match["source"] or "", name, match["value"]
    head, equals, _ = text.partition("=")
    name = head.rpartition(":")[2].strip()
    if not equals or not name or re.search(r"\d\s*[±,;(]", head):
        raise InputError(f"{OPTION} {text!r} does not begin with the name of a metric and =", EXAMPLE)

    require_metric(name, list(metrics), f"the experiment that is compared ({OPTION} {text!r})")
    return head.rpartition(":")[0].strip(), name, text.partition("=")[2]


def _plain(value: str, text: str) -> str:
    """The value with a ± for each way to write it, and a point in each decimal number."""
    for pattern, sign in SIGNS:
        value = pattern.sub(sign, value)
    return NUMERAL.sub(lambda match: _decimal(match[0], text), value)


def _decimal(numeral: str, text: str) -> str:
    """A decimal number with a point; a comma that may as well separate thousands or two numbers is refused."""
    whole, *parts = re.split(r"[.,]", numeral)
    if len(parts) == 1 and (parts[0] and ("." in numeral or len(parts[0]) != 3 or whole == "0")):
        return f"{whole}.{parts[0]}"
    raise InputError(
        f"{OPTION} {text!r}: {numeral} can be read in two ways",
        "write decimals with a point, no commas within a number, and a space after a comma that separates",
    )


def _read(reader: _Reader, text: str, head: str, digits: str) -> _Statement:
    spread = _number(reader.take(SPREAD, at_start=True), "plain", "inside")
    ends = None if spread is not None else reader.take(ENDS)
    if ends is not None:
        spread = _half_width(float(ends["low"]), float(digits), float(ends["high"]), digits, text)
    kinds: list[SpreadKind] = []
    interval = reader.take(INTERVAL)
    level = 95.0
    if interval is not None or ends is not None:
        kinds.append("CI")
        level = float((interval and (interval["level"] or interval["level_after"])) or 95)
    for kind, pattern in WORDS:
        word = reader.take(pattern)
        if word is None:
            continue
        kinds.append(kind)
        at_word = _Reader(reader.rest[word.start() :])
        if spread is None and (value := at_word.take(VALUE, at_start=True)) is not None:
            spread = float(value["value"])
            reader.rest = reader.rest[: word.start()] + at_word.rest
    if len(kinds) > 1:
        raise InputError(
            f"{OPTION} {text!r} says {' and '.join(kinds)} of one spread", f"say one of: {'; '.join(SPELLINGS)}"
        )
    if not 50 <= level < 100:
        raise InputError(f"{OPTION} {text!r}: {level:g}% is no level of an interval", "write it as 95% CI")
    ddof, runs = reader.take(DDOF), reader.take(RUNS)
    reader.rest = FILLER.sub(" ", reader.rest)
    how = (interval["how"] or "").lower() if interval is not None else ""
    return _Statement(
        head=head,
        digits=digits,
        spread=spread,
        kind=kinds[0] if kinds else None,
        confidence=level / 100,
        has_t=None if not how else how.startswith(("t", "s")),
        ddof=None if ddof is None else int(ddof["ddof"]),
        n=None if runs is None else _whole(runs, text),
    )


def _number(match: re.Match[str] | None, *names: str) -> float | None:
    return next((float(match[name]) for name in names if match[name] is not None), None) if match is not None else None


def _half_width(low: float, mean: float, high: float, digits: str, text: str) -> float:
    """Half the width of an interval that is symmetric about the mean, up to rounding."""
    if not low < high or abs((low + high) / 2 - mean) > 1.001 * _last_digit(digits):
        raise InputError(
            f"{OPTION} {text!r}: the interval is not symmetric about the mean, so no SD follows from it",
            "give the SD or the SE instead, or leave the spread out",
        )
    return (high - low) / 2


def _whole(runs: re.Match[str], text: str) -> int:
    if runs["single"]:
        return 1
    number = (runs["n"] or runs["runs"]).rstrip(".")
    if re.fullmatch(r"\+?\d{1,9}", number) is None or int(number) == 0:
        raise InputError(f"{OPTION} {text!r}: {number} is no number of runs", "write a whole number from 1 on: n=5")
    return int(number)


def _last_digit(digits: str) -> float:
    """The unit of the last digit: 0.1 of `94.2`."""
    mantissa, _, exponent = digits.lower().partition("e")
    n_decimals = len(mantissa.partition(".")[2])
    return float(f"1e{int(exponent or 0) - n_decimals}")


def _spread_of(statement: _Statement, text: str) -> PublishedSpread | None:
    """The spread, None where the text has none.

    Raises:
        InputError: it has no size, or it is not said what it is or of how many runs.
    """
    if statement.spread is None:
        if statement.kind is not None:
            raise InputError(
                f"{OPTION} {text!r} says {statement.kind}, but not how large it is",
                f"write {statement.complete(n=statement.n or 5, spread='±0.3', kind=statement.kind)}",
            )
        return None
    if statement.spread < 0:
        raise InputError(
            f"{OPTION} {text!r}: a spread of {statement.spread:g} is negative", "write it without the sign"
        )
    if statement.spread == 0:
        raise InputError(
            f"{OPTION} {text!r}: a spread of 0 is rounded, or all runs were equal; neither gives an interval",
            f"give more digits of it, or leave it out: {statement.complete(n=statement.n or 5, spread='')}",
        )
    if statement.n == 1:
        raise InputError(
            f"{OPTION} {text!r}: one run has no spread",
            f"write the number of runs behind the ±, or leave the spread out: {statement.complete(spread='')}",
        )
    if statement.kind is None:
        runs = statement.n or 5
        raise InputError(
            f"{OPTION} {text!r} does not say what ±{statement.spread:g} is"
            + ("" if statement.n else ", nor of how many runs"),
            f"write {', '.join(statement.complete(kind=kind, n=runs) for kind in SPELLINGS[:-1])} or "
            f"{statement.complete(kind=SPELLINGS[-1], n=runs)}",
        )
    return PublishedSpread(statement.spread, statement.kind, statement.ddof, statement.confidence, statement.has_t)


def _runs_of(statement: _Statement, text: str) -> int:
    if statement.n is not None:
        return statement.n
    if statement.spread is None:
        example = statement.complete(n=5, spread="±0.3", kind=SPELLINGS[0])
        advice = f"write {statement.complete(n=1)} for a single run, {example} for the mean of 5 runs"
    else:
        kind = (
            next(one for one in SPELLINGS if (statement.kind or "") in one)
            if statement.ddof is None
            else statement.kind
        )
        advice = f"write {statement.complete(n=5, kind=kind)} for the mean of 5 runs"
    raise InputError(f"{OPTION} {text!r} does not say of how many runs it is", advice)


def _sd(spread: PublishedSpread, n: int) -> float:
    from deviate.stats.published_results import published_sd

    return published_sd(spread, n)


def _assumption(spread: PublishedSpread, statement: _Statement) -> str:
    """What is not known of the spread and how it is read, with the words that would say it."""
    if spread.kind == "CI":
        if spread.has_t is not None:
            return ""
        level = f"{100 * spread.confidence:g}% CI"
        return (
            f"how the {level} was computed is not said; read as by the normal distribution, which gives the larger SD. "
            f"If it is by Student's t, write {statement.complete(kind=f'{level} by t')}"
        )
    if spread.ddof is not None:
        return ""
    return (
        f"whether the {spread.kind} divides by n or n − 1 is not said; read as n (ddof=0, numpy's default), which "
        f"gives the larger SD. If it is n − 1, write {statement.complete(kind=f'{spread.kind}, ddof=1')}"
    )
