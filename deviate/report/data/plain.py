"""Converts findings to plain values for strict JSON: unrounded numbers, and reasons for missing ones."""

import math
from collections.abc import Sequence
from dataclasses import is_dataclass

from deviate import __version__
from deviate.model import ClassStability, Convergence, ConvergenceRow, CurveComparison, SetStability, WeightStability
from deviate.report.data.published import SENTENCES, Json, members
from deviate.report.format import SURROGATE

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
