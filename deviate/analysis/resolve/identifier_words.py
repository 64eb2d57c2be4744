"""Words of messages and identifiers: those that say of which phase or kind a value is, or only stand around it."""

import re
from collections.abc import Iterable, Sequence

from deviate.model.metric_vocabulary import COUNTERS, QUALITY, SHORT_TIMES, SPEEDS, split_identifier, word_set

QUALIFIERS = word_set("on of at for in to after over during with by from class task fold and label per")
FILLERS = word_set(
    "a an the of set over is at in on for with after so far was are now data dataset epoch step iter iteration "
    "current and to from by this final finished average avg mean got info debug result results"
)
PHASES = {
    "train": "train", "training": "train", "trn": "train", "tr": "train",
    "test": "test", "testing": "test", "tst": "test", "ts": "test",
    "val": "val", "valid": "val", "validation": "val", "validate": "val", "dev": "val",
    "eval": "eval", "evaluation": "eval", "evaluate": "eval",
}  # fmt: skip


TELLING = QUALITY | SHORT_TIMES | SPEEDS
# What an expression does to its value, or where it is stored.
PLAIN = word_set(
    "item float int detach cpu numpy mean sum avg np torch tf math round len data self start end begin tic toc get str "
    "exp val value values list max min total cur global datetime timedelta format items keys for in if else not and or"
)
HOLDERS = word_set(
    "result results metric metrics meter meters logger log stats summary writer tracker running state info"
)
VARIANTS = word_set(
    "final best average averaged overall current running total last mean max min highest lowest smoothed"
)
# Names of the attributes that meters show.
STATISTICS = {
    "val": "current", "value": "current", "last": "current", "latest": "current", "avg": "avg", "average": "avg",
    "mean": "mean", "global_avg": "avg", "smoothed": "smoothed", "median": "median", "max": "max", "min": "min",
    "std": "std", "sum": "sum", "var": "var",
}  # fmt: skip


def all_words(texts: Iterable[str]) -> list[str]:
    return [word for text in texts for word in split_identifier(text)]


def clause(text: str) -> str:
    """The part of a text that names the value after it: the text after the last separator followed by words."""
    pieces = [
        piece
        for piece in re.split(r"[,;|\n\t\[\]]|(?<=[.!?]) |(?:(?<![-\w])|(?<=\ds)) - |--|\\[nt]", text)
        if split_identifier(piece)
    ]
    return pieces[-1] if pieces else ""


UNIT = re.compile(
    r"^\s*\(?\s*(?:(?P<speed>[a-z]+\s*(?:/|per )\s*(?:s|sec|second|ms)\b)"
    r"|(?P<time>s|sec|secs|seconds?|ms|minutes?|mins?|hours?)\b)",
    re.IGNORECASE,
)


CLOSING = re.compile(r"\s*[,;|/)\]\n]|\s-")
ALONE = ("s", "ms", "sec", "secs")


def without_unit(text: str) -> str:
    """The text between two values without the unit of the first: ` ms | loss ` names the loss.

    A word that stands apart, as in ` min `, may be the name of what follows unless a mark closes it.
    """
    match = UNIT.match(text)
    if match is None:
        return text
    rest = text[match.end() :]
    is_unit = match["speed"] or match["time"].lower() in ALONE or not text[0].isspace()
    return rest if is_unit or CLOSING.match(rest) else text


def unit_after(text: str) -> tuple[str, str]:
    """The unit at the start of the text after a value: its kind (`speed`, `time` or empty) and its words."""
    match = UNIT.match(text)
    if match is None:
        return "", ""
    return ("speed", match["speed"]) if match["speed"] else ("time", match["time"])


def phase_of(*texts: str) -> str | None:
    """The phase named by the first text that names one."""
    return next((phases[0] for phases in map(phases_in, texts) if phases), None)


def phases_in(text: str) -> list[str]:
    """The phases that a text names, in order; `eval` is dropped if the text also names the data."""
    phases = [PHASES[word] for word in split_identifier(text) if word in PHASES]
    return [phase for phase in phases if phase != "eval"] or phases


# ---------------------------------------------------------------- phrases
# The words of a message, tag or expression that describe its value.

MOST_WORDS = 4
LONGEST_TAG = 6
RATE = re.compile(r"(\w+)\s*/\s*((?:s|sec|second|tick|step|epoch|iter|kimg|batch|sample|token)s?)\b", re.IGNORECASE)
TAG_RATE = re.compile(r"(\w+)/(s|sec|second)\s*:?\s*$", re.IGNORECASE)
CLOSED = re.compile(r"[|;\n]")
"""What separates the items of a message: what stands before it says nothing about the values after it."""
PLURALS = frozenset(word for word in COUNTERS if word.endswith("s") and word[:-1] in COUNTERS)
DENOMINATOR = re.compile(r"//?\s*(?:\([^()]*\)|[\w.]+(?:\([^()]*\))?)")
GENITIVE = re.compile(r"(?<=[a-zA-Z])['’]s?(?![a-zA-Z])")
"""The end of a word as in `model's prediction`."""
PARENTHESES = re.compile(r"(?:(?<![^\s\W])|(?<=@))\([^()]*\)")
"""A remark such as `(batch)` or `@(1,5)`; `D(x)` is a name."""


def text_words(before: str, earlier: Sequence[str] = ()) -> list[str]:
    """The words that describe a value, from the nearest text that has any."""
    for text in (before, *earlier):
        telling_words = [word for word in _words(RATE.sub(r"\1 per \2", clause(text))) if word not in FILLERS]
        if any(len(word) > 1 and word not in PLURALS for word in telling_words):
            counted = frozenset() if "per" in telling_words else PLURALS
            words = _without(_without(telling_words, counted), HOLDERS)
            return [] if HOLDERS.issuperset(words) and "logger" in words else words[-MOST_WORDS:]
        if CLOSED.search(text):
            break
    return []


def tag_words(tag: str) -> list[str]:
    """The words of a tracker's tag: `losses/td_loss` is the td loss, `Loss/policy` the policy loss."""
    parts = re.split(r"[/|]", TAG_RATE.sub(r"\1_per_\2", tag))
    *groups, last = [_words(part) for part in parts if _words(part)] or [[]]
    group = next((group for group in reversed(groups) if not set(group) <= PHASES.keys()), [])
    if set(last) <= PHASES.keys():
        return [*last, *group][-MOST_WORDS:] or text_words(tag)
    if set(last) <= VARIANTS | STATISTICS.keys() | FILLERS:
        return [*group, *last][-LONGEST_TAG:]
    if not set(last) & TELLING and len(group) == 1 and set(group) & TELLING and not group[0].endswith("ses"):
        last = [*last, *group]
    return last[-LONGEST_TAG:]


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
    text = GENITIVE.sub("", PARENTHESES.sub(" ", text))
    text = re.sub(r"(?:@\s*|[_ ]at[_ ])(\d)", r"\1", text)
    return [word for word in split_identifier(text) if not word.isdigit()]


def _without(phrase: list[str], dropped: frozenset[str]) -> list[str]:
    """The words without some, unless no descriptive word would be left."""
    rest = [word for word in phrase if word not in dropped]
    return rest if any(word not in PHASES and word not in COUNTERS and word != "dict" for word in rest) else phrase
