"""Probes in what modules of Flax linen and Haiku return, whose methods these libraries let others intercept."""

from __future__ import annotations

import sys

from ...annotations import Any, Callable
from ...regions import Held
from .trace import JaxTrace

METHOD = "__call__"
UNPROBED = ("setup", "__init__")
"""Methods that build a module."""


class MethodProbes:
    """Inserts probes while a model runs."""

    def __init__(self, jax_trace: JaxTrace) -> None:
        self.trace = jax_trace.trace
        self.probes = jax_trace.probes
        self.is_running = False

    def run(self, call: Callable[[], Any], library: str) -> Any:
        """Call a model of the library, which has a function `intercept_methods`."""
        module = sys.modules.get(library)
        if self.is_running or not self.probes.is_open or module is None:
            return call()
        with Held(self, "is_running", True), module.intercept_methods(self._intercept):
            return call()

    def _intercept(self, call: Any, args: Any, kwargs: Any, context: Any) -> Any:
        frame = sys._getframe(1)
        result = call(*args, **kwargs)
        name = context.method_name
        if name in UNPROBED or not self.probes.is_open:
            return result
        path = _path(context.module)
        return self.probes.module(path if name == METHOD else "%s.%s" % (path, name), result, self.trace.place(frame))


def _path(module: Any) -> str:
    """Path of a module; that of the outermost one of Flax is its class."""
    path = getattr(module, "module_name", None)  # of Haiku
    return str(path) if path is not None else "/".join(module.path) or type(module).__name__
