"""Names of metrics that are one measure on several classes or sub-groups: `f1_cat`, `f1_dog`, `f1_bird`.

A rule of thumb. What it takes for a class must differ in one place of the name only, and either stand beside a word
such as `class`, or be numbered from 0, or be words beside a measure that is usually taken per class. Splits (`train`,
`val`), other measures (`loss`, `f1`), ways to average (`macro`) and stages (`best`, `epoch`) are no classes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from deviate.model.metric_vocabulary import COUNTERS, MEMORY, NEUTRAL, QUALITY, RATES, SHORT_TIMES, SPEEDS, word_set

FEWEST = 3
LONGEST_PART = 3
"""Maximum number of words in a class name: `golden_retriever` has two."""

MARKERS = word_set(
    "class classes cls category categories label labels group groups subgroup slice domain digit client site region "
    "attribute language lang country speaker organ tissue"
)
"""Words that precede a class or sub-group."""
PER_CLASS = word_set(
    "acc accuracy f1 fscore precision recall iou dice jaccard ap auc auroc auprc sensitivity specificity wer "
    "cer err error"
)
"""Measures that are often reported per class or sub-group, and seldom for several models in one script."""
WHOLE = (
    *("overall", "all", "total", "global", "micro", "macro", "mean", "average", "avg", "weighted"),
    *("balanced", "samples", "binary"),
)
"""Words for the measure over all classes, most likely first; never a class."""
SPLITS = word_set(
    "train training trn tr test testing tst ts val valid validation validate dev eval evaluation evaluate heldout "
    "holdout source target ood calib calibration query support"
)
BETWEEN = SPLITS | word_set("score rate")
"""Words that may stand between a measure and a class."""
STAGES = word_set(
    "best last final first current cur running start end begin early late prev previous initial init base "
    "baseline ema swa sma raw smooth smoothed max min median std var sum diff delta before after warmup online offline "
    "teacher student ensemble knn linear probe"
)
UNITS = word_set("pixel token tokens sentence word char character seq sequence exact partial patch frame video image")
NUMBERED = COUNTERS | word_set(
    "layer seed run trial head k at top stage level scale gpu device worker replica threshold"
)
"""Words that are followed by a number that is no class: `fold_3_acc`, `acc_top_5`."""
MEASURED = QUALITY | NEUTRAL | RATES | SPEEDS | SHORT_TIMES | MEMORY | (NUMBERED - {"head"}) | {*WHOLE, *MARKERS}
"""No class even after a word such as `class`: `cls_acc` and `cls_f1` are two measures."""
NO_PART = MEASURED | SPLITS | STAGES | UNITS
TOKEN = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+|[^\W_]+")
NUMBERED_WORD = re.compile(r"([a-z]+)(\d+)")


@dataclass(frozen=True, slots=True)
class ClassNames:
    """Names that belong together; `pattern` has `*` where they differ, `whole` is the name over all classes."""

    pattern: str
    parts: tuple[tuple[str, str], ...]
    whole: str | None


@dataclass(frozen=True, slots=True)
class _Token:
    word: str
    start: int
    end: int


def class_names(names: Sequence[str]) -> tuple[ClassNames, ...]:
    """Names that are one measure on several classes, each name in one group at most; groups in the order of names.

    >>> [(it.pattern, it.whole) for it in class_names(["f1", "f1_cat", "f1_dog", "f1_bird", "train_acc", "val_acc"])]
    [('f1_*', 'f1')]
    """
    groups: dict[tuple[str, str], dict[str, str]] = {}
    for name in names:
        for before, part, after in _splits(name):
            groups.setdefault((before, after), {})[name] = part
    named_groups: list[ClassNames] = []
    used: set[str] = set()
    large = [group for group in groups.items() if len(group[1]) >= FEWEST]
    # Of equal groups, the one with the shortest class names: `0` of `class_0_acc`, not `0_acc`.
    for (before, after), members in sorted(
        large, key=lambda group: (-len(group[1]), -len("".join(group[0])), group[0])
    ):
        parts = {name: part for name, part in members.items() if name not in used and _is_part(part, before)}
        if len(parts) < FEWEST or not _is_told(before, after, list(parts.values())):
            continue
        used |= parts.keys()
        named_groups.append(ClassNames(f"{before}*{after}", tuple(parts.items()), _whole(before, after, names)))
    return tuple(sorted(named_groups, key=lambda group: names.index(group.parts[0][0])))


def _splits(name: str) -> Iterator[tuple[str, str, str]]:
    """The splits of a name into before, class and after, at every possible place of a class."""
    tokens = list(_tokens(name))
    for first in range(len(tokens)):
        for last in range(first, min(first + LONGEST_PART, len(tokens))):
            start, end = tokens[first].start, tokens[last].end
            if start > 0 or end < len(name):
                yield name[:start], name[start:end], name[end:]


def _tokens(name: str) -> Iterator[_Token]:
    """Words with their positions; `class3` is two words."""
    for match in TOKEN.finditer(name):
        word = match[0].lower()
        tail = NUMBERED_WORD.fullmatch(word)
        if tail is not None and tail[1] in MARKERS:
            middle = match.start() + len(tail[1])
            yield _Token(tail[1], match.start(), middle)
            yield _Token(tail[2], middle, match.end())
        else:
            yield _Token(word, match.start(), match.end())


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    return tuple(token.word for token in _tokens(text))


def _is_part(part: str, before: str) -> bool:
    words = _words(part)
    if all(word.isdigit() for word in words):
        return len(words) == 1
    barred = MEASURED if MARKERS & {*_words(before)[-1:]} else NO_PART
    return not any(word in barred or _stem(word) in barred for word in words)


def _stem(word: str) -> str:
    """`top5` as `top`, but `f1` as it is."""
    return word if word in QUALITY else word.rstrip("0123456789")


def _is_told(before: str, after: str, parts: Sequence[str]) -> bool:
    """Whether the words around the differing parts mark them as classes."""
    words_before, words_after = _words(before), _words(after)
    if set(words_before[-1:]) & MARKERS:
        return True
    if set(words_before[-1:]) & NUMBERED:
        return False
    beside = {
        *[word for word in words_before if word not in BETWEEN][-1:],
        *[word for word in words_after if word not in BETWEEN][:1],
    }
    if not beside & PER_CLASS:
        return False
    numbers = sorted(int(part) for part in parts if part.isdecimal())
    if numbers:
        return len(numbers) == len(parts) and numbers == list(range(len(parts)))
    return True


def _whole(before: str, after: str, names: Sequence[str]) -> str | None:
    """The metric over all classes: the name without the class, or with a word such as `overall` in its place."""
    by_words = {_words(name): name for name in reversed(names)}
    stems = [_words(stem) for stem in dict.fromkeys((before, _without_marker(before)))]
    wanted = [stem + _words(after) for stem in stems]
    wanted += [(*stem, word, *_words(after)) for word in WHOLE for stem in stems]
    return next((by_words[words] for words in wanted if words and words in by_words), None)


def _without_marker(before: str) -> str:
    tokens = list(_tokens(before))
    return before[: tokens[-1].start] if tokens and tokens[-1].word in MARKERS else before
