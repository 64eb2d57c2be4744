"""Flax nnx: captures the outputs of models in evaluations, also under `nnx.jit`.

`nnx.jit` compiles a function of model states, in which models are rebuilt. A model is therefore identified by its class
and its weights, which are those that an optimizer was created for. Outermost calls count.
"""

from __future__ import annotations

import inspect
import sys
from threading import get_ident
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import TYPE_CHECKING, Any, Callable
from ...regions import Held
from ...seeds import wraps_like
from ..jax.capture import JaxCapture
from ..jax.programs import Observed, Program
from ..jax.trees import named_leaves
from ..jax.weights import is_training

if TYPE_CHECKING:
    Layout = list[tuple[str, tuple[int, ...]]]
    """Names and shapes of weights."""

COMPILATION, AUTODIFF = "flax.nnx.transforms.compilation", "flax.nnx.transforms.autodiff"
COMPILED = ("JitWrapped", "SimpleJitWrapped", "SimpleJitPartialWrapped")
DIFFERENTIATED = ("GradFn", "SimpleGradFn")
STATIC = ("static_argnums", "static_argnames")


class NnxCapture:
    """Captures nnx models."""

    def __init__(self, jax_capture: JaxCapture) -> None:
        self.jax_capture = jax_capture
        self.programs = jax_capture.programs
        self.models: list[tuple[type, Callable[[Any], Any], Layout]] = []
        self.early: set[type] = set()
        self.n_calls = 0
        self.n_grads = 0
        self.states: tuple[type, ...] = ()

    def patch(self, nnx: Any, context: AdapterContext) -> None:
        classes = (getattr(nnx, "Pytree", None), nnx.Module, nnx.Variable, sys.modules["flax.nnx.extract"].NodeStates)
        self.states = tuple(each for each in classes if each is not None)
        for module, names, patch in (
            (COMPILATION, COMPILED, self._patch_compiled),
            (AUTODIFF, DIFFERENTIATED, self._patch_grads),
        ):
            for name in names:
                if hasattr(sys.modules.get(module), name):
                    patch(getattr(sys.modules[module], name))
        context.observe(nnx.Optimizer, "update", after=lambda *call, **kwargs: self._note(is_update=True))

    # ------------------------------------------------------------ models

    def model(self, model: Any, weights_of: Callable[[Any], Any]) -> None:
        """An optimizer is created for a model."""
        with self.jax_capture.recorder.guarded("model of an optimizer"):
            entry = (type(model), weights_of, _layout(weights_of(model)))
            if all(entry[::2] != each[::2] for each in self.models):
                self.models.append(entry)
                if type(model) in self.early:
                    reason = "a function was compiled before the optimizer of its model of nnx was made"
                    self.jax_capture.sets.refuse("evaluation", reason)

    def call_module(self, original: Any, model: Any, args: Any, kwargs: Any, frame: FrameType) -> Any:
        """Call a module, as the script or another module does."""
        is_inside = self.n_grads or self.n_calls or is_training(kwargs)
        if is_inside or not self._is_routed_thread() or not self._is_known(model):
            return original(model, *args, **kwargs)
        with Held(self, "n_calls", self.n_calls + 1):
            args, kwargs = self.jax_capture.inputs((args, kwargs), _is_opaque)
            outputs = original(model, *args, **kwargs)

        def again(copy: Any) -> Any:
            with Held(self, "n_calls", self.n_calls + 1):
                return original(model, copy, *args[1:], **kwargs)

        leaves = sys.modules["jax"].tree_util.tree_leaves((args, kwargs), is_leaf=_is_opaque)
        arrays = [each for each in leaves if hasattr(each, "dtype")]
        return self.jax_capture.outputs(arrays, outputs, frame, _is_opaque, again)

    def _is_routed_thread(self) -> bool:
        return get_ident() == self.programs.streams.thread

    def _is_known(self, model: Any) -> bool:
        with self.jax_capture.recorder.guarded("weights of a model"):
            for kind, weights_of, layout in self.models:
                if type(model) is kind and _layout(weights_of(model)) == layout:
                    return True
        if self.jax_capture.running or self.programs.traced_programs():
            self.early.add(type(model))
        return False

    # ------------------------------------------------------------ training

    def _patch_grads(self, function: Any) -> None:
        """Patch the gradient functions; the differentiated function runs while its gradients are traced."""
        original, capture = function.__call__, self

        def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            capture._note(is_update=False)
            with Held(capture, "n_grads", capture.n_grads + 1):
                return original(self, *args, **kwargs)

        function.__call__ = wraps_like(__call__, original)

    def _note(self, *, is_update: bool) -> None:
        """The functions being traced train; outside of them, a model is updated."""
        if not self._is_routed_thread():
            return
        with self.jax_capture.recorder.guarded("training of a model"):
            traced = [*self.programs.traced_programs(), *self.jax_capture.running]
            for program in traced:
                self.jax_capture.steps[program] = is_update or self.jax_capture.steps.get(program, False)
            if is_update and not traced and self.programs.is_clean():
                self.jax_capture.trains([])

    # ------------------------------------------------------------ compiled functions

    def _patch_compiled(self, compiled: Any) -> None:
        original, capture = compiled.__init__, self
        signature = inspect.signature(original)

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            original(self, *args, **kwargs)
            with capture.jax_capture.recorder.guarded("nnx.jit"):
                arguments = signature.bind(self, *args, **kwargs).arguments
                capture.programs.options[self.jitted_fn] = {name: arguments.get(name) for name in STATIC}
                self.jitted_fn = NnxFunction(self.jitted_fn, capture)

        compiled.__init__ = wraps_like(__init__, original)

    def call(self, ask: Any, inner: Any, program: Program, args: Any, kwargs: Any, frame: FrameType) -> Any:
        """Call a function of states, or trace it; only the outermost call is observed."""
        jax_capture = self.jax_capture
        if not self._is_routed_thread() or jax_capture.running or self.programs.running:
            return ask(*args, **kwargs)
        jax_capture.running.append(program)
        try:
            result = ask(*args, **kwargs)
        finally:
            jax_capture.running.pop()
        if ask is inner and self.programs.is_clean():
            with jax_capture.recorder.guarded("outputs of nnx.jit"):
                jax_capture.see_call(inner, program, args, kwargs, result, frame, self._inside((args, kwargs)))
        return result

    def _inside(self, tree: Any) -> set[int]:
        """Ids of arrays that are parts of models, optimizers, metrics and key streams."""
        leaves: Any = sys.modules["jax"].tree_util.tree_leaves
        nodes = leaves(tree, is_leaf=lambda node: isinstance(node, self.states))
        return {id(leaf) for node in nodes if isinstance(node, self.states) for leaf in leaves(node)}


class NnxFunction(Observed):
    """The compiled function behind an nnx function; nnx calls it as usual."""

    def __init__(self, inner: Any, capture: NnxCapture) -> None:
        self._inner, self._capture, self._program = inner, capture, Program()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._capture.call(self._inner, self._inner, self._program, args, kwargs, sys._getframe(1))

    def _ask(self, ask: Any, args: Any, kwargs: Any, frame: FrameType) -> Any:
        return self._capture.call(ask, self._inner, self._program, args, kwargs, frame)


def _is_opaque(node: Any) -> bool:
    """Whether a node is not a plain container: models and key streams have to keep their identity."""
    return not isinstance(node, (dict, list, tuple, type(None)))


def _layout(weights: Any) -> Layout:
    return [(name, tuple(leaf.shape)) for name, leaf in named_leaves(weights)]
