"""How an argument carries values. What stands in these objects is an expression in the analysis, a value in the guest.

A name (or prefix) is such an argument too; it is a `str` of its own where a keyword gives it, and None where the call
does not tell.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence


class Message:
    """Text for a reader: values stand in it as text, or the argument is itself a value. All of a call are one line."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Template:
    """A `%` template and the arguments that fill it, when there are any, as `logging` takes them."""

    def __init__(self, template: Any, arguments: Sequence[Any]) -> None:
        self.template = template
        self.arguments = arguments


class FormatTemplate:
    """A template of `str.format` and the arguments that fill it, when there are any."""

    def __init__(self, template: Any, arguments: Sequence[Any], named: Mapping[str, Any]) -> None:
        self.template = template
        self.arguments = arguments
        self.named = named


class Scalar:
    """One value under a name; the full name is `prefix/name` where there is a prefix."""

    def __init__(self, name: Any, value: Any, prefix: Any = None) -> None:
        self.name = name
        self.value = value
        self.prefix = prefix


class Record:
    """Named values in one argument: anything that `dict()` takes, nested ones included."""

    def __init__(self, mapping: Any, prefix: Any = None) -> None:
        self.mapping = mapping
        self.prefix = prefix


class Row:
    """An argument that is a sequence of values, written as one row of a table.

    Where the type of the writer could not be known it may be a mapping, and is a `Record` then.
    """

    def __init__(self, values: Any) -> None:
        self.values = values


class Table:
    """Rows that were put together before: a list of sequences or mappings."""

    def __init__(self, rows: Any) -> None:
        self.rows = rows


class Summary:
    """A `tf.Summary` message, as an object or serialized: names and values are known when the graph has run."""

    def __init__(self, summary: Any) -> None:
        self.summary = summary
