"""Modules in the trace of PyTorch: the output of each, and the gradient with respect to it.

Gradients are read by tensor hooks: full backward hooks of modules would wrap inputs and outputs in views, which breaks
programs that change these in place.
"""

from __future__ import annotations

import weakref
from sys import _getframe

from ....annotations import Any
from ....observers.trace import MODULES, Trace
from ....recorder import Recorder
from .names import Names, Root
from .tensors import Tensors


class Layers:
    """Calls of modules within an outermost module."""

    def __init__(self, torch: Any, trace: Trace, recorder: Recorder, tensors: Tensors, names: Names) -> None:
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
