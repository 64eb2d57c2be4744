"""Values in messages, the bindings of parameters on the call path to a message, and the fields of templates."""

import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import libcst as cst

from deviate.analysis.resolve.abstract_values import Argument
from deviate.analysis.resolve.index import Function
from deviate.model.analysis import TapForm


class FormatStyle(StrEnum):
    """How a value gets into a message, if not by a named call such as `round()`."""

    PLAIN = "plain argument"
    F_STRING = "f-string"
    PERCENT = "% template"
    FORMAT = "str.format"
    MAPPING = "mapping"
    METER = "meter"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class ReportedValue:
    """A value in a message.

    Attributes:
        node: the expression that is tapped; the callee for the forms `format`, `call` and `meter`.
        source: the expression whose origin and words matter.
        spelled: the expression as the user would write it.
        spec: format specification; style: a `FormatStyle`, or the call that formats it.
        fields: what the site records, see `model.Site`.
        path: attributes and items that a template takes of the source. name: the program's name of the value, if it is
            not in the message: that of a meter.
    """

    node: cst.BaseExpression
    source: cst.BaseExpression
    function: Function
    spelled: str
    spec: str = ""
    style: str = FormatStyle.PLAIN
    form: TapForm = "value"
    fields: tuple[str, ...] = ()
    path: str = ""
    name: str = ""


MessageItem = str | ReportedValue


Substitute = Argument | str
"""The value of a parameter or loop variable: an expression elsewhere, or a string (a keyword used as a key)."""


Scene = Mapping[tuple[Function, str], Substitute]
"""What the parameters and loop variables on the way to a message stand for, by function and name."""


# ---------------------------------------------------------------- `%` and `str.format` templates: fields and text

PERCENT = re.compile(
    r"%(?:\((?P<key>[^)]*)\))?[#0\- +]*(?P<width>\*|\d+)?(?P<precision>\.(?:\*|\d+)?)?[hlL]?(?P<type>.)"
)
SPEC = re.compile(r"(?:.?[<>=^])?[-+ ]?z?#?0?(?:\d+|\{\})?[,_]?(?:\.(?P<precision>\d+|\{\}))?(?P<type>[a-zA-Z%]?)$")


@dataclass(frozen=True, slots=True)
class Field:
    """A placeholder of a template.

    Attributes:
        argument: position (int) or name of the argument; None for a field that only takes a width.
        path: attribute and item accesses on the argument, as spelled: `.avg`, `[0]`.
    """

    argument: int | str
    path: str
    spec: str


def percent_fields(template: str) -> list[str | Field]:
    """Text and fields of a `%` template in order; `*` widths use up positions as they do at run time."""
    parts: list[str | Field] = []
    end, position = 0, 0
    for match in PERCENT.finditer(template):
        parts.append(template[end : match.start()])
        end = match.end()
        if match["type"] == "%":
            parts.append("%")
            continue
        position += (match["width"] == "*") + (match["precision"] == ".*")
        spec = (match["precision"] or "") + match["type"]
        if match["key"] is not None:
            parts.append(Field(match["key"], "", spec))
        else:
            parts.append(Field(position, "", spec))
            position += 1
    parts.append(template[end:])
    return parts


def format_fields(template: str) -> list[str | Field]:
    """Text and fields of a `str.format` template in order; empty for an invalid template."""
    parts: list[str | Field] = []
    automatic = 0
    try:
        for text, name, spec, _conversion in string.Formatter().parse(template):
            parts.append(text)
            if name is None:
                continue
            match = re.match(r"[^.\[]*", name)
            first = match[0] if match else ""
            path = name[len(first) :]
            if first == "":
                argument: int | str = automatic
                automatic += 1
            else:
                argument = int(first) if first.isdigit() else first
            parts.append(Field(argument, path, re.sub(r"\{[^}]*\}", "{}", spec or "")))
            automatic += (spec or "").count("{}")
    except ValueError:
        return []
    return parts


def decimals(spec: str) -> int | None:
    """Decimals of a format spec (6 for a bare `f` or `e`); None if it is not a float spec.

    A computed precision (`{:.{digits}f}`) counts as 4.
    """
    match = SPEC.match(spec)
    if match is None or match["type"] not in ("", "f", "F", "e", "E", "g", "G", "%"):
        return None
    if match["precision"] is None:
        return 6 if match["type"] in ("f", "F", "e", "E", "g", "G", "%") and match["type"] else None
    return 4 if match["precision"] == "{}" else int(match["precision"])


def is_integer_spec(spec: str) -> bool:
    """Whether a spec can only format integers or characters."""
    match = SPEC.match(spec)
    return match is not None and match["type"] in ("d", "i", "u", "x", "X", "o", "b", "c", "n") and match["type"] != ""
