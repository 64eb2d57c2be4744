"""Classes and sub-groups of an evaluation set: the spread over runs of accuracy and error rates in each."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from deviate.model.estimates import Estimate, Interval, Unavailable
from deviate.model.records import CapturedSet
from deviate.model.stability import ClassStability, GroupMeasure, GroupStability
from deviate.stability.measures.classified import Classified
from deviate.stability.measures.intervals import ratio_of, sampling_sd, sd_measure
from deviate.stats.estimates.bootstrap import Resamples, paired_sd_ratio_bootstrap
from deviate.stats.estimates.largest import mean_largest_range, mean_largest_sd
from deviate.stats.estimates.one_sample import SINGLE_RUN, mean_of, range_of, sd_of
from deviate.stats.estimates.sample import spread_refusal

Column = NDArray[np.generic]
Flags = NDArray[np.bool_]
Rates = tuple[list[float] | Unavailable, ...]
POSITIVE = 1
"""Index of the positive class of two: the second."""
MOST_VALUES = 50
"""Maximum number of values of a group column; more are measurements or names."""
WHOLE = Unavailable("all examples are the reference")
NOT_BINARY = Unavailable("needs two classes")
TOO_WIDE = Unavailable("class accuracies vary too widely for a normal approximation")


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
        return Unavailable("no class has spread")
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
    mean, spread = mean_of(accuracies), sd_measure("accuracy-sd", accuracies, confidence)
    return ClassStability(
        label=label,
        n_examples=n,
        accuracies=tuple(accuracies),
        mean=mean,
        range=range_of(accuracies),
        sd=spread.value,
        sd_interval=spread.interval,
        ratio=ratio_of(spread.value, whole_sd),
        sampling_sd=sampling_sd(mean, n),
    )


def _width(row: ClassStability) -> tuple[bool, float, int]:
    """Sort key: widest first, those without SD last."""
    return (True, 0.0, row.label) if isinstance(row.sd, Unavailable) else (False, -row.sd, row.label)


def group_table(
    captured: CapturedSet, answers: Classified, columns: Sequence[str] | None, *, confidence: float, rng: Resamples
) -> tuple[tuple[GroupStability, ...], tuple[str, ...]]:
    """Rows for all examples and every sub-group, in order of columns and values, and notes on skipped columns.

    Args:
        columns: example columns that hold groups; None for all with few values.

    Source: Zhuang et al. (2022), tables 3 and 5.
    """
    labels, notes = _columns(captured, columns)
    right = answers.is_right
    if right is None or not right.shape[1]:
        notes += ["True labels were not recorded, so sub-groups have no accuracy."] if labels else []
        return (), tuple(notes)
    if not labels:
        return (), tuple(notes)
    table: list[GroupStability] = []
    whole: Rates | None = None
    for name, value, member in _members(labels, right.shape[1]):
        rates = _rates(answers, right, member)
        accuracy, false_positive, false_negative = (
            rate if isinstance(rate, Unavailable) else _measure(rate, of_all, confidence, rng)
            for rate, of_all in zip(rates, whole or (None,) * len(rates), strict=True)
        )
        if isinstance(accuracy, Unavailable):  # pragma: no cover  # every group has an example
            raise TypeError(accuracy.reason)
        n, n_positive = int(member.sum()), _count_positive(answers, member)
        n_negative, share = None if n_positive is None else n - n_positive, n / len(member)
        sizes = n, n_positive, n_negative, share
        table.append(GroupStability(name, value, *sizes, accuracy, false_positive, false_negative))
        whole = whole or rates
    return tuple(table), tuple(notes)


def _members(labels: Mapping[str, Column], n: int) -> Iterator[tuple[str, str, Flags]]:
    """Column, value and members of every group, all examples first; one at a time, as examples may be millions."""
    yield "", "All", np.ones(n, dtype=bool)
    for name, column in labels.items():
        values, codes = np.unique(column, return_inverse=True)  # codes, as NaN equals nothing
        for code, value in enumerate(values):
            yield name, _text(value), codes.reshape(-1) == code


def _columns(captured: CapturedSet, columns: Sequence[str] | None) -> tuple[dict[str, Column], list[str]]:
    """Columns by name in the order of the captured examples, and what was left out."""
    labels: dict[str, Column] = {}
    notes = []
    for name in captured.columns if columns is None else columns:
        if name in captured.columns:
            labels[name] = captured.columns[name]
        else:
            notes.append(f"Column {name} was not logged with {captured.name}.")
    for name, column in list(labels.items()):
        n_values = len(np.unique(column)) if column.dtype != object else len(set(column.tolist()))
        if n_values > MOST_VALUES:
            del labels[name]
            if columns is not None:
                notes.append(f"Column {name} is left out: {n_values} values are too many for sub-groups.")
        elif column.dtype == object:
            labels[name] = column.astype(str)
    return labels, notes


def _rates(answers: Classified, right: Flags, member: Flags) -> Rates:
    """Accuracy, false positive rate and false negative rate of every run among these examples."""
    accuracy = right[:, member].mean(axis=1).tolist()
    if answers.n_classes != 2 or answers.truth is None:
        return accuracy, NOT_BINARY, NOT_BINARY
    is_positive = answers.truth == POSITIVE
    wrong = [
        (~right[:, part]).mean(axis=1).tolist() if part.any() else Unavailable(f"no {name} example")
        for part, name in ((member & ~is_positive, "negative"), (member & is_positive, "positive"))
    ]
    return accuracy, *wrong


def _count_positive(answers: Classified, member: Flags) -> int | None:
    """Members of the positive class; None without two classes."""
    if answers.n_classes != 2 or answers.truth is None:
        return None
    return int(np.count_nonzero(answers.truth[member] == POSITIVE))


def _measure(
    values: Sequence[float], whole: Sequence[float] | Unavailable | None, confidence: float, rng: Resamples
) -> GroupMeasure:
    """A rate of a group over runs; `whole` is the rate of all examples, None if the group is all examples."""
    mean, sd = mean_of(values), sd_of(values)
    if whole is None or isinstance(whole, Unavailable):  # a group's examples are among all
        return GroupMeasure(mean, sd, whole or WHOLE, whole or WHOLE)
    interval: Interval | Unavailable = Unavailable("no spread in this sub-group or over all examples")
    if not (spread_refusal(whole) or spread_refusal(values)):
        interval = paired_sd_ratio_bootstrap(whole, values, rng=rng, confidence=confidence)
    return GroupMeasure(mean, sd, ratio_of(sd, sd_of(whole)), interval)


def _text(value: object) -> str:
    item = value.item() if isinstance(value, np.generic) else value
    short = f"{item:g}" if isinstance(item, float) else str(item)
    return str(value) if isinstance(item, float) and float(short) != item else short  # no two values alike
