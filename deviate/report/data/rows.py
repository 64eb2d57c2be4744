"""Descriptions and comparisons as rows of named figures, as data files and DataFrames have them.

A figure of several numbers has a column for each: `welch_p_value`, `mean_interval_low`. Why a figure is missing is in
the column `reasons`, and how one was computed in `remarks`.
"""

import types
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from deviate.model.comparisons import Comparison, Description, SpreadVerdict, Verdict
from deviate.model.estimates import NOT_ASKED, NOT_SHOWN, Interval, Test, Unavailable
from deviate.model.findings import ExperimentFindings, Findings, PairFindings
from deviate.model.plan import SelectedMetric
from deviate.report.data.published import further_members
from deviate.report.verdicts import verdict_reason

Row = dict[str, tuple[type, Any]]
"""The type of each column where it has a value, and the value: None where it has none."""
NUMBERS = (float, int, bool, str)
LEAVES: dict[type, tuple[str, ...]] = {Interval: ("low", "high"), Test: ("statistic", "p_value", "df")}
HOW = {Interval: "method", Test: "note"}
"""What says how a figure was computed."""
WHOLE = (Description, SelectedMetric)
"""Values whose fields are columns of their own."""
SETTINGS = ("unit", "direction", "aggregate", "is_primary")


class ScoreRow(NamedTuple):
    """What one run has in one metric; neither score nor reason where it did not end for a reason of its own."""

    experiment: str
    variant: str
    metric: str
    replicate: int
    status: str
    score: float | None
    reason: str


def score_rows(findings: Findings) -> Iterator[ScoreRow]:
    """A row per experiment, metric and run."""
    for item in findings.experiments:
        experiment = item.experiment
        for description in item.descriptions:
            scores = {score.replicate: score.value for score in description.scores}
            reasons = dict(description.missing)
            for run in experiment.runs:
                told = scores.get(run.replicate), reasons.get(run.replicate, "")
                whose = experiment.name, experiment.variant, description.metric.name
                yield ScoreRow(*whose, run.replicate, run.status, *told)


def comparison_rows(findings: Findings) -> list[Row]:
    """A row per candidate and metric."""
    return [comparison_row(pair, comparison) for pair in findings.pairs for comparison in pair.comparisons]


def comparison_row(pair: PairFindings, comparison: Comparison) -> Row:
    return {
        "metric": (str, comparison.metric.name),
        "candidate_metric": (str, comparison.candidate_metric.name),
        "baseline": (str, pair.baseline),
        "candidate": (str, pair.candidate),
        "is_primary": (bool, comparison.metric.is_primary),
        "margin": (float, comparison.metric.margin),
        "verdict": (str, comparison.verdict.word),
        "verdict_reason": (str, verdict_reason(comparison)),
        "n_baseline": (int, comparison.baseline.n),
        "n_candidate": (int, comparison.candidate.n),
        **_figures(comparison),
    }


def description_rows(findings: Findings) -> list[Row]:
    """A row per experiment and metric."""
    return [description_row(item, description) for item in findings.experiments for description in item.descriptions]


def description_row(item: ExperimentFindings, description: Description) -> Row:
    return {
        "metric": (str, description.metric.name),
        "experiment": (str, item.experiment.name),
        "variant": (str, item.experiment.variant),
        **{name: (bool if name == "is_primary" else str, getattr(description.metric, name)) for name in SETTINGS},
        "n": (int, description.n),
        "n_missing": (int, len(description.missing)),
        **_figures(description),
    }


def _figures(owner: Comparison | Description) -> Row:
    row: Row = {}
    reasons: list[str] = []
    remarks: list[str] = []
    kind: Any = type(owner)
    figures = [(name, hint, getattr(owner, name)) for name, hint in _hints(kind).items() if name != "verdict"]
    if isinstance(owner, Comparison):
        sides = {"baseline": owner.baseline, "candidate": owner.candidate}
        hints = _hints(Description)
        means = [
            (f"{side}_{name}", hints[name], getattr(of, name)) for side, of in sides.items() for name in ("mean", "sd")
        ]
        further = [(member.name, member.kind, member.of(owner)) for member in further_members()]
        figures = [*means, *figures, *further]
    for name, hint, value in figures:
        row |= _columns(name, hint, value, reasons, remarks)
    return {**row, "reasons": (str, "; ".join(reasons)), "remarks": (str, "; ".join(remarks))}


def _columns(name: str, hint: Any, value: Any, reasons: list[str], remarks: list[str]) -> Iterator[tuple[str, Any]]:
    """The columns of one field; those of something that is not there are the same, and empty."""
    kind = _kind(hint)
    if isinstance(value, Unavailable):
        reasons += [] if value == NOT_ASKED else [f"{name}: {value.reason}"]
        value = None
    if kind in NUMBERS:
        yield name, (kind, value)
    elif kind is tuple:
        low, high = value if isinstance(value, tuple) else (None, None)
        yield from ((f"{name}_low", (float, low)), (f"{name}_high", (float, high)))
    elif kind in {Verdict, SpreadVerdict}:
        yield from (
            (f"{name}{end}", (str, getattr(value, part, None))) for end, part in (("", "word"), ("_reason", "reason"))
        )
    elif kind in LEAVES:
        yield from ((f"{name}_{leaf}", (float, getattr(value, leaf, None))) for leaf in LEAVES[kind])
        level = f", level {value.confidence:g}" if isinstance(value, Interval) else ""
        remarks += [f"{name}: {how}{level}"] if (how := getattr(value, HOW[kind], "")) else []
    elif hasattr(kind, "__dataclass_fields__") and kind not in WHOLE:
        for inner, inner_hint in _hints(kind).items():
            part = None if value is None else getattr(value, inner)
            yield from _columns(f"{name}_{inner}", inner_hint, part, reasons, remarks)


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The fields of a class with their types."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind) if field.name not in NOT_SHOWN}


def _kind(hint: Any) -> Any:
    """The type of a field where it has a value; `tuple` for two numbers, None for what is no figure."""
    options = get_args(hint) if get_origin(hint) in {Union, types.UnionType} else (hint,)
    (kind, *_) = [option for option in options if option not in {Unavailable, type(None)}]
    if get_origin(kind) is Literal:
        return str
    if get_origin(kind) is tuple:
        return tuple if get_args(kind) == (float, float) else None
    return kind
