"""Values in messages, and the bindings of parameters on the call path to a message."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import libcst as cst

from deviate.analysis.resolve.abstract_values import Argument
from deviate.analysis.resolve.index import Function
from deviate.model import TapForm


class Style(StrEnum):
    """How a value gets into a message, if not by a named call such as `round()`."""

    PLAIN = "plain argument"
    F_STRING = "f-string"
    PERCENT = "% template"
    FORMAT = "str.format"
    MAPPING = "mapping"
    METER = "meter"
    NAME = "name"
    UNPACKED = "unpacked"


@dataclass(frozen=True, slots=True)
class ReportedValue:
    """A value in a message.

    Attributes:
        node: the expression that is tapped; the callee for the forms `format`, `call` and `meter`.
        source: the expression whose origin and words matter.
        spelled: the expression as the user would write it.
        spec: format specification; style: a `Style`, or the call that formats it.
        fields: what the site records, see `model.Site`.
        path: attributes and items that a template takes of the source. name: the program's name of the value, if it is
            not in the message: that of a meter.
    """

    node: cst.BaseExpression
    source: cst.BaseExpression
    function: Function
    spelled: str
    spec: str = ""
    style: str = Style.PLAIN
    form: TapForm = "value"
    fields: tuple[str, ...] = ()
    path: str = ""
    name: str = ""


MessageItem = str | ReportedValue


@dataclass(frozen=True, slots=True)
class Stars:
    """The arguments in `*values`, or (by_name) in `**options`, of a function in one call of it."""

    arguments: tuple[Argument, ...] = ()
    by_name: tuple[tuple[str, Argument], ...] = ()


@dataclass(frozen=True, slots=True)
class Starred:
    """An unpacked positional argument with unknown items."""

    node: cst.BaseExpression


Substitute = Argument | Stars | str
"""The value of a parameter or loop variable: an expression elsewhere, or a string (a keyword used as a key)."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Values of the parameters and loop variables on the call path to a message, by function and name.

    Attributes:
        calls: the calls on that path, each with the function it is written in.
    """

    substitutes: Mapping[tuple[Function, str], Substitute] = field(default_factory=dict)
    calls: tuple[tuple[cst.CSTNode, Function], ...] = ()

    def get(self, function: Function, name: str) -> Substitute | None:
        return self.substitutes.get((function, name))

    def extend(self, more: Mapping[tuple[Function, str], Substitute]) -> "Scene":
        return Scene({**self.substitutes, **more}, self.calls)

    def through(
        self, call: cst.CSTNode, function: Function, more: Mapping[tuple[Function, str], Substitute]
    ) -> "Scene":
        """The scene extended by one call and its values."""
        return Scene({**self.substitutes, **more}, (*self.calls, (call, function)))


EMPTY_SCENE = Scene()
