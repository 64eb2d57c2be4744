"""Items of a review: a metric, its section, and whether it is recorded; and changes to them."""

import dataclasses
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from deviate.errors import InputError
from deviate.model import Analysis, Direction, Metric, Place, Role
from deviate.project import selection
from deviate.project.config import AGGREGATES, AT, MetricConfig

PLACE = re.compile(r"(?:(?P<file>\S.*?):)?(?P<line>\d+)(?:\s+(?P<expression>.+))?")


@dataclass(slots=True)
class Item:
    """A metric under review.

    Attributes:
        section: what its section is to say.
        metric: None when the section fits nothing; then `problem` says why.
        was: its section as it is in the file; None for one that the file does not list.
        is_gone: whether the script had it when the file was saved, and has it no longer.
    """

    section: MetricConfig
    metric: Metric | None
    was: MetricConfig | None = None
    is_kept: bool = True
    problem: str = ""
    is_gone: bool = False

    @property
    def reason(self) -> str:
        """Why it was selected as a metric."""
        return "; ".join(self.metric.evidence) if self.metric else ""

    @property
    def direction(self) -> Direction | None:
        """The direction that will be used."""
        if self.section.direction == "none":
            return None
        return self.section.direction or (self.metric.direction if self.metric else None)

    def change(self, **values: object) -> None:
        """Set keys of the section."""
        self.section = dataclasses.replace(self.section, **values)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of an item: its question (none if it takes no value), and how it is applied."""

    word: str
    question: str
    set: Callable[[Item, str, Sequence[Item]], None]


def with_place(text: str, script: str, section: MetricConfig) -> MetricConfig:
    """A section at a place given as `FILE:LINE EXPRESSION`; the file defaults to the script.

    Raises:
        InputError: the text is no place.
    """
    match = PLACE.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r} is no place", f"Give file, line and expression: {script}:61 correct / total")
    where = Place(match["file"] or script, int(match["line"]))
    return dataclasses.replace(section, where=where, expression=match["expression"], path=None, label=None)


def attach(analysis: Analysis, section: MetricConfig, item: Item, items: Sequence[Item]) -> Analysis:
    """Let an item represent the value that a section names.

    Returns: the analysis, with a site more where it saw no such value.

    Raises:
        InputError: nothing fits there, or another item is it already.
    """
    analysis, metric = selection.resolve(analysis, section)
    same = next(
        (other for other in items if other is not item and other.metric is not None and other.metric.id == metric.id),
        None,
    )
    if same is not None:
        raise InputError(f"that is {same.section.name}, which is listed already", "Go back to it with b.")
    exact = selection.section_of(metric)
    item.section = dataclasses.replace(
        section, where=exact.where, expression=exact.expression, path=exact.path, label=exact.label
    )
    item.metric, item.problem, item.is_kept, item.is_gone = metric, "", True, False
    return analysis


def _rename(item: Item, text: str, items: Sequence[Item]) -> None:
    if not text or not text.isprintable():
        raise InputError("a name needs printable characters", "Type n and the new name.")
    if any(other.section.name == text for other in items if other is not item):
        raise InputError(f"another metric is named {text}", "Choose another name, or rename that one first.")
    if item.section.where is None and item.section.expression is None and item.metric is not None:
        exact = selection.section_of(item.metric)  # it was identified by name only
        item.change(where=exact.where, expression=exact.expression, path=exact.path, label=exact.label)
    item.change(name=text)


DIRECTIONS = {
    "max": "max", "higher": "max", "h": "max",
    "min": "min", "lower": "min", "l": "min",
    "none": "none", "unknown": "none", "u": "none",
}  # fmt: skip


def _set_direction(item: Item, text: str, _: Sequence[Item]) -> None:
    if text not in DIRECTIONS:
        raise InputError(f"{text!r} is no direction", "Use max (higher is better), min (lower is better) or none.")
    item.change(direction=DIRECTIONS[text])


def _set_aggregate(item: Item, text: str, _: Sequence[Item]) -> None:
    if text not in AGGREGATES and not AT.fullmatch(text):
        raise InputError(f"{text!r} is no aggregate", f"Use one of {', '.join(AGGREGATES)}, or at:K.")
    item.change(aggregate=text)


def _set_role(item: Item, text: str, _: Sequence[Item]) -> None:
    if text not in get_args(Role):
        raise InputError(f"{text!r} is no role", f"Use one of {', '.join(get_args(Role))}.")
    item.change(role=text)


def _set_unit(item: Item, text: str, _: Sequence[Item]) -> None:
    if not text.isprintable():
        raise InputError("a unit needs printable characters", "Type u and the unit.")
    item.change(unit=text)


def _set_primary(item: Item, _: str, items: Sequence[Item]) -> None:
    is_primary = not item.section.is_primary
    for other in items:
        other.change(is_primary=is_primary and other is item)


def _set_margin(item: Item, text: str, _: Sequence[Item]) -> None:
    try:
        margin = float(text) if text else None
    except ValueError:
        margin = math.nan
    if margin is not None and not 0 <= margin < math.inf:
        raise InputError(f"{text!r} is no margin", "Give a number from 0, or nothing for none.")
    item.change(margin=margin)


SETTINGS: Mapping[str, Setting] = {
    "n": Setting("name", "new name", _rename),
    "d": Setting("direction", "direction (max, min, none)", _set_direction),
    "a": Setting("aggregate", f"aggregate ({', '.join(AGGREGATES)}, at:K)", _set_aggregate),
    "r": Setting("role", f"role ({', '.join(get_args(Role))})", _set_role),
    "u": Setting("unit", "unit (nothing for none)", _set_unit),
    "m": Setting("margin", "margin (nothing for none)", _set_margin),
    "p": Setting("primary", "", _set_primary),
}
