"""Stability in a few lines for a terminal or a comment: churn, least steady class, least steady sub-group."""

import re
from collections.abc import Iterator, Sequence

from deviate.model import Findings, Interval, SetStability, Unavailable
from deviate.report import clean, confidence_text, counted_of, name_text
from deviate.stability.report.absent import reasons
from deviate.stability.report.classes import widest_in_brief
from deviate.stability.report.groups import worst_in_brief
from deviate.stability.report.measure_labels import find_measure, measure_text
from deviate.stability.report.sets import by_name, headline
from deviate.stability.report.weights import sentence

Sets = Sequence[SetStability]
MOST_NAMED = 4
MOST_REASONS = 2
TEST = re.compile(r"(?:^|_)test(?:_|$)")
"""Names of the set that scores are about, where others were evaluated on the way."""


def brief_lines(findings: Findings, labels: Sequence[str]) -> tuple[str, ...]:
    """At most four sentences on the test set, else on the first set; on weights if there are no predictions.

    Requests without a result are listed last.
    """
    sets_by_name, lacking = by_name(findings), _lacking(findings, labels)
    if not sets_by_name:
        return (
            *(sentence(weight_stability, labels) for weight_stability in findings.stability.weights[:MOST_NAMED]),
            *lacking,
        )
    (_, sets), *other_sets = sorted(sets_by_name.items(), key=lambda pair: not TEST.search(pair[0]))
    lines = [_churn(sets, labels), *_least(sets, labels)]
    if other_sets:
        text = ", ".join(name_text(name) for name, _ in other_sets[:MOST_NAMED]) + " …" * (len(other_sets) > MOST_NAMED)
        lines.append(
            f"… and of {counted_of(len(other_sets), 'more evaluation set')} ({text}): see the report, Stability"
        )
    return (*filter(None, lines), *lacking)


def _lacking(findings: Findings, labels: Sequence[str]) -> tuple[str, ...]:
    sentences = reasons(findings, labels)
    n_left = len(sentences) - MOST_REASONS
    return (*sentences[:MOST_REASONS], *([f"… and {n_left} more: see the report, Stability"] if n_left > 0 else []))


def _churn(sets: Sets, labels: Sequence[str]) -> str:
    """Churn: a sentence for one experiment, a list for several."""
    first = sets[0]
    if len(sets) == 1:
        return headline(first, labels[first.experiment])
    parts = [f"{labels[captured.experiment]} {_figure(captured)}" for captured in sets[:MOST_NAMED]]
    n_left = len(sets) - MOST_NAMED
    more = f"; and {n_left} more" if n_left > 0 else ""
    subject = "Two runs disagree" if find_measure(first.measures, "churn") else "Correlation of the outputs of two runs"
    level = next((text for one in sets if (text := _level(one))), "")
    examples = f"{name_text(first.name)} ({counted_of(first.n_examples, 'example')})"
    return f"{subject} on {examples}{level}: {'; '.join(parts)}{more}."


def _figure(captured: SetStability) -> str:
    measure = find_measure(captured.measures, "churn") or find_measure(captured.measures, "pearson")
    if measure is None:
        return "not known"
    if isinstance(measure.value, Unavailable):
        return f"not known, {clean(measure.value.reason)}"
    return measure_text(measure)


def _level(captured: SetStability) -> str:
    measure = find_measure(captured.measures, "churn") or find_measure(captured.measures, "pearson")
    interval = measure.interval if measure else None
    return f" [{confidence_text(interval.confidence)} CI]" if isinstance(interval, Interval) else ""


def _least(sets: Sets, labels: Sequence[str]) -> Iterator[str]:
    """The class with the widest spread over all experiments, and a sub-group of the first experiment with any."""
    spread = [
        (one.sd, captured) for captured in sets for one in captured.classes[:1] if not isinstance(one.sd, Unavailable)
    ]
    if any(sd for sd, _ in spread):
        captured = max(spread, key=lambda one: one[0])[1]
        yield _sentence(f"{_whose(captured, sets, labels)}{widest_in_brief(captured)}")
    worst = [(text, captured) for captured in sets if (text := worst_in_brief(captured))]
    if worst:
        text, captured = worst[0]
        yield _sentence(f"{_whose(captured, sets, labels)}{text}")


def _whose(captured: SetStability, sets: Sets, labels: Sequence[str]) -> str:
    return f"In {labels[captured.experiment]} " if len(sets) > 1 else ""


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
