"""Values in messages, and what the parameters of a function stand for in one call of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import libcst as cst

from deviate.analysis.resolve.abstract_values import Argument
from deviate.analysis.resolve.index import Function
from deviate.model import TapForm


class Style(StrEnum):
    """How a value gets into a message, where no call does it that is known by its name, such as `round()`."""

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
        spec: format specification; style: a `Style`, or the call that makes a text of it.
        fields: what the site records, see `model.Site`.
        path: attributes and items that a template takes of the source.
        name: what the program itself calls the value, where that does not stand in the message: name of a meter.
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
    """What `*values` (arguments) or `**options` (by_name) of a function holds in one call of it."""

    arguments: tuple[Argument, ...] = ()
    by_name: tuple[tuple[str, Argument], ...] = ()


@dataclass(frozen=True, slots=True)
class Starred:
    """What a call unpacks into positional arguments, where its items stand nowhere."""

    node: cst.BaseExpression


Substitute = Argument | Stars | str
"""What a parameter or loop variable stands for: an expression elsewhere, or a text (a keyword used as a key)."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What the parameters and loop variables on the call path to a message stand for; by function and name.

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
        """The scene with what one call more gives."""
        return Scene({**self.substitutes, **more}, (*self.calls, (call, function)))


EMPTY_SCENE = Scene()
