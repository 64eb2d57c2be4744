"""JAX: compiled functions of the project, of which only arguments and results are visible.

While a function is traced, its Python code runs, including the libraries that draw, differentiate and update. The guest
thereby learns what the function does, and reads its results or arguments afterwards.
"""

from __future__ import annotations

import inspect
import sys
from functools import partial
from threading import get_ident
from types import FrameType, MethodType
from weakref import WeakKeyDictionary

from ...adapter_context import AdapterContext
from ...annotations import TYPE_CHECKING, Any, Callable
from ...seeds import wraps_like
from ...split import EarlyDraws
from .trees import first_leaf, shape_of, subtrees_like

if TYPE_CHECKING:
    from .trees import Shape

DRAW = ("draw", None)
REGION, TRAINING = 1, 2
"""What the draws of a function depend on: the region in which it is called, and whether the main loop calls it, too."""


class Program:
    """What is known about a function that the project compiles.

    Attributes:
        updates: trees that an optimizer updates in it.
        grads: trees by which it differentiates.
        inputs: what it hands to models.
        latest: what it gave last, where it trains.
        weights_index, tries: which of the trees in its results that are shaped like `grads` are the weights.
        depends_on: what its draws depend on.
        context: where it was called when it was traced.
    """

    def __init__(self) -> None:
        self.updates: list[Shape] = []
        self.grads: list[Shape] = []
        self.inputs: list[Shape] = []
        self.news: list[tuple[str, Any]] = []
        self.latest: Any = None
        self.weights_index: int | None = None
        self.tries = 0
        self.depends_on = 0
        self.context: tuple[object, ...] = ()
        self.is_watched = False

    @property
    def trains(self) -> bool:
        return bool(self.updates or self.grads)

    def weights_index_handed_on(self, args: Any, kwargs: Any) -> int | None:
        """Index of the result that the next call receives: weights, not gradients of the same shapes."""
        argument_ids = {id(first_leaf(tree)) for tree in subtrees_like((args, kwargs), self.grads[0])}
        trees = subtrees_like(self.latest, self.grads[0])
        return next((place for place, tree in enumerate(trees) if id(first_leaf(tree)) in argument_ids), None)

    def learn(self) -> None:
        """Store what was observed during tracing."""
        news, self.news = self.news, []
        self.updates = [shape for action, shape in news if action == "update"] or self.updates
        self.grads = [shape for action, shape in news if action == "slope"] or self.grads
        self.inputs = [shape for action, shape in news if action == "input"] or self.inputs
        self.is_watched = bool(self.trains or self.inputs)


class Programs:
    """Compiled functions of the project, and the ones being called.

    Attributes:
        before: where arguments are to be changed, asked for other ones at each outermost call.
        after: told of each outermost call of a function that trains, or looks at a model.
        evaluated: told of each outermost call of one that updates nothing, where outputs are to be kept.
        mapped: told of each call of a function of `vmap` outside of compiled functions and gradients, likewise.
        differentiated: told of the shapes of each tree of weights by which a gradient is computed there, likewise.
        tracing: told before and after each outermost call, and of gradients outside of them, where the run is traced.
    """

    def __init__(self, jax: Any, context: AdapterContext) -> None:
        self.recorder = context.recorder
        self.project = context.project
        self.streams = context.streams
        self.early = context.part(EarlyDraws)
        self.running: list[Program] = []
        self.by_function: WeakKeyDictionary[Any, Program] = WeakKeyDictionary()
        self.has_differentiated = False
        self.before: Callable[[Any, Program, Any, Any], Any] | None = None
        self.after: Callable[[Program, Any, Any, Any], object] = lambda *call: None
        self.evaluated: Callable[[Any, Program, Any, Any, Any, FrameType], object] | None = None
        self.mapped: Callable[[Any, Any, Any, FrameType], object] = lambda *call: None
        self.differentiated: Callable[[Shape], object] = lambda shape: None
        self.uncompiled: list[Shape] = []
        """Trees by which gradients are computed outside of compiled functions."""
        self.tracing: Any = None
        self.options: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self.remaking: WeakKeyDictionary[Any, Callable[[], Any]] = WeakKeyDictionary()
        """How to compile a function of `pmap` anew, which has no cache to clear."""
        self.remade: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self.is_clean = getattr(sys.modules.get("jax._src.core"), "trace_state_clean", lambda: True)
        for name in ("jit", "pmap"):
            setattr(jax, name, self._compiling(getattr(jax, name)))
        for name in ("grad", "value_and_grad"):
            setattr(jax, name, self._differentiating(getattr(jax, name)))
        if context.capture.wants_predictions:
            jax.vmap = self._mapping(jax.vmap)

    # ------------------------------------------------------------ what is seen in a trace

    def see(self, action: str, tree: Any) -> None:
        """A tree is used in the functions being traced: "update", "slope" or "input"."""
        for program in self.traced_programs():
            with self.recorder.guarded("jax: %s" % action):
                program.news.append((action, shape_of(tree)))

    def depends_on(self, reason: int) -> None:
        """A draw depends on a value: in other places it would belong to another stream."""
        for program in self.traced_programs():
            program.depends_on |= reason
            if program.news[-1:] != [DRAW]:
                program.news.append(DRAW)

    def traced_programs(self) -> list[Program]:
        """The functions that this thread is tracing."""
        return self.running if get_ident() == self.streams.thread else []

    # ------------------------------------------------------------ functions

    def _compiling(self, original: Any) -> Any:
        """`jax.jit`: functions of the project are wrapped for observation, those of libraries are not."""

        def jit(*args: Any, **kwargs: Any) -> Any:
            compiled = original(*args, **kwargs)
            if not callable(compiled) or self.project.place(sys._getframe(1).f_code) is None:
                return compiled
            if hasattr(compiled, "lower"):
                if not hasattr(compiled, "clear_cache") and args:
                    self.remaking[compiled] = partial(_compile_anew, original, args, kwargs)
                return self.observe(compiled, kwargs)
            return wraps_like(
                lambda *more, **options: self.observe(compiled(*more, **options), {**kwargs, **options}), compiled
            )

        return wraps_like(jit, original)

    def shapes(self) -> list[Shape]:
        """Structures of trained trees; several trees may have the same structure as the weights."""
        compiled = [shape for program in self.by_function.values() for shape in program.updates + program.grads]
        return compiled + self.uncompiled

    def split_static(self, inner: Any, args: Any, kwargs: Any) -> tuple[tuple[Any, Any], tuple[Any, ...]]:
        """Split arguments into dynamic ones and static ones, for which the function is compiled."""
        options = self.options.get(inner, {})
        names, numbers = options.get("static_argnames") or (), options.get("static_argnums") or ()
        names = {names} if isinstance(names, str) else set(names)
        places = {numbers} if isinstance(numbers, int) else set(numbers)
        if names or places:
            parameters = list(inspect.signature(inner).parameters)
            places = {place % len(parameters) for place in places} | {
                parameters.index(each) for each in names if each in parameters
            }
            names |= {parameters[place] for place in places if place < len(parameters)}
        chosen = [each for place, each in enumerate(args) if place not in places]
        dynamic = {name: each for name, each in kwargs.items() if name not in names}
        fixed = [each for place, each in enumerate(args) if place in places]
        return (chosen, dynamic), (*fixed, *[(name, each) for name, each in kwargs.items() if name in names])

    def observe(self, inner: Any, options: Any = None) -> Any:
        """Wrap a compiled function; what is known about a function is shared by all its compilations."""
        try:
            program = self.by_function.setdefault(inner.__wrapped__, Program())
        except (AttributeError, TypeError):  # a function that cannot be referred to weakly
            program = Program()
        if options and self.evaluated is not None:
            self.options[inner] = options
        return PjitFunction(inner, program, self)

    def _differentiating(self, original: Any) -> Any:
        def differentiate(*args: Any, **kwargs: Any) -> Any:
            derivative = original(*args, **kwargs)
            if not callable(derivative) or self.project.place(sys._getframe(1).f_code) is None:
                return derivative
            self.has_differentiated = True
            argnums = args[1] if len(args) > 1 else kwargs.get("argnums", 0)
            first = argnums if isinstance(argnums, int) else argnums[0]

            def gradient(*args: Any, **kwargs: Any) -> Any:
                if self.traced_programs() and first < len(args):
                    self.see("slope", args[first])
                result = derivative(*args, **kwargs)
                if not self.traced_programs() and self.is_clean() and first < len(args):
                    if self.tracing is not None:
                        self.tracing.gradients(args[first], result, sys._getframe(1))
                    if self.evaluated is not None:
                        self._note_uncompiled(args[first])
                return result

            return wraps_like(gradient, derivative)

        return wraps_like(differentiate, original)

    def _note_uncompiled(self, tree: Any) -> None:
        with self.recorder.guarded("gradients of a function"):
            shape = shape_of(tree)
            if shape not in self.uncompiled:
                self.uncompiled.append(shape)
            self.differentiated(shape)

    def _mapping(self, original: Any) -> Any:
        """`jax.vmap`: makes a function of one example one of a batch, which scripts call outside of `jit`, too."""

        def vmap(*args: Any, **kwargs: Any) -> Any:
            mapped = original(*args, **kwargs)
            if not callable(mapped) or self.project.place(sys._getframe(1).f_code) is None:
                return mapped

            def call(*args: Any, **kwargs: Any) -> Any:
                result = mapped(*args, **kwargs)
                if get_ident() == self.streams.thread and not self.running and self.is_clean():
                    with self.recorder.guarded("outputs of a function"):
                        self.mapped(args, kwargs, result, sys._getframe(1))
                return result

            return wraps_like(call, mapped)

        return wraps_like(vmap, original)

    # ------------------------------------------------------------ calls

    def call(self, inner: Any, program: Program, args: Any, kwargs: Any, frame: FrameType) -> Any:
        """Call a function and observe arguments and results. Costs about one microsecond if nothing is observed."""
        running = self.running
        if get_ident() != self.streams.thread:
            return inner(*args, **kwargs)
        is_elsewhere = program.depends_on and program.context != self._context(program, frame)
        if is_elsewhere:  # so that it is traced again
            if hasattr(inner, "clear_cache"):
                inner.clear_cache()
            elif inner in self.remaking:
                self.remade[inner] = self.remaking[inner]()
        if self.remade:
            inner = self.remade.get(inner, inner)
        if self.before is not None and not running:
            args, kwargs = self.before(inner, program, args, kwargs)
        is_traced = self.tracing is not None and not running and self.is_clean()
        traced_call = self.tracing.before(inner, program, args, kwargs, frame) if is_traced else None
        running.append(program)
        try:
            result = inner(*args, **kwargs)
        finally:
            running.pop()
            if program.news:
                self._learn(program, frame)
        if program.is_watched and not running and self.is_clean():
            try:
                self.after(program, args, kwargs, result)
            except Exception as error:
                self.recorder.fault("jax.jit", error)
        if self.evaluated is not None and not program.updates and not running and self.is_clean():
            with self.recorder.guarded("outputs of a function"):
                self.evaluated(inner, program, args, kwargs, result, frame)
        if traced_call is not None:
            self.tracing.after(traced_call, program, args, kwargs, result, frame)
        return result

    def trace(self, ask: Any, program: Program, args: Any, kwargs: Any, frame: FrameType) -> Any:
        """Trace a function without a call, for `lower`, `trace` and `eval_shape`."""
        if get_ident() != self.streams.thread:
            return ask(*args, **kwargs)
        self.running.append(program)
        try:
            return ask(*args, **kwargs)
        finally:
            self.running.pop()
            self._learn(program, frame)

    def _learn(self, program: Program, frame: FrameType) -> None:
        program.learn()
        if program.depends_on:
            program.context = self._context(program, frame)

    def _context(self, program: Program, frame: FrameType) -> tuple[object, ...]:
        """The context that the draws of a function depend on, at this call."""
        if not program.depends_on & TRAINING:
            return (self.streams.now,)
        is_training = self.early.is_training(frame)
        return self.streams.now, is_training, is_training or frame.f_lineno


def _compile_anew(compiling: Any, args: Any, kwargs: Any) -> Any:
    """Compile a function as another one, for what `pmap` traces is kept by function."""
    function = args[0]

    def another(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return compiling(wraps_like(another, function), *args[1:], **kwargs)


class Observed:
    """A wrapped compiled function, which can also be traced without a call."""

    _inner: Any

    def _ask(self, ask: Any, args: Any, kwargs: Any, frame: FrameType) -> Any:
        raise NotImplementedError

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        return self._ask(self._inner.lower, args, kwargs, sys._getframe(1))

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        return self._ask(self._inner.trace, args, kwargs, sys._getframe(1))

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        return self._ask(self._inner.eval_shape, args, kwargs, sys._getframe(1))

    def __getattr__(self, name: str) -> Any:
        if "_inner" not in self.__dict__:  # a copy that is incomplete yet
            raise AttributeError(name)
        return getattr(self._inner, name)


class PjitFunction(Observed):
    """A wrapped compiled function of the project, called as usual.

    It has the type name of the original, by which Haiku recognises compiled functions.
    """

    def __init__(self, inner: Any, program: Program, programs: Programs) -> None:
        self._inner, self._program, self._programs = inner, program, programs
        wraps_like(self, inner)
        self.__wrapped__ = getattr(inner, "__wrapped__", inner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._programs.call(self._inner, self._program, args, kwargs, sys._getframe(1))

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def _ask(self, ask: Any, args: Any, kwargs: Any, frame: FrameType) -> Any:
        return self._programs.trace(ask, self._program, args, kwargs, frame)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._inner.__reduce_ex__(protocol)

    def __repr__(self) -> str:
        return repr(self._inner)
