"""The headline: the result that leads, as the script itself announces it.

The rule reads what the first run reported: words, places, order in time and numbers of reports; never how good a value
is. So its choice counts as declared, and it can be computed again at any time. What the user names comes before it.

The first difference decides: a result before times, settings and spreads; other data before training data; a whole pass
before its progress; what is announced after training before what is reported along the way; test before validation
before no word; a measure of merit before a loss; the whole before a part; what was reported first.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from deviate.model.metric_vocabulary import split_identifier, word_set
from deviate.model.plan import PrimaryChoice, SelectedMetric
from deviate.model.records import Series
from deviate.series.words import LANGUAGE, LOSSES, MERITS, PARTS, SPREADS, WHOLES, data_of, kind_of, words_of

DECLARED = "declared before the runs"
NAMED_AFTER = "named after the runs, so its p is adjusted over all quality metrics"
ONLY = "the only result"
FIRST = "reported first"
SIDES_OF_MERIT = word_set(
    "precision recall sensitivity specificity top5 acc5 prec5 hit hits error err errors misclassified correct "
    "len length lengths"
)
"""Words of one side of a trade-off, of a wider criterion, of a complement and of how long an episode was."""
ENDS = word_set("max min best worst")
"""Words of the ends of a range."""
ONE_OF = "|".join(sorted(PARTS))
PART = re.compile(rf"\b(?:{ONE_OF})[\W_]*(?:\d|[a-z]\b)|\b(?:per|each|by)[\W_]*(?:{ONE_OF})\b", re.IGNORECASE)
"""Words of one of several: `class 3`, `task A`, `per-class results`."""
NUMBERED = re.compile(r"_\d+$")
"""End of the name of one of several that an integer labels."""
FEWEST_DUMPED = 3
"""Values outside of the main loop from which a series is no announcement."""
DATA_ORDER = {"test": 0, "validation": 1, "": 2, "training": 3}
Rule = Callable[[SelectedMetric], float]


@dataclass(frozen=True, slots=True)
class Headline:
    """The headline and what could have been it.

    Attributes:
        is_by_order: whether only the order of the reports set it apart; in an imported table order means nothing.
    """

    choice: PrimaryChoice
    is_by_order: bool


def choose_headline(
    metrics: Sequence[SelectedMetric], series: Mapping[str, Series], trained_s: float | None = None
) -> Headline | None:
    """The metric that leads, with its reason; None where there is no result.

    Args:
        metrics: in the order in which they were first reported.
        series: what one run reported; empty where only names are known.
        trained_s: seconds from the start of the run to its last training step; None where none was seen.
    """
    declared = [metric for metric in metrics if metric.is_primary]
    if declared:
        return Headline(PrimaryChoice(declared[0].name, DECLARED), is_by_order=False) if len(declared) == 1 else None
    candidates = [metric for metric in metrics if is_result(metric) and (not series or metric.name in series)]
    if not candidates:
        return None
    if len(candidates) == 1:
        return Headline(PrimaryChoice(candidates[0].name, ONLY), is_by_order=False)
    left, reason = candidates, ""
    for rule, sentence in _rules(candidates, series, trained_s):
        best = min(map(rule, left))
        kept = [metric for metric in left if rule(metric) == best]
        reason = reason or (sentence if len(kept) < len(left) else "")
        left = kept
        if len(left) == 1:
            break
    others = tuple(metric.name for metric in candidates if metric is not left[0])
    return Headline(PrimaryChoice(left[0].name, reason or FIRST, others), is_by_order=len(left) > 1)


def find_primary(metrics: Sequence[SelectedMetric], planned: PrimaryChoice | None = None) -> str | None:
    """Name of the primary metric: the planned one where it is among the metrics, else the one that their names tell."""
    if planned is not None and any(metric.name == planned.name for metric in metrics):
        return planned.name
    headline = choose_headline(metrics, {})
    return None if headline is None else headline.choice.name


def is_result(metric: SelectedMetric) -> bool:
    """Whether a metric may lead: a quality that is no spread of another one."""
    return metric.role == "quality" and not words_of(_text(metric)) & SPREADS


def is_on_test_data(name: str) -> bool:
    """Whether a word of the metric's name says that it is measured on test data."""
    return data_of(name) == "test"


def order_of_results(metrics: Sequence[SelectedMetric], primary: str | None) -> list[SelectedMetric]:
    """Metrics as they are shown: the primary one, results, losses, times and speeds, and what is no result."""
    return sorted(metrics, key=lambda metric: rank_of(metric, primary))


def rank_of(metric: SelectedMetric, primary: str | None) -> tuple[int, int]:
    """The place of a metric among others: what it is, and which data it is of."""
    if metric.name == primary:
        return 0, 0
    if metric.role != "quality":
        return (3 if metric.role == "time" else 4), 0
    return 1 + (kind_of(_text(metric)) == "loss"), DATA_ORDER[data_of(_text(metric))]


def _text(metric: SelectedMetric) -> str:
    return metric.metric.words or metric.name


def _rules(
    candidates: Sequence[SelectedMetric], series: Mapping[str, Series], trained_s: float | None
) -> tuple[tuple[Rule, str], ...]:
    words = {metric.name: words_of(_text(metric)) for metric in candidates}
    plain = {metric.name: frozenset(split_identifier(metric.name)) for metric in candidates}
    data = {metric.name: data_of(_text(metric)) for metric in candidates}
    is_language = any(found & LANGUAGE for found in words.values())

    def along(metric: SelectedMetric) -> bool:
        one = series.get(metric.name)
        if one is None or not len(one.values):
            return False
        n_outside = sum(step is None for step in one.steps)
        if len(one.values) == 1 and not n_outside:  # one report of one of several trainings
            return False
        if n_outside >= FEWEST_DUMPED:  # a history that is written whole
            return True
        if trained_s is not None and len(one.times):
            return min(one.times) <= trained_s
        return n_outside < len(one.values)

    of_passes = {metric.name: plain[metric.name] for metric in candidates if not metric.metric.is_progress}
    for metric in candidates:  # `acc` beside `val_acc`
        if not data[metric.name] and along(metric) and _has_counterpart(plain[metric.name], of_passes):
            data[metric.name] = "training"

    def loss(metric: SelectedMetric) -> bool:
        found = words[metric.name]
        if is_language:
            return not found & (LANGUAGE | LOSSES) or bool(found & {"acc", "accuracy"})
        return kind_of(_text(metric)) == "loss"

    wholes = [found - WHOLES for found in plain.values() if found & WHOLES]

    def part(metric: SelectedMetric) -> bool:
        found = words[metric.name]
        text = _text(metric).replace("_", " ")
        stem = NUMBERED.sub("", metric.name)
        is_numbered = stem != metric.name and ("@" not in text or stem in plain)  # "R@5" is a measure, without "R"
        is_one = bool(PART.search(text) or metric.metric.over or is_numbered)
        return not found & WHOLES and (is_one or any(whole < plain[metric.name] for whole in wholes))

    sides = _sides(words.values())
    best = min(data.values(), key=DATA_ORDER.__getitem__)
    if all(loss(metric) for metric in candidates if data[metric.name] == best):
        # The measure that nothing but losses stand beside is of the same data: `val_loss 0.61 accuracy 0.78`.
        data |= {
            metric.name: best
            for metric in candidates
            if not data[metric.name] and words[metric.name] & MERITS and not loss(metric)
        }
    of_test = {"test": "of test data", "validation": "of validation data"}.get(
        best, "measured on data that is not trained on"
    )
    return (
        (lambda metric: data[metric.name] == "training", "measured on data that is not trained on"),
        (lambda metric: metric.metric.is_progress, "a whole pass before a part of it"),
        (along, "announced after training"),
        (lambda metric: DATA_ORDER[data[metric.name]], f"{of_test}, by its name"),
        (loss, "a measure of merit before a loss"),
        (part, "the whole before a part"),
        (lambda metric: bool(words[metric.name] & sides), "an overall measure before one side of it"),
    )


def _sides(every: Iterable[frozenset[str]]) -> frozenset[str]:
    """Words of the ends of a range, and where something overall is measured, of its sides."""
    has_overall = any(found & MERITS and not found & (SIDES_OF_MERIT | ENDS) for found in every)
    return ENDS | SIDES_OF_MERIT if has_overall else ENDS


def _has_counterpart(own: frozenset[str], every: Mapping[str, frozenset[str]]) -> bool:
    """Whether the same measure is reported of named data, so that this one is of training data: `acc`, `val_acc`."""
    return any(found != own and found > own and data_of(" ".join(found - own)) for found in every.values())
