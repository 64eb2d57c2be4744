"""Measure how much repeated training runs of one script differ, and what the differences mean.

In a training script: `deviate.log(name, value)`, `log_predictions`, `log_weights`, `log_groups`.
In a notebook: `deviate.compare(baseline, candidate)`, `deviate.describe(scores)`, `deviate.read("name")`.
"""

from deviate.logs import log as log
from deviate.logs import log_groups as log_groups
from deviate.logs import log_predictions as log_predictions
from deviate.logs import log_weights as log_weights

__version__ = "0.1.0"
__all__ = ["Results", "compare", "describe", "log", "log_groups", "log_predictions", "log_weights", "read"]

TYPE_CHECKING = False  # importing typing would take longer than everything else here
if TYPE_CHECKING:
    from deviate.api import Results, compare, describe, read
else:

    def __getattr__(name: str) -> object:
        """Import what notebooks use when it is first used: a training script that imports deviate waits for nothing."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        import importlib

        return getattr(importlib.import_module("deviate.api"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
