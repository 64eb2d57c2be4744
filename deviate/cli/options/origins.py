"""Where the values of options come from: flags, and `DEVIATE_*` variables, which stand between flags and the file."""

import os
import re
from collections.abc import Container, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import typer

from deviate.base.redaction import redact
from deviate.base.setting_variables import variable_of
from deviate.errors import InputError

if TYPE_CHECKING:
    from deviate.project.prepare import PreparedScript

_CALL: ContextVar[typer.Context | None] = ContextVar("_CALL", default=None)


@contextmanager
def origins_in(context: typer.Context) -> Iterator[None]:
    """Carry out a call of which `origins` tells; messages on values from variables name these."""
    token = _CALL.set(context)
    try:
        yield
    except InputError as error:
        raise _with_variables(error) from error
    finally:
        _CALL.reset(token)


def origins() -> dict[str, str]:
    """The flag or the variable that gave each option of this call its value, by parameter; defaults are left out."""
    return {str(option.name): origin for option, origin in _given()}


def given_words(names: Container[str]) -> Iterator[str]:
    """The flags of this call for these options, with their values as words; repeated ones are repeated."""
    context = _CALL.get()
    for option, _ in _given():
        if context is not None and option.name in names:
            value = context.params[option.name]
            for one in value if isinstance(value, list | tuple) else [value]:
                yield from (max(option.opts, key=len), *([] if one is True else [str(one)]))


def is_from_variable(name: str) -> bool:
    """Whether an option has its value from a variable, which a flag that excludes the option overrides."""
    return origins().get(name) == variable_of(name)


def variables_in_use() -> tuple[str, ...]:
    """Variables that set an option of this call, with their values, without secrets."""
    return tuple(
        f"{origin}={redact(os.environ[origin])}" for name, origin in sorted(origins().items()) if is_from_variable(name)
    )


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
    if option is not None and context is not None and option.envvar == _origin_of(option, context):
        return f"Invalid value for {option.envvar}: {error.message}"
    return error.format_message()


def _with_variables(error: InputError) -> InputError:
    """The error with variables in place of the flags that were not given: `DEVIATE_EXECUTOR=x`, not `--executor x`.

    Where the message names none of these flags, the hint names the variables, as one of them may be the reason.
    """
    message = error.message
    variables = {max(option.opts, key=len): origin for option, origin in _given() if origin == option.envvar}
    for flag, variable in variables.items():
        value = re.escape(os.environ.get(variable, ""))
        message = re.sub(rf"(?<![\w-]){flag} (?=[\"']?{value})", f"{variable}=", message)
        message = re.sub(rf"(?<![\w-]){flag}(?![\w-])", variable, message)
    if message != error.message or not variables:
        return type(error)(message, error.hint)
    return type(error)(message, f"{error.hint} (set: {', '.join(sorted(variables.values()))})".strip())


def _given() -> Iterator[tuple[typer.core.TyperOption, str]]:
    """The options of this call that a flag or a variable sets, and which."""
    context = _CALL.get()
    for option in context.command.params if context is not None else ():
        if isinstance(option, typer.core.TyperOption) and (origin := _origin_of(option, context)):
            yield option, origin


def _origin_of(option: typer.core.TyperOption, context: typer.Context | None) -> str:
    """The flag or the variable that gave an option its value; empty for a default, and for what acts at once."""
    source = context.get_parameter_source(str(option.name)) if context is not None and not option.is_eager else None
    if source is None:
        return ""
    return {"ENVIRONMENT": str(option.envvar), "COMMANDLINE": max(option.opts, key=len)}.get(source.name, "")
