"""Modules in the trace of PyTorch: names of their parameters and buffers, the output of each, and its gradient.

Names are relative to the outermost modules. Gradients are read by tensor hooks: full backward hooks of modules would
wrap inputs and outputs in views, which breaks programs that change these in place.
"""

from __future__ import annotations

import weakref
from sys import _getframe

from ....annotations import Any, Iterator
from ....observers.trace import MODULES, TraceWriter
from ....recorder import Recorder
from .tensors import Tensors

WRAPPERS = {"DistributedDataParallel": "module", "DataParallel": "module", "OptimizedModule": "_orig_mod"}
"""Modules that stand around the user's, and the name under which they hold it."""


class ModuleNames:
    """Outermost modules in order of their first call, referenced weakly.

    Names in the first module have no prefix; in others the class is the prefix, with a number where it is ambiguous.
    """

    def __init__(self) -> None:
        self.roots: dict[int, Root] = {}
        self.counts: dict[str, int] = {}
        self.weights: dict[int, tuple[Any, str]] = {}

    def root(self, module: Any) -> Root:
        """The outermost module that was called."""
        root = self.roots.get(id(module))
        if root is None or root.reference() is not module:
            root = self.roots[id(module)] = Root(weak(module, self.roots), module, self._prefix(module))
        if not root.is_complete:
            root.is_complete = self._learn(root, module)
        return root

    def _prefix(self, module: Any) -> str:
        if not self.counts:
            self.counts[""] = 1
            return ""
        name = type(inner(module)).__name__
        while True:
            number = self.counts[name] = self.counts.get(name, 0) + 1
            prefix = name if number == 1 else "%s%d" % (name, number)
            if number == 1 or prefix not in self.counts:  # the class may have this name
                self.counts.setdefault(prefix, 1)
                return prefix + "."

    def _learn(self, root: Root, module: Any) -> bool:
        is_complete = True
        for name, weight in inner(module).named_parameters():
            if hasattr(weight, "materialize"):  # a lazy module that was not called yet
                is_complete = False
            elif self.of(weight) is None:
                self.weights[id(weight)] = (weak(weight, self.weights), root.prefix + name)
        return is_complete

    def of(self, weight: Any) -> str | None:
        """Name of a parameter; None if no outermost module has it."""
        entry = self.weights.get(id(weight))
        return entry[1] if entry is not None and entry[0]() is weight else None

    def path(self, module: Any, root: Root | None) -> str:
        """Path of a module in the running outermost module, or in any earlier one; else its class."""
        if root is not None:
            return root.path(module)
        for other in list(self.roots.values()):
            its = other.paths.get(id(module))
            if its is not None and its[0]() is module:
                return its[1]
        return type(module).__name__

    def alive(self) -> Iterator[tuple[Root, Any]]:
        """Outermost modules that still exist."""
        for root in list(self.roots.values()):
            module = root.reference()
            if module is not None:
                yield root, module


class Root:
    """An outermost module.

    Attributes:
        prefix: what the names of its parts begin with.
        is_complete: whether all parameters have their names.
        is_told: whether its weights were recorded before it was first called.
        has_run: whether it was called since the last update.
    """

    def __init__(self, reference: Any, module: Any, prefix: str) -> None:
        self.reference = reference
        self.prefix = prefix
        self.name = type(inner(module)).__name__
        self.is_complete = False
        self.is_told = False
        self.has_run = False
        self.paths: dict[int, tuple[Any, str]] = {}

    def path(self, module: Any) -> str:
        """Path of a module within this one; its class if it is not part of it."""
        entry = self.paths.get(id(module))
        if entry is None or entry[0]() is not module:
            self._find_paths()
            entry = self.paths.get(id(module))
            if entry is None or entry[0]() is not module:
                entry = self.paths[id(module)] = (weak(module, self.paths), self.prefix + type(module).__name__)
        return entry[1]

    def _find_paths(self) -> None:
        root = self.reference()
        if root is not None:
            for name, part in inner(root).named_modules():
                self.paths[id(part)] = (weakref.ref(part), self.prefix + name if name else self.name)

    def tensors(self, module: Any) -> Iterator[tuple[str, Any]]:
        """Parameters and buffers by name, without duplicates."""
        for name, weight in inner(module).named_parameters():
            yield self.prefix + name, weight
        yield from self.buffers(module)

    def buffers(self, module: Any) -> Iterator[tuple[str, Any]]:
        """Buffers by name."""
        for name, tensor in inner(module).named_buffers():
            yield self.prefix + name, tensor


def weak(target: Any, registry: dict[int, Any]) -> Any:
    """A weak reference that removes the entry of an id when its object is deleted, as ids are reused."""
    key = id(target)
    return weakref.ref(target, lambda _: registry.pop(key, None))


def inner(module: Any) -> Any:
    """The user's module inside wrappers for compilation or distribution."""
    while type(module).__name__ in WRAPPERS:
        wrapped = getattr(module, WRAPPERS[type(module).__name__], None)
        if wrapped is None:
            break
        module = wrapped
    return module


def is_closed(module: Any) -> bool:
    """Whether a module runs as a compiled program that calls no other modules."""
    return hasattr(module, "_orig_mod") or hasattr(module, "_c") or vars(module).get("_compiled_call_impl") is not None


class Layers:
    """Calls of modules within an outermost module."""

    def __init__(
        self, torch: Any, trace: TraceWriter, recorder: Recorder, tensors: Tensors, names: ModuleNames
    ) -> None:
        self.trace = trace
        self.recorder = recorder
        self.tensors = tensors
        self.names = names
        self.unseen = torch._C.DisableTorchFunction
        self.root: Root | None = None
        self.last: Any = None
        self.version = -1
        self.last_digest: tuple[Any, str] = (None, "")
        self.hook: Hook | None = None

    def begin(self, root: Root | None) -> None:
        """An outermost call begins."""
        self.root = root

    def call(self, original: Any, module: Any, args: Any, kwargs: Any) -> Any:
        """Call a module that is called by another one."""
        output = original(module, *args, **kwargs)
        with self.recorder.guarded("trace of %s" % type(module).__name__), self.unseen():
            self._outputs(self.path(module), output, self.trace.place(_getframe(2)))
        return output

    def path(self, module: Any) -> str:
        """Path of a running module."""
        return self.names.path(module, self.root)

    def leave(self) -> None:
        """An outermost call has ended, with or without an error."""
        self.root = None

    def _outputs(self, name: str, output: Any, place: int) -> None:
        if self.tensors.readable(output):
            self.record("module", name, output, place)
            self._hook_gradient(name, output, place)
            return
        for number, (_, tensor) in enumerate(self.tensors.named_tensors(output, name)):
            output_name = "%s[%d]" % (name, number) if number else name
            self.record("module", output_name, tensor, place)
            self._hook_gradient(output_name, tensor, place)

    def end(self, module: Any, root: Root | None, output: Any, place: int) -> None:
        """An outermost call has ended: its output is recorded already if it has weights."""
        if root is None:
            self._outputs(type(module).__name__, output, place)
            return
        for number, (_, tensor) in enumerate(self.tensors.named_tensors(output, root.name)):
            self._hook_gradient(root.prefix + root.name + ("[%d]" % number if number else ""), tensor, place)

    def record(self, kind: str, name: str, tensor: Any, place: int) -> None:
        """Record an output, unless an inner module has already returned the same tensor."""
        is_known = self.last is not None and self.last() is tensor and self.version == _version(tensor)
        if not is_known:
            self.last_digest = self.tensors.digest(tensor)
            self.last, self.version, self.hook = weakref.ref(tensor), _version(tensor), None
        self.tensors.record_digest(kind, name, tensor, *self.last_digest, place)

    def _hook_gradient(self, name: str, tensor: Any, place: int) -> None:
        """Record the gradient, unless the tensor is a leaf, whose hooks would remain."""
        if not tensor.requires_grad or tensor.grad_fn is None:
            return
        is_same = self.last is not None and self.last() is tensor and self.version == _version(tensor)
        if is_same and self.hook is not None:
            self.hook.names.append(name)
            return
        hook = Hook(self, name, place)
        tensor.register_hook(hook)
        if is_same:
            self.hook = hook


class Hook:
    """Records a gradient; for nested modules with the same output, it is the gradient of all of them."""

    __torch_unserializable__ = True  # the tensor can be saved with it, as it says nothing about the tensor

    def __init__(self, layers: Layers, name: str, place: int) -> None:
        self.layers = layers
        self.names = [name]
        self.place = place

    def __call__(self, gradient: Any) -> None:
        layers = self.layers
        if layers.trace.level < MODULES:
            return
        with layers.recorder.guarded("trace of a gradient"), layers.unseen():
            if gradient is not None and layers.tensors.readable(gradient):
                digest, form = layers.tensors.digest(gradient)
                for name in reversed(self.names):
                    layers.tensors.record_digest("module-gradient", name, gradient, digest, form, self.place)


def _version(tensor: Any) -> int:
    """How often a tensor was changed in place; unknown for tensors created in inference mode."""
    return -1 if tensor.is_inference() else int(tensor._version)
