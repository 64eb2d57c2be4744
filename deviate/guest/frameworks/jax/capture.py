"""JAX: captures outputs of evaluations, and weights.

Intermediate values of a compiled function are not visible. While it is traced, outputs of models are therefore given a
name, which adds no operation to the compiled program. After a call that does not train, the part of the function that
computes them is compiled separately and called with the same arguments. The functions of the program are not changed.
"""

from __future__ import annotations

import sys
from types import FrameType
from weakref import WeakKeyDictionary

from ...adapter_context import AdapterContext
from ...annotations import TYPE_CHECKING, Any, Callable, Iterable, Mapping
from ...observers.augmentations import Augmentation, Images
from ...observers.capture_sets import Loops
from ...observers.rows import LABELS, MOST_WAITING, NOTHING, augmented, first, size_of
from .programs import Program, Programs
from .trees import (
    Leaves,
    has_rows,
    is_concrete,
    is_key,
    is_shared,
    leaf_ids,
    named_leaves,
    optax_states,
    replace_leaf,
    weights_in,
)

if TYPE_CHECKING:
    from .trees import Shape

# ---------------------------------------------------------------- the part of a function that computes outputs

# Inputs and outputs of models are named while a function is traced. The names say which part of the function has to be
# compiled apart, and which arguments the part needs.

OUTPUTS, INPUTS = "deviate.outputs", "deviate.inputs"
NAMING = "name"
"""What JAX calls the primitive that gives a name."""


class CapturedPart:
    """The part of a compiled function that computes the outputs."""

    def __init__(self, run: Any, used: list[bool], n_inputs: int, input_places: list[int]) -> None:
        self.run = run
        self.used = used
        self.n_inputs = n_inputs
        self.input_places = input_places
        """Places of the inputs of the model among the arguments, where they are arguments."""

    def run_on(self, flat: list[Any]) -> Any:
        """Results of the part for arguments of the function: inputs of the model, with its outputs last."""
        return self.run(*[leaf for leaf, is_used in zip(flat, self.used) if is_used])


class CapturedCall:
    """A call of a function with such a part."""

    def __init__(
        self, part: CapturedPart, flat: list[Any], beside: list[tuple[str, Any]], sizes: set[tuple[int, ...]]
    ) -> None:
        self.part = part
        self.flat = flat
        self.names = [name for name, _ in beside]
        self.beside = [leaf for _, leaf in beside]
        """Arguments that may be data or labels."""
        self.sizes = sizes
        self.loop: Any = None
        self.labels_beside: Any = None
        self.shape: Shape | None = None
        self.inputs = [flat[place] for place in part.input_places]
        self.size = sum(size_of(each) for each in self._arrays())
        """Bytes of its inputs, about."""

    def _arrays(self) -> list[Any]:
        """The inputs of the model, or arrays that they may be made from."""
        return self.inputs or [leaf for leaf in data_of(self.beside, self.sizes, None) if leaf.ndim > 1]

    @property
    def data(self) -> Any:
        """The first of these arrays; None if there is none."""
        return next(iter(self._arrays()), None)

    def labels(self, outputs: Any) -> Any:
        arrays = self._arrays()
        labels = labels_of(
            self.names, self.beside, outputs, {id(leaf) for leaf in arrays if leaf.shape != outputs.shape}
        )
        return labels if all(labels is not leaf for leaf in self.inputs) else None


def tag_arrays(tree: Any, name: str, is_leaf: Any = None) -> Any:
    """A tree whose traced arrays have a name.

    Args:
        is_leaf: what is left as it is, where not every node of a tree may be made anew.
    """
    jax = sys.modules["jax"]
    tag: Any = sys.modules["jax._src.ad_checkpoint"].checkpoint_name

    def one(leaf: Any) -> Any:
        return tag(leaf, name) if isinstance(leaf, jax.core.Tracer) else leaf

    return jax.tree_util.tree_map(one, tree, is_leaf=is_leaf)


def leading(closed: Any, n_given: int) -> CapturedPart | str | None:
    """Extract the part from a traced function; no code of the script runs again.

    Returns:
        None where no model is called in it; why there is none where one is.
    """
    jax: Any = sys.modules["jax"]
    partial_eval: Any = sys.modules["jax._src.interpreters.partial_eval"]
    by_name: dict[str, list[Any]] = {OUTPUTS: [], INPUTS: []}
    for operation in closed.jaxpr.eqns:
        if operation.primitive.name == NAMING:
            by_name.get(operation.params["name"], []).append(operation)
    if not by_name[OUTPUTS]:
        return None
    if len(closed.jaxpr.invars) != n_given:
        return "arguments of a compiled function are no arrays"
    inputs, outputs = by_name[INPUTS], by_name[OUTPUTS][0]
    places = {id(variable): place for place, variable in enumerate(closed.jaxpr.invars)}
    input_places = [places[id(each.invars[0])] for each in inputs if id(each.invars[0]) in places]
    wanted = [each.outvars[0] for each in (*inputs, outputs)]
    debug_info = closed.jaxpr.debug_info  # its names of results must be as many as these; None is refused by JAX 0.7
    if debug_info:
        debug_info = debug_info._replace(result_paths=("",) * len(wanted))
    whole = closed.jaxpr.replace(outvars=wanted, debug_info=debug_info)
    jaxpr, used = partial_eval.dce_jaxpr(whole, [True] * len(wanted))[:2]
    if jaxpr.effects:
        return "a function with side effects is not called twice"
    run = jax.jit(lambda *arrays: jax.core.eval_jaxpr(jaxpr, closed.consts, *arrays))
    return CapturedPart(run, list(used), len(inputs), input_places)


def data_of(flat: Any, sizes: set[tuple[int, ...]], rows: int | None) -> list[Any]:
    """Arguments with rows (`n` rows if given) that do not have the shape of weights."""
    arrays = [leaf for leaf in flat if has_rows(leaf) and tuple(leaf.shape) not in sizes]
    return [leaf for leaf in arrays if rows is None or leaf.shape[0] == rows]


def labels_of(names: Any, flat: Any, outputs: Any, input_ids: set[int]) -> Any:
    """The labels in the arguments: by name, or the only integer array that is not an input."""
    rows = outputs.shape[0] if outputs.ndim else -1
    is_label = [
        id(leaf) not in input_ids
        and has_rows(leaf)
        and leaf.shape[0] == rows
        and (leaf.ndim == 1 or leaf.shape == outputs.shape or leaf.shape[1:] == (1,))
        for leaf in flat
    ]
    chosen = [(name, leaf) for name, leaf, is_chosen in zip(names, flat, is_label) if is_chosen]
    by_name = [leaf for name, leaf in chosen if name.rpartition("/")[2] in LABELS]
    whole = [leaf for _, leaf in chosen if leaf.dtype.kind in "iu"]
    for candidates in (by_name, whole, [leaf for _, leaf in chosen]):
        if len(candidates) == 1:
            return candidates[0]
    return None


FRAMEWORK = "jax"
MOST_PENDING = 1024
"""Calls in a row that compute gradients and may turn out not to train; their inputs are MOST_WAITING bytes at most."""
UNCALLED = "no model of nnx was called in a way that can be seen; deviate.log_predictions keeps what it puts out"
UNSEEN = "its calls compute slopes, and were too many to wait for whether the weights are updated"


def _why_not(inner: Any, flat: list[Any]) -> str | None:
    """Why a function cannot be called again with these arguments; None where it can."""
    if not hasattr(inner, "trace"):
        return "it is computed by a function of pmap"
    if any(map(is_shared, flat)):
        return "it is computed by several processes together"
    is_whole = all(is_concrete(leaf) or is_key(leaf) or isinstance(leaf, (int, float, bool)) for leaf in flat)
    return None if is_whole else "a compiled function has used up its arguments"


class JaxCapture(Loops):
    """Captures functions and models of JAX. A loop consists of consecutive calls from one line of the script."""

    def __init__(self, context: AdapterContext, programs: Programs) -> None:
        super().__init__(context.capture, context.project, FRAMEWORK)
        self.programs = programs
        self.arrays = Leaves()
        self.parts: WeakKeyDictionary[Program, dict[Any, CapturedPart | None]] = WeakKeyDictionary()
        self.pending: list[CapturedCall] = []
        self.lost: dict[str, CapturedCall] = {}
        """Names of sets of which too many calls were pending, with the last one."""
        self.has_trained = False
        self.has_updated = False
        self.has_models = False
        self.has_rows = False
        self.running: list[Program] = []
        """Functions of nnx that are being called."""
        self.steps: WeakKeyDictionary[Program, bool] = WeakKeyDictionary()
        """Functions that compute gradients of models of nnx, and whether they update one."""
        if self.capture.wants_predictions:
            programs.evaluated = self.see_call
            programs.mapped = self.see_mapped
            programs.differentiated = lambda shape: self.trains([shape], is_update=False)
            self.recorder.at_close.append(self._close)

    def trains(self, shapes: list[Shape], *, is_update: bool = True) -> None:
        """A training step was done, or gradients were computed, possibly for their values only.

        Args:
            shapes: of the trees of weights in question.
        """
        self.has_trained = True
        self.has_updated |= is_update
        if is_update:
            self.pending = [call for call in self.pending if call.shape not in shapes]
            self.lost = {name: call for name, call in self.lost.items() if call.shape not in shapes}
        if is_update or not self.has_updated:
            self.training_continues()

    def _close(self) -> None:
        if self.has_models and not self.has_rows:
            self.sets.refuse("evaluation", UNCALLED)
        elif self.programs.has_differentiated and not self.capture.last and not self.sets.has_refused:
            self.sets.refuse("evaluation", "neither a model nor a compiled function was called outside of training")

    # ------------------------------------------------------------ models

    def inputs(self, args: Any, is_leaf: Any = None) -> Any:
        """A model is called; its inputs are named if a function is being traced."""
        return self._tag(args, INPUTS, is_leaf) if self._is_traced() else args

    def outputs(
        self,
        inputs: Any,
        result: Any,
        frame: FrameType,
        is_leaf: Any = None,
        again: Callable[[Any], Any] | None = None,
    ) -> Any:
        """A model has returned; its outputs are named if a function is being traced, and stored if they have values.

        Args:
            again: calls the model with another first input, where it has one.
            is_leaf: parts that stay the objects that they are.
        """
        with self.recorder.guarded("outputs of a model"):
            if self._is_traced():
                array = first(result)
                return replace_leaf(result, array, self._tag(array, OUTPUTS, is_leaf), is_leaf)
            if self.has_trained and self.capture.wants_predictions and not self.programs.running:
                arrays = [leaf for _, leaf in named_leaves(inputs) if getattr(leaf, "ndim", 0)]
                if is_concrete(first(result)) and not any(map(is_shared, arrays)):
                    further = self._augment(arrays, first(result), again)
                    self.add(frame, first(result), None, arrays, further)
        return result

    def _is_traced(self) -> bool:
        return bool(self.capture.wants_predictions and (self.programs.traced_programs() or self.running))

    def _tag(self, tree: Any, name: str, is_leaf: Any) -> Any:
        with self.recorder.guarded("names of arrays"):
            return tag_arrays(tree, name, is_leaf)
        return tree

    # ------------------------------------------------------------ functions

    def see_call(
        self, inner: Any, program: Program, args: Any, kwargs: Any, result: Any, frame: FrameType, states: Any = ()
    ) -> None:
        """A compiled function was called that does not seem to train.

        Args:
            states: ids of arguments that belong to models and the like.
        """
        if not self.capture.is_script_thread():
            return
        if program in self.steps:
            self.trains([], is_update=self.steps[program])
        if not self.has_trained or program in self.steps:
            return
        if program.trains and (program.weights_index is not None or not self.has_updated):
            return
        dynamic, fixed = self.programs.split_static(inner, args, kwargs)
        leaves = named_leaves(dynamic)
        flat = [leaf for _, leaf in leaves]
        reason = _why_not(inner, flat)
        if reason is not None:
            self.sets.refuse(self.sets.name(self, frame)[0], reason)
            return
        kinds = tuple((getattr(leaf, "shape", ()), str(getattr(leaf, "dtype", leaf))) for leaf in flat)
        key = (sys.modules["jax"].tree_util.tree_structure(dynamic), kinds, fixed)
        parts = self.parts.setdefault(program, {})
        if key not in parts:
            parts[key] = None
            parts[key] = self._part(inner.trace(*args, **kwargs).jaxpr, len(flat))
        part = parts[key]
        weights = weights_in((args, kwargs), self.programs.shapes())
        data = self._without_states((args, kwargs), leaves, weights, states)
        if part is not None:
            call = CapturedCall(part, flat, data, self._sizes())
            call.loop = self.loop_of(call.data, frame)
            call.labels_beside = None if call.data is None else self.sets.beside(call.data, frame)
            if not program.trains:
                self._run(call)
            else:
                call.shape = program.grads[0]
                self._await(call)
        elif not program.trains and weights:
            self._plain(data, flat, result, frame)

    def see_mapped(self, args: Any, kwargs: Any, result: Any, frame: FrameType) -> None:
        """A function of `vmap` was called outside of compiled functions and gradients."""
        if not (self.has_trained and self.capture.is_script_thread()):
            return
        weights = weights_in((args, kwargs), self.programs.shapes())
        if weights:
            leaves = named_leaves((args, kwargs))
            data = self._without_states((args, kwargs), leaves, weights)
            self._plain(data, [leaf for _, leaf in leaves], result, frame)

    def _without_states(
        self, arguments: Any, leaves: list[tuple[str, Any]], weights: list[Any], states: Iterable[int] = ()
    ) -> list[tuple[str, Any]]:
        """The leaves of arguments that are neither weights nor of an optimizer, nor among the ids of other states."""
        ids = {*states, *leaf_ids([*weights, *optax_states(arguments)])}
        return [each for each in leaves if id(each[1]) not in ids]

    def _await(self, call: CapturedCall) -> None:
        """A call that computes gradients counts as an evaluation unless the weights are updated with them."""
        name = call.loop.name
        if name in self.lost:
            return
        self.pending.append(call)
        sizes = [each.size for each in self.pending if each.loop.name == name]
        if len(sizes) > MOST_PENDING or (len(sizes) > 1 and sum(sizes) > MOST_WAITING):
            self.pending = [each for each in self.pending if each.loop.name != name]
            self.lost[name] = call  # an incomplete set would be mistaken for the whole

    def _run(self, call: CapturedCall) -> None:
        results = call.part.run_on(call.flat)
        inputs = list(results[: call.part.n_inputs])

        def again(copy: Any) -> Any:
            flat = list(call.flat)
            flat[call.part.input_places[0]] = copy
            return call.part.run_on(flat)[-1]

        is_argument = len(call.part.input_places) == 1 == call.part.n_inputs
        further = self._augment(inputs, results[-1], again if is_argument else None, is_compiled=True)
        labels = call.labels(results[-1])
        self.has_rows = True
        call.loop.add(results[-1], call.labels_beside if labels is None else labels, inputs, further)

    def _augment(
        self, inputs: list[Any], outputs: Any, again: Callable[[Any], Any] | None, *, is_compiled: bool = False
    ) -> Mapping[str, Any]:
        """Mean outputs for augmented images, where this run asks for them and the model can be called with others."""
        if not self.capture.augmentations:
            return NOTHING
        augmentation = Augmentation(self.capture, Images((1, 2)))
        if again is None or len(inputs) != 1:
            return augmentation.refuse()
        call, array = again, inputs[0]

        def outputs_of(copy: Any) -> Any:
            if is_compiled and copy.shape != array.shape:
                raise ValueError("a compiled function takes images of one size")
            return call(self.arrays.like(copy, array))

        return augmented(augmentation, inputs, outputs, outputs_of)

    def _plain(self, beside: list[tuple[str, Any]], flat: Any, result: Any, frame: FrameType) -> None:
        """Outputs of a function of weights and data that calls no library model."""
        outputs = first(result)
        if not getattr(outputs, "ndim", 0) or not is_concrete(outputs):
            name = self.sets.name(self, frame)[0]
            self.sets.refuse(name, "a compiled function of the weights gives no row for each example")
            return
        arrays = data_of(flat, self._sizes(), outputs.shape[0])
        data = [leaf for leaf in arrays if leaf.ndim > 1]
        labels = None
        if data:
            names, leaves = [name for name, _ in beside], [leaf for _, leaf in beside]
            labels = labels_of(names, leaves, outputs, {id(leaf) for leaf in data})
        inputs = data or arrays
        if inputs:
            self.add(frame, outputs, labels, inputs)

    def _sizes(self) -> set[tuple[int, ...]]:
        """Shapes of weights."""
        return {size for shape in self.programs.shapes() for size in shape[1]}

    def _part(self, closed: Any, n_given: int) -> CapturedPart | None:
        part = leading(closed, n_given)
        if isinstance(part, str):
            self.sets.refuse(self.sets.name(self, None)[0], part)
            return None
        return part

    # ------------------------------------------------------------ sets

    def add(
        self,
        frame: FrameType,
        outputs: Any,
        truth: Any,
        inputs: list[Any],
        further: Mapping[str, Any] = NOTHING,
        model: Any = None,
    ) -> None:
        """Store the outputs of a call, with labels beside the first input where none are given."""
        self.has_rows = True
        data = next(iter(inputs), None)
        truth = self.sets.beside(data, frame) if truth is None and data is not None else truth
        self.loop_of(data, frame, model=model).add(outputs, truth, inputs, further)

    def hand_over(self) -> None:
        pending, self.pending = self.pending, []
        lost, self.lost = self.lost, {}
        for name, call in lost.items():
            self.sets.give_up(name, call.loop.root, UNSEEN)
        for call in pending:
            self._run(call)
        super().hand_over()
