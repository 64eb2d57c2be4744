"""Words of messages and identifiers that only stand around a value, or say of which phase or kind it is."""

import re
from collections.abc import Iterable

from deviate.model.metric_vocabulary import (
    QUALITY,
    SHORT_TIMES,
    SPEEDS,
    split_identifier,
    word_set,
)

# What papers and command lines call what is chosen, not measured.
TUNED = word_set(
    "momentum decay beta beta1 beta2 betas alpha gamma tau epsilon eps temperature temp dropout weight weights coef "
    "coeff coefficient lambda threshold patience seed warmup schedule scale size sizes width depth capacity params "
    "parameters progress percent"
)
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
SPENT = word_set("took taken takes elapsed spent used cost costs consumed needed duration cpu wall clock")
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
        for piece in re.split(r"[,;|\n\t\[\]]|(?<=[.!?]) |(?<![-\w]) - |--|\\[nt]", text)
        if split_identifier(piece)
    ]
    return pieces[-1] if pieces else ""


UNIT = re.compile(
    r"^\s*\(?\s*(?:(?P<speed>[a-z]+\s*(?:/|per )\s*(?:s|sec|second|ms)\b)"
    r"|(?P<time>s|sec|secs|seconds?|ms|minutes?|mins?|hours?)\b)",
    re.IGNORECASE,
)


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
