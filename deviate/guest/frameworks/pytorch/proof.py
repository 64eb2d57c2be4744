"""What proves runs of PyTorch equal: hashes of the trained weights and of the data of the first evaluation.

Nothing here keeps a module or an optimizer alive, draws a number, or changes one but the one bit that was asked for.
"""

from __future__ import annotations

import gc
import weakref
from functools import partial
from itertools import chain

from ...adapter_context import Guest
from ...hashing import weights_digest
from ...seeds import dress
from .bit import OneBit
from .evaluation import Evaluation
from .tensors import buffer, kind

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any, Iterator

    from .capture.predictions import Predictions

FRAMEWORK = "torch"


class Proof:
    """Sees outermost forward passes of modules with weights, new optimizers, and the batches that loaders yield."""

    def __init__(self, torch: Any, guest: Guest) -> None:
        self.torch = torch
        self.recorder = guest.recorder
        self.trained = Trained(guest)
        self.evaluation: Evaluation | None = Evaluation(torch, self.trained, guest.recorder)
        seed = guest.controls.get("one-bit")
        self.bit = None if seed is None else OneBit(torch, seed, self.trained, guest.flip, guest.recorder)
        self.is_grad_enabled = torch.is_grad_enabled
        self.tracing_state = torch._C._get_tracing_state
        self.predictions: Predictions | None = None

    def attend(self) -> None:
        optimizer, recorder = self.torch.optim.Optimizer, self.recorder
        original = optimizer.__init__

        def __init__(optimizer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            original(optimizer, *args, **kwargs)
            self.trained.optimizers.append(weakref.ref(optimizer))

        optimizer.__init__ = dress(__init__, original)
        recorder.at_main_end.append(lambda: self.tell("loop"))
        recorder.at_close.append(self._close)

    def forward(self, module: Any, args: Any, kwargs: Any) -> None:
        """A module with weights is about to run, called by no other one."""
        if self.tracing_state() is not None:
            return  # torch.jit.trace takes down what is asked of tensors
        is_training = module.training and self.is_grad_enabled()
        if is_training:
            self.trained.add(module)
            if self.predictions is not None:
                self.predictions.before(module, args, kwargs)
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
        """See the batches that loaders yield, up to the end of the first evaluation."""
        original = iterator.__next__

        def __next__(self_: Any) -> Any:  # noqa: N807
            batch = original(self_)
            if self.evaluation is None:
                if iterator.__next__ is dressed:
                    iterator.__next__ = original
            else:
                self.evaluation.yielded(self_, batch)
            return batch

        dressed = iterator.__next__ = dress(__next__, original)

    def tell(self, moment: str) -> None:
        """Tell the hash of the weights that were trained and are still there."""
        self.trained.settle()
        tensors = dict(self.trained.tensors(is_whole=True))
        if tensors:
            parameter = self.torch.nn.Parameter
            n = sum(it.numel() for it in tensors.values() if it.requires_grad or isinstance(it, parameter))
            arrays = ((name, (kind(tensor), tensor.shape, partial(buffer, tensor))) for name, tensor in tensors.items())
            self.recorder.event("weights", moment, FRAMEWORK, weights_digest(arrays), n)

    def _close(self) -> None:
        if self.bit is not None:
            self.bit.give_up()
        if self.evaluation is not None:
            self.evaluation.close()
        self.tell("exit")


class Trained:
    """What has been trained, as long as it is there."""

    def __init__(self, guest: Guest) -> None:
        self.capture = guest.capture
        self.modules: dict[int, tuple[int, Any]] = {}
        self.optimizers: list[Any] = []
        self.weights: dict[int, Any] = {}
        self.forms: set[Any] = set()
        self.seen = 0

    def alive(self) -> Iterator[Any]:
        """The modules that were trained, as long as they are there."""
        for _, reference in self.modules.values():
            module = reference()
            if module is not None:
                yield module

    def settle(self) -> None:
        """Let go of models that nobody can reach: else what is told would depend on when the collector came by."""
        if self.seen > 1 or len(self.optimizers) > 1:
            gc.collect()

    def add(self, module: Any) -> None:
        """A training forward pass of this module begins."""
        known = self.modules.get(id(module))
        if known is None or known[1]() is not module:
            self.modules[id(module)] = (self.seen, weakref.ref(module))
            self.seen += 1
            self.weights.update((id(weight), weakref.ref(weight)) for weight in module.parameters())
            if not any(hasattr(weight, "materialize") for weight in module.parameters()):
                self.forms.add(form(module))

    def has(self, module: Any) -> bool:
        """Whether weights of the module were in a training forward pass, its own or that of a module around it."""
        known = self.modules.get(id(module))
        is_itself = known is not None and known[1]() is module  # its weights may have been replaced since
        return is_itself or any(self.knows(weight) for weight in module.parameters())

    def knows(self, weight: Any) -> bool:
        """Whether this is one of them; what is gone leaves its id to others."""
        known = self.weights.get(id(weight))
        return known is not None and known() is weight

    def is_like(self, module: Any) -> bool:
        """Whether a module has the form of one that was trained, which may be gone: a copy, or a loaded one."""
        own = form(module)
        return own in self.forms or any(form(known) == own for known in self.alive())

    def tensors(self, *, is_whole: bool = False) -> Iterator[tuple[str, Any]]:
        """Parameters and buffers by name, each once; what optimizers alone know, by its place in them.

        Args:
            is_whole: also those that are kept by the adapter of a framework that stands on PyTorch.
        """
        told = set() if is_whole else self.capture.taken()
        for name, tensor in chain(self._in_modules(), self.optimized()):
            if id(tensor) not in told and not hasattr(tensor, "materialize"):  # a lazy module that was never called
                told.add(id(tensor))
                yield name, tensor

    def _in_modules(self) -> Iterator[tuple[str, Any]]:
        for number, reference in sorted(self.modules.values(), key=lambda known: known[0]):
            module = reference()
            if module is not None:
                for name, tensor in chain(module.named_parameters(), module.named_buffers()):
                    yield "%d.%s" % (number, name), tensor

    def optimized(self) -> Iterator[tuple[str, Any]]:
        """What optimizers change."""
        for number, reference in enumerate(self.optimizers):
            optimizer = reference()
            if optimizer is not None:
                for place, group in enumerate(optimizer.param_groups):
                    for index, weight in enumerate(group["params"]):
                        yield "optimizer %d.%d.%d" % (number, place, index), weight


def form(module: Any) -> tuple[tuple[str, Any], ...]:
    """Names and shapes of weights, without the wrappers that some put around."""
    found = [(name, tuple(weight.shape)) for name, weight in module.named_parameters()]
    while found and all(name.startswith(("module.", "_orig_mod.")) for name, _ in found):
        found = [(name.partition(".")[2], shape) for name, shape in found]
    return tuple(found)
