"""Phrases: the words of a message, tag or expression that describe its value."""

import re
from collections.abc import Sequence

from deviate.analysis.resolve.identifier_words import FILLERS, HOLDERS, PHASES, PLAIN, TELLING, clause
from deviate.model.metric_vocabulary import COUNTERS, split_identifier

MOST_WORDS = 4
PLURALS = frozenset(word for word in COUNTERS if word.endswith("s") and word[:-1] in COUNTERS)
DENOMINATOR = re.compile(r"//?\s*(?:\([^()]*\)|[\w.]+(?:\([^()]*\))?)")
PARENTHESES = re.compile(r"(?:(?<![^\s\W])|(?<=@))\([^()]*\)")
"""A remark such as `(batch)` or `@(1,5)`; `D(x)` is a name."""


def text_words(before: str, earlier: Sequence[str] = ()) -> list[str]:
    """The words that describe a value, from the nearest text that has any."""
    for text in (before, *earlier):
        telling_words = [word for word in _words(clause(text)) if word not in FILLERS]
        if any(len(word) > 1 and word not in PLURALS for word in telling_words):
            return _without(_without(telling_words, PLURALS), HOLDERS)[-MOST_WORDS:]
    return []


def tag_words(tag: str) -> list[str]:
    """The words of a tracker's tag: `losses/td_loss` is the td loss, `Loss/policy` the policy loss."""
    *groups, last = [_words(part) for part in re.split(r"[/|]", tag) if _words(part)] or [[]]
    telling_words = [word for word in last if word not in FILLERS]
    group = next((group for group in reversed(groups) if not set(group) <= PHASES.keys()), [])
    if set(telling_words) <= PHASES.keys():
        return [*telling_words, *group][-MOST_WORDS:] or text_words(tag)
    if not set(telling_words) & TELLING and len(group) == 1 and set(group) & TELLING and not group[0].endswith("ses"):
        telling_words += group
    return _without(telling_words, HOLDERS)[-MOST_WORDS:]


def expression_words(spelled: str) -> list[str]:
    """The words of an expression that describe its value; denominators are ignored."""
    spelled = DENOMINATOR.sub(" ", spelled) if not re.match(r"[\d. ]*/", spelled) else spelled
    name_words = [word for name in re.findall(r"[A-Za-z_]\w*", spelled) for word in split_identifier(name)]
    telling_words = [word for word in name_words if word not in PLAIN and not word.isdigit()]
    telling_words = [word for word in telling_words if len(word) > 1] or telling_words
    telling = [place for place, word in enumerate(telling_words) if word in TELLING]
    if telling and len(telling_words) > MOST_WORDS:
        telling_words = telling_words[max(0, telling[0] - 2) : telling[0] + 2]
    telling_words = list(dict.fromkeys(reversed(telling_words)))[::-1]  # format_time(step_time) is the step time
    return _without(telling_words, HOLDERS)[:MOST_WORDS] or ["value"]


def _words(text: str) -> list[str]:
    """The words of a text, without remarks in parentheses and without numbers, except in `Acc@1`."""
    text = re.sub(r"@\s*(\d)", r"\1", PARENTHESES.sub(" ", text))
    return [word for word in split_identifier(text) if not word.isdigit()]


def _without(phrase: list[str], dropped: frozenset[str]) -> list[str]:
    """The words without some, unless no descriptive word would be left."""
    rest = [word for word in phrase if word not in dropped]
    return rest if any(word not in PHASES for word in rest) else phrase
