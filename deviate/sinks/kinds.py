"""How an argument carries values. What stands in these objects is an expression in the analysis, a value in the guest.

A name (or prefix) is such an argument too; it is a `str` of its own where a keyword gives it, and None where the call
does not tell.
"""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Sequence


class Message(NamedTuple):
    """Text for a reader: values stand in it as text, or the argument is itself a value. All of a call are one line."""

    value: Any


class Template(NamedTuple):
    """A `%` template and the arguments that fill it, when there are any, as `logging` takes them."""

    template: Any
    arguments: Sequence[Any]


class FormatTemplate(NamedTuple):
    """A template of `str.format` and the arguments that fill it, when there are any."""

    template: Any
    arguments: Sequence[Any]
    named: Mapping[str, Any]


class Scalar(NamedTuple):
    """One value under a name; the full name is `prefix/name` where there is a prefix."""

    name: Any
    value: Any
    prefix: Any = None


class Record(NamedTuple):
    """Named values in one argument: anything that `dict()` takes, nested ones included."""

    mapping: Any
    prefix: Any = None


class Row(NamedTuple):
    """An argument that is a sequence of values, written as one row of a table.

    Where the type of the writer could not be known it may be a mapping, and is a `Record` then.
    """

    values: Any


class Table(NamedTuple):
    """Rows that were put together before: a list of sequences or mappings."""

    rows: Any


class Summary(NamedTuple):
    """A `tf.Summary` message, as an object or serialized: names and values are known when the graph has run."""

    summary: Any
