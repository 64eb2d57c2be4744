"""Sub-groups of an evaluation set: spread of accuracy and error rates over runs, and where the groups come from."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from deviate.model import CapturedSet, GroupMeasure, GroupStability, Interval, Unavailable
from deviate.stability.measures.classified import Classified
from deviate.stability.measures.figures import ratio_of
from deviate.stats import Resamples, mean_of, paired_sd_ratio_bootstrap, sd_of, spread_refusal

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
