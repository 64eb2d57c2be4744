"""The page of statistics: every function of `stats` and of measures of stability that has a source, described."""

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

from deviate import stats
from deviate.stability import measures
from deviate.stats.registry import STATISTICS
from scripts.reference.docstrings import paragraphs, signature

HEAD = """\
# Statistics, one by one

Every statistic that deviate computes, from its docstring: what it is, what it needs, and the source of its formula.
[The numbers of a report](numbers.md) explains the values of a report and when they are shown. In
`deviate.stats`, samples are sequences of floats, one per run, the baseline first; a function returns a number, an
`Interval`, a `Test`, or an `Unavailable` with its reason; it never raises for scores and never returns NaN.

Written from `deviate/stats/` and `deviate/stability/measures/` by `python -m scripts.reference`.
"""


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    modules = sorted({function.__module__ for function in _functions().values()})
    return "\n".join([HEAD, *(line for module in modules for line in _module(module))]).rstrip() + "\n"


def _functions() -> dict[str, Callable[..., Any]]:
    registered = {name: statistic.function for name, statistic in STATISTICS.in_tree().items()}
    public = {name: getattr(room, name) for room in (stats, measures) for name in room.__all__}
    return {
        name: it
        for name, it in (registered | public).items()
        if inspect.isfunction(it) and "Source:" in (it.__doc__ or "")
    }


def _module(module: str) -> Iterator[str]:
    title = (sys.modules[module].__doc__ or "").strip().splitlines()[0].rstrip(".")
    yield f"## {title}\n"
    for name, function in sorted(_functions().items()):
        if function.__module__ != module:
            continue
        yield f"### {name}\n"
        yield f"```python\n{signature(function, name)}\n```\n"
        yield f"{paragraphs(function.__doc__)}\n"
        if name in STATISTICS.in_tree():
            yield f"{_needs(name)}\n"


def _needs(name: str) -> str:
    statistic = STATISTICS[name]
    of_each = "" if statistic.n_samples == 1 else " of each side"
    return f"Needs {statistic.minimum} {'pairs' if statistic.is_paired else f'runs{of_each}'}."
