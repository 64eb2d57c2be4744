"""The trace of PyTorch at level 4: every operation that computes numbers, with its line, module and checksum."""

from __future__ import annotations

import sys
from importlib import import_module
from sys import _getframe
from threading import get_ident
from types import FrameType

from ....adapter_context import AdapterContext
from ....annotations import Any, Sequence
from ....observers.trace import MODULES, OPERATIONS
from ..replaced import Replaced
from .lines import TracedLines
from .modules import Layers
from .nodes import Apart
from .results import Operation, OperationResults
from .tensors import Tensors
from .unwritten import Unwritten


class RunningModules:
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


FRAMEWORK = "torch"
SHAPES = "torch._subclasses"
"""Where the tensors are from that have no numbers."""
COMPILED = "torch.compile replaces operations by code of its own, which cannot be looked into without changing it"
ON_XLA = "operations on XLA devices become parts of graphs, which are compiled and computed as a whole"


def install_operations(torch: Any, context: AdapterContext, tensors: Tensors, layers: Layers) -> Operations | None:
    """Trace operations in steps at that level; returns None if no step needs it."""
    trace = context.trace
    if trace.requested_level != OPERATIONS:
        return None
    operations = Operations(torch, context, tensors, layers)
    operations.patch()
    return operations


class Operations:
    """A dispatch mode, which PyTorch calls instead of every operation in the thread that activated it.

    It is the innermost of all modes, so that it sees the operations that are really executed; modes of the program are
    entered and left as usual.
    """

    def __init__(self, torch: Any, context: AdapterContext, tensors: Tensors, layers: Layers) -> None:
        self.torch = torch
        self.context = context
        self.trace = context.trace
        self.recorder = context.recorder
        self.modes: Any = import_module("torch.utils._python_dispatch")
        self.running = RunningModules(torch, layers)
        self.lines = TracedLines(torch, context.trace, self.running.path)
        self.results = OperationResults(context.trace, tensors)
        self.unwritten = Unwritten(torch)
        self.operations: dict[Any, Operation] = {}
        self.is_on = False
        self.is_refused = False
        self.thread = 0
        self.mode = self._mode()
        self.apart = Apart(torch, self.modes, self.mode, self.lines, self.results, self.is_traced, self.recorder.fault)

    def patch(self) -> None:
        """Follow the level, and deactivate the mode for compilers, which would generate different code under a mode."""
        self.context.observe(self.torch, "compile", before=lambda *args, **kwargs: self.refuse())
        self.apart.patch()
        self.trace.at_level.append(self.follow)
        self.follow(self.trace.level)

    def follow(self, level: int) -> None:
        """Activate or deactivate the mode after a change of level: between two steps, in the thread that trains."""
        try:
            is_wanted = level == OPERATIONS and not self.is_refused
            if is_wanted and _has_compiled():
                self.refuse()
            elif is_wanted:
                self._put_in()
            else:
                self._take_out()
        except Exception as error:
            self.recorder.fault("operations of PyTorch", error)

    def is_traced(self) -> bool:
        """Whether operations of this thread are traced."""
        return self.is_on and self.thread == get_ident()

    def refuse(self, reason: str = COMPILED) -> None:
        """Stop tracing operations, with a reason."""
        if not self.is_refused:
            self.is_refused = True
            self._take_out()
            self.trace.ends(FRAMEWORK, MODULES, reason)

    # ------------------------------------------------------------ the stack of modes

    def _put_in(self) -> None:
        self.is_on = True
        self.thread = get_ident()
        stack = self._pop_modes()
        self.modes._push_mode(self.mode)
        self._push(stack)
        self.running.put_in()
        self.apart.put_in()

    def _take_out(self) -> None:
        """Remove the mode from the stack of the training thread; in another thread or process, make it inactive."""
        self.is_on = False
        if self.thread == get_ident():
            self._push(self._pop_modes())
            self.running.take_out()
            self.apart.take_out()
        self.lines.forget()
        self.unwritten.forget()

    def _pop_modes(self) -> list[Any]:
        """Pop all modes from the stack; returns the others, innermost first."""
        size = self.torch._C._len_torch_dispatch_stack
        popped = []
        while size():
            popped.append(self.modes._pop_mode())
        return [mode for mode in reversed(popped) if mode is not self.mode]

    def _push(self, stack: Sequence[Any]) -> None:
        for mode in stack:
            self.modes._push_mode(mode)

    # ------------------------------------------------------------ one operation

    def _mode(self) -> Any:
        base = self.modes.TorchDispatchMode
        members = {
            "supports_higher_order_operators": True,
            "is_infra_mode": classmethod(lambda cls: False),
            "ignore_compile_internals": classmethod(lambda cls: True),
        }
        cls: Any = type("Operations", (base,), members)
        # Defined in the class body, it would be skipped by compilers, which makes it ten times slower.
        cls.__torch_dispatch__ = self._dispatcher()
        return cls()

    def _dispatcher(self) -> Any:
        operations, unwritten = self.operations, self.unwritten
        plain = getattr(self.torch.Tensor, "__torch_dispatch__", None)

        def __torch_dispatch__(  # noqa: N807
            mode: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            if not self.is_on:
                return func(*args, **kwargs)
            for cls in types:
                if cls.__torch_dispatch__ is not plain:
                    if cls.__module__.startswith(SHAPES):
                        return func(*args, **kwargs)  # an inner mode computes shapes only
                    return NotImplemented  # its own dispatch splits the operation, and the parts are traced
            operation = operations.get(func)
            if operation is None:
                operation = operations[func] = Operation(func)
            before = None
            if unwritten.marks or operation.is_special:
                before = self._before(operation, args, kwargs)
            output = func(*args, **kwargs)
            try:
                self._after(operation, args, kwargs, output, before, _getframe(1))
            except Exception as error:
                self.recorder.fault("operation %s" % operation.name, error)
            return output

        return __torch_dispatch__

    def _before(self, operation: Operation, args: Any, kwargs: Any) -> Any:
        """Collect data that will no longer exist after the operation."""
        with self.recorder.guarded("operation %s" % operation.name):
            if operation.sent is not None:
                return self.results.summarise_sent(operation, args, kwargs)
            if operation.is_growing:
                return self.unwritten.size(args)
            return self.unwritten.read(operation, args, kwargs)
        return None

    def _after(self, operation: Operation, args: Any, kwargs: Any, output: Any, before: Any, frame: FrameType) -> None:
        lines, unwritten = self.lines, self.unwritten
        if getattr(output, "is_xla", False):
            self.refuse(ON_XLA)
            return
        if operation.is_silent:
            if lines.number() != lines.last:
                lines.find(frame)
            return
        if operation.is_apart:
            self.apart.saw(lines.number())
        origin = lines.find(frame)
        outputs = self.results.outputs(operation, output, args, kwargs)
        is_raw = False
        if operation.is_allocation:
            if outputs and not any(tensor.numel() for tensor in outputs):
                return  # what workers of a loader send arrives in such tensors, at any time
            unwritten.note_allocation(outputs)
            is_raw = True
        elif operation.is_growing:
            unwritten.note_growth(args, before)
            is_raw = True
        elif unwritten.marks:
            unwritten.note_writes(operation, outputs, args, kwargs)
            is_raw = any(unwritten.is_raw(output) for output in outputs)
        if operation.sent is not None:
            if before is not None:
                self.results.record_sent(operation, before, origin)
        else:
            reads = before if type(before) is str else ""
            self.results.record(operation, outputs, origin, reads=reads, is_raw=is_raw)


def _has_compiled() -> bool:
    """Whether parts of the program run as compiled code, whose start and end cannot be observed."""
    dynamo = sys.modules.get("torch._dynamo.convert_frame")
    return bool(getattr(dynamo, "FRAME_COUNTER", 0))
