"""JAX: the weights of a run, the examples that it evaluates, and one bit of one weight.

Weights are found where Optax or Flax updates them, or in results of compiled functions that contain trees like those
for which gradients are computed. JAX arrays are immutable, so the latest weights are kept until newer ones exist.
"""

from __future__ import annotations

import sys
from functools import partial
from types import FrameType
from weakref import ref

from ...adapter_context import AdapterContext
from ...annotations import TYPE_CHECKING, Any, Array, Callable, Iterable, Iterator
from ...observations import Observations
from ...observers.capture import WEIGHTS
from ...observers.hashing import INPUTS
from .programs import Program, Programs
from .trees import (
    Leaves,
    is_array,
    is_concrete,
    is_float,
    is_tree,
    named_leaves,
    part_of,
    replace_part,
    shape_of,
    subtrees_like,
    without_copies,
)
from .trees import places as places_in

if TYPE_CHECKING:
    from .trees import Shape

FRAMEWORK = "jax"
TRIES = 5
"""Calls in which the results of a function must come back as arguments to be taken for weights."""


class JaxWeights(Observations):
    """Finds the weights of this process.

    Attributes:
        at_update: told of the new weights, and of the frame that asked for them, when an optimizer has updated some
            outside of compiled functions.
        has_updated: whether weights were updated: what models compute before is no evaluation.
    """

    framework = FRAMEWORK
    no_weights = "no weights could be reached for one-bit"

    def __init__(self, context: AdapterContext, programs: Programs) -> None:
        super().__init__(context, Leaves())
        self.programs = programs
        self.has_updated = False
        self.capture: Any = None
        if context.capture.wants_predictions or context.capture.wants_weights:
            from .capture import JaxCapture  # most runs keep nothing

            self.capture = JaxCapture(context, programs)
        self.at_update: list[Callable[[Any, FrameType], object]] = []
        self.latest: Any = None
        self.models: list[tuple[Callable[[], Any], Callable[[Any], Any], dict[int, Any]]] = []
        programs.after = self.after

    # ------------------------------------------------------------ where they are

    def see_update(self, before: Any, now: Any) -> None:
        """An optimizer has updated a tree of weights."""
        self.programs.see("update", before)
        leaves = named_leaves(now)
        self.programs.has_differentiated = True
        if not self.programs.running and _has_values(leaves):
            self.latest = now
            self.recorder.train()
            self.training_continues()
            if self.capture is not None:
                self.capture.trains([shape_of(before)])
            for callback in self.at_update:
                callback(now, sys._getframe(1))

    def model(self, model: Any, weights_of: Callable[[Any], Any]) -> None:
        """Register a model whose weights an optimizer replaces in place."""
        with self.recorder.guarded("weights of a model"):
            before = {id(leaf): ref(leaf) for _, leaf in named_leaves(weights_of(model))}
            self.models.append((ref(model), weights_of, before))
            if self.capture is not None:
                self.capture.has_models = True

    def after(self, program: Program, args: Any, kwargs: Any, result: Any) -> None:
        """A compiled function of the project was called."""
        if not program.trains:
            self._add_arguments(program, args, kwargs)
            return
        self.recorder.train()
        self.training_continues()
        if program.updates or program.weights_index is not None:
            program.latest = result
        elif program.tries < TRIES and is_tree(program.grads[0]):
            program.weights_index = program.weights_index_handed_on(args, kwargs)
            program.tries += 1
            program.latest = None if program.tries == TRIES and program.weights_index is None else result
        if self.capture is not None:
            is_update = bool(program.updates or program.weights_index is not None)
            self.capture.trains(program.updates or program.grads, is_update=is_update)

    def call_model(self, call: Callable[[Any], Any], weights: Any, inputs: Any, options: Any, frame: FrameType) -> Any:
        """Call a model of a library by its inputs, in training or not."""
        self._add_inputs(weights, inputs, options)
        if self.capture is None or is_training(options):
            return call(inputs)
        inputs = self.capture.inputs(inputs)
        again = (lambda copy: call((copy, *inputs[1:]))) if isinstance(inputs, tuple) else None
        return self.capture.outputs(inputs, call(inputs), frame, again=again)

    # ------------------------------------------------------------ evaluations

    def _add_inputs(self, weights: Any, inputs: Any, options: dict[str, Any]) -> None:
        """A model is called."""
        try:
            if self.evaluations.is_over or is_training(options):
                return
            if self.programs.running:
                self.programs.see("input", inputs)
            elif all(is_concrete(leaf) for _, leaf in named_leaves(weights)):
                self._add([leaf for _, leaf in named_leaves(inputs) if getattr(leaf, "shape", ())])
        except Exception as error:
            self.evaluations.is_over = True
            self.recorder.fault("examples of the evaluation", error)

    def _add_arguments(self, program: Program, args: Any, kwargs: Any) -> None:
        """A compiled function was called that passes its arguments to a model, and does not train."""
        if self.evaluations.is_over or not self.has_updated:
            return
        arguments = [leaf for _, leaf in named_leaves((args, kwargs)) if hasattr(leaf, "shape")]
        arrays = []
        for shape in filter(None, program.inputs[0][1]):
            array = next((leaf for leaf in arguments if tuple(leaf.shape) == shape), None)
            if array is None:
                self.evaluations.is_over = True  # the function prepares the examples: what they are cannot be told
                return
            arrays.append(array)
        self._add(arrays)

    def _add(self, arrays: list[Any]) -> None:
        n = arrays[0].shape[0] if arrays else 0
        if self.has_updated and n and all(is_concrete(array) and array.shape[0] == n for array in arrays):
            self.add_to_hash(arrays, INPUTS)

    # ------------------------------------------------------------ proof

    def training_continues(self) -> None:
        self.has_updated = True
        super().training_continues()

    def has_trained(self) -> bool:
        return self.programs.has_differentiated

    def record_weights(self, moment: str) -> None:
        if moment != "exit":  # those are recorded by `close`
            super().record_weights(moment)

    def close(self) -> None:
        """JAX is about to shut down its backends: afterwards no array can be read."""
        self.end_evaluation()
        super().record_weights("exit")

    def kept_weights(self) -> Iterable[tuple[str, Array]]:
        """Those of the first process, as the others hold the same."""
        if not all(is_concrete(leaf) for _, leaf in self.leaves()):
            self.context.capture.refuse(WEIGHTS, FRAMEWORK, "they are divided between processes")
            return ()
        return super().kept_weights() if self.recorder.is_first_rank else ()

    def weights(self) -> Iterator[tuple[str, Any, bool]]:
        return ((name, leaf, True) for name, leaf in self.leaves())

    def leaves(self) -> list[tuple[str, Any]]:
        """Weights by name, without those that went on into another function, which was given their memory."""
        trees = [tree for program in self.programs.by_function.values() for tree in _weights_of(program)]
        if self.latest is not None:
            trees.append(self.latest)
        for model, weights_of, before in self.models:
            owner = model()
            tree = None if owner is None else weights_of(owner)
            if tree is not None and not all(_is_one_of(before, leaf) for _, leaf in named_leaves(tree)):
                trees.append(tree)  # else it was a copy that was trained
        named = [leaves for leaves in map(named_leaves, trees) if _has_values(leaves)]
        return [
            ("%d/%s" % (number, name) if len(named) > 1 else name, leaf)
            for number, leaves in enumerate(named)
            for name, leaf in leaves
        ]


def _has_values(leaves: list[tuple[str, Any]]) -> bool:
    """Whether all leaves have values in this process, or parts of them."""
    return all(is_concrete(leaf) or is_array(leaf) for _, leaf in leaves)


def _is_one_of(originals: dict[int, Any], leaf: Any) -> bool:
    """Whether an array is one of those, not a new one with a reused id."""
    reference = originals.get(id(leaf))
    return reference is not None and reference() is leaf


def _weights_of(program: Program) -> list[Any]:
    """Trees with weights in the latest results of a function."""
    if program.latest is None:
        return []
    if not program.updates:
        trees = subtrees_like(program.latest, program.grads[0]) if program.weights_index is not None else []
        trees = [(tree, program.grads[0]) for place, tree in enumerate(trees) if place == program.weights_index]
    else:
        trees = []
        for number, shape in enumerate(program.updates):
            # Copies of the weights, as for an average, come after them.
            earlier = program.updates[:number].count(shape)
            trees += [(tree, shape) for tree in subtrees_like(program.latest, shape)[earlier : earlier + 1]]
    return [
        without_copies(tree, shape) if all(is_concrete(leaf) for _, leaf in named_leaves(tree)) else tree
        for tree, shape in trees
    ]


def is_training(options: dict[str, Any]) -> bool:
    """Whether arguments of a model state that it is trained."""
    for name in ("train", "training", "is_training"):
        if options.get(name):
            return True
    return (
        options.get("deterministic") is False
        or bool(options.get("mutable"))
        or "dropout" in (options.get("rngs") or ())
    )


class FlippedBit:
    """Flips the bit in a tree of weights, which are arguments of a function or the state of an optimizer."""

    def __init__(self, weights: JaxWeights, programs: Programs) -> None:
        self.recorder = weights.recorder
        self.programs = programs
        self.arrays = weights.arrays
        self.one_bit = weights.one_bit
        # Where the weights are among the arguments; only before the first step are they told from moments.
        self.ways: dict[Program, tuple[int, ...]] = {}
        if self.one_bit.is_pending:
            programs.before = self.before

    def flip(self, tree: Any, shape: Shape | None = None) -> Any:
        """The weights with one bit flipped; the same tree if there is nothing to flip.

        Args:
            shape: of the tree on one device, if it may have a dimension for the devices of `pmap`.
        """
        with self.recorder.guarded("one-bit"):
            return self._flip(tree, shape) if self.one_bit.is_due else tree
        return tree

    def _flip(self, tree: Any, shape: Shape | None) -> Any:
        leaves = named_leaves(tree)
        if not leaves or not all(is_concrete(leaf) for _, leaf in leaves):
            return tree
        on_one_device = leaves if shape is None else named_leaves(without_copies(tree, shape))
        weights = [(name, leaf, leaf.shape if is_float(leaf) else ()) for name, leaf in on_one_device]
        flipped = self.one_bit.flip(FRAMEWORK, weights)
        if flipped is None:
            return tree
        self.programs.before = None
        number, array = flipped
        values = [leaf for _, leaf in leaves]
        if array.shape != values[number].shape:  # all devices have the same weights
            array = sys.modules["numpy"].broadcast_to(array, values[number].shape)
        values[number] = self.arrays.like(array, values[number])
        util = sys.modules["jax"].tree_util
        return util.tree_unflatten(util.tree_structure(tree), values)

    def before(self, inner: Any, program: Program, args: Any, kwargs: Any) -> tuple[Any, Any]:
        """Arguments of an outermost call, with the bit flipped in the weights if it is the first that trains."""
        with self.recorder.guarded("one-bit"):
            way = self.ways.get(program)
            if self.one_bit.is_pending and way is None:
                way = self._way(inner, program, args, kwargs)
                if way is not None:
                    self.ways[program] = way
            if self.one_bit.is_due and way is not None:
                weights = self.flip(part_of((args, kwargs), way), _trained_shapes(program)[0])
                args, kwargs = replace_part((args, kwargs), way, weights)
        return args, kwargs

    def _way(self, inner: Any, program: Program, args: Any, kwargs: Any) -> tuple[int, ...] | None:
        """Path of the weights in the arguments of a function that trains; None if it is ambiguous."""
        try:
            # `pmap` has no method for it.
            ask = getattr(inner, "eval_shape", None) or partial(sys.modules["jax"].eval_shape, inner)
            result = self.programs.trace(ask, program, args, kwargs, sys._getframe())
        except Exception:  # the call itself will say so
            return None
        shapes = _trained_shapes(program)
        if not shapes:
            return None
        if not program.updates and len(subtrees_like(result, shapes[0])) < 2:
            # A function that gives gradients alone gives one such tree; one that trains gives weights and more.
            return None
        ways = [way for way, tree in places_in((args, kwargs), shapes[0]) if not _is_zero(tree)]
        return ways[0] if len(ways) == 1 else None


def _trained_shapes(program: Program) -> list[Shape]:
    """Trees that a function updates or, if no optimizer does, by which it differentiates."""
    return program.updates or [shape for shape in program.grads[:1] if is_tree(shape)]


def _is_zero(tree: Any) -> bool:
    """Whether all numbers are zero: moments are before the first step, weights are not."""
    return all(is_concrete(leaf) and not sys.modules["numpy"].asarray(leaf).any() for _, leaf in named_leaves(tree))
