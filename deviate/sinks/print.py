"""Lines for people."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import FormatTemplate, Message, Scalar
from .registry import declaring, sink

reports = declaring(__name__)

# `jax-debug`: values printed from compiled functions (`jax.debug.print`, as its reference page has it).


@sink("jax-debug", ["jax.debug.print", "jax.debug.print()"], ["*debug.print", "*debug.print()"])
def debug_print(
    fmt: Any = None,
    *args: Any,
    ordered: Any = None,
    partitioned: Any = None,
    skip_format_check: Any = None,
    _use_logging: Any = None,
    **named: Any,
) -> Iterator[FormatTemplate]:
    """`print(fmt, *args, **kwargs)`, or with the options alone, which gives a function of the same arguments."""
    if fmt is not None:
        yield FormatTemplate(fmt, args, named)


@sink("jax-debug", ["jax.experimental.host_callback.id_print"])
def id_print(arg: Any, *, what: Any = None, **options: Any) -> Iterator[Scalar]:
    """`id_print(arg, what=…)` of older versions."""
    yield Scalar(what, arg)


# `print`: the built-in function, and what launchers, consoles and frameworks offer in its place.


@sink(
    "print",
    [
        "builtins.print",
        "IPython.display.display",
        "IPython.core.display.display",
        "rich.print",
        "rich.console.Console().print",
        "rich.console.Console().log",
        "rich.get_console().print",
        "rich.get_console().log",
        "tensorflow.print",
        "tensorflow.compat.v1.print",
        "torch_xla.core.xla_model.master_print",
        "torch_xla.master_print",
    ],
    ["*.print", "*console.log", "master_print", "*.master_print", "display"],
)
def report(
    *values: Any, sep: Any = " ", end: Any = "\n", file: Any = None, flush: Any = False, **options: Any
) -> Iterator[Message]:
    """Every positional argument is part of the line."""
    for value in values:
        yield Message(value)


# One text or object; what follows are settings, in an order of each function's own.
reports(
    "message *",
    Message,
    "print",
    "click.echo click.secho typer.echo typer.secho pprint.pprint pprint.pp pprint.PrettyPrinter().pprint "
    "rich.pretty.pprint termcolor.cprint",
    "*.echo *.secho *.pprint",
)
