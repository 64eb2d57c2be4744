"""Traces JAX: arguments and results of the project's compiled functions that train, and updates outside of them.

An argument is a state (weights, moments) if a pytree of the same structure is returned. Other arguments are batches and
keys. While a function is traced, programs.py determines whether it trains; nothing is recorded then.
"""

from __future__ import annotations

import inspect
import sys
from types import FrameType
from weakref import ReferenceType, WeakKeyDictionary, ref

from ...annotations import TYPE_CHECKING, Any, Iterator, Sequence
from ...observations import Observations
from .programs import Program
from .trees import branches, is_concrete, is_float, is_key, is_tree, named_leaves, shape_of

if TYPE_CHECKING:
    from typing import Dict, Tuple

    from .programs import Programs
    from .trees import Shape

    Roles = Tuple[Dict[int, Tuple[str, str]], Dict[int, str]]
    """Kind and name of each leaf of the arguments, and names of those leaves of the results that are states, by their
    places in their trees."""

FRAMEWORK = "jax"
COMPILED = "a compiled function is one program: what is computed inside it never leaves it"
RAW = "uint32"
"""Type of the numbers of a key that is not hidden in a type of its own."""


class TracedFunction:
    """What is known about a function.

    Attributes:
        roles: by the shape of the arguments.
        weights_recorded: whether its initial weights were recorded, before the first traced step.
        updated: references to the weights that it gave last, by name.
        is_open: whether it gave what may be gradients or, without an optimizer, new weights.
    """

    def __init__(self, function: Any) -> None:
        self.parameters = list(inspect.signature(function).parameters)
        self.roles: dict[Any, Roles] = {}
        self.weights_recorded = False
        self.updated: dict[str, ReferenceType[Any]] = {}
        self.is_open = False


class TracedCall:
    """Data of a call that is collected before it, as its arguments may be deleted afterwards."""

    def __init__(self, function: TracedFunction, shape: Shape) -> None:
        self.function = function
        self.shape = shape
        self.arrays: dict[int, Any] = {}


class JaxTrace:
    """Traces functions, gradients and updates of the project."""

    def __init__(self, observed: Observations, programs: Programs) -> None:
        self.context = observed.context
        self.trace = observed.context.trace
        self.recorder = observed.recorder
        self.steps = observed.steps
        self.functions: WeakKeyDictionary[Program, TracedFunction] = WeakKeyDictionary()
        programs.tracing = self

    # ------------------------------------------------------------ calls of compiled functions

    def before(self, inner: Any, program: Program, args: Any, kwargs: Any, frame: FrameType) -> TracedCall | None:
        """A function is about to be called, not by another one."""
        if self.trace.level:
            with self.recorder.guarded("trace of jax"):
                return self._before(inner, program, args, kwargs, frame)
        return None

    def _before(self, inner: Any, program: Program, args: Any, kwargs: Any, frame: FrameType) -> TracedCall | None:
        function = self.functions.get(program)
        if function is None:
            function = self.functions[program] = TracedFunction(inner)
        elif not program.trains:
            return None
        if function.is_open and program.latest is not None:
            self._check_update(function, program, args, kwargs)
        call = TracedCall(function, shape_of((args, kwargs)))
        if self.steps.wants_steps:
            roles = function.roles.get(call.shape)
            leaves = named_leaves((args, kwargs))
            # Copies: the memory of an argument may be donated to a result.
            wanted = range(len(leaves)) if roles is None else self._select_leaf_indices(function, roles, leaves)
            call.arrays = {number: _copy(leaves[number][1]) for number in wanted}
            if roles is not None:
                self._record_arguments(call, roles, frame)
        return call

    def _check_update(self, function: TracedFunction, program: Program, args: Any, kwargs: Any) -> None:
        """If the result of a function is passed to its next call, it was weights, and there was an update."""
        if program.weights_index is None and program.weights_index_handed_on(args, kwargs) is not None:
            self.trace.tick()
        function.is_open = program.weights_index is None

    def after(self, call: TracedCall, program: Program, args: Any, kwargs: Any, result: Any, frame: FrameType) -> None:
        """A function was called."""
        if program.trains:
            self.steps.attempt(lambda: self._after(call, program, args, kwargs, result, frame))

    def _after(self, call: TracedCall, program: Program, args: Any, kwargs: Any, result: Any, frame: FrameType) -> None:
        roles = call.function.roles.get(call.shape)
        if roles is None:
            roles = call.function.roles[call.shape] = _roles(call.function, program, args, kwargs, result)
            self._record_arguments(call, roles, frame)
        place, results = self.trace.place(frame), named_leaves(result)
        self.record_losses([pair for number, pair in enumerate(results) if number not in roles[1]], place)
        after = [(name, results[number][1]) for number, name in roles[1].items() if is_concrete(results[number][1])]
        is_update = bool(program.updates or program.weights_index is not None)
        (self.steps.update if is_update else self.steps.gradients)(after, place)
        call.function.updated = {name: ref(leaf) for name, leaf in after}
        call.function.is_open = not is_update
        if is_update:
            self.trace.tick()

    def record_losses(self, results: list[tuple[str, Any]], place: int) -> None:
        """Record the results that are single numbers."""
        self.trace.ends(FRAMEWORK, 2, COMPILED)
        losses = [(name, leaf) for name, leaf in results if is_concrete(leaf) and not leaf.ndim and is_float(leaf)]
        for number, (name, leaf) in enumerate(losses):
            self.steps.loss(leaf, place, "loss/" + name if number else "loss")

    def _select_leaf_indices(
        self, function: TracedFunction, roles: Roles, leaves: Sequence[tuple[str, Any]]
    ) -> list[int]:
        """Leaves to record: of weights, those that are not what the function gave last, as the script changed them."""

        def is_wanted(number: int, name: str) -> bool:
            reference = function.updated.get(name)
            is_changed = reference is not None and reference() is not leaves[number][1]
            return is_changed or not function.weights_recorded

        return [number for number, (kind, name) in roles[0].items() if kind != "weights" or is_wanted(number, name)]

    def _record_arguments(self, call: TracedCall, roles: Roles, frame: FrameType) -> None:
        """Record generator states, then weights in the first traced step, and later changed ones, then the batch."""
        if not self.steps.wants_steps:
            return
        place = self.trace.place(frame)

        def of_kind(wanted: str) -> Iterator[tuple[str, Any]]:
            for number in sorted(call.arrays):
                kind, name = roles[0][number]
                if kind == wanted and call.arrays[number] is not None:
                    yield name, call.arrays[number]

        self.steps.shared_states(place)
        self.steps.states(of_kind("state"), place)
        self.steps.weights(of_kind("weights"), place)
        self.steps.batch(of_kind("batch"), place)
        call.function.weights_recorded = True

    # ------------------------------------------------------------ what is not compiled

    def gradients(self, weights: Any, result: Any, frame: FrameType) -> None:
        """Gradients were computed outside of compiled functions.

        Args:
            weights: the tree by which was differentiated.
        """
        if not self.trace.level or not all(is_concrete(leaf) for _, leaf in named_leaves(result)):
            return
        with self.recorder.guarded("trace of jax"):
            place, shape = self.trace.place(frame), shape_of(weights)
            trees = [result] if shape_of(result) == shape else branches(result)
            values = named_leaves(trees[0]) if shape_of(trees[0]) != shape else []
            if values and not values[0][1].ndim:
                self.steps.loss(values[0][1], place)
            for tree in [each for each in trees if shape_of(each) == shape]:
                self.steps.gradients(named_leaves(tree), place)

    def record_update(self, now: Any, frame: FrameType | None) -> None:
        """An optimizer has updated weights outside of compiled functions."""
        leaves = named_leaves(now)
        if not self.trace.level or not all(is_concrete(leaf) for _, leaf in leaves):
            return
        self.steps.update(leaves, self.trace.place(frame))
        self.trace.tick()


# ---------------------------------------------------------------- which leaf is what


def _roles(function: TracedFunction, program: Program, args: Any, kwargs: Any, result: Any) -> Roles:
    """Roles of arguments: an argument is a state, or contains one, if a tree of the same structure is returned."""
    weights = [*program.updates, *program.grads]
    results = [(shape, first) for shape, first, _ in _subtrees(result) if is_tree(shape) or shape in weights]
    state_trees, end = [], -1
    for shape, first, tree, way in _ways((args, kwargs)):
        if first > end and any(shape == other for other, _ in results):
            end = first + len(shape[1]) - 1
            state_trees.append((shape, first, tree, way))
    arguments: dict[int, tuple[str, str]] = {}
    back: dict[int, str] = {}
    for shape, first, tree, way in state_trees:
        argument = function.parameters[int(way)] if way.isdecimal() and int(way) < len(function.parameters) else way
        place = next((at for other, at in results if other == shape and at not in back), None)
        for number, (leaf, _) in enumerate(named_leaves(tree)):
            name = "/".join(filter(None, [argument, leaf] if len(state_trees) > 1 else [leaf]))
            arguments[first + number] = "weights", name
            if place is not None:
                back[place + number] = name
    for number, (name, leaf) in enumerate(named_leaves((args, kwargs))):
        if number not in arguments:
            argument, _, rest = name.partition("/")[2].partition("/")
            is_state = _is_key(leaf)
            label = input_name(argument, rest)
            arguments[number] = ("state", "jax/%s" % label) if is_state else ("batch", label)
    return arguments, back


def _subtrees(tree: Any, first: int = 0) -> Any:
    """All subtrees of a tree, outer before inner: structure, index of the first leaf, and the subtree."""
    shape = shape_of(tree)
    yield shape, first, tree
    if shape[0].num_nodes > 1:
        for branch in branches(tree):
            yield from _subtrees(branch, first)
            first += len(shape_of(branch)[1])


def _ways(call: Any) -> Any:
    """The trees in the arguments, with the position or name of their argument."""
    first = 0
    for way, argument in [*enumerate(call[0]), *call[1].items()]:
        for shape, place, tree in _subtrees(argument, first):
            yield shape, place, tree, str(way)
        first += len(shape_of(argument)[1])


def input_name(argument: str, rest: str) -> str:
    name = "input" if argument == "0" else "input[%s]" % argument if argument.isdecimal() else "input." + argument
    return name + "." + rest if rest else name


def _is_key(leaf: Any) -> bool:
    return is_key(leaf) or (str(getattr(leaf, "dtype", "")) == RAW and getattr(leaf, "shape", ())[-1:] in ((2,), (4,)))


def _copy(leaf: Any) -> Any:
    """A copy of a leaf as numbers; None if it has no values on this host."""
    if is_key(leaf):
        return numbers(sys.modules["jax"].random.key_data(leaf))
    return sys.modules["numpy"].array(leaf) if is_concrete(leaf) else None


def numbers(leaf: Any) -> Any:
    return sys.modules["numpy"].asarray(leaf)
