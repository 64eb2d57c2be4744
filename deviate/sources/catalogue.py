"""Registry of hazards: name, reason, example and remedy of each come from the docstring of its matcher."""

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import libcst as cst

from deviate.analysis.survey import Survey
from deviate.model.analysis import Hazard
from deviate.registry import Registry

Group = Literal["seeds", "order", "kernels", "timing", "state"]
GROUPS: dict[Group, str] = {
    "seeds": "Unseeded random draws",
    "order": "Unordered iteration",
    "kernels": "Nondeterministic kernels",
    "timing": "Parallel work and timing",
    "state": "State left by earlier runs",
}

Matches = Iterator[tuple[cst.CSTNode, str]]
"""Places of a hazard, each with a clause on what happens there."""
Matcher = Callable[[Survey], Matches]
PARTS = re.compile(r"^(Example|Instead|Source):", flags=re.MULTILINE)


@dataclass(frozen=True)
class Kind:
    """A kind of hazard.

    Attributes:
        name: what the user sees, in lower case with hyphens.
        match: finds the hazard in the code that a script reaches.
        is_reported_once: report only the first match of a file, for code of which nearly every model has many.
    """

    name: str
    group: Group
    match: Matcher
    is_reported_once: bool

    @property
    def title(self) -> str:
        """The first line of the matcher's docstring."""
        return self._text[0].partition("\n")[0]

    @property
    def reason(self) -> str:
        """The paragraphs on why it matters."""
        return self._text[0].partition("\n")[2].strip()

    @property
    def example(self) -> str:
        """Example code with the hazard."""
        return self._parts["Example"]

    @property
    def remedy(self) -> str:
        """The example code without the hazard."""
        return self._parts["Instead"]

    @property
    def source(self) -> str:
        """The documentation that describes the hazard."""
        return " ".join(self._parts["Source"].split())

    @cached_property
    def _text(self) -> list[str]:
        return PARTS.split(inspect.getdoc(self.match) or "")

    @property
    def _parts(self) -> dict[str, str]:
        pairs = zip(self._text[1::2], self._text[2::2], strict=True)
        return {part: textwrap.dedent(text).strip("\n").rstrip() for part, text in pairs}


HAZARDS: Registry[Kind] = Registry("deviate.sources")


def hazard(name: str, group: Group, *, is_reported_once: bool = False) -> Callable[[Matcher], Matcher]:
    """Register the decorated function as the matcher of the hazard `name`."""

    def register(matcher: Matcher) -> Matcher:
        HAZARDS.add(name, Kind(name, group, matcher, is_reported_once))
        return matcher

    return register


def find_hazards(survey: Survey) -> tuple[Hazard, ...]:
    """All hazards, in source order.

    Each kind is reported once per line, and not at all in lines with a comment `# deviate: ignore`.
    """
    graph = survey.graph
    order = {file: number for number, file in enumerate(graph.project.files())}
    hazards: dict[tuple[str, str, int], Hazard] = {}
    for kind in HAZARDS.values():
        places = [
            (graph.nodes.place(node), node, message) for node, message in kind.match(survey) if survey.is_listed(node)
        ]
        seen = [
            Hazard(kind.name, place.file, place.line, graph.nodes.code(node), message)
            for place, node, message in places
        ]
        seen.sort(key=lambda hazard: (order[hazard.file], hazard.line))
        for hazard in seen:
            key = (kind.name, hazard.file, 0 if kind.is_reported_once else hazard.line)
            hazards.setdefault(key, hazard)
    return tuple(sorted(hazards.values(), key=lambda hazard: (order[hazard.file], hazard.line)))
