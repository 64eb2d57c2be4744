"""The modules, optimizers and weights that a PyTorch script trains, referenced weakly."""

from __future__ import annotations

import gc
import weakref
from itertools import chain

from ...adapter_context import AdapterContext
from ...annotations import Any, Iterator


class Trained:
    """Everything that was trained and still exists."""

    def __init__(self, context: AdapterContext) -> None:
        self.capture = context.capture
        self.modules: dict[int, tuple[int, Any]] = {}
        self.optimizers: list[Any] = []
        self.weights: dict[int, Any] = {}
        self.forms: set[Any] = set()
        self.seen = 0

    def alive(self) -> Iterator[Any]:
        """Trained modules that still exist."""
        for _, reference in self.modules.values():
            module = reference()
            if module is not None:
                yield module

    def settle(self) -> None:
        """Collect unreachable models, as the result would otherwise depend on the garbage collector."""
        if self.seen > 1 or len(self.optimizers) > 1:
            gc.collect()

    def add(self, module: Any) -> None:
        """A training forward pass of this module begins."""
        entry = self.modules.get(id(module))
        if entry is None or entry[1]() is not module:
            self.modules[id(module)] = (self.seen, weakref.ref(module))
            self.seen += 1
            self.weights.update((id(weight), weakref.ref(weight)) for weight in module.parameters())
            if not any(hasattr(weight, "materialize") for weight in module.parameters()):
                self.forms.add(form(module))

    def has(self, module: Any) -> bool:
        """Whether weights of the module were trained, as part of it or of a module around it."""
        entry = self.modules.get(id(module))
        is_itself = entry is not None and entry[1]() is module  # its weights may have been replaced since
        return is_itself or any(self.knows(weight) for weight in module.parameters())

    def knows(self, weight: Any) -> bool:
        """Whether this is one of the recorded objects, not a new one with a reused id."""
        reference = self.weights.get(id(weight))
        return reference is not None and reference() is weight

    def is_like(self, module: Any) -> bool:
        """Whether a module has the same weight names and shapes as a trained one, which may no longer exist."""
        shapes = form(module)
        return shapes in self.forms or any(form(trained) == shapes for trained in self.alive())

    def tensors(self, *, is_whole: bool = False) -> Iterator[tuple[str, Any]]:
        """Parameters and buffers by name, without duplicates; weights of optimizers alone are named by position.

        Args:
            is_whole: also those that are kept by the adapter of a framework that stands on PyTorch.
        """
        seen = set() if is_whole else self.capture.ids_above()
        for name, tensor in chain(self._in_modules(), self.optimized_weights()):
            if id(tensor) not in seen and not hasattr(tensor, "materialize"):  # a lazy module that was not called yet
                seen.add(id(tensor))
                yield name, tensor

    def _in_modules(self) -> Iterator[tuple[str, Any]]:
        for number, reference in sorted(self.modules.values(), key=lambda entry: entry[0]):
            module = reference()
            if module is not None:
                for name, tensor in chain(module.named_parameters(), module.named_buffers()):
                    yield "%d.%s" % (number, name), tensor

    def optimized_weights(self) -> Iterator[tuple[str, Any]]:
        """Weights that optimizers update."""
        for number, reference in enumerate(self.optimizers):
            optimizer = reference()
            if optimizer is not None:
                for place, group in enumerate(optimizer.param_groups):
                    for index, weight in enumerate(group["params"]):
                        yield "optimizer %d.%d.%d" % (number, place, index), weight


def form(module: Any) -> tuple[tuple[str, Any], ...]:
    """Names and shapes of weights, without the prefixes of wrappers."""
    shapes = [(name, tuple(weight.shape)) for name, weight in module.named_parameters()]
    while shapes and all(name.startswith(("module.", "_orig_mod.")) for name, _ in shapes):
        shapes = [(name.partition(".")[2], shape) for name, shape in shapes]
    return tuple(shapes)
