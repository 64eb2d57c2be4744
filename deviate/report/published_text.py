"""Parser of published results: `Smith 2020: test_acc=94.2±0.3, n=5, SD`."""

import math
import re
from collections.abc import Sequence

from deviate.errors import InputError
from deviate.model.estimates import Estimate, Unavailable
from deviate.model.published_results import PublishedResult
from deviate.series.lookup import require_metric

OPTION = "--against"
NUMBER = r"[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
VALUE = re.compile(
    rf"\s*(?P<mean>{NUMBER})\s*(?P<percent>%?)\s*(?:(?:±|\+/?-)\s*(?P<spread>{NUMBER})\s*%?\s*)?(?:,(?P<fields>.*))?",
    re.DOTALL,
)
FIELD = re.compile(r"n\s*=\s*(?P<n>\d{1,9})|(?P<kind>SD|SE)|ddof\s*=\s*(?P<ddof>[01])", re.IGNORECASE)
UNKNOWN_DDOF = (
    "whether the {kind} divides by n or n − 1 is not said; read as n (ddof=0, numpy's default), which gives the larger "
    "SD. If it is n − 1, add ddof=1"
)


def parse_published(text: str, metrics: Sequence[str]) -> PublishedResult:
    """Parse a published result.

    Args:
        text: `SOURCE: METRIC=MEAN±SPREAD, n=RUNS, SD`, without the source and the spread where there is none; `SE` for
            a standard error, and `ddof=1` where the SD divides by n - 1. Of an SD without `ddof` the larger reading
            is taken.
        metrics: names of the metrics of the experiment.

    Raises:
        InputError: it is not understood, names none of the metrics, or does not say of how many runs it is or what
            stands behind the ±.
    """
    source, metric, value = _split(text, metrics)

    def refuse(reason: str) -> InputError:
        return InputError(f"{OPTION} {text!r} {reason}", f"write it as {OPTION} '{metric}=94.2±0.3, n=5, SD'")

    match = VALUE.fullmatch(value)
    if match is None:
        raise refuse(f"is not understood: {value.strip()!r} is no mean, with or without ±")
    fields: dict[str, str] = {}
    for field in filter(None, (part.strip() for part in (match["fields"] or "").split(","))):
        field_match = FIELD.fullmatch(field)
        if field_match is None or field_match.lastgroup in fields:
            raise refuse(f"is not understood: {field!r}")
        fields[str(field_match.lastgroup)] = field_match[str(field_match.lastgroup)]
    n, kind = int(fields.get("n", 0)), fields.get("kind", "").upper()
    mean, spread = float(match["mean"]), float(match["spread"] or 0)
    has_spread = match["spread"] is not None
    flaws = {
        "has a number that is too large": not (math.isfinite(mean) and math.isfinite(spread)),
        "does not say of how many runs it is; of a single one write n=1": n < 1,
        f"says {kind}, but not how large it is": bool(kind) and not has_spread,
        "has a spread that is not positive; give more digits, or leave it out": has_spread and spread <= 0,
        "has a spread, but one run has none; write the number of runs behind the ±, or leave it out": has_spread
        and n == 1,
        f"does not say what ±{match['spread']} is: SD, or SE for a standard error": has_spread and not kind,
    }
    for flaw, is_there in flaws.items():
        if is_there:
            raise refuse(flaw)
    has_ddof = "ddof" in fields or not kind
    sd: Estimate = Unavailable("1 run has no spread" if n == 1 else "their spread is not known")
    return PublishedResult(
        text=text,
        source=source,
        metric=metric,
        n=n,
        mean=mean,
        sd=_sd(spread, n, is_error=kind == "SE", ddof=int(fields.get("ddof", 0))) if kind else sd,
        assumption="" if has_ddof else UNKNOWN_DDOF.format(kind=kind),
        last_digit=_last_digit(match["mean"]),
        is_percentage=bool(match["percent"]),
    )


def _split(text: str, metrics: Sequence[str]) -> tuple[str, str, str]:
    """Source, metric and value. The metric may have any name, so the names are looked for first."""
    for name in sorted(metrics, key=len, reverse=True):
        match = re.fullmatch(rf"\s*(?:(?P<source>.*\S)\s*:\s*)?{re.escape(name)}\s*=(?P<value>.*)", text, re.DOTALL)
        if match is not None:
            return match["source"] or "", name, match["value"]
    head, equals, value = text.partition("=")
    source, _, name = head.rpartition(":")
    if not equals or not name.strip() or re.search(r"\d\s*[±,;(]", head):
        example = f"write it as {OPTION} 'test_acc=94.2±0.3, n=5, SD'"
        raise InputError(f"{OPTION} {text!r} does not begin with the name of a metric and =", example)
    require_metric(name.strip(), list(metrics), option=f"{OPTION} {text!r}")
    return source.strip(), name.strip(), value


def _sd(spread: float, n: int, *, is_error: bool, ddof: int) -> float:
    """The SD over runs with ddof 1.

    Source: SE = SD / sqrt(n); the SD of ddof 0 and that of ddof 1 differ by sqrt(n / (n - 1)).
    """
    sd = spread * math.sqrt(n) if is_error else spread
    return sd if ddof else sd * math.sqrt(n / (n - 1))


def _last_digit(digits: str) -> float:
    """The unit of the last digit: 0.1 of `94.2`."""
    mantissa, _, exponent = digits.lower().partition("e")
    return float(f"1e{int(exponent or 0) - len(mantissa.partition('.')[2])}")
