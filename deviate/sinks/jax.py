"""Sink `jax-debug`: values printed from compiled functions (`jax.debug.print`, as its reference page has it)."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import FormatTemplate, Scalar
from .registry import sink


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
