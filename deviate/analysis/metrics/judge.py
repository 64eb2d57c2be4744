"""Decides whether a reported value is a metric, by the strongest evidence."""

from dataclasses import dataclass

import libcst as cst

from deviate.analysis.metrics.evidence import EVIDENCE, Evidence, Objection, View
from deviate.analysis.metrics.phrases import tag_words
from deviate.analysis.resolve.identifier_words import (
    SPEEDS,
    all_words,
    clause,
    direction_of,
    split_identifier,
    unit_after,
)
from deviate.analysis.resolve.message_items import ReportedValue
from deviate.analysis.resolve.origins import UNKNOWN, Origin, Origins
from deviate.analysis.resolve.templates import decimals
from deviate.analysis.resolve.tree import identifiers
from deviate.model import Direction, RejectionReason, Role

__all__ = ["Candidate", "Decision", "Judge"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A reported value with the text around it.

    Attributes:
        before, after: text up to the neighbouring values of the message.
        earlier: texts before that, nearest first, up to the first value that may be a metric.
    """

    value: ReportedValue
    before: str
    after: str
    line: int
    sink: str
    message: str
    earlier: tuple[str, ...] = ()
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """The role of a metric, or role None with the objection."""

    role: Role | None
    direction: Direction | None = None
    evidence: tuple[str, ...] = ()
    objection: Objection | None = None


class Judge:
    """Judges candidates."""

    def __init__(self, origins: Origins) -> None:
        self.origins = origins

    def origin(self, value: ReportedValue) -> Origin:
        origin = self.origins.of(value.source, value.function)
        if value.path and origin.kind in ("object", "constant", "text"):
            return UNKNOWN
        return origin

    def decide(self, candidate: Candidate) -> Decision:
        """Whether a candidate is a metric, with reasons."""
        view = self._view(candidate)
        rule_results = [result for rule in EVIDENCE if (result := rule(view)) is not None]
        if not rule_results:
            return Decision(None, objection=Objection(RejectionReason.UNMARKED))
        decisive = rule_results[0]
        if isinstance(decisive, Objection):
            return Decision(None, objection=decisive)
        agreeing = [
            result.text for result in rule_results if isinstance(result, Evidence) and result.role == decisive.role
        ]
        texts = (*agreeing, self._change(candidate), _format_text(candidate))
        return Decision(decisive.role, _direction(decisive, view), tuple(filter(None, dict.fromkeys(texts))))

    def _view(self, candidate: Candidate) -> View:
        value = candidate.value
        text = clause(candidate.before)
        return View(
            value=value,
            origin=self.origin(value),
            expression_words=all_words([*identifiers(value.source), value.path]),
            numerator_words=all_words([*identifiers(_numerator(value.source)), value.path]),
            words_before=split_identifier(text),
            text=text.strip(" :=(%/"),
            unit=unit_after(candidate.after)[0],
            sink=candidate.sink,
            digits=decimals(value.spec),
        )

    def _change(self, candidate: Candidate) -> str:
        line = self.origins.changing_line(candidate.value.source, candidate.value.function)
        return f"set anew in each turn of the loop at line {line}" if line else ""


def _numerator(node: cst.BaseExpression) -> cst.BaseExpression:
    while isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Divide | cst.FloorDivide):
        node = node.left
    return node


def _direction(decisive: Evidence, view: View) -> Direction | None:
    if decisive.role == "time":
        is_speed = (
            view.origin.kind == "speed" or view.unit == "speed" or SPEEDS & {*view.expression_words, *view.words_before}
        )
        return "max" if is_speed else "min"
    if decisive.role == "quality":
        called = tag_words(view.text) if view.is_watched else view.words_before  # `losses/entropy` is no loss
        return (
            direction_of(called)
            or direction_of(view.expression_words)
            or direction_of(split_identifier(str(view.origin.detail)))
        )
    return None


def _format_text(candidate: Candidate) -> str:
    digits = decimals(candidate.value.spec)
    how = "reported" if digits is None else f"shown with {digits} decimal{'' if digits == 1 else 's'}"
    return f"{how} by {candidate.sink} ({candidate.value.style})"
