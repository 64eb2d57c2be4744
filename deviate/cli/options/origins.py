"""Where the values of options come from: flags, and `DEVIATE_*` variables, which stand between flags and the file."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import typer

from deviate.base.redaction import redact
from deviate.base.setting_variables import SEPARATOR, has_variable, misspelled, variable_of
from deviate.errors import InputError

if TYPE_CHECKING:
    from deviate.project.prepare import PreparedScript

_ORIGINS: ContextVar[Mapping[str, str]] = ContextVar("_ORIGINS", default=MappingProxyType({}))


def attach_variables(verb: str, parameters: Sequence[Any]) -> None:
    """Let options of a verb take their values from variables, as far as `SETTINGS` has one for them."""
    for option in parameters:
        if option.param_type_name == "option" and has_variable(str(option.name), verb):
            option.envvar = variable_of(str(option.name))
            option.envvar_list_splitter = SEPARATOR


@contextmanager
def remember_origins(context: typer.Context, options: Sequence[typer.core.TyperOption]) -> Iterator[None]:
    """Make the origins of the options of a call known to what it does, and to the messages on their values."""
    origin_of = {}
    for option in options:
        source = context.get_parameter_source(str(option.name))
        if source is not None and source.name == "ENVIRONMENT":
            origin_of[str(option.name)] = str(option.envvar)
        elif source is not None and source.name == "COMMANDLINE":
            origin_of[str(option.name)] = max(option.opts, key=len)
    token = _ORIGINS.set(MappingProxyType(origin_of))
    try:
        yield
    except InputError as error:
        variables = {
            flag: origin_of[name] for name, flag in _flags(options) if origin_of.get(name) == variable_of(name)
        }
        if not variables:
            raise
        raise _with_variables(error, variables) from error
    finally:
        _ORIGINS.reset(token)


def origins() -> Mapping[str, str]:
    """The flag or the variable that gave each option of this call its value, by parameter; defaults are left out."""
    return _ORIGINS.get()


def is_from_variable(name: str) -> bool:
    """Whether an option has its value from a variable, which a flag that excludes the option overrides."""
    return origins().get(name) == variable_of(name)


def variables_in_use() -> tuple[str, ...]:
    """Variables that set an option of this call, with their values, without secrets."""
    names = {origin for name, origin in origins().items() if origin == variable_of(name)}
    return tuple(f"{name}={redact(os.environ[name])}" for name in sorted(names))


def plan_origins(prepared: "PreparedScript", *, has_command: bool) -> tuple[tuple[str, str], ...]:
    """The origins of what a plan is made of: those of the call, and `deviate.toml` for what it alone sets.

    Args:
        has_command: whether the call has a command of its own.
    """
    from deviate.project.command import CONFIG

    config = prepared.config
    in_file = {
        "command": not has_command,
        "runs": config.runs is not None,
        "variants": config.variants is not None,
        "capture": config.capture.keep is not None,
        "capture_every": config.capture.every is not None,
        "capture_limit": config.capture.limit is not None,
        "tta": config.capture.tta is not None,
        "metric": any(metric.is_primary for metric in config.metrics or ()),
        "margin": any(metric.margin is not None for metric in config.metrics or ()),
    }
    from_file = {name: CONFIG for name, is_set in in_file.items() if is_set}
    return tuple({**from_file, **origins()}.items())


def describe_misuse(error: typer.TyperException) -> str:
    """What the parser refuses, with the variable where the value is from one."""
    option, context = getattr(error, "param", None), getattr(error, "ctx", None)
    variable = getattr(option, "envvar", None)
    if option is not None and context is not None and variable:
        source = context.get_parameter_source(option.name)
        if source is not None and source.name == "ENVIRONMENT":
            return f"Invalid value for {variable}: {error.message}"
    return error.format_message()


def warnings_on_variables() -> Iterator[str]:
    """Sentences on variables that look like one of a setting and are ignored."""
    for name, near in misspelled(os.environ):
        yield f"{name} is no variable of a setting, and is ignored; did you mean {near}?"


def _flags(options: Sequence[typer.core.TyperOption]) -> Iterator[tuple[str, str]]:
    for option in options:
        yield from ((str(option.name), flag) for flag in option.opts if flag.startswith("--"))


def _with_variables(error: InputError, variable_of_flag: Mapping[str, str]) -> InputError:
    """The error with variables in place of the flags that were not given: `DEVIATE_EXECUTOR=x`, not `--executor x`.

    Where the message names none of these flags, the hint names the variables, as one of them may be the reason.
    """
    message = error.message
    for flag, variable in variable_of_flag.items():
        value = re.escape(os.environ.get(variable, ""))
        message = re.sub(rf"(?<![\w-]){flag} (?=[\"']?{value})", f"{variable}=", message)
        message = re.sub(rf"(?<![\w-]){flag}(?![\w-])", variable, message)
    if message != error.message:
        return type(error)(message, error.hint)
    in_use = f"(set: {', '.join(sorted(set(variable_of_flag.values())))})"
    return type(error)(message, f"{error.hint} {in_use}".strip())
