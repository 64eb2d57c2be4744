"""Evidence that runs of PyTorch are equal: hashes of trained weights and of the data of the first evaluation.

Nothing here keeps a module or an optimizer alive, draws random numbers, or changes any number except the one bit to be
flipped.
"""

from __future__ import annotations

import gc
import sys
import weakref
from collections import deque
from contextlib import suppress
from itertools import chain, count
from threading import get_ident

from ... import taps
from ...adapter_context import AdapterContext
from ...annotations import Any, Array, Callable, Iterator
from ...observations import Observations
from ...observers.capture import WEIGHTS
from ...observers.hashing import INPUTS, LOADER, Evaluations
from ...seeds import wraps_like
from .tensors import TensorArrays, buffer, is_divided, kind, parts_of

# ---------------------------------------------------------------- what is trained


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

    def is_flattened(self) -> bool:
        """Whether FullyShardedDataParallel has flattened weights and divided them between processes."""
        return any(
            type(part).__name__ == "FullyShardedDataParallel" for whole in self.alive() for part in whole.modules()
        )

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

    def versions(self) -> dict[int, int]:
        """Of each optimizer that exists, how often PyTorch has counted a change in place of any of its weights."""
        versions = {}
        for number, reference in enumerate(self.optimizers):
            optimizer = reference()
            if optimizer is not None:
                with suppress(RuntimeError):  # weights made for inference alone have no version
                    weights = (weight for group in optimizer.param_groups for weight in group["params"])
                    versions[number] = sum(weight._version for weight in weights)
        return versions

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


# ---------------------------------------------------------------- evaluations

# An evaluation consists of forward passes without gradients, or in evaluation mode, of modules trained before; the next
# training pass ends it. Its examples are the batches that a loader yielded for them, else the arguments of the module.

MOST_WAITING = 1 << 28
"""Bytes on accelerators that may wait for the end of the evaluation, so that no pass has to."""


class Evaluation:
    """One phase of evaluation; the first one whose inputs are known to be examples is recorded."""

    def __init__(self, torch: Any, trained: Trained, data: Evaluations) -> None:
        self.tensor = torch.Tensor
        self.trained = trained
        self.data = data
        # What loaders yielded since the last forward pass: some look one batch ahead, to know which is the last.
        self.batches: deque[tuple[int, Any]] = deque(maxlen=2)
        self.passes = count()
        self.strange: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._begin()

    def _begin(self) -> None:
        self.module: Any = None
        self.data.drop()
        self.waiting: list[tuple[int | None, list[Any]]] = []
        self.waiting_bytes = 0
        self.is_loaded = False
        self.is_unread = False

    def see_batch(self, iterator: Any, batch: Any) -> None:
        """A loader yielded a batch. Each iteration over a loader is a pass, even with the same iterator."""
        if getattr(iterator, "_num_yielded", 2) <= 1 or not hasattr(iterator, "_deviate_pass"):
            iterator._deviate_pass = next(self.passes)
        self.batches.append((iterator._deviate_pass, batch))

    def forward(self, module: Any, args: Any, kwargs: Any) -> None:
        """A forward pass that is not training."""
        if self.module is None:
            if not self._is_trained(module):
                return
            self.module = weakref.ref(module)
        elif self.module() is not module:
            return  # what is called after it may be given what it computed
        if self.batches:
            self.is_loaded = True
            for of_pass, batch in self._take_batches():
                self._take(batch, of_pass)
        elif not self.is_loaded:
            self._take((args, kwargs), None, most=1)

    def is_over_before_training(self) -> bool:
        """A training pass begins; returns whether an evaluation with known examples came before it."""
        is_new, is_over = bool(self._take_batches()), False
        if self.module is not None and self.is_loaded and not is_new:
            self._begin()  # the batch that was passed without gradients is one that trains
        elif self.module is not None:
            is_over = self.end()
        self.data.train()
        return is_over

    def end(self) -> bool:
        """End the evaluation; returns whether no other evaluation is to be waited for."""
        if self.is_unread:
            self.data.drop()
            self.data.close()
            return True
        for of_pass, arrays in self.waiting:
            self._add(arrays, of_pass)
        is_over = self.data.end(LOADER if self.is_loaded else INPUTS)
        self._begin()
        return is_over

    def _take_batches(self) -> list[tuple[int, Any]]:
        batches = list(self.batches)
        self.batches.clear()
        return batches

    def _is_trained(self, module: Any) -> bool:
        if self.strange.get(module) == self.trained.seen:
            return False
        is_trained = self.trained.has(module)
        if not is_trained:
            self.strange[module] = self.trained.seen
        return is_trained

    def _take(self, value: Any, of_pass: int | None, most: int | None = None) -> None:
        """Add arrays with one example per row."""
        arrays = [array for array in parts_of(value, self._is_array) if len(array.shape)][:most]
        if not arrays:
            self.is_unread = True
            return
        rows = arrays[0].shape[0]
        chosen = [array for array in arrays if array.shape[0] == rows]
        remote = [array for array in chosen if self._is_remote(array)]
        if not remote:
            self._add(chosen, of_pass)
            return
        self.waiting_bytes += sum(array.numel() * array.element_size() for array in remote)
        if self.waiting_bytes > MOST_WAITING:
            self.is_unread = True
            self.waiting.clear()
        if not self.is_unread:
            copies = [self._copy(array) if self._is_remote(array) else array for array in chosen]
            self.waiting.append((of_pass, copies))

    def _copy(self, array: Any) -> Any:
        """A copy on the device; of XLA a reference, as a copy would be one more output of the graph of the step."""
        return array.detach() if array.device.type == "xla" else array.detach().clone()

    def _add(self, arrays: list[Any], of_pass: int | None) -> None:
        self.data.add(
            [
                (kind(array), array.shape, buffer(array) if isinstance(array, self.tensor) else array.tobytes())
                for array in arrays
            ],
            of_pass,
        )

    def _is_array(self, value: Any) -> bool:
        return isinstance(value, self.tensor) or hasattr(value, "__array_interface__")

    def _is_remote(self, array: Any) -> bool:
        return isinstance(array, self.tensor) and array.device.type != "cpu"


# ---------------------------------------------------------------- all of it

FRAMEWORK = "torch"
DIVIDED = "they are divided between %d processes; deviate.log_weights keeps those that the script has gathered"


def proof_of(context: AdapterContext) -> TorchProof:
    """The instance of this process, which adapters of what stands on PyTorch share."""
    return context.part(_make_proof)


def _make_proof(context: AdapterContext) -> TorchProof:
    return TorchProof(sys.modules["torch"], context)


class TorchProof(Observations):
    """Observes outermost forward passes of modules with weights, new optimizers, and batches of loaders.

    Attributes:
        at_training: told of the module, its arguments and its keyword arguments before a training forward pass.
    """

    framework = FRAMEWORK
    ends_evaluation_with_loop = False

    def __init__(self, torch: Any, context: AdapterContext) -> None:
        super().__init__(context, TensorArrays(torch))
        self.torch = torch
        self.trained = Trained(context)
        self.evaluation: Evaluation | None = Evaluation(torch, self.trained, self.evaluations)
        self.at_training: list[Callable[[Any, Any, Any], object]] = []

    def patch(self) -> None:

        def note(result: None, optimizer: Any, *args: Any, **kwargs: Any) -> None:
            if not self.context.is_beside():
                self.trained.optimizers.append(weakref.ref(optimizer))

        self.context.observe(self.torch.optim.Optimizer, "__init__", after=note)
        self.recorder.weight_versions = self.trained.versions
        sys.modules["torch.optim.optimizer"].register_optimizer_step_post_hook(self._see_step)

    def _see_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if not taps.is_compiling() and not self.context.is_beside():
            self.recorder.train(optimizer)

    def forward(self, module: Any, args: Any, kwargs: Any) -> None:
        """A module with weights is about to run, not called by another one."""
        if self.torch._C._get_tracing_state() is not None:
            return  # torch.jit.trace takes down what is asked of tensors
        is_training = module.training and self.torch.is_grad_enabled()
        if is_training:
            self.trained.add(module)
            for callback in self.at_training:
                callback(module, args, kwargs)
            if self.one_bit.is_due:
                self._flip_bit(module)
        if self.evaluation is not None:
            try:
                if not is_training and not self.context.is_fitting:
                    self.evaluation.forward(module, args, kwargs)
                elif is_training and self.evaluation.is_over_before_training():
                    self.evaluation = None
            except Exception as error:
                self.evaluation = None
                self.evaluations.is_over = True
                self.recorder.fault("data of the evaluation", error)

    def follow(self, iterator: Any) -> None:
        """Observe batches of loaders, until the end of the first evaluation."""
        original = iterator.__next__

        def __next__(self_: Any) -> Any:  # noqa: N807
            batch = original(self_)
            if self.evaluation is None:
                if iterator.__next__ is wrapper:
                    iterator.__next__ = original
            elif get_ident() == self.context.streams.thread:
                self.evaluation.see_batch(self_, batch)
            return batch

        wrapper = iterator.__next__ = wraps_like(__next__, original)

    def weights(self) -> Iterator[tuple[str, Any, bool]]:
        self.trained.settle()
        parameter = self.torch.nn.Parameter
        for name, tensor in dict(self.trained.tensors(is_whole=True)).items():
            yield name, tensor, tensor.requires_grad or isinstance(tensor, parameter)

    def kept_weights(self) -> Iterator[tuple[str, Array]]:
        """Those of the first process that trains, as the others hold the same; none where each holds a part of them."""
        if not self.recorder.is_first_rank:
            return
        self.trained.settle()
        tensors = list(self.trained.tensors())
        if self.recorder.n_ranks > 1 and (self.trained.is_flattened() or any(is_divided(part) for _, part in tensors)):
            self.context.capture.refuse(WEIGHTS, FRAMEWORK, DIVIDED % self.recorder.n_ranks)
            return
        for name, tensor in tensors:
            yield name, self.arrays.plain(tensor)

    def _flip_bit(self, module: Any) -> None:
        """Flip the bit before a training forward pass, as soon as there are weights."""
        with self.recorder.guarded("one-bit"):
            names = {id(tensor): name for name, tensor in self.trained.tensors()}
            names.update((id(weight), name) for name, weight in module.named_parameters())
            optimized = [weight for _, weight in self.trained.optimized_weights()]
            candidates = {id(weight): weight for weight in (optimized or module.parameters()) if weight.requires_grad}
            if any(hasattr(weight, "materialize") for weight in candidates.values()):
                return  # a lazy module has no shapes before its first pass
            weights = [weight for weight in candidates.values() if weight.is_floating_point()]
            self.one_bit.flip(FRAMEWORK, [(names.get(id(weight), ""), weight, weight.shape) for weight in weights])

    def has_trained(self) -> bool:
        return True  # a process that loads PyTorch and trains nothing was to be flipped too

    def end_evaluation(self) -> None:
        if self.evaluation is not None:
            self.evaluation.end()
