"""Sink `progress`: progress bars that show values, other than tqdm's."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Message, Record
from .registry import Carried, by_keyword, given, methods, sink


@sink(
    "progress",
    methods(["keras.*Progbar()", "tensorflow.*Progbar()"], ["update", "add"]),
    methods(["*progbar", "*prog_bar"], ["update", "add"]),
)
def keras_update(current: Any = None, values: Any = None, *settings: Any, **options: Any) -> Iterator[Record]:
    """Progbar of Keras: `update(current, values, finalize)` and `add(n, values)`; values are pairs."""
    if values is not None:
        yield Record(values)


@sink("progress", ["rich.progress.Progress().update"], ["*progress.update"])
def rich_update(
    task_id: Any = None,
    *,
    total: Any = None,
    completed: Any = None,
    advance: Any = None,
    description: Any = None,
    visible: Any = None,
    refresh: Any = None,
    **fields: Any,
) -> Iterator[Carried]:
    """Progress of rich: a description and fields that the columns show."""
    if description is not None:
        yield Message(description)
    yield from by_keyword(fields)


@sink("progress", ["progressbar.*ProgressBar().update"])
def progressbar_update(value: Any = None, force: Any = None, **values: Any) -> Iterator[Carried]:
    """Variables of progressbar2's bars."""
    yield from by_keyword(values)


@sink("progress", ["fastprogress.*master_bar().write"], ["mb.write", "*.mb.write", "*master_bar.write"])
def fastprogress_write(line: Any, table: Any = False) -> Iterator[Message]:
    """A line, or the cells of one."""
    yield Message(line)


@sink("progress", ["ignite.*ProgressBar().log_message", "alive_progress.alive_bar().text"], ["*bar.log_message"])
def show_text(message: Any = None, *, text: Any = None) -> Iterator[Message]:
    """One text."""
    line = given(message, text)
    if line is not None:
        yield Message(line)
