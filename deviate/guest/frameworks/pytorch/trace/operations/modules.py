"""Tracks which module runs, while operations of PyTorch are traced."""

from __future__ import annotations

from threading import get_ident

from .....annotations import Any
from ...replaced import Replaced
from ..modules import Layers


class Running:
    """Modules that are running in the training thread, outermost first, each with its backward pass."""

    def __init__(self, torch: Any, layers: Layers) -> None:
        self.module = torch.nn.Module
        self.task = getattr(torch._C, "_current_graph_task_id", lambda: -1)
        self.layers = layers
        self.stack: list[tuple[Any, int]] = []
        self.replaced = Replaced()

    def put_in(self) -> None:
        """Install hooks on calls of modules."""
        if self.replaced.is_in_place:
            return
        stack, thread, task = self.stack, get_ident(), self.task

        def make(original: Any) -> Any:
            def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
                if get_ident() != thread:
                    return original(self, *args, **kwargs)
                stack.append((self, task()))
                try:
                    return original(self, *args, **kwargs)
                finally:
                    stack.pop()

            return __call__

        self.replaced = Replaced()
        self.replaced.add(self.module, "__call__", make)
        self.replaced.put_in()

    def take_out(self) -> None:
        self.replaced.take_out()

    def path(self) -> str:
        """Path of the innermost running module; empty if there is none, or none called by the current backward pass."""
        if not self.stack:
            return ""
        module, task = self.stack[-1]
        if task != self.task():
            return ""
        return self.layers.path(module)
