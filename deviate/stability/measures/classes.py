"""Spread of accuracy per class, and the largest spread expected by chance and class size alone."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from deviate.model import ClassStability, Estimate, Unavailable
from deviate.stability.measures.classified import Classified
from deviate.stability.measures.figures import ratio_of, sampling_sd
from deviate.stats import SINGLE_RUN, mean_largest_range, mean_largest_sd, mean_of, range_of, sd_interval, sd_of

TOO_WIDE = Unavailable("classes swing too widely for scores to be taken as normal")


def class_table(answers: Classified, whole_sd: Estimate, confidence: float) -> tuple[ClassStability, ...]:
    """Every class that has examples, by SD, widest first; empty without true classes.

    Source: Pham et al. (2020) for range and SD per class; Zhuang et al. (2022) for the ratio to that of all.
    """
    right = answers.is_right
    if right is None or answers.truth is None or answers.n_classes is None:
        return ()
    sizes = np.bincount(answers.truth, minlength=answers.n_classes)
    n_right = np.stack([np.bincount(answers.truth[row], minlength=answers.n_classes) for row in right])
    rows = [
        _class(label, int(n), (n_right[:, label] / n).tolist(), whole_sd, confidence)
        for label, n in enumerate(sizes)
        if n
    ]
    return tuple(sorted(rows, key=_width))


def expected_largest_sd(rows: Sequence[ClassStability]) -> Estimate:
    """Expected SD of the widest class if all were equally stable for their size.

    Scores are taken as normal, classes as independent of each other.
    """
    return _expect(rows, mean_largest_sd)


def expected_largest_range(rows: Sequence[ClassStability]) -> Estimate:
    """Expected range over runs of the widest class if all were equally stable for their size.

    Scores are taken as normal, classes as independent of each other.
    """
    expected = _expect(rows, mean_largest_range)
    return TOO_WIDE if not isinstance(expected, Unavailable) and expected > 1 else expected


def equal_spreads(rows: Sequence[ClassStability]) -> list[float] | Unavailable:
    """SD of each class that varies, if all were equally stable for their size.

    The variance of a class is then a common multiple of p (1 - p) / n, the mean of the observed multiples: classes with
    few examples, or with an accuracy near one half, vary more. Classes of equal size and accuracy get one SD, their
    root mean square.
    """
    pairs = [
        (row.sd, row.sampling_sd)
        for row in rows
        if not isinstance(row.sd, Unavailable) and not isinstance(row.sampling_sd, Unavailable)
    ]
    if not any(sd for sd, _ in pairs):
        return Unavailable("no class varies")
    multiple = math.fsum((sd / unit) ** 2 for sd, unit in pairs) / len(pairs)
    return [math.sqrt(multiple) * unit for _, unit in pairs]


def _expect(rows: Sequence[ClassStability], mean_largest: Callable[[Sequence[float], int], float]) -> Estimate:
    if not rows:
        return Unavailable("no class")
    if len(rows[0].accuracies) < 2:
        return SINGLE_RUN
    spreads = equal_spreads(rows)
    return spreads if isinstance(spreads, Unavailable) else mean_largest(spreads, len(rows[0].accuracies))


def _class(label: int, n: int, accuracies: Sequence[float], whole_sd: Estimate, confidence: float) -> ClassStability:
    mean, sd = mean_of(accuracies), sd_of(accuracies)
    return ClassStability(
        label=label,
        n_examples=n,
        accuracies=tuple(accuracies),
        mean=mean,
        range=range_of(accuracies),
        sd=sd,
        sd_interval=SINGLE_RUN if len(accuracies) == 1 else sd_interval(accuracies, confidence=confidence),
        ratio=ratio_of(sd, whole_sd),
        sampling_sd=sampling_sd(mean, n),
    )


def _width(row: ClassStability) -> tuple[bool, float, int]:
    """Sort key: widest first, those without SD last."""
    return (True, 0.0, row.label) if isinstance(row.sd, Unavailable) else (False, -row.sd, row.label)
