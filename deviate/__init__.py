"""Measure how much repeated training runs of one script differ, and what the differences mean.

In a training script: `deviate.log(name, value)`, `log_predictions`, `log_weights`, `log_groups`.
In a notebook: `deviate.compare(baseline, candidate)`, `deviate.describe(scores)`, `deviate.read("name")`.
"""

from deviate.logs import log as log
from deviate.logs import log_groups as log_groups
from deviate.logs import log_predictions as log_predictions
from deviate.logs import log_weights as log_weights

__version__ = "0.1.0"
NOTEBOOK = ("Results", "compare", "describe", "read")


def __getattr__(name: str) -> object:
    """What notebooks use is imported with its first use: a training script that imports deviate waits for nothing."""
    if name in NOTEBOOK:
        import importlib

        return getattr(importlib.import_module("deviate.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *NOTEBOOK])
