"""What of the findings is published and under which names: the one description that JSON and its schema both follow."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, partial
from inspect import getdoc
from types import MappingProxyType, NoneType
from typing import Any, get_args, get_type_hints

from deviate import __version__
from deviate.model.analysis import Metric
from deviate.model.check import CheckFindings, CompletionCheck, ControlCheck, MetricCheck, RecordsCheck
from deviate.model.comparisons import Comparison, CurveComparison, Description, FurtherFigure, TaskFindings, Verdict
from deviate.model.design import Pilot
from deviate.model.estimates import NOT_ASKED, Estimate, Interval, Score, Test, Unavailable
from deviate.model.findings import ExperimentFindings, Findings, NoiseFindings, NoiseRow, PairFindings, Parting
from deviate.model.plan import SelectedMetric
from deviate.model.records import Experiment, Flip, InjectedCode, NotCaptured, Revision, Run
from deviate.model.stability import (
    ClassStability,
    Convergence,
    ConvergenceRow,
    SetStability,
    UnstableExample,
    WeightStability,
)
from deviate.model.sweep import SweepFindings
from deviate.report.check_reasons import completion_reason, control_reason, metric_reason
from deviate.report.format import SURROGATE
from deviate.report.verdicts import verdict_reason
from deviate.stats.registry import labelled_statistics

SCHEMA = 1
CHECK_SCHEMA = 1
OVERHEAD_SCHEMA = 1
SWEEP_SCHEMA = 1
PUBLISHED_SCHEMA = 1
"""Numbers of the JSON documents: of a report, a check, an overhead, a sweep, and beside published results."""

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Shape:
    """How the members of a class in a document differ from its fields.

    Attributes:
        without: fields that it goes without.
        inside: fields whose own members stand among its members.
        also: further members: name to the attributes that lead there.
        keyed: fields that hold tuples: names that their items get.
        unbounded: fields with numbers that may be NaN or infinite.
        filled: fields with a text that is never empty.
        said: texts that a function of the instance makes.
    """

    without: frozenset[str] = frozenset()
    inside: tuple[str, ...] = ()
    also: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    keyed: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    unbounded: frozenset[str] = frozenset()
    filled: frozenset[str] = frozenset()
    said: Mapping[str, Callable[[Any], str]] = field(default_factory=lambda: MappingProxyType({}))


def _but(*names: str) -> frozenset[str]:
    return frozenset(names)


SHAPES: dict[type, Shape] = {
    Findings: Shape(without=_but("basis")),
    NoiseFindings: Shape(without=_but("study")),
    SweepFindings: Shape(without=_but("question")),
    ExperimentFindings: Shape(without=_but("descriptions"), inside=("experiment",), also={"metrics": "descriptions"}),
    # Where the rules of experiments differ, a warning says so.
    Experiment: Shape(without=_but("folder", "root", "warnings", "notes", "metrics", "n_pending", "is_cut_short")),
    # The diffs are for people, and in files of their own.
    Revision: Shape(without=_but("diff", "untracked")),
    InjectedCode: Shape(without=_but("diff")),
    Run: Shape(
        without=_but("variant", "folder", "series", "stderr_tail", "seed_events", "artifacts", "notes"),
        also={"seed_calls": "seed_events"},
    ),
    Flip: Shape(unbounded=_but("before", "after")),
    Pilot: Shape(also={"name": "name"}),
    SelectedMetric: Shape(
        without=_but("name", "is_primary", "n_examples", "title"), inside=("metric",), also={"metric": "name"}
    ),
    Metric: Shape(without=frozenset(field.name for field in fields(Metric)) - {"expression", "file", "line"}),
    Description: Shape(
        without=_but("rounding_se", "missing_kinds"),
        inside=("metric",),
        also={"n": "n"},
        keyed={"missing": ("replicate", "reason")},
    ),
    Score: Shape(without=_but("value"), also={"score": "value"}),
    Interval: Shape(unbounded=_but("low", "high")),
    Unavailable: Shape(without=_but("reason", "kind"), also={"unavailable": "reason"}, filled=_but("reason")),
    PairFindings: Shape(without=_but("headline"), also={"headline": "headline.metric.name"}),
    Comparison: Shape(
        without=_but("baseline", "candidate", "p_upper", "further", "names", "verdict"),
        also={"verdict": "verdict.word", "n_baseline": "baseline.n", "n_candidate": "candidate.n"},
        said={"reason": verdict_reason},
    ),
    Verdict: Shape(
        without=frozenset(field.name for field in fields(Verdict)), also={"verdict": "word", "reason": "refusal.reason"}
    ),
    Test: Shape(without=_but("p_error")),
    CurveComparison: Shape(unbounded=_but("band")),
    # Scores stand with the metrics of the experiments.
    TaskFindings: Shape(without=_but("is_scaled")),
    NoiseRow: Shape(without=_but("scores"), also={"n": "n"}),
    Parting: Shape(unbounded=_but("values")),
    UnstableExample: Shape(keyed={"votes": ("class", "n_runs")}),
    WeightStability: Shape(keyed={"steps": ("step", "distance")}),
    # The findings are the report of the same runs, which `deviate compare` writes.
    CheckFindings: Shape(
        without=_but("findings", "warnings", "fails_undecided", "requires_control", "completions"),
        also={
            "outcome": "word",
            "code": "code",
            "undecided_fails": "fails_undecided",
            "control_required": "requires_control",
            "completion": "completions",
        },
    ),
    MetricCheck: Shape(
        without=_but("comparison", "needed", "ground", "unfair"),
        also={
            "metric": "comparison.metric",
            "candidate_metric": "comparison.candidate_metric",
            "direction": "comparison.metric.direction",
            "unit": "comparison.metric.unit",
            "aggregate": "comparison.metric.aggregate",
            "n_baseline": "comparison.baseline.n",
            "n_candidate": "comparison.candidate.n",
            "difference": "comparison.difference",
            "interval": "comparison.difference_interval",
            "runs_needed": "needed",
        },
        said={"reason": metric_reason},
    ),
    CompletionCheck: Shape(said={"reason": completion_reason}),
    ControlCheck: Shape(without=_but("name"), also={"experiment": "name"}, said={"reason": control_reason}),
    RecordsCheck: Shape(
        without=_but("label", "name"),
        also={"experiment": "label", "is_complete": "is_complete"},
        keyed={"failed": ("status", "runs")},
    ),
}
"""Every other class goes by its fields. A metric is told by its name, but where an experiment describes it."""


def publish(shapes: Mapping[type, Shape]) -> None:
    """Add the shapes of a wing, before a document of its classes is written."""
    SHAPES.update(shapes)


SENTENCES: frozenset[type] = frozenset({NotCaptured})
"""Classes whose instances are one text in a document: `str` of them."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a class in a document.

    Attributes:
        path: attributes that lead to its value, one after the other; None on the way is the value.
        kind: its type, as annotated.
        keys: names for the items of the tuples that it holds; empty where they go without.
        is_unbounded: whether its numbers may be NaN or infinite. is_filled: whether its text is never empty.
        description: from the docstrings; empty where they say nothing.
    """

    owner: type
    name: str
    path: tuple[str, ...]
    kind: object
    keys: tuple[str, ...] = ()
    is_unbounded: bool = False
    is_filled: bool = False
    description: str = ""

    def of(self, value: object) -> object:
        """The value of the member for an instance of its owner."""
        for attribute in self.path:
            if value is None:
                return None
            value = getattr(value, attribute)
        if self.keys and isinstance(value, tuple):
            return tuple(dict(zip(self.keys, row, strict=True)) for row in value)
        return value


# Statistics that are registered with a label, which every form shows by their own description.


@dataclass(frozen=True, slots=True)
class ReadMember(Member):
    """A member that is no attribute: what such a statistic adds to a comparison, or a text. `value` reads it."""

    value: Callable[[Any], object] = repr

    def of(self, value: object) -> object:
        return self.value(value)


def further_members() -> Iterator[ReadMember]:
    """Members in order of name, each estimate followed by its interval."""
    for statistic in labelled_statistics():
        description = (getdoc(statistic.function) or "").partition("\n")[0]
        kinds: dict[str, object] = {"value": Test | Unavailable if statistic.kind == "test" else Estimate}
        kinds |= {} if statistic.interval is None else {"interval": Interval | Unavailable}
        for part, kind in kinds.items():
            name = statistic.name if part == "value" else f"{statistic.name}_interval"
            read = partial(_read_figure, statistic.name, part)
            yield ReadMember(Comparison, name, (), kind, description=description, value=read)


def figure_of(comparison: Comparison, name: str) -> FurtherFigure:
    """The value of the statistic; unavailable if the comparison does not have it."""
    return next((figure for figure in comparison.further if figure.name == name), FurtherFigure(name, NOT_ASKED))


def _read_figure(name: str, member: str, comparison: Comparison) -> object:
    return getattr(figure_of(comparison, name), member)


@cache
def members(owner: type) -> tuple[Member, ...]:
    """Members of a class in a document, in order."""
    shape = SHAPES.get(owner, Shape())
    collected = [
        replace(member, owner=owner, path=(name, *member.path))
        for name in shape.inside
        for member in members(_class_in(_kind(owner, (name,))))
    ]
    collected += [_member(owner, name, tuple(path.split("."))) for name, path in shape.also.items()]
    collected += [ReadMember(owner, name, (), str, value=words) for name, words in shape.said.items()]
    left_out = shape.without | set(shape.inside)
    collected += [_member(owner, field.name, (field.name,)) for field in fields(owner) if field.name not in left_out]
    if owner is Comparison:
        collected += further_members()
    return tuple(collected)


def _member(owner: type, name: str, path: tuple[str, ...]) -> Member:
    shape, kind = SHAPES.get(owner, Shape()), _kind(owner, path)
    if kind is SelectedMetric:
        path, kind = (*path, "name"), str
    description = descriptions(owner).get(path[0], "")
    return Member(
        owner,
        name,
        path,
        kind,
        keys=shape.keyed.get(name, ()),
        is_unbounded=path[-1] in shape.unbounded,
        is_filled=path[-1] in shape.filled,
        description=description,
    )


def _kind(owner: type, path: tuple[str, ...]) -> object:
    """The annotation at the end of an attribute path; it includes None if any attribute on the path can be None."""
    kind: object = owner
    may_be_none = False
    for attribute in path:
        may_be_none |= NoneType in get_args(kind)
        inner = _class_in(kind)
        attribute_value = inner.__dict__.get(attribute)
        kind = (
            get_type_hints(attribute_value.fget)["return"]
            if isinstance(attribute_value, property)
            else _hints(inner)[attribute]
        )
    return kind | None if may_be_none else kind  # type: ignore[operator]


def _class_in(kind: object) -> type:
    """The one class that an annotation names beside None."""
    (inner,) = [argument for argument in get_args(kind) or (kind,) if argument is not NoneType]
    if not isinstance(inner, type):
        raise TypeError(f"{kind} has no attributes")
    return inner


@cache
def _hints(owner: type) -> dict[str, object]:
    return get_type_hints(owner)


@cache
def descriptions(owner: type) -> dict[str, str]:
    """Descriptions of attributes from the class docstring, by name; attributes listed together share theirs."""
    _, _, attributes_text = (getdoc(owner) or "").partition("Attributes:")
    text = " ".join(attributes_text.split())
    names = "|".join(re.escape(field.name) for field in fields(owner))
    parts = re.split(rf"(?:^|(?<=[.;)]) )((?:{names})(?:, (?:{names}))*): ", text)
    return {
        name: f"{description[:1].upper()}{description[1:].rstrip()}"
        for heading, description in zip(parts[1::2], parts[2::2], strict=True)
        for name in heading.split(", ")
    }


# Findings as plain values for strict JSON: unrounded numbers, and reasons for missing ones.

DRAWN: dict[type, frozenset[str]] = {
    CurveComparison: frozenset(
        {"steps", "baseline", "candidate", "difference", "band", "baseline_half_widths", "candidate_half_widths"}
    ),
    SetStability: frozenset({"disagreement"}),
    WeightStability: frozenset({"distances"}),
    ClassStability: frozenset({"accuracies"}),
    Convergence: frozenset({"step_seconds"}),
    ConvergenceRow: frozenset({"steps", "seconds"}),
}
"""Members with a number per step, per pair of runs, or per run and class: a page has drawn most, the files have all."""


def document_data(
    schema: int, findings: object, warnings: Sequence[str], *, without_drawn: bool = False
) -> dict[str, Json]:
    """A document with its format number; the warnings are those that are shown to users.

    Args:
        without_drawn: leave out the members of `DRAWN`.
    """
    members_ = _mapping(findings, without_drawn=without_drawn)
    return {"schema": schema, "deviate": __version__, **members_, "warnings": [_text(text) for text in warnings]}


def plain(value: object, *, without_drawn: bool = False) -> Json:
    """Convert values as described in `deviate.report.data.published`: tuples to lists, classes to mappings."""
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(float(value))
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool | int) or value is None:
        return value
    if isinstance(value, tuple):
        return [plain(item, without_drawn=without_drawn) for item in value]
    if isinstance(value, dict):
        return {_text(str(key)): plain(item, without_drawn=without_drawn) for key, item in value.items()}
    is_mapping = is_dataclass(value) and type(value) not in SENTENCES
    return _mapping(value, without_drawn=without_drawn) if is_mapping else _text(str(value))


def _mapping(value: object, *, without_drawn: bool) -> dict[str, Json]:
    left_out = DRAWN.get(type(value), frozenset()) if without_drawn else frozenset()
    shown_members = (member for member in members(type(value)) if member.name not in left_out)  # type: ignore[arg-type]  # a class has a hash
    return {member.name: plain(member.of(value), without_drawn=without_drawn) for member in shown_members}


def _text(text: str) -> str:
    """Text without lone surrogates, which strict readers reject."""
    return SURROGATE.sub("\ufffd", text)
