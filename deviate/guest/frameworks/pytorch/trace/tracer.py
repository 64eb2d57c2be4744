"""The trace of PyTorch at levels 1 to 3: losses, then inputs and outputs of each update, then each module.

A step ends with the step of an optimizer, the outermost one if optimizers call each other. In a program without
optimizers it ends when the first forward pass follows a backward pass. Hooks are only installed while a level requires
them.
"""

from __future__ import annotations

import sys
import weakref
from sys import _getframe
from threading import get_ident
from types import FrameType
from zlib import crc32

from ....adapter_context import AdapterContext
from ....annotations import Any, Callable, Iterable, Iterator
from ....observers.steps import ObservedSteps
from ....observers.trace import LOSS, MODULES, STEPS
from ..generators import ACCELERATORS, backward_check
from ..proof import TorchProof
from ..regions import Forwards
from ..replaced import Replaced
from ..tensors import state_bytes
from .modules import Layers, ModuleNames, Root, is_closed
from .tensors import Tensors

FRAMEWORK = "torch"
CLOSED = "modules that torch.compile or torch.jit have put together anew are not called one by one"


def install_trace(torch: Any, context: AdapterContext, forwards: Forwards, proof: TorchProof) -> Tracer:
    """Trace the training in this process."""
    tracer = Tracer(torch, context, forwards, proof)
    context.trace.at_level.append(tracer.set_level)
    context.trace.at_boundary.append(tracer.end_awaited)
    forwards.at_begin.append(tracer.begin)
    forwards.at_end.append(tracer.end)
    tracer.set_level(context.trace.level)
    return tracer


class Tracer:
    """Observes backward passes, steps of optimizers and outermost forward passes.

    Attributes:
        level: of the trace, as it was told last.
        is_awaited: whether a backward pass is over whose update only the next forward pass, or the end of a step of the
            main loop, will tell to be complete.
        is_due: whether an optimizer has taken its step within the backward pass that is running.
        running: steps of optimizers that have begun, by id: one optimizer may call another.
    """

    def __init__(self, torch: Any, context: AdapterContext, forwards: Forwards, proof: TorchProof) -> None:
        self.torch = torch
        self.trace = context.trace
        self.recorder = context.recorder
        self.streams = context.streams
        self.forwards = forwards
        self.optimizers = proof.trained.optimizers
        self.is_compiling = torch.compiler.is_compiling
        self.is_in_backward = backward_check(torch)
        self.unseen = torch._C.DisableTorchFunction
        self.names = ModuleNames()
        self.tensors = Tensors(torch, context.trace)
        self.steps = ObservedSteps(context.trace, context.streams, FRAMEWORK, self.tensors)
        self.states = TracedStates(torch, context)
        self.batches = TracedBatches(self)
        self.layers = Layers(torch, self.trace, self.recorder, self.tensors, self.names)
        self.level = 0
        self.begun = -1
        self.recorded: weakref.WeakSet[Any] = weakref.WeakSet()
        self.is_due = False
        self.is_awaited = False
        self.place = -1
        self.running: list[int] = []
        self.replaced = Replaced()
        self.handles: list[Any] = []

    # ------------------------------------------------------------ what is in place

    def set_level(self, level: int) -> None:
        """Between two steps: install the hooks that the level needs, and remove the others."""
        if (level >= LOSS) != (self.level >= LOSS):
            self._see() if level else self._look_away()
        self.batches.see(level >= STEPS)
        self.level = level

    def _see(self) -> None:
        """Install the hooks."""
        autograd, optim = self.torch.autograd, sys.modules["torch.optim.optimizer"]
        self.replaced = Replaced()
        self.replaced.add(autograd, "backward", lambda original: self._around(original, self._after_backward))
        self.replaced.add(autograd, "grad", lambda original: self._around(original, self._after_grad))
        self.handles.append(optim.register_optimizer_step_pre_hook(self._before_step))
        self.handles.append(optim.register_optimizer_step_post_hook(self._after_step))
        self.replaced.put_in()

    def _look_away(self) -> None:
        """Remove the hooks."""
        self.replaced.take_out()
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def is_traced(self) -> bool:
        """Whether the current call is computation of the program in the thread that trains."""
        return (
            self.level > 0
            and get_ident() == self.streams.thread
            and not self.is_compiling()
            and self.tensors.tracing_state() is None
            and self.tensors.functorch_level() is None
        )

    def run_guarded(self, where: str, act: Callable[..., object], *args: Any) -> None:
        """Call a function invisibly to the program; errors do not affect it."""
        with self.recorder.guarded("trace of %s" % where), self.unseen():
            act(*args)

    # ------------------------------------------------------------ steps

    def _begin_step(self) -> None:
        """Called before the first forward pass of a step."""
        if self.begun != self.trace.step:
            self.begun = self.trace.step
            if self.level >= STEPS:
                self.states.record()

    def _has_optimizer(self) -> bool:
        return any(reference() is not None for reference in self.optimizers)

    def end_awaited(self) -> None:
        """End a step whose backward pass is over, as its gradients have been used."""
        if self.is_awaited and self.is_traced():
            self.run_guarded("an update", self._end_own_step)

    def _end_own_step(self) -> None:
        """End a step of a program without optimizers: its backward pass is over, and another pass begins."""
        self.is_awaited = False
        if self.level >= STEPS:
            for root, module in self._used_roots():
                self.steps.update(root.tensors(module), self.place)
        self._end_step()

    def _end_step(self) -> None:
        for root, _ in self.names.alive():
            root.has_run = False
        self.batches.forget()
        self.trace.tick()

    # ------------------------------------------------------------ forward passes

    def begin(self, module: Any, args: Any, kwargs: Any, has_weights: bool) -> None:
        """An outermost forward pass begins."""
        if self.level and (self.is_awaited or self.level >= STEPS) and self.is_traced():
            self.run_guarded("a forward pass", self._begin, module, args, kwargs, has_weights, _getframe(2))

    def _begin(self, module: Any, args: Any, kwargs: Any, has_weights: bool, frame: FrameType) -> None:
        if self.is_awaited:
            self._end_own_step()
        if self.level < STEPS:
            return
        self._begin_step()
        root = self.names.root(module) if has_weights else None
        if root is not None:
            root.has_run = True
            if is_closed(module):
                self.trace.ends(FRAMEWORK, STEPS, CLOSED)
            if not root.is_told:
                root.is_told = True
                self.steps.weights(root.tensors(module), -1)
            self.batches.record(args, kwargs, self.trace.place(frame))
        if self.level >= MODULES:
            self.layers.begin(root)
            self.forwards.layers = self.layers

    def end(self, module: Any, args: Any, kwargs: Any, output: Any, has_weights: bool) -> None:
        """An outermost forward pass has ended without an error."""
        if self.level >= STEPS and self.is_traced():
            self.run_guarded("a forward pass", self._end, module, output, has_weights, _getframe(2))

    def _end(self, module: Any, output: Any, has_weights: bool, frame: FrameType) -> None:
        place = self.trace.place(frame)
        root = self.names.root(module) if has_weights else None
        if root is not None:
            for name, tensor in self.tensors.named_tensors(output, "output"):
                self.layers.record("forward", name, tensor, place)
        if self.level >= MODULES:
            self.layers.end(module, root, output, place)

    # ------------------------------------------------------------ calls of autograd

    def _around(self, original: Any, after: Callable[[Any, Any, Any], None]) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            if not self.is_traced() or self.is_in_backward():
                return original(*args, **kwargs)
            losses = args[0] if args else kwargs.get("tensors", kwargs.get("outputs"))
            self.run_guarded("a loss", self.begin_backward, losses, _getframe(1))
            result = original(*args, **kwargs)
            after(args, kwargs, result)
            return result

        return call

    def _after_backward(self, args: Any, kwargs: Any, result: Any) -> None:
        self.run_guarded("a backward pass", self.end_backward)

    def _after_grad(self, args: Any, kwargs: Any, result: Any) -> None:
        inputs = args[1] if len(args) > 1 else kwargs.get("inputs")
        self.run_guarded("gradients", self.end_grad, inputs, result)

    # ------------------------------------------------------------ calls of optimizers

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        key = id(optimizer)
        if self.is_traced():
            if key in self.running:  # an earlier step of it raised an exception
                del self.running[self.running.index(key) :]
            self.running.append(key)
            if self.level >= STEPS and len(self.running) == 1 and not _has_closure(args, kwargs):
                self.run_guarded("gradients", self.begin_update, optimizer, _getframe(1))

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        key = id(optimizer)
        if key in self.running and self.is_traced():
            del self.running[self.running.index(key) :]
            if not self.running:
                has_closure = _has_closure(args, kwargs)
                self.run_guarded("an update", self.end_update, optimizer, has_closure, _getframe(1))

    # ------------------------------------------------------------ backward passes

    def begin_backward(self, losses: Any, frame: FrameType) -> None:
        """Gradients of these outputs are about to be computed."""
        if self.is_awaited and not self._used_roots():
            self._end_own_step()  # a program without modules
        self._begin_step()
        self.place = self.trace.place(frame)
        if self.level >= STEPS:
            self._tell_others()
        for tensor in (losses,) if isinstance(losses, self.torch.Tensor) else tuple(losses or ()):
            self.steps.loss(tensor, self.place)

    def _tell_others(self) -> None:
        """Record weights that optimizers have but no outermost module has, before their first update."""
        for reference in self.optimizers:
            optimizer = reference()
            if optimizer is not None and optimizer not in self.recorded:
                self.recorded.add(optimizer)
                weights = self._optimized_weights(optimizer)
                self.steps.weights([pair for pair in weights if self.names.of(pair[1]) is None], -1)

    def end_backward(self) -> None:
        """Gradients have been computed and stored in the weights."""
        if not self._has_optimizer():
            self.is_awaited = True
            if self.level >= STEPS:
                for root, module in self._used_roots():
                    self._record_gradients(pair for pair in root.tensors(module) if pair[1].requires_grad)
        if self.is_due:
            self.is_due = False
            self._end_step()

    def end_grad(self, inputs: Any, gradients: Any) -> None:
        """Gradients have been computed and are returned."""
        inputs = (inputs,) if isinstance(inputs, self.torch.Tensor) else tuple(inputs or ())
        names = [self.names.of(tensor) for tensor in inputs]
        if not self._has_optimizer() and (any(names) or not self.names.roots):
            self.is_awaited = True
        pairs = enumerate(zip(names, gradients))
        named = ((name or "gradient.%d" % place, gradient) for place, (name, gradient) in pairs)
        self.steps.gradients((pair for pair in named if pair[1] is not None), self.place)

    # ------------------------------------------------------------ updates

    def begin_update(self, optimizer: Any, frame: FrameType) -> None:
        """An optimizer that has its gradients begins its step; gradients are recorded at levels that include them."""
        self._begin_step()
        self.place = self.trace.place(frame)
        self._record_gradients(self._optimized_weights(optimizer))

    def end_update(self, optimizer: Any, has_closure: bool, frame: FrameType) -> None:
        """The outermost step of an optimizer has ended."""
        if self.level >= STEPS:
            place = self.trace.place(frame)
            if has_closure:  # it has computed the gradients in the meantime
                self._record_gradients(self._optimized_weights(optimizer))
            self.steps.update(self._optimized_weights(optimizer), place)
            for root, module in self._used_roots():
                self.steps.update(root.buffers(module), place)
        if self.is_in_backward():
            self.is_due = True  # one optimizer per parameter, each stepping as soon as its gradient is available
        else:
            self._end_step()

    def _optimized_weights(self, optimizer: Any) -> list[tuple[str, Any]]:
        """The parameters of an optimizer by name."""
        return [
            (self.names.of(weight) or "optimizer.%d.%d" % (number, place), weight)
            for number, group in enumerate(optimizer.param_groups)
            for place, weight in enumerate(group["params"])
        ]

    def _record_gradients(self, weights: Iterable[tuple[str, Any]]) -> None:
        gradients = ((name, weight.grad) for name, weight in weights)
        self.steps.gradients((pair for pair in gradients if pair[1] is not None), self.place)

    def _used_roots(self) -> list[tuple[Root, Any]]:
        """Outermost modules that were called since the last update."""
        return [(root, module) for root, module in self.names.alive() if root.has_run]


def _has_closure(args: Any, kwargs: Any) -> bool:
    """Whether an optimizer computes the loss itself; the arguments are those of its step, with or without `self`."""
    return any(callable(argument) for argument in (*args[1:2], kwargs.get("closure")))


# ---------------------------------------------------------------- batches

# Inputs of outermost forward passes and losses, with a checksum per row.

INPUT, TARGET = "input", "target"


class TracedBatches:
    """Records inputs that were not computed: arguments of outermost forward passes, and data of loaders and losses."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.torch = tracer.torch
        self.tensors = tracer.tensors
        self.steps = tracer.steps
        self.replaced = Replaced()
        self.yielded: list[tuple[str, Any]] = []
        self.recorded: list[Any] = []

    # ------------------------------------------------------------ what is in place

    def see(self, is_wanted: bool) -> None:
        """Between two steps: start or stop observing loaders and losses."""
        if not is_wanted:
            self.replaced.take_out()
            return
        if not self.replaced.entries:
            self.replaced.add_losses(self.torch, self._loss)
            loader = sys.modules.get("torch.utils.data.dataloader")
            self.replaced.add(getattr(loader, "_BaseDataLoaderIter", None), "__next__", self._next)
        self.replaced.put_in()

    def _loss(self, original: Any) -> Any:
        def loss(*args: Any, **kwargs: Any) -> Any:
            if self.replaced.is_in_place and self.tracer.is_traced():
                self.tracer.run_guarded(
                    "a target", self._tell_target, args[1] if len(args) > 1 else kwargs.get("target")
                )
            return original(*args, **kwargs)

        return loss

    def _next(self, original: Any) -> Any:
        def __next__(iterator: Any) -> Any:  # noqa: N807
            batch = original(iterator)
            if self.replaced.is_in_place and self.tracer.is_traced():
                self.tracer.run_guarded("a batch", self._remember, batch)
            return batch

        return __next__

    # ------------------------------------------------------------ records

    def _remember(self, batch: Any) -> None:
        """Remember a batch of a loader."""
        self.yielded = [(name, weakref.ref(tensor)) for name, tensor in self.tensors.named_tensors(batch, TARGET)]

    def _tell_target(self, target: Any) -> None:
        if self.tensors.readable(target):
            self._record(TARGET, target, -1)

    def record(self, args: Any, kwargs: Any, place: int) -> None:
        """An outermost forward pass begins."""
        for number, value in enumerate(args):
            for name, tensor in self.tensors.named_tensors(value, "%s[%d]" % (INPUT, number) if number else INPUT):
                self._record(name, tensor, place)
        for name, tensor in self.tensors.named_tensors(kwargs, INPUT):
            self._record(name, tensor, place)
        yielded, self.yielded = self.yielded, []
        targets = [(name, reference()) for name, reference in yielded]
        targets = [(name, tensor) for name, tensor in targets if tensor is not None and self._is_new(tensor)]
        for name, tensor in targets:
            self._record(TARGET if len(targets) == 1 else name, tensor, place)

    def _is_new(self, tensor: Any) -> bool:
        """Whether a tensor is new data: not computed, and not recorded in this step yet."""
        return tensor.grad_fn is None and all(reference() is not tensor for reference in self.recorded)

    def _record(self, name: str, tensor: Any, place: int) -> None:
        if self._is_new(tensor):
            self.recorded.append(weakref.ref(tensor))
            self.steps.batch([(name, tensor)], place)

    def forget(self) -> None:
        """A step has ended."""
        self.recorded = []


# ---------------------------------------------------------------- states

# Those of shared random generators; one per stream where seeds are routed.

PYTHON = "python"
UNTOUCHED = 0
"""In place of the checksum of a generator that nobody has seeded or drawn from since the process imported PyTorch: what
the system gave it at its start is another state in each process, and nothing comes of it."""


class TracedStates:
    """Records the states of the shared generators of Python, NumPy and PyTorch."""

    def __init__(self, torch: Any, context: AdapterContext) -> None:
        self.torch = torch
        self.trace = context.trace
        self.streams = context.streams
        self.latest: dict[str, tuple[object, int]] = {
            name: (state, UNTOUCHED) for name, state in self._shared_states(set())
        }

    def record(self) -> None:
        """A step begins."""
        of_streams = set()
        for bank in self.streams.banks if self.streams.is_active else ():
            of_streams.add(bank.library)
            states = {**bank.states, self.streams.now: bank.get_state()}
            library = PYTHON if bank.library == "random" else bank.library
            for stream in sorted(states):
                self._tell("%s/%s" % (library, stream), bank.fingerprint(states[stream]), is_seeded=True)
        for library, state in self._shared_states(of_streams):
            self._tell(library, state, is_seeded=False)

    def _shared_states(self, seeded: set[str]) -> Iterator[tuple[str, object]]:
        """Libraries and states of shared generators that no stream routes."""
        modules = sys.modules
        if "random" in modules and "random" not in seeded:
            yield PYTHON, modules["random"].getstate()
        if "numpy.random" in modules and "numpy" not in seeded:
            _, key, *rest = modules["numpy.random"].get_state()
            yield "numpy", (key.tobytes(), tuple(rest))
        if "torch" not in seeded:
            yield "torch", state_bytes(self.torch.default_generator.get_state())
        for name in ACCELERATORS:
            backend: Any = getattr(self.torch, name, None)
            generators = getattr(backend, "default_generators", ())
            if "torch." + name not in seeded and generators and backend.is_initialized():
                for number, generator in enumerate(generators):
                    yield "torch.%s:%d" % (name, number), state_bytes(generator.get_state())

    def _tell(self, name: str, state: object, *, is_seeded: bool) -> None:
        """Record a state; unchanged states, which are frequent, are detected by comparison, as checksums cost more."""
        entry = self.latest.get(name)
        if entry is None and not is_seeded:
            entry = self.latest[name] = (state, UNTOUCHED)
        elif entry is None or entry[0] != state:
            entry = self.latest[name] = (state, _checksum(state))
        self.trace.record("state", name, entry[1])


def _checksum(state: object) -> int:
    data = state if isinstance(state, bytes) else repr(state).encode("utf-8")
    return crc32(data)
