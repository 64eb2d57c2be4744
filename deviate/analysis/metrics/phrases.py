"""Phrases: the words of a message, a tag or an expression that say what its value is."""

import re
from collections.abc import Sequence

from deviate.analysis.resolve.identifier_words import COUNTERS, FILLERS, HOLDERS, PHASES, PLAIN, TELLING, clause, words

MOST_WORDS = 4
PLURALS = frozenset(word for word in COUNTERS if word.endswith("s") and word[:-1] in COUNTERS)
DENOMINATOR = re.compile(r"//?\s*(?:\([^()]*\)|[\w.]+(?:\([^()]*\))?)")
PARENTHESES = re.compile(r"(?:(?<![^\s\W])|(?<=@))\([^()]*\)")
"""A remark such as `(batch)` or `@(1,5)`; `D(x)` is a name."""


def text_words(before: str, earlier: Sequence[str] = ()) -> list[str]:
    """The words that name a value: of the nearest text that has any."""
    for text in (before, *earlier):
        kept = [word for word in _words(clause(text)) if word not in FILLERS]
        if any(len(word) > 1 and word not in PLURALS for word in kept):
            return _without(_without(kept, PLURALS), HOLDERS)[-MOST_WORDS:]
    return []


def tag_words(tag: str) -> list[str]:
    """The words of a tracker's tag: `losses/td_loss` is the td loss, `Loss/policy` the policy loss."""
    *groups, last = [_words(part) for part in re.split(r"[/|]", tag) if _words(part)] or [[]]
    kept = [word for word in last if word not in FILLERS]
    group = next((group for group in reversed(groups) if not set(group) <= PHASES.keys()), [])
    if set(kept) <= PHASES.keys():
        return [*kept, *group][-MOST_WORDS:] or text_words(tag)
    if not set(kept) & TELLING and len(group) == 1 and set(group) & TELLING and not group[0].endswith("ses"):
        kept += group
    return _without(kept, HOLDERS)[-MOST_WORDS:]


def expression_words(spelled: str) -> list[str]:
    """The words of an expression that say what it is; what it is divided by does not."""
    spelled = DENOMINATOR.sub(" ", spelled) if not re.match(r"[\d. ]*/", spelled) else spelled
    found = [word for name in re.findall(r"[A-Za-z_]\w*", spelled) for word in words(name)]
    kept = [word for word in found if word not in PLAIN and not word.isdigit()]
    kept = [word for word in kept if len(word) > 1] or kept
    telling = [place for place, word in enumerate(kept) if word in TELLING]
    if telling and len(kept) > MOST_WORDS:
        kept = kept[max(0, telling[0] - 2) : telling[0] + 2]
    kept = list(dict.fromkeys(reversed(kept)))[::-1]  # format_time(step_time) is the step time
    return _without(kept, HOLDERS)[:MOST_WORDS] or ["value"]


def _words(text: str) -> list[str]:
    """The words of a text, without remarks in parentheses and without numbers, except in `Acc@1`."""
    text = re.sub(r"@\s*(\d)", r"\1", PARENTHESES.sub(" ", text))
    return [word for word in words(text) if not word.isdigit()]


def _without(found: list[str], dropped: frozenset[str]) -> list[str]:
    """The words without some, unless nothing telling would be left."""
    kept = [word for word in found if word not in dropped]
    return kept if any(word not in PHASES for word in kept) else found
