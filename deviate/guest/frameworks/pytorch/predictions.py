"""Captures evaluations in PyTorch: outputs of models, row by row, with labels and a key per example.

An evaluation consists of outermost forward passes of trained modules that are not training: in evaluation mode, or
without gradients; in scripts that use neither, those that no optimizer step follows. Rows belong to the pass of a
loader that yielded their inputs, else to the array that contains them. A pass with an optimizer step is training,
whatever else was computed in it.
"""

from __future__ import annotations

import sys
import weakref

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable
from ...npz import CODES
from ...observers.capture import PREDICTIONS
from ...observers.capture_sets import CaptureLoop, Loops, Way
from .around import Surroundings
from .batches import Kinds, fits, shares
from .passes import Batch, Call, Pass, TensorOrigins, arguments_by_name, number_of
from .proof import Trained
from .replaced import Replaced
from .tensors import kind

# ---------------------------------------------------------------- labels in losses

# Losses that a script computes from captured outputs: their other argument is used as labels.
#
# The C functions that `torch.nn.functional` calls are replaced when an output without labels was captured, and restored
# when the evaluation ends, so that training steps, compilers and scripts with known labels are not affected. Replacing
# the public functions would be too late: `F.mse_loss(model(x), y)` looks up the function before it calls the model.


class Losses:
    """Finds the labels of the last output in losses that are computed from it."""

    def __init__(self, predictions: Predictions) -> None:
        self.predictions = predictions
        self.kinds = predictions.kinds
        self.replaced = Replaced()
        self.awaited: tuple[Call, Any] | None = None

    def await_labels(self, call: Call, output: Any) -> None:
        """Start waiting for the labels of an output, which is kept until then: a loss may be given a view of it."""
        self.awaited = call, output.detach()
        predictions = self.predictions
        if not self.replaced.entries:

            def make(original: Any) -> Any:
                def loss(*args: Any, **kwargs: Any) -> Any:
                    if not predictions.is_traced():
                        predictions.run_guarded("a loss", self._see, args, kwargs)
                    return original(*args, **kwargs)

                return loss

            self.replaced.add_losses(predictions.torch, make)
        self.replaced.put_in()

    def take_back(self) -> None:
        """The evaluation has ended."""
        self.awaited = None
        self.replaced.take_out()

    def _see(self, args: Any, kwargs: Any) -> None:
        output = args[0] if args else kwargs.get("input")
        target = args[1] if len(args) > 1 else kwargs.get("target")
        if self.awaited is None or not self.kinds.has_rows(output) or not self.kinds.has_rows(target):
            return
        if self.predictions.is_strange():  # something would see what is done to tensors now
            return
        call, awaited = self.awaited
        if output.data_ptr() != awaited.data_ptr() or output.numel() != awaited.numel():
            return
        if any(source is not None and shares(source, target) for source in (reference() for reference in call.inputs)):
            return  # joined outputs have no labels of their own
        shape = awaited.shape
        if output.shape[0] != shape[0]:  # one row per position, as for sequences
            if output.shape[1:] != shape[-1:] or target.numel() != shape[:-1].numel():
                return
            target, output = target.reshape(shape[:-1]), awaited
        if fits(target, output):
            self.awaited = None
            self.predictions.take_labels(call, target)


# ---------------------------------------------------------------- outputs of evaluations

FRAMEWORK = "torch"
NO_NUMPY = "outputs of PyTorch are kept with NumPy, which is not installed"


def install_capture(torch: Any, context: AdapterContext, proof: Any, forwards: Any) -> Predictions | None:
    """Capture what this run requests; returns the object that captures predictions, None if not requested."""
    if not context.capture.wants_predictions:
        return None
    if sys.modules.get("numpy") is None:  # PyTorch has loaded it where it is installed
        context.capture.refuse(PREDICTIONS, FRAMEWORK, NO_NUMPY)
        return None
    predictions = Predictions(torch, context, proof.trained)
    proof.at_training.append(predictions.before)
    forwards.at_end.append(predictions.after)
    predictions.patch()
    return predictions


class Predictions(Loops):
    """Captures the outputs of evaluations. A loop has the outputs of one model in one pass.

    A second loop has the last output where a model is called several times with a batch, as for an attack.
    """

    def __init__(self, torch: Any, context: AdapterContext, trained: Trained) -> None:
        super().__init__(context.capture, context.project, FRAMEWORK)
        self.torch = torch
        self.context = context
        self.trained = trained
        self.kinds = Kinds(torch)
        self.without_functions = torch._C.DisableTorchFunctionSubclass
        self.is_compiling = torch.compiler.is_compiling
        self.origins = TensorOrigins(context, self.kinds)
        self.around = Surroundings(context, self.kinds)
        self.losses = Losses(self)
        self.augmented: Any = None
        if self.capture.augmentations:
            from .tta import Augmented  # few runs ask for copies

            self.augmented = Augmented(torch, context.capture, self.kinds)
        self.has_evaluated = False
        self.tried: Pass | None = None
        self.training_places: set[Any] = set()
        self.of_optimizers: dict[int, tuple[Any, bool]] = {}
        self.last: Call | None = None
        self._begin_phase()

    def _begin_phase(self) -> None:
        self.loops = []
        self.roots: list[tuple[Pass, int, Way]] = []
        self.origins.arrays = {}
        self.losses.take_back()

    def patch(self) -> None:
        """Observe updates of weights."""

        def moves(optimizer: Any, args: Any, kwargs: Any) -> None:
            if (self.loops or self.tried is not None) and not self.is_compiling():
                self.run_guarded("a step of an optimizer", self._see_step, optimizer)

        sys.modules["torch.optim.optimizer"].register_optimizer_step_post_hook(moves)

    def run_guarded(self, where: str, act: Callable[..., object], *args: Any) -> None:
        with self.recorder.guarded(where):
            if self.capture.is_script_thread():
                act(*args)

    # ------------------------------------------------------------ forward passes

    def before(self, module: Any, args: Any, kwargs: Any) -> None:
        """A training forward pass begins: the evaluation ends, if training and evaluation can be distinguished."""
        if not self.has_evaluated:
            return
        if not self.loops and self.origins.is_training():
            self.tried = None
        elif self.capture.is_script_thread() and not self.is_strange():
            batch = self.origins.batch(list(self.kinds.tensors((args, kwargs))))
            self.tried = None if batch is None else batch.of_pass
            self._train()

    def after(self, module: Any, args: Any, kwargs: Any, output: Any, has_weights: bool) -> None:
        """A forward pass has ended without an error."""
        if self.capture.keeper or getattr(output, "is_meta", False):  # Keras' own trainer, or shapes alone
            return
        if not has_weights or self.torch._C._get_tracing_state() is not None:
            return
        is_training = module.training and self.torch.is_grad_enabled()
        if (is_training and self.has_evaluated) or not self.capture.is_script_thread() or self.is_strange():
            return
        if self._counts(module):
            self.capture.share_limit()
            with self.without_functions():
                self._keep(module, args, kwargs, output, is_training)

    def is_strange(self) -> bool:
        """Whether script code would see operations on tensors now, or tensors are placeholders."""
        functorch = getattr(self.torch._C, "_functorch", None)
        level = getattr(functorch, "maybe_current_level", None)
        stack = getattr(self.torch._C, "_len_torch_dispatch_stack", None)
        return bool((level is not None and level() is not None) or (stack is not None and stack()))

    def is_traced(self) -> bool:
        """Whether the current call is being compiled or traced instead of computed."""
        return self.is_compiling() or self.torch._C._get_tracing_state() is not None

    def _counts(self, module: Any) -> bool:
        """Whether a module was trained, or has weights of equal names and shapes, as averaged or loaded models do.

        Before any training all modules count, as the program may only evaluate.
        """
        return not self.trained.modules or self.trained.has(module) or self.trained.is_like(module)

    def _keep(self, module: Any, args: Any, kwargs: Any, output: Any, is_training: bool) -> None:
        inputs = list(self.kinds.tensors((args, kwargs)))
        previous = self.last
        batch = self._batch_of_previous(inputs) or self.origins.batch(inputs) or self.origins.array(inputs)
        if batch is None:
            return
        of_pass = batch.of_pass
        if self.torch.is_grad_enabled():
            self.tried = of_pass
        if of_pass.is_training or (is_training and of_pass.loader is None and of_pass.data in self.training_places):
            return
        scores = self.kinds.output(output, inputs[0].shape[0] if inputs else None, module)
        if scores is None:
            return
        around = self.around.beside(inputs) if batch.value is None else []
        truth = self.around.truth(batch, arguments_by_name(module, args, kwargs), scores, inputs, around)
        scores = self.kinds.choose(module, output, scores, truth)
        if previous is not None and previous.batch is batch and self._is_further(previous, inputs):
            previous.undo()
        of_pass.name = of_pass.name or self.around.name(of_pass, inputs)
        of_pass.is_fallback |= is_training
        loop = self._loop(batch, number_of(module))
        rows, labels, keyed = map(self._copy, (scores, truth, self._input(batch, inputs, truth, scores)))
        more = {} if module.training else self._further_outputs(module, args, kwargs, output)
        loop.add(rows, labels, [] if keyed is None else [keyed], more)
        self.last = Call(loop, batch, number_of(module), scores, inputs, rows)
        if truth is None and not is_training:
            self.losses.await_labels(self.last, scores)

    def _loop(self, batch: Batch, number: int) -> CaptureLoop:
        """The loop for the next output of a model for a batch: of the first one, or of the last one of several."""
        of_pass, n_calls = batch.of_pass, batch.n_calls.get(number, 0)
        batch.n_calls[number] = n_calls + 1
        root = of_pass, number, bool(n_calls)
        loop = next((each for each in self.loops if each.root == root), None)
        if loop is None:
            data = next((data for other, of, data in self.roots if of == number and other.is_same(of_pass)), Way())
            self.roots.append((of_pass, number, data))
            loop = self.begin(of_pass.name + "_again" * bool(n_calls), data, root, self.capture.step())
        elif n_calls > 1:
            loop.batches.pop()
        return loop

    def _further_outputs(self, module: Any, args: Any, kwargs: Any, output: Any) -> dict[str, Any]:
        """Outputs for augmented images, by suffix. Modules that are called for them are not seen as evaluations."""
        if self.augmented is None:
            return {}
        was_inside, self.context.is_inside = self.context.is_inside, True
        try:
            outputs = self.augmented.outputs(module, args, kwargs, output)
            return {suffix: self._copy(tensor) for suffix, tensor in outputs.items()}
        except Exception as error:
            self.recorder.fault("further outputs of %s" % type(module).__name__, error)
            return {}
        finally:
            self.context.is_inside = was_inside

    # ------------------------------------------------------------ whose rows they are

    def _batch_of_previous(self, inputs: list[Any]) -> Batch | None:
        """The batch from which the previous model computed these inputs."""
        output = None if self.last is None else self.last.output()
        is_given = output is not None and any(shares(output, tensor) for tensor in inputs)
        return self.last.batch if self.last is not None and is_given else None

    def _is_further(self, previous: Call, inputs: list[Any]) -> bool:
        """Whether a model gets the output of the previous one, so that both are parts of one."""
        output = previous.output()
        if output is not None and any(shares(output, tensor) for tensor in inputs):
            return True
        tensors = previous.batch.tensors
        sizes = {tensor.numel() for tensor in tensors}
        return bool(tensors) and not any(
            tensor.numel() in sizes or any(shares(tensor, batch_tensor) for batch_tensor in tensors)
            for tensor in inputs
        )

    def _input(self, batch: Batch, inputs: list[Any], truth: Any, output: Any) -> Any:
        """The input that identifies an example: that of the loader, as the script may have changed it since."""
        for tensor in (*(batch.tensors if batch.value is not None else ()), *inputs):
            if tensor.shape[0] == output.shape[0] and (truth is None or not shares(tensor, truth)):
                return tensor
        return None

    def take_labels(self, call: Call, labels: Any) -> None:
        """Store the labels of an output, which were passed to a loss."""
        with self.without_functions():
            call.loop.batches.label(call.rows, lambda: self._copy(labels))

    def _copy(self, tensor: Any) -> Any:
        """A copy of a tensor on its device, in a type that NumPy has; None of nothing."""
        if tensor is None:
            return None
        tensor = tensor.detach()
        return tensor.clone() if kind(tensor) in CODES else tensor.float()

    # ------------------------------------------------------------ ends

    def _see_step(self, optimizer: Any) -> None:
        """An optimizer is about to update weights: the outputs computed for it were training."""
        entry = self.of_optimizers.get(id(optimizer))
        if entry is None or entry[0]() is not optimizer:
            parameter = self.torch.nn.Parameter
            is_of_models = any(
                self.trained.knows(weight) or isinstance(weight, parameter)
                for group in optimizer.param_groups
                for weight in group["params"]
            )
            entry = self.of_optimizers[id(optimizer)] = (weakref.ref(optimizer), is_of_models)
        if entry[1]:
            self._train()

    def _train(self) -> None:
        """Mark the batch of the last forward pass with gradients as training."""
        if self.tried is not None:
            self.tried.is_training = True
            self.tried = None
        for of_pass, *_ in (loop.root for loop in self.loops):
            if of_pass.is_fallback and of_pass.loader is None:
                of_pass.is_training = True
                self.training_places.add(of_pass.data)
        self.loops = [loop for loop in self.loops if not loop.root[0].is_training]
        self.last = None
        if self.loops:
            self.capture.end_evaluation()
        else:
            self._begin_phase()

    def hand_over(self) -> None:
        """The evaluation has ended. What is computed in training mode counts in a script that knows no other."""
        passes = {loop.root[0] for loop in self.loops if not loop.root[0].is_training}
        self.has_evaluated |= any(not of_pass.is_fallback for of_pass in passes)
        chosen = {of_pass for of_pass in passes if not (self.has_evaluated and of_pass.is_fallback)}
        self.loops = [loop for loop in self.loops if loop.root[0] in chosen]
        try:
            super().hand_over()
        finally:
            self.last = None
            self._begin_phase()
