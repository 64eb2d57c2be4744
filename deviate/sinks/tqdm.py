"""Sink `tqdm`: what stands before and behind the bar, and lines written above it.

`tqdm(…, desc=…)` is no report: it is read once, before the first round.
"""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Message, Record
from .registry import Carried, by_keyword, methods, sink

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


@sink("tqdm", ["tqdm.*.write"], ["*tqdm.write", "*bar.write"])
def write(s: Any, file: Any = None, end: Any = "\n", nolock: Any = False) -> Iterator[Message]:
    """One line, above the bar."""
    yield Message(s)
