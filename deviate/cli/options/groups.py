"""Option groups: a command takes one value for many flags, and each field of its class becomes a flag."""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, get_type_hints

Verb = TypeVar("Verb", bound=Callable[..., None])
Group = TypeVar("Group", bound=type)
GROUPS: set[type] = set()


def option_group(group: Group) -> Group:
    """Mark a frozen dataclass, whose fields have typer annotations, as an option group."""
    GROUPS.add(group)
    return group


def expand_groups(verb: Verb, flags: str = "") -> Verb:
    """Convert a command for typer: each group parameter is replaced by the fields of the group.

    Args:
        verb: its parameters are taken by keyword. One that is no group goes before a field of its name, a field of an
            earlier group before that of a later one, which then has its default.
        flags: the names of parameters and fields in the order of `--help`, which cuts across the groups. Fields that
            are not named are no flags of this verb, and have their defaults. Empty for the order of the parameters.

    Raises:
        TypeError: a name stands for nothing, or a parameter that is no group is not named.
    """
    signature = inspect.signature(verb)
    groups = {
        name: parameter.annotation for name, parameter in signature.parameters.items() if parameter.annotation in GROUPS
    }
    parameters = {name: parameter for name, parameter in signature.parameters.items() if name not in groups}
    single = set(parameters)
    fields_of: dict[str, list[str]] = {}
    for name, group in groups.items():
        fields = {field: parameter for field, parameter in _parameters_of(group).items() if field not in parameters}
        fields_of[name] = [field for field in fields if not flags or field in flags.split()]
        parameters |= fields
    order = flags.split() or list(parameters)
    if strangers := (set(order) - parameters.keys()) | (single - set(order)):
        raise TypeError(f"{verb.__name__}: {', '.join(sorted(strangers))} is no parameter, or has no place in the help")

    @functools.wraps(verb)
    def run(**values: Any) -> None:
        filled = {name: group(**{field: values[field] for field in fields_of[name]}) for name, group in groups.items()}
        verb(**{name: values[name] for name in single}, **filled)

    chosen = [parameters[name] for name in order]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in chosen}
    run.__signature__ = signature.replace(parameters=chosen)  # type: ignore[attr-defined]
    return run  # type: ignore[return-value]


def _parameters_of(group: type) -> dict[str, inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return {
        field.name: inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in dataclasses.fields(group)
    }
