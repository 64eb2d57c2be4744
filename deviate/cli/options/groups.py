"""Option groups: a command takes one value for many flags, and each field of its class becomes a flag."""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, TypeVar, dataclass_transform, get_type_hints

import typer

Verb = TypeVar("Verb", bound=Callable[..., None])
Group = TypeVar("Group")
GROUPS: set[type] = set()


def option(metavar: str | None, text: str, *names: str, **settings: Any) -> Any:
    """A flag, as typer has it: the name of its value, its help, and its names where they are not the parameter's."""
    return typer.Option(*names, metavar=metavar, help=text, **settings)


def flag(metavar: str | None, text: str, *names: str, default: Any = None, **settings: Any) -> Any:
    """A field of a group that is a flag: the arguments of `option`, and the default."""
    return dataclasses.field(default=default, metadata={"option": option(metavar, text, *names, **settings)})


@dataclass_transform(frozen_default=True)
def option_group(group: type[Group]) -> type[Group]:
    """A frozen dataclass whose fields are flags, or annotated as typer has it."""
    options = dataclasses.dataclass(frozen=True, slots=True)(group)
    GROUPS.add(options)
    return options


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
    parameters = {}
    for field in dataclasses.fields(group):
        hint = Annotated[(hints[field.name], *field.metadata.values())] if field.metadata else hints[field.name]
        parameters[field.name] = inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hint
        )
    return parameters
