"""Evidence that runs of PyTorch are equal: hashes of trained weights and of the data of the first evaluation.

Nothing here keeps a module or an optimizer alive, draws random numbers, or changes any number except the one bit to be
flipped.
"""

from __future__ import annotations

import weakref

from ...adapter_context import AdapterContext
from ...annotations import Any, Array, Callable, Iterator
from ...observations import Observations
from ...seeds import wraps_like
from .evaluation import Evaluation
from .ranks import Ranks
from .tensors import TensorArrays
from .trained import Trained

FRAMEWORK = "torch"


class Proof(Observations):
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
        self.ranks = Ranks(torch, context.capture)
        self.at_training: list[Callable[[Any, Any, Any], object]] = []

    def patch(self) -> None:

        def note(result: None, optimizer: Any, *args: Any, **kwargs: Any) -> None:
            self.trained.optimizers.append(weakref.ref(optimizer))

        self.context.observe(self.torch.optim.Optimizer, "__init__", after=note)

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
            else:
                self.evaluation.see_batch(self_, batch)
            return batch

        wrapper = iterator.__next__ = wraps_like(__next__, original)

    def weights(self) -> Iterator[tuple[str, Any, bool]]:
        self.trained.settle()
        parameter = self.torch.nn.Parameter
        for name, tensor in dict(self.trained.tensors(is_whole=True)).items():
            yield name, tensor, tensor.requires_grad or isinstance(tensor, parameter)

    def kept_weights(self) -> Iterator[tuple[str, Array]]:
        """Those of the first process that trains, as the others hold the same."""
        if self.ranks.place()[0] == 0:
            self.trained.settle()
            for name, tensor in self.trained.tensors():
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
