"""What PyTorch computes by another formula where a dispatch mode is in place: it is computed without ours.

Such a mode may hold tensors whose numbers cannot be read, so that PyTorch takes formulas that read none where there is
one. They round otherwise, or give zeros of the other sign. What takes them is carried out while our mode is off the
stack, and what it gives is recorded as one operation.

Source: aten/src/ATen/TensorSubclassLikeUtils.h, isTensorSubclassLike, and those who ask it: prod_backward,
cumprod_backward, masked_fill_backward, evenly_distribute_backward, linalg_det_backward in
torch/csrc/autograd/FunctionsManual.cpp, and cross_entropy_loss in aten/src/ATen/native/LossNLL.cpp. 538 operations of
which PyTorch 2.13 has samples (torch.testing, op_db; in single precision) were compared, their gradients and the
gradients of these too, and no others found.
"""

from __future__ import annotations

from functools import partial
from itertools import count
from sys import _getframe
from threading import get_ident
from types import FrameType

from ....annotations import Any, Callable, Iterator
from ....seeds import wraps_like
from ..replaced import Replaced, register_builtin
from .lines import TracedLines
from .results import Operation, OperationResults

NODES = frozenset([
    "ProdBackward0", "ProdBackward1", "CumprodBackward0", "MaskedFillBackward1", "LinalgDetBackward0",
    "MinBackward1", "MaxBackward1", "MedianBackward0", "NanmedianBackward0", "ForeachMaxBackward1",
])  # fmt: skip
"""Nodes of the autograd graph whose formula is another one."""
SLICES = "CopySlices"
"""The node of an operation in place on a view, which holds the node of the operation itself out of sight."""
LOSS = "cross_entropy_loss"
LOSS_NAME = "aten.cross_entropy_loss.default"
MEAN = 1
"""The reduction of a loss, as PyTorch numbers them."""
MOST = 1 << 16
"""Operations in place that are remembered."""


class Apart:
    """Takes our mode from the stack for a node of a backward pass, or for an operation, and puts it back.

    It does so where ours is the only mode. With one of the program on the stack PyTorch takes the other formula without
    us as well.

    The engine gives each node the stack that was there when the backward pass began. A mode that a raising node leaves
    on the stack does no harm, and the thread of the node does not matter.

    Args:
        is_on: whether operations of the thread that asks are traced.
        fault: told of errors of our own, and where they came up.
    """

    def __init__(
        self,
        torch: Any,
        modes: Any,
        mode: Any,
        lines: TracedLines,
        results: OperationResults,
        is_on: Callable[[], bool],
        fault: Any,
    ) -> None:
        self.torch = torch
        self.mode = mode
        self.push, self.pop = modes._push_mode, modes._pop_mode
        self.size = torch._C._len_torch_dispatch_stack
        self.at = torch._C._get_dispatch_stack_at
        self.lines = lines
        self.results = results
        self.is_on = is_on
        self.fault = fault
        self.keys = count()
        self.slices: dict[int, None] = {}
        self.running: dict[int, tuple[int, int]] = {}
        self.operations: dict[str, Operation] = {}
        self.replaced = Replaced()

    def is_alone(self) -> bool:
        """Whether the trace's mode is the only one of this thread."""
        return bool(self.size() == 1 and self.at(0) is self.mode)

    def saw(self, number: int) -> None:
        """An operation was executed that a node with this number will refer to if it wrote into a view."""
        if len(self.slices) >= MOST:
            del self.slices[next(iter(self.slices))]
        self.slices[number] = None

    # ------------------------------------------------------------ backward passes

    def patch(self) -> None:
        """Register hooks in every backward pass that begins while operations are traced."""
        autograd = self.torch.autograd
        original = autograd._engine_run_backward

        def _engine_run_backward(*args: Any, **kwargs: Any) -> Any:
            handles = self._hook(args[0]) if args and self.is_on() else []
            try:
                return original(*args, **kwargs)
            finally:
                for handle in handles:
                    handle.remove()

        autograd._engine_run_backward = wraps_like(_engine_run_backward, original)

    def _hook(self, roots: Any) -> list[Any]:
        """Register hooks before and after each node of the graph that needs a different formula."""
        handles: list[Any] = []
        try:
            with self.torch._C.DisableTorchFunction():
                for node, name in self._nodes(roots):
                    key = next(self.keys)
                    handles.append(node.register_prehook(partial(self._before, key)))
                    handles.append(node.register_hook(partial(self._after, key, name)))
        except Exception as error:
            self.fault("the graph of a backward pass", error)
        return handles

    def _nodes(self, roots: Any) -> Iterator[tuple[Any, str]]:
        waiting = [root.grad_fn if isinstance(root, self.torch.Tensor) else root.node for root in roots]
        seen = set(waiting)
        while waiting:
            node = waiting.pop()
            if node is None:
                continue
            name = node.name()
            if name in NODES or (name.endswith(SLICES) and node._sequence_nr() in self.slices):
                yield node, name.rpartition("::")[2]
            for follower, _ in node.next_functions:
                if follower not in seen:
                    seen.add(follower)
                    waiting.append(follower)

    def _before(self, key: int, gradients: Any) -> None:
        if self.is_alone():
            self.pop()
            self.running[get_ident()] = key, self.lines.number()
        elif self.size():
            self.running.pop(get_ident(), None)

    def _after(self, key: int, name: str, results: Any, gradients: Any) -> None:
        running_key, number = self.running.get(get_ident(), (-1, 0))
        if running_key != key:
            return
        del self.running[get_ident()]
        try:
            self._record(name, results, number, _getframe())
        finally:
            self.push(self.mode)

    def _record(self, name: str, results: Any, number: int, frame: FrameType) -> None:
        """Record the node as one operation; nodes created in it have this number or higher ones."""
        try:
            operation = self.operations.get(name)
            if operation is None:
                operation = self.operations[name] = Operation(name)
            origin = self.lines.find(frame)
            self.lines.note(number, origin)
            outputs = self.results.outputs(operation, results, (), {})
            self.results.record(operation, outputs, origin, reads="", is_raw=False)
        except Exception as error:
            self.fault("operation %s" % name, error)

    # ------------------------------------------------------------ one loss

    def put_in(self) -> None:
        """Patch the loss function whose formula differs."""
        if self.replaced.is_in_place:
            return

        def make(original: Any) -> Any:
            def loss(*args: Any, **kwargs: Any) -> Any:
                if not (self.is_on() and self.is_alone() and _is_weighted_and_smoothed(*args, **kwargs)):
                    return original(*args, **kwargs)
                number = self.lines.number()
                self.pop()
                try:
                    output = original(*args, **kwargs)
                    self._record(LOSS_NAME, output, number, _getframe(1))
                    return output
                finally:
                    self.push(self.mode)

            return loss

        self.replaced = Replaced()
        register_builtin(self.torch, self.replaced.add(self.torch._C._nn, LOSS, make), LOSS)
        self.replaced.put_in()

    def take_out(self) -> None:
        """Restore the loss function, and forget all nodes."""
        self.replaced.take_out()
        self.slices.clear()
        self.running.clear()


def _is_weighted_and_smoothed(
    inputs: Any = None, target: Any = None, weight: Any = None, reduction: int = MEAN, *rest: Any, **more: Any
) -> bool:
    """Whether a mean cross entropy is divided by the sum of weights, which is only computed for label smoothing."""
    smoothing = rest[1] if len(rest) > 1 else more.get("label_smoothing", 0.0)
    return weight is not None and reduction == MEAN and bool(smoothing > 0)
