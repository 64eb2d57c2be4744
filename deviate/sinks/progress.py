"""Progress bars that show values."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Message, Record
from .registry import Carried, by_keyword, declaring, given, methods, sink

reports = declaring(__name__)

# `progress`: progress bars that show values, other than tqdm's.


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


# A line, or the cells of one.
reports("line -table", Message, "progress", "fastprogress.*master_bar().write", "mb.write *.mb.write *master_bar.write")


@sink("progress", ["ignite.*ProgressBar().log_message", "alive_progress.alive_bar().text"], ["*bar.log_message"])
def show_text(message: Any = None, *, text: Any = None) -> Iterator[Message]:
    """One text."""
    line = given(message, text)
    if line is not None:
        yield Message(line)


# `tqdm`: what stands before and behind the bar, and lines written above it.
#
# `tqdm(…, desc=…)` is no report: it is read once, before the first round.


# `tqdm`, `trange` and `tqdm_notebook`, of tqdm itself, tqdm.auto, tqdm.notebook, tqdm.std, tqdm.rich, …
BARS = ("tqdm.*tqdm()", "tqdm.*trange()", "tqdm.*tqdm_notebook()", "tqdm.*tnrange()")


@sink("tqdm", methods(BARS, ["set_postfix"]), ["*.set_postfix"])
def set_postfix(ordered_dict: Any = None, refresh: Any = True, **values: Any) -> Iterator[Carried]:
    """Named values in a mapping, as keywords, or both."""
    if ordered_dict is not None:
        yield Record(ordered_dict)
    yield from by_keyword(values)


@sink(
    "tqdm",
    methods(BARS, ["set_postfix_str", "set_description", "set_description_str", "display"]),
    ["*.set_postfix_str", "*.set_description", "*.set_description_str", "*bar.display"],
)
def set_text(*texts: Any, s: Any = None, desc: Any = None, msg: Any = None, **options: Any) -> Iterator[Message]:
    """One text first, under a name of each method's own when it is given by keyword."""
    for text in (*texts[:1], s, desc, msg):
        if text is not None:
            yield Message(text)


# One line, above the bar.
reports("s -file -end -nolock", Message, "tqdm", "tqdm.*.write", "*tqdm.write *bar.write")
