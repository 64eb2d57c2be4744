"""Stability in a few lines, for a terminal and a comment: churn, the least steady class, the least steady group."""

import re
from collections.abc import Iterator, Sequence

from deviate.model import Findings, Interval, SetStability, Unavailable
from deviate.report.format import clean, confidence_text, name_text
from deviate.report.parts.stability.absent import reasons
from deviate.report.parts.stability.classes import widest_in_brief
from deviate.report.parts.stability.groups import worst_in_brief
from deviate.report.parts.stability.measure_labels import found, measure_text, whole
from deviate.report.parts.stability.sets import by_name, headline
from deviate.report.parts.stability.weights import sentence

Sets = Sequence[SetStability]
MOST_NAMED = 4
MOST_REASONS = 2
TEST = re.compile(r"(?:^|_)test(?:_|$)")
"""Names of the set that scores are about, where others were evaluated on the way."""


def brief_lines(findings: Findings, labels: Sequence[str]) -> tuple[str, ...]:
    """Of the test set, else the first one, at most four sentences; of the weights, where there are no predictions.

    What was asked for and is not there comes last.
    """
    named, lacking = by_name(findings), _lacking(findings, labels)
    if not named:
        return (*(sentence(it, labels) for it in findings.stability.weights[:MOST_NAMED]), *lacking)
    (_, sets), *others = sorted(named.items(), key=lambda it: not TEST.search(it[0]))
    lines = [_churn(sets, labels), *_least(sets, labels)]
    if others:
        told = ", ".join(name_text(name) for name, _ in others[:MOST_NAMED]) + " …" * (len(others) > MOST_NAMED)
        lines.append(f"… and of {whole(len(others), 'more evaluation set')} ({told}): see the report, Stability")
    return (*filter(None, lines), *lacking)


def _lacking(findings: Findings, labels: Sequence[str]) -> tuple[str, ...]:
    told = reasons(findings, labels)
    left = len(told) - MOST_REASONS
    return (*told[:MOST_REASONS], *([f"… and {left} more: see the report, Stability"] if left > 0 else []))


def _churn(sets: Sets, labels: Sequence[str]) -> str:
    """One experiment as a sentence; several beside each other."""
    first = sets[0]
    if len(sets) == 1:
        return headline(first, labels[first.experiment])
    told = [f"{labels[it.experiment]} {_figure(it)}" for it in sets[:MOST_NAMED]]
    left = len(sets) - MOST_NAMED
    more = f"; and {left} more" if left > 0 else ""
    what = "Two runs disagree" if found(first.measures, "churn") else "Correlation of the outputs of two runs"
    level = next((it for one in sets if (it := _level(one))), "")
    examples = f"{name_text(first.name)} ({whole(first.n_examples, 'example')})"
    return f"{what} on {examples}{level}: {'; '.join(told)}{more}."


def _figure(it: SetStability) -> str:
    measure = found(it.measures, "churn") or found(it.measures, "pearson")
    if measure is None:
        return "not known"
    if isinstance(measure.value, Unavailable):
        return f"not known, {clean(measure.value.reason)}"
    return measure_text(measure)


def _level(it: SetStability) -> str:
    measure = found(it.measures, "churn") or found(it.measures, "pearson")
    interval = measure.interval if measure else None
    return f" [{confidence_text(interval.confidence)} CI]" if isinstance(interval, Interval) else ""


def _least(sets: Sets, labels: Sequence[str]) -> Iterator[str]:
    """The class of the widest spread over all experiments, and a group of the first that has some."""
    spread = [(one.sd, it) for it in sets for one in it.classes[:1] if not isinstance(one.sd, Unavailable)]
    if any(sd for sd, _ in spread):
        it = max(spread, key=lambda one: one[0])[1]
        yield _sentence(f"{_whose(it, sets, labels)}{widest_in_brief(it)}")
    worst = [(text, it) for it in sets if (text := worst_in_brief(it))]
    if worst:
        text, it = worst[0]
        yield _sentence(f"{_whose(it, sets, labels)}{text}")


def _whose(it: SetStability, sets: Sets, labels: Sequence[str]) -> str:
    return f"In {labels[it.experiment]} " if len(sets) > 1 else ""


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
