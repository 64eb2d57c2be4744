"""Evidence that runs of PyTorch are equal: hashes of trained weights and of the data of the first evaluation.

Nothing here keeps a module or an optimizer alive, draws random numbers, or changes any number except the one bit to be
flipped.
"""

from __future__ import annotations

import weakref
from functools import partial

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...observers.hashing import weights_digest
from ...seeds import wraps_like
from .bit import OneBit
from .evaluation import Evaluation
from .tensors import buffer, kind
from .trained import Trained

FRAMEWORK = "torch"


class Proof:
    """Observes outermost forward passes of modules with weights, new optimizers, and batches of loaders.

    Attributes:
        at_training: told of the module, its arguments and its keyword arguments before a training forward pass.
    """

    def __init__(self, torch: Any, context: AdapterContext) -> None:
        self.torch = torch
        self.context = context
        self.recorder = context.recorder
        self.trained = Trained(context)
        self.evaluation: Evaluation | None = Evaluation(torch, self.trained, context.recorder)
        seed = context.controls.get("one-bit")
        self.bit = None if seed is None else OneBit(torch, seed, self.trained, context.flip, context.recorder)
        self.at_training: list[Callable[[Any, Any, Any], object]] = []

    def patch(self) -> None:

        def note(result: None, optimizer: Any, *args: Any, **kwargs: Any) -> None:
            self.trained.optimizers.append(weakref.ref(optimizer))

        self.context.observe(self.torch.optim.Optimizer, "__init__", after=note)
        self.recorder.at_main_end.append(lambda: self.emit_hash("loop"))
        self.recorder.at_close.append(self._close)

    def forward(self, module: Any, args: Any, kwargs: Any) -> None:
        """A module with weights is about to run, not called by another one."""
        if self.torch._C._get_tracing_state() is not None:
            return  # torch.jit.trace takes down what is asked of tensors
        is_training = module.training and self.torch.is_grad_enabled()
        if is_training:
            self.trained.add(module)
            for callback in self.at_training:
                callback(module, args, kwargs)
            if self.bit is not None and self.bit.is_done_before(module):
                self.bit = None
        if self.evaluation is not None:
            try:
                if not is_training:
                    self.evaluation.forward(module, args, kwargs)
                elif self.evaluation.is_over_before_training():
                    self.evaluation = None
            except Exception as error:
                self.evaluation = None
                self.recorder.fault("data of the evaluation", error)

    def follow(self, iterator: Any) -> None:
        """Observe batches of loaders, until the end of the first evaluation."""
        original = iterator.__next__

        def __next__(self_: Any) -> Any:  # noqa: N807
            batch = original(self_)
            if self.evaluation is None:
                if iterator.__next__ is wrapper:
                    iterator.__next__ = original
            else:
                self.evaluation.see_batch(self_, batch)
            return batch

        wrapper = iterator.__next__ = wraps_like(__next__, original)

    def emit_hash(self, moment: str) -> None:
        """Report the hash of the trained weights that still exist."""
        self.trained.settle()
        tensors = dict(self.trained.tensors(is_whole=True))
        if tensors:
            parameter = self.torch.nn.Parameter
            n = sum(
                tensor.numel() for tensor in tensors.values() if tensor.requires_grad or isinstance(tensor, parameter)
            )
            arrays = ((name, (kind(tensor), tensor.shape, partial(buffer, tensor))) for name, tensor in tensors.items())
            self.recorder.event("weights", moment, FRAMEWORK, weights_digest(arrays), n)

    def _close(self) -> None:
        if self.bit is not None:
            self.bit.moment.record_miss("no weight matrix for one-bit")
        if self.evaluation is not None:
            self.evaluation.close()
        self.emit_hash("exit")
