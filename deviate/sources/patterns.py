"""Patterns of sources as rows: calls of named functions with conditions on their arguments, and settings."""

from collections.abc import Callable, Iterable

import libcst as cst

from deviate.analysis.resolve.tree import constant_number, constant_text
from deviate.sources.catalogue import Matches, Pattern
from deviate.sources.survey import Called, Survey

Condition = Callable[[Called, Survey], bool]
ABSENT = object()
"""In place of the value of an argument that is not given."""


def named(
    names: Iterable[str] | str, message: str, *conditions: Condition, methods_of: Iterable[str] = (), device: str = ""
) -> Pattern:
    """Calls of library functions by their full names for which all conditions hold.

    Args:
        message: what happens there, with the last name of the function in place of `{}`.
        methods_of: packages; the names are of methods of their objects, or of objects of unknown type.
    """
    prefixes = tuple(f"{package}." if package else "" for package in methods_of)

    def find(survey: Survey) -> Matches:
        for call in survey.methods(names, prefixes) if prefixes else survey.calls(names):
            if all(condition(call, survey) for condition in conditions):
                yield call.node, message.format(call.last), device

    return find


def has(place: int | None = None, /, **values: object) -> Condition:
    """Calls with a constant value of one argument, or with one of several: True, False, None, a number or text, ABSENT.

    Args:
        place: of the argument, if it can be given without its name.
    """
    ((name, wanted),) = values.items()
    among = wanted if isinstance(wanted, tuple) else (wanted,)
    return lambda call, _: is_among(constant(call.argument(place, name)), among)


def has_not(place: int | None = None, /, **values: object) -> Condition:
    """Calls with another value of the argument than these, or none."""
    is_so = has(place, **values)
    return lambda call, survey: not is_so(call, survey)


def is_among(value: object, values: Iterable[object]) -> bool:
    """Whether a constant is one of these; 1 is not True."""
    return any(value is other or (value == other and not isinstance(value, bool)) for other in values)


def assigned(name: str, message: str, is_so: Callable[[object], bool], device: str = "") -> Pattern:
    """Assignments to an attribute of a library, by its full name, of a value for which this holds."""

    def find(survey: Survey) -> Matches:
        for target, value, _ in survey.assignments_to(name):
            if is_so(constant(value)):
                yield target, message, device

    return find


def constant(node: cst.CSTNode | None) -> object:
    """The constant that an expression is; the expression itself where it is none, and ABSENT without one."""
    if node is None:
        return ABSENT
    if isinstance(node, cst.Name) and node.value in ("True", "False", "None"):
        return {"True": True, "False": False, "None": None}[node.value]
    text, number = constant_text(node), constant_number(node)
    return text if text is not None else number if number is not None else node
