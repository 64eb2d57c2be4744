"""Classes and sub-groups of an evaluation set: the spread over runs of accuracy and error rates in each."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from deviate.model import CapturedSet, ClassStability, Estimate, GroupMeasure, GroupStability, Interval, Unavailable
from deviate.stability.measures.classified import Classified
from deviate.stability.measures.intervals import ratio_of, sampling_sd
from deviate.stats import (
    SINGLE_RUN,
    Resamples,
    mean_largest_range,
    mean_largest_sd,
    mean_of,
    paired_sd_ratio_bootstrap,
    range_of,
    sd_interval,
    sd_of,
    spread_refusal,
)

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


Column = NDArray[np.generic]
Flags = NDArray[np.bool_]
POSITIVE = 1
"""Index of the positive class of two: the second."""
MOST_VALUES = 50
"""Maximum number of values of a group column; more are measurements or names."""
WHOLE = Unavailable("the whole itself")
NOT_BINARY = Unavailable("needs two classes")


def group_table(
    captured: CapturedSet,
    classes: Classified,
    columns: Sequence[str] | None,
    *,
    confidence: float,
    rng: Resamples,
) -> tuple[tuple[GroupStability, ...], tuple[str, ...]]:
    """Rows for all examples and every sub-group, in order of columns and values, and notes on skipped columns.

    Args:
        columns: example columns that hold groups; None for all with few values.

    Source: Zhuang et al. (2022), tables 3 and 5.
    """
    labels, notes = _columns(captured, columns)
    right = classes.is_right
    if right is None or not right.shape[1]:
        notes += ["True labels are not on record, so sub-groups have no accuracy."] if labels else []
        return (), tuple(notes)
    if not labels:
        return (), tuple(notes)
    everything = np.ones(right.shape[1], dtype=bool)
    whole = _rates(classes, right, everything)
    table = [_group("", "All", classes, everything, whole, whole, confidence, rng)]
    for name, column in labels.items():
        values, codes = np.unique(column, return_inverse=True)  # codes, as NaN equals nothing
        for code, value in enumerate(values):
            member = codes.reshape(-1) == code
            rates = _rates(classes, right, member)
            table.append(_group(name, _text(value), classes, member, rates, whole, confidence, rng))
    return tuple(table), tuple(notes)


def _columns(captured: CapturedSet, columns: Sequence[str] | None) -> tuple[dict[str, Column], list[str]]:
    """Columns by name in the order of the captured examples, and what was left out."""
    labels: dict[str, Column] = {}
    notes = []
    for name in captured.columns if columns is None else columns:
        if name in captured.columns:
            labels[name] = captured.columns[name]
        else:
            notes.append(f"No column {name} was logged with {captured.name}.")
    for name, column in list(labels.items()):
        n_values = len(np.unique(column)) if column.dtype != object else len(set(column.tolist()))
        if n_values > MOST_VALUES:
            del labels[name]
            if columns is not None:
                notes.append(f"{name} has {n_values} values, too many for sub-groups: left out.")
        elif column.dtype == object:
            labels[name] = column.astype(str)
    return labels, notes


def _rates(classes: Classified, right: Flags, member: Flags) -> tuple[list[float] | Unavailable, ...]:
    """Accuracy, false positive rate and false negative rate of every run among these examples."""
    accuracy = right[:, member].mean(axis=1).tolist()
    if classes.n_classes != 2 or classes.truth is None:
        return accuracy, NOT_BINARY, NOT_BINARY
    is_positive = classes.truth == POSITIVE
    wrong = [
        (~right[:, part]).mean(axis=1).tolist() if part.any() else Unavailable(f"no {name} example")
        for part, name in ((member & ~is_positive, "negative"), (member & is_positive, "positive"))
    ]
    return accuracy, *wrong


def _group(
    column: str,
    value: str,
    classes: Classified,
    member: Flags,
    rates: Sequence[list[float] | Unavailable],
    whole: Sequence[list[float] | Unavailable],
    confidence: float,
    rng: Resamples,
) -> GroupStability:
    n = int(member.sum())
    n_positive = (
        int((classes.truth[member] == POSITIVE).sum()) if classes.n_classes == 2 and classes.truth is not None else None
    )
    accuracy, false_positive, false_negative = (
        rate if isinstance(rate, Unavailable) else _measure(rate, None if rates is whole else of_all, confidence, rng)
        for rate, of_all in zip(rates, whole, strict=True)
    )
    if isinstance(accuracy, Unavailable):  # pragma: no cover  # every group has an example
        raise TypeError(accuracy.reason)
    return GroupStability(
        column=column,
        value=value,
        n_examples=n,
        n_positive=n_positive,
        n_negative=None if n_positive is None else n - n_positive,
        share=n / len(member),
        accuracy=accuracy,
        false_positive_rate=false_positive,
        false_negative_rate=false_negative,
    )


def _measure(
    values: Sequence[float], whole: Sequence[float] | Unavailable | None, confidence: float, rng: Resamples
) -> GroupMeasure:
    """A rate of a group over runs; `whole` is the rate of all examples, None if the group is all examples."""
    sd = sd_of(values)
    if whole is None:
        return GroupMeasure(mean_of(values), sd, WHOLE, WHOLE)
    if isinstance(whole, Unavailable):  # pragma: no cover  # a group's examples are among all
        return GroupMeasure(mean_of(values), sd, whole, whole)
    interval: Interval | Unavailable = Unavailable("no spread in one of the two")
    if not (spread_refusal(whole) or spread_refusal(values)):
        interval = paired_sd_ratio_bootstrap(whole, values, rng=rng, confidence=confidence)
    return GroupMeasure(mean_of(values), sd, ratio_of(sd, sd_of(whole)), interval)


def _text(value: object) -> str:
    item = value.item() if isinstance(value, np.generic) else value
    short = f"{item:g}" if isinstance(item, float) else str(item)
    return str(value) if isinstance(item, float) and float(short) != item else short  # no two values alike
