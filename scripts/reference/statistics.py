"""The page of statistics: every function of `stats` and of measures of stability that has a source, described."""

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

import deviate.stability.measures
import deviate.stats
from deviate.stats.registry import STATISTICS
from scripts.reference.docstrings import paragraphs, signature

HEAD = """\
# Statistics, one by one

Every statistic that deviate computes: what it is, what it needs, and the source of its formula. [What every number
is](numbers.md) explains the numbers of a report and when they are shown.

In `deviate.stats` samples are sequences of floats, one per run, the baseline first. A function returns a number, an
`Interval`, a `Test`, or an `Unavailable` with its reason. It never raises an error for scores and never returns NaN.

Written from `deviate/stats/` and `deviate/stability/measures/` by `python -m scripts.reference`.
"""


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    modules = sorted({function.__module__ for function in _functions().values()})
    return "\n".join([HEAD, *(line for module in modules for line in _module(module))]).rstrip() + "\n"


def _functions() -> dict[str, Callable[..., Any]]:
    registered = {name: statistic.function for name, statistic in STATISTICS.in_tree().items()}
    rooms = (deviate.stats, deviate.stability.measures)
    found = [it.name for room in rooms for it in pkgutil.walk_packages(room.__path__, f"{room.__name__}.")]
    public = {
        name: it
        for module in map(importlib.import_module, found)
        for name, it in vars(module).items()
        if not name.startswith("_") and getattr(it, "__module__", "") == module.__name__
    }
    return {
        name: it
        for name, it in (registered | public).items()
        if inspect.isfunction(it) and "Source:" in (it.__doc__ or "")
    }


def _module(module: str) -> Iterator[str]:
    title = " ".join((sys.modules[module].__doc__ or "").split("\n\n")[0].split()).rstrip(".")
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
