"""Sweeps: an experiment per value of an argument, started together and read as one."""

import dataclasses
import re
from collections.abc import Sequence

from deviate.errors import InputError
from deviate.model.plan import SweptValue
from deviate.project.prepare import PreparedScript
from deviate.replay.experiments import Request

ENVIRONMENT = "env:"
"""Prefix of an argument that is an environment variable."""
FORM = 'write it as --sweep "--batch-size=16,64,256", "batch_size=16,64" or "env:BATCH=16,64"'
NOT_IN_NAME = re.compile(r"[^A-Za-z0-9._+=@-]+")


@dataclasses.dataclass(frozen=True, slots=True)
class Sweep:
    """An argument and its distinct values, in order."""

    argument: str
    values: tuple[str, ...]


def parse_sweep(text: str) -> Sweep:
    """An argument and its values from `NAME=VALUE,VALUE`.

    Raises:
        InputError: there is no name, or fewer than two different values.
    """
    argument, equals, listed = text.strip().partition("=")
    values = tuple(dict.fromkeys(value.strip() for value in listed.split(",") if value.strip()))
    if not equals or not argument.removeprefix(ENVIRONMENT).strip("-+"):
        raise InputError(f"--sweep {text!r} names no argument", FORM)
    if len(values) < 2:
        raise InputError(f"--sweep {text!r} needs two values", FORM)
    return Sweep(argument, values)


def with_value(words: Sequence[str], argument: str, value: str) -> tuple[str, ...]:
    """Set an argument of a command: at its last occurrence, or else at the end.

    An option is `--batch-size 32` or `--batch-size=32`; an argument without dashes is an override, `batch_size=32`.

    >>> with_value(("train.py", "--lr", "1", "-v"), "--lr", "2")
    ('train.py', '--lr', '2', '-v')
    >>> with_value(("train.py",), "lr", "2")
    ('train.py', 'lr=2')
    """
    changed = list(words)
    is_option = argument.startswith("-")
    for at in reversed(range(len(changed))):
        if changed[at].startswith(f"{argument}=") or (
            not is_option and changed[at].lstrip("+").startswith(f"{argument}=")
        ):
            changed[at] = f"{changed[at].partition('=')[0]}={value}"
            return tuple(changed)
        if is_option and changed[at] == argument and at + 1 < len(changed):
            changed[at + 1] = value
            return tuple(changed)
    return (*changed, *((argument, value) if is_option else (f"{argument}={value}",)))


def points(
    sweep: Sweep, stem: str, prepared: PreparedScript, request: Request
) -> dict[str, tuple[PreparedScript, Request]]:
    """What to run for each value, by experiment name: `<stem>-batch-size-16`.

    Raises:
        InputError: two values give one name.
    """
    requests: dict[str, tuple[PreparedScript, Request]] = {}
    for value in sweep.values:
        short = NOT_IN_NAME.sub("_", sweep.argument.removeprefix(ENVIRONMENT).lstrip("-+"))
        name = f"{stem}-{short}-{NOT_IN_NAME.sub('_', value)}"
        if name in requests:
            raise InputError(f"--sweep: two values give the name {name}", "use values that differ in letters or digits")
        point_request = dataclasses.replace(request, sweep=SweptValue(stem, sweep.argument, value))
        target = prepared.target
        if sweep.argument.startswith(ENVIRONMENT):
            variable = sweep.argument.removeprefix(ENVIRONMENT)
            environment = tuple({**dict(request.environment), variable: value}.items())
            point_request = dataclasses.replace(point_request, environment=environment)
        else:
            target = dataclasses.replace(target, command=with_value(target.command, sweep.argument, value))
        requests[name] = (dataclasses.replace(prepared, target=target), point_request)
    return requests
