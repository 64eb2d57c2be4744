"""Which module runs: the calls of modules, one in another, while operations of PyTorch are traced."""

from __future__ import annotations

from threading import get_ident

from .....annotations import Any
from .....seeds import wraps_like
from ..modules import Layers


class Running:
    """The modules that are running in the thread that trains, the outermost first, each with its backward pass."""

    def __init__(self, torch: Any, layers: Layers) -> None:
        self.module = torch.nn.Module
        self.task = getattr(torch._C, "_current_graph_task_id", lambda: -1)
        self.layers = layers
        self.stack: list[tuple[Any, int]] = []
        self.original: Any = None
        self.wrapper: Any = None

    def put_in(self) -> None:
        """Follow the calls of modules."""
        if self.wrapper is not None:
            return
        original, stack, thread, task = self.module.__call__, self.stack, get_ident(), self.task

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            if get_ident() != thread:
                return original(self, *args, **kwargs)
            stack.append((self, task()))
            try:
                return original(self, *args, **kwargs)
            finally:
                stack.pop()

        self.original = original
        self.module.__call__ = self.wrapper = wraps_like(__call__, original)

    def take_out(self) -> None:
        if self.wrapper is not None and self.module.__call__ is self.wrapper:
            self.module.__call__ = self.original
            self.wrapper = None

    def path(self) -> str:
        """Path of the innermost; empty where none is running, or none that the backward pass at work has called."""
        if not self.stack:
            return ""
        module, task = self.stack[-1]
        if task != self.task():
            return ""
        return self.layers.path(module)
