"""Sampling error of the test set, which more runs do not reduce."""

import math
from collections.abc import Sequence

from deviate.model.estimates import NOT_APPLICABLE, Estimate, Unavailable
from deviate.model.metric_vocabulary import ACCURACY, ERROR_RATE, NO_SHARE, QUALITY, WHOLES, split_identifier
from deviate.model.phrases import Reason
from deviate.model.plan import SelectedMetric
from deviate.model.records import Run
from deviate.stats.estimates.sample import Values, moments, refusal

OTHERS = QUALITY - ACCURACY - ERROR_RATE - WHOLES - {"score", "scores"}
PERCENT = frozenset({"%", "percent", "pct"})


def is_accuracy(metric: SelectedMetric) -> bool:
    """Whether the metric, by its name, is the proportion of correct examples."""
    name_words = set(split_identifier(metric.name))
    return bool(name_words & ACCURACY) and not name_words & (NO_SHARE | ERROR_RATE) and metric.direction != "min"


def is_proportion(metric: SelectedMetric) -> bool:
    """Whether the metric, by its name, is the proportion of correct or of wrong examples."""
    name_words = set(split_identifier(metric.name))
    return is_accuracy(metric) or (bool(name_words & ERROR_RATE) and not name_words & NO_SHARE)


def whole_of(metric: SelectedMetric, values: Values) -> float | None:
    """The value for all examples: 1, or 100 for scores in percent; None if the scores are no proportions."""
    unit = metric.unit.strip().lower()
    if (unit and unit not in PERCENT) or min(values) < 0:
        return None
    highest = max(values)
    if unit or highest > 1:
        return 100.0 if highest <= 100 else None
    return 1.0


def examples_of(metric: SelectedMetric, values: Values, runs: Sequence[Run]) -> int | None:
    """Number of test examples behind a proportion: declared by the user, otherwise observed in the runs.

    The observed data need not be those of this metric. The number is accepted if every score is a whole number of
    correct examples among so many, and among no fewer: scores of another data set of several runs are not.
    """
    if metric.n_examples is not None:
        return metric.n_examples
    n_examples = _evaluated(runs)
    n_right = _right(metric, values, n_examples)
    if n_examples is None or not n_right or not all(map(_is_whole, n_right)):
        return None
    return n_examples if math.gcd(n_examples, *map(round, n_right)) == 1 else None


def _evaluated(runs: Sequence[Run]) -> int | None:
    """The number of examples that every run evaluated; None if they differ or are unknown."""
    hashes = [data for run in runs for data in run.evaluation]
    seen = {data.n_examples for data in hashes if data.evidence != "names"} or {data.n_examples for data in hashes}
    return max(seen) or None if len(seen) == 1 and all(run.evaluation for run in runs) else None


def _right(metric: SelectedMetric, values: Values, n_examples: int | None) -> list[float]:
    """How many examples each score says are right, of so many; empty if the scores are no proportions."""
    whole = whole_of(metric, values) if values and not refusal(1, values) else None
    is_known = n_examples is not None and whole is not None and is_proportion(metric)
    return [value / whole * n_examples for value in values] if is_known else []  # type: ignore[operator]


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) <= 0.02


def sampling_error(
    values: Values, metric: SelectedMetric, n_examples: int | None, runs: Sequence[Run] = ()
) -> Estimate:
    """Standard error of an accuracy, or an error rate, from its test examples; in units of the metric.

    Args:
        runs: those whose evaluation was seen, to say why the number of examples is unknown.

    Source: binomial, sqrt(p (1 - p) / N), with p the mean over runs.
    """
    if n_examples is None:
        seen = _evaluated(runs)
        for value, number in zip(values, _right(metric, values, seen), strict=False):
            if not _is_whole(number):
                unit = "%" if whole_of(metric, values) == 100 else ""
                return Unavailable(Reason.NOT_WHOLE(value, unit, seen))
        return Unavailable(Reason.EXAMPLES_UNKNOWN) if is_proportion(metric) else NOT_APPLICABLE
    if reason := refusal(1, values):
        return reason
    is_other = bool(set(split_identifier(metric.name)) & OTHERS) and not is_proportion(metric)
    whole = None if is_other else whole_of(metric, values)
    if whole is None or n_examples < 1:
        return NOT_APPLICABLE
    share = moments(values).mean / whole
    if not 0 < share < 1:
        return Unavailable(Reason.ALL_OR_NONE)
    return whole * math.sqrt(share * (1 - share) / n_examples)
