"""Spread per class and sub-group, for metrics whose names show that they are one measure on several classes."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, special

from deviate.model import Breakdown, BreakdownPart, Description, Estimate, ExperimentFindings, Unavailable
from deviate.model.metric_vocabulary import COUNTERS, MEMORY, NEUTRAL, QUALITY, RATES, SHORT_TIMES, SPEEDS, word_set
from deviate.stats.estimates.effect import sd_ratio

NO_WHOLE = Unavailable("no overall metric was reported")


def breakdowns(described: Sequence[ExperimentFindings]) -> tuple[Breakdown, ...]:
    """Per-class metrics of every experiment; metrics declared as tasks are no classes."""
    return tuple(breakdown for index, findings in enumerate(described) for breakdown in _of_experiment(findings, index))


def _of_experiment(findings: ExperimentFindings, index: int) -> list[Breakdown]:
    tasks = findings.experiment.tasks
    places = {metric.name: place for place, metric in enumerate(findings.experiment.metrics)}
    alike: dict[tuple[object, ...], list[Description]] = {}
    for description in sorted(findings.descriptions, key=lambda findings: places.get(findings.metric.name, 0)):
        metric = description.metric
        if metric.role == "quality" and metric.name not in tasks:
            alike.setdefault((metric.direction, metric.unit, metric.aggregate), []).append(description)
    breakdowns = []
    for descriptions in alike.values():
        by_name = {description.metric.name: description for description in descriptions}
        for names in class_names(list(by_name)):
            whole = by_name[names.whole] if names.whole is not None else None
            parts = [_part(by_name[name], part, whole) for name, part in names.parts]
            breakdowns.append(
                Breakdown(
                    experiment=index,
                    pattern=names.pattern,
                    unit=descriptions[0].metric.unit,
                    whole=names.whole,
                    whole_sd=whole.sd if whole else NO_WHOLE,
                    parts=tuple(sorted(parts, key=_width)),
                    expected_largest=expected_largest(parts),
                )
            )
    return breakdowns


def _part(description: Description, part: str, whole: Description | None) -> BreakdownPart:
    return BreakdownPart(
        metric=description.metric.name,
        part=part,
        scores=tuple(description.values),
        mean=description.mean,
        sd=description.sd,
        sd_interval=description.sd_interval,
        range=description.range,
        ratio=_ratio(description, whole),
    )


def _ratio(description: Description, whole: Description | None) -> Estimate:
    """SD over that of the whole, from unrounded SDs. No interval: part and whole share their examples."""
    if whole is None:
        return NO_WHOLE
    return sd_ratio(whole.values, description.values)


def _width(part: BreakdownPart) -> tuple[bool, float]:
    """Sort key: widest first, those without SD last."""
    return (True, 0.0) if isinstance(part.sd, Unavailable) else (False, -part.sd)


def expected_largest(parts: Sequence[BreakdownPart]) -> Estimate:
    """Expected SD of the widest class if all had the same true SD: their root mean square.

    Scores of a part are taken as normal, parts as independent of each other.
    Source: mean of the largest of C independent chi variates over the root of their degrees of freedom.
    """
    sds = [part.sd for part in parts if not isinstance(part.sd, Unavailable)]
    sizes = {part.n for part in parts}
    if len(sds) < len(parts) or len(sizes) > 1:
        return Unavailable("not all have an SD from the same number of runs")
    common = math.hypot(*sds) / math.sqrt(len(sds))
    if common == 0:
        return Unavailable("no spread")
    return common * mean_largest_sd([1.0] * len(parts), sizes.pop())


# Names of metrics that are one measure on several classes or sub-groups: `f1_cat`, `f1_dog`, `f1_bird`. A rule of
# thumb. What it takes for a class must differ in one place of the name only, and either stand beside a word such as
# `class`, or be numbered from 0, or be words beside a measure that is usually taken per class. Splits (`train`, `val`),
# other measures (`loss`, `f1`), ways to average (`macro`) and stages (`best`, `epoch`) are no classes.

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
"""Words followed by a number that is not a class: `fold_3_acc`, `acc_top_5`."""
MEASURED = QUALITY | NEUTRAL | RATES | SPEEDS | SHORT_TIMES | MEMORY | (NUMBERED - {"head"}) | {*WHOLE, *MARKERS}
"""No class even after a word such as `class`: `cls_acc` and `cls_f1` are two measures."""
NO_PART = MEASURED | SPLITS | STAGES | UNITS
DISTRIBUTION = word_set("percentile percentiles quantile quantiles")
"""In names of several places of one distribution: `error_5th_percentile`."""
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
        if DISTRIBUTION.isdisjoint(token.word for token in _tokens(name)):
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


# How large the largest SD, or range, of many parts is on average: by chance, and by the spread each may have.

Floats = NDArray[np.float64]
N_POINTS = 4001
LEFT_OUT = 1e-13
"""Probability outside the grid of a distribution."""


def mean_largest_sd(spreads: Sequence[float], n: int) -> float:
    """Mean of the largest of independent SDs (ddof 1) of n normal values each, whose true SDs are `spreads`.

    Source: integral of 1 - prod F(x / sigma), F that of chi over the root of its n - 1 degrees of freedom.

    >>> round(mean_largest_sd([1.0], 10), 3), round(mean_largest_sd([1.0] * 10, 10), 3)
    (0.973, 1.346)
    """
    df = n - 1
    grid = np.linspace(0.0, float(np.sqrt(special.chdtri(df, LEFT_OUT) / df)), N_POINTS)
    return _mean_largest(spreads, grid, special.chdtr(df, df * grid**2))


def mean_largest_range(spreads: Sequence[float], n: int) -> float:
    """Mean of the largest of independent ranges of n normal values each, whose true SDs are `spreads`.

    Source: integral of 1 - prod F(x / sigma), F that of the range of n values, Tippett (1925).

    >>> round(mean_largest_range([1.0], 8), 4), round(mean_largest_range([2.0], 16), 4)
    (2.8472, 7.064)
    """
    grid = np.linspace(0.0, 2 * float(special.ndtri(1 - LEFT_OUT)) + 2, N_POINTS)
    return _mean_largest(spreads, grid, _range_below(grid, n))


def _range_below(widths: Floats, n: int) -> Floats:
    """Probability that the range of n standard normal values is at most this wide."""
    lowest = np.linspace(-9.0, 9.0, 601)
    inside = special.ndtr(lowest + widths[:, None]) - special.ndtr(lowest)
    density = np.exp(-(lowest**2) / 2) / np.sqrt(2 * np.pi)
    below: Floats = np.clip(n * integrate.simpson(density * inside ** (n - 1), x=lowest, axis=1), 0.0, 1.0)
    return below


def _mean_largest(spreads: Sequence[float], grid: Floats, below: Floats) -> float:
    """Integral of 1 minus the probability that all are below, each with this distribution in units of its spread.

    Integrated over the grid points, so that nothing is interpolated for the classes of the largest spread.
    """
    largest = max(spreads)
    logs = np.zeros_like(grid)
    with np.errstate(divide="ignore"):
        at = np.log(below)
    for spread, times in zip(*np.unique(spreads, return_counts=True), strict=True):
        with np.errstate(invalid="ignore"):  # between two logarithms of 0
            density = np.interp(grid * (largest / spread), grid, at, right=0.0)
        logs += times * np.where(np.isnan(density), -np.inf, density)
    return largest * float(integrate.simpson(1.0 - np.exp(logs), x=grid))
