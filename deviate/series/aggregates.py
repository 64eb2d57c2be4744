"""Whether a text is the name of an aggregate; apart from scores, which the analysis of a script does without."""

import re

from deviate.errors import InputError
from deviate.model.aggregates import AGGREGATES, AT, AT_BEST, MEAN_LAST, PLAIN

VALID = re.compile(rf"{'|'.join(PLAIN)}|{AT}[0-9]+|{MEAN_LAST}0*[1-9][0-9]*|{AT_BEST}.+")


def refuse_aggregate(aggregate: str, place: str = "") -> None:
    """Raise InputError for anything but one of `AGGREGATES`; `place` names the option or section that holds it."""
    if VALID.fullmatch(aggregate) is None:
        raise InputError(
            f"{place}: {aggregate!r} is not an aggregate" if place else f"{aggregate!r} is not an aggregate",
            f"Use one of {', '.join(AGGREGATES)} (at:K: in step K of the main loop, from 0; mean-last:K: over the last "
            "K steps; at-best:METRIC: where that metric is best).",
        )
