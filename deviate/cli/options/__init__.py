"""Option groups: a command takes one value for many flags, and each field of its class becomes a flag."""

import dataclasses
import functools
import inspect
import re
import shlex
import shutil
from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar, dataclass_transform, get_type_hints

import typer

from deviate.cli.options.layout import DEBUG, HELP_ALL, show_all_options, show_decisions
from deviate.errors import InputError

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
        flags: the names of parameters and fields. Fields that are not named are no flags of this verb, and have their
            defaults. Empty for all of them.

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
        raise TypeError(f"{verb.__name__}: {', '.join(sorted(strangers))} is no parameter, or is not named as a flag")

    @functools.wraps(verb)
    def run(**values: Any) -> None:
        filled = {name: group(**{field: values[field] for field in fields_of[name]}) for name, group in groups.items()}
        verb(**{name: values[name] for name in single}, **filled)

    chosen = [*(parameters[name] for name in order), DEBUG_FLAG, HELP_ALL_FLAG]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in chosen}
    run.__signature__ = signature.replace(parameters=chosen)  # type: ignore[attr-defined]
    return run  # type: ignore[return-value]


HELP_ALL_FLAG = inspect.Parameter(
    "help_all", inspect.Parameter.KEYWORD_ONLY, default=False,
    annotation=Annotated[
        bool, typer.Option(HELP_ALL, is_eager=True, callback=show_all_options, help="Show all options.")
    ],
)  # fmt: skip


DEBUG_FLAG = inspect.Parameter(
    "debug", inspect.Parameter.KEYWORD_ONLY, default=False,
    annotation=Annotated[
        bool, typer.Option(DEBUG, is_eager=True, callback=show_decisions, help="Log decisions to standard error.")
    ],
)  # fmt: skip


def _parameters_of(group: type) -> dict[str, inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    parameters = {}
    for field in dataclasses.fields(group):
        hint = Annotated[(hints[field.name], *field.metadata.values())] if field.metadata else hints[field.name]
        parameters[field.name] = inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hint
        )
    return parameters


# Values of options: durations, choices, pairs, commands; errors state valid values.

DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d|)")
SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def seconds(text: str | None, flag: str) -> float | None:
    """Parse a duration in seconds; None for None.

    Raises:
        InputError: it is none, or zero.
    """
    if text is None:
        return None
    match = DURATION.fullmatch(text.strip().lower())
    value = float(match[1]) * SECONDS[match[2]] if match else 0.0
    if value <= 0:
        raise InputError(f"{flag} {text} is no time", f"write seconds, or a unit: {flag} 90s, {flag} 20m, {flag} 8h")
    return value


def choice(text: str, flag: str, words: Sequence[str]) -> str:
    """Check that a value is one of several words. Raises InputError otherwise."""
    if text not in words:
        import difflib  # not for calls without a mistake

        near = difflib.get_close_matches(text, words, 1)
        hint = f"did you mean {flag} {near[0]}?" if near else f"for example {flag} {words[0]}"
        raise InputError(f"{flag} {text} is none of {', '.join(words)}", hint)
    return text


def pair(text: str, flag: str, form: str) -> tuple[str, str]:
    """Split at the first equals sign. Raises InputError if there is none."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"{flag} {text} is not of the form {form}", f"write it as {flag} {form}")
    return name, value


def number_of(text: str, value: str, flag: str, example: str) -> float:
    """Parse a number. Raises InputError if it is invalid; `example` is a valid value for the message."""
    try:
        return float(value)
    except ValueError:
        raise InputError(f"{flag} {text}: {value!r} is no number", f"write it as {flag} {example}") from None


def commands(texts: Sequence[str] | None, flag: str) -> tuple[tuple[str, ...], ...]:
    """Split a command like a shell. Raises InputError for an unclosed quotation or an empty command."""
    split = []
    for text in texts or ():
        try:
            words = tuple(shlex.split(text))
        except ValueError as error:
            raise InputError(f"{flag} {text!r}: {error}", "close the quotation") from error
        if not words:
            raise InputError(f"{flag} is empty", f'give a command: {flag} "python eval.py"')
        split.append(words)
    return tuple(split)


def interpreters(paths: Sequence[str] | None, *, has_container: bool) -> Sequence[str]:
    """Interpreters of `--python`. Raises InputError for a missing one; those in a container are not checked."""
    for path in paths or ():
        if not has_container and shutil.which(path) is None:
            raise InputError(f"--python {path}: there is no such interpreter", "name one as python3.12, or by its path")
    return paths or ()
