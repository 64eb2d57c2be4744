"""Traces LightGBM, XGBoost and CatBoost: each iteration, with its trees and what the library evaluates in it.

An iteration ends where the next one begins, because libraries evaluate a model after they have updated it. Only the
trees of one iteration are read at its end, so that the cost of a step does not grow with the model.
"""

from __future__ import annotations

import json
import sys
import weakref
from types import FrameType
from zlib import crc32

from ..adapter_context import AdapterContext
from ..annotations import Any, Callable, Iterable, Iterator, Mapping
from ..observers.steps import ObservedSteps, StepRecords
from .tables import arrays_in

WHOLE = "an iteration is one step: how a tree is grown stays in the library, which is not written in Python"
MOST_VALUES = 1 << 26
"""Values of a matrix that is read back from a library, in rows times columns; larger ones are not recorded."""


class BoostingTrace:
    """Traces the models of one library."""

    def __init__(self, context: AdapterContext, framework: str) -> None:
        self.trace = context.trace
        self.streams = context.streams
        self.framework = framework
        self.steps = ObservedSteps(
            context.trace, context.streams, framework, StepRecords(context.trace, lambda array: array)
        )
        self.begun: dict[int, Callable[[], Any]] = {}
        self.has_states = False
        self.is_complete = False
        context.trace.at_boundary.append(self.end_iteration)

    @property
    def is_active(self) -> bool:
        """Whether this thread is traced; several would write in an order of their own."""
        return bool(self.trace.level) and self.streams.is_routed_thread()

    def data(self, parts: Mapping[str, Any], frame: FrameType) -> None:
        """What a model is about to learn from, by name: `input`, `target`, `weight`."""
        if self.is_active:
            self.end_iteration()
            place = self.trace.place(frame)
            self._record_states(place)
            if self.steps.wants_steps:
                arrays = ((name + end, array) for name, part in parts.items() for end, array in arrays_in(part))
                self.steps.batch(arrays, place)

    def iteration(self, model: Any, n_iterations: int, content: Callable[[], bytes], frame: FrameType) -> None:
        """An iteration begins.

        Args:
            n_iterations: that the model has already.
            content: gives their trees; read before the first traced iteration of each model.
        """
        if not self.is_active:
            return
        self.end_iteration()
        self.trace.ends(self.framework, 2, WHOLE)
        place = self.trace.place(frame)
        self._record_states(place)
        if self.steps.wants_steps and self.is_first(model) and n_iterations:
            trees = content()
            self.trace.record("weights", "trees", crc32(trees), "bytes[%d]" % len(trees), place)

    def is_first(self, model: Any) -> bool:
        """Whether this is asked about a model for the first time; models need not be hashable."""
        reference = self.begun.get(id(model))
        if reference is not None and reference() is model:
            return False
        self.begun[id(model)] = weakref.ref(model)
        return True

    def gradient(self, name: str, array: Any, frame: FrameType) -> None:
        """`gradient` or `hessian` of an objective that the script computes itself."""
        if self.is_active and type(array).__module__ == "numpy":  # the array may be on an accelerator
            self.steps.gradients([(name, array)], self.trace.place(frame))

    def update(self, arrays: Callable[[], Iterable[tuple[str, Any]]], frame: FrameType) -> None:
        """An iteration has added trees, whose arrays are given if they are wanted."""
        if self.is_active:
            if self.steps.wants_steps:
                self.steps.update(arrays(), self.trace.place(frame))
            self.is_complete = True

    def losses(self, values: Mapping[str, float], frame: FrameType) -> None:
        """What was evaluated after the update of this iteration, by name: the script may give the metrics as a set."""
        if self.is_active:
            place = self.trace.place(frame)
            for name, value in sorted(values.items()):
                self.steps.loss(sys.modules["numpy"].asarray(value, "float64"), place, name)

    def end_iteration(self) -> None:
        """All is known of an iteration whose update is complete."""
        if self.is_complete:
            self.is_complete = self.has_states = False
            self.trace.tick()

    def _record_states(self, place: int) -> None:
        """States of the generators, once in a step."""
        if not self.has_states and self.steps.wants_steps:
            self.has_states = True
            self.steps.shared_states(place)


# ---------------------------------------------------------------- LightGBM

ROUNDED = ("split_gain", "internal_value", "internal_weight")
"""Numbers of a tree that LightGBM writes with few digits."""
FLOATS = ("threshold", "leaf_value", "leaf_weight", "leaf_const", "leaf_coeff", "shrinkage")
"""Those that are no whole numbers."""


def lightgbm_trees(booster: Any) -> Iterator[tuple[str, Any]]:
    """The trees of the last iteration, from the text of that iteration alone.

    Source: `Tree::ToString` of LightGBM writes thresholds and leaves so that they are read back exactly.
    """
    numpy = sys.modules["numpy"]
    text = booster.model_to_string(num_iteration=1, start_iteration=booster.current_iteration() - 1)
    trees = text.partition("\nend of trees")[0].split("\nTree=")[1:]
    for number, tree in enumerate(trees):
        for line in tree.splitlines()[1:]:
            name, is_field, values = line.partition("=")
            if is_field and name not in ROUNDED:
                array = numpy.array(values.split(), "float64" if name in FLOATS else "int64")
                yield "%s.%s" % (_tree_name(number, len(trees)), name), array


# ---------------------------------------------------------------- XGBoost

FIRST_FIELDS = ("split_indices", "split_conditions", "base_weights", "loss_changes", "sum_hessian")
"""Arrays of a tree that tell most, in the order in which they are compared; thresholds and leaves share the second."""


def xgboost_trees(booster: Any) -> Iterator[tuple[str, Any]]:
    """The trees of the last iteration, from a slice of the model; of a linear model, all weights.

    Source: XGBoost documentation, "Introduction to Model IO": the format JSON.
    """
    n = booster.num_boosted_rounds()
    try:
        part = booster[n - 1 : n]
    except Exception:  # a linear model has no slices
        part = booster
    model = json.loads(bytes(part.save_raw("json")))["learner"]["gradient_booster"]
    model = model.get("gbtree", model).get("model", {})
    if "weights" in model:
        yield "weights", _xgboost_array(model["weights"])
    trees = model.get("trees", ())
    for number, tree in enumerate(trees):
        rest = sorted(name for name, value in tree.items() if isinstance(value, list) and name not in FIRST_FIELDS)
        for name in (*FIRST_FIELDS, *rest):
            if tree.get(name):
                yield "%s.%s" % (_tree_name(number, len(trees)), name), _xgboost_array(tree[name])


def _xgboost_array(values: list[Any]) -> Any:
    array = sys.modules["numpy"].asarray(values)
    return array.astype("float32") if array.dtype.kind == "f" else array


def xgboost_data(matrix: Any) -> dict[str, Any]:
    """The contents of a `DMatrix`; a missing value is NaN."""
    parts = {"input": _xgboost_input(matrix), "target": matrix.get_label(), "weight": matrix.get_weight()}
    return {name: part for name, part in parts.items() if part is not None and len(part)}


def _xgboost_input(matrix: Any) -> Any:
    shape = matrix.num_row(), matrix.num_col()
    if shape[0] * shape[1] > MOST_VALUES or not hasattr(matrix, "get_data"):  # from version 1.7
        return None
    numpy = sys.modules["numpy"]
    rows = matrix.get_data()
    values = numpy.full(shape, numpy.nan, rows.data.dtype)
    values[numpy.repeat(numpy.arange(shape[0]), numpy.diff(rows.indptr)), rows.indices] = rows.data
    return values


# ---------------------------------------------------------------- CatBoost


class CatBoostHistory:
    """Iterations of a model that CatBoost has trained, traced when the training is over.

    Trees after the best iteration are not in the model, so that the last iterations may have losses alone.

    Args:
        n_evaluations: in the history of the model; period: iterations from one to the next.
    """

    def __init__(self, tracing: BoostingTrace, model: Any, n_evaluations: int, period: int) -> None:
        self.tracing = tracing
        self.model = model
        self.n_evaluations = n_evaluations
        self.period = period
        self.leaves = list(_catboost_leaves(model))
        self.n_traced = 0

    def evaluation(self, number: int, values: Mapping[str, float], frame: FrameType) -> None:
        """Trace the iterations up to this evaluation, and its values."""
        iteration = number * self.period
        if number and number == self.n_evaluations - 1:  # the last iteration is always evaluated
            iteration = min(iteration, max(len(self.leaves) - 1, iteration - self.period + 1))
        while self.n_traced < iteration:
            self._iteration({}, frame)
        self._iteration(values, frame)

    def end(self, frame: FrameType) -> None:
        """Trace the iterations after the last evaluation."""
        while self.n_traced < len(self.leaves):
            self._iteration({}, frame)

    def _iteration(self, values: Mapping[str, float], frame: FrameType) -> None:
        number, self.n_traced = self.n_traced, self.n_traced + 1
        self.tracing.iteration(self.model, number, lambda: self._content(number), frame)
        leaves = self.leaves[number] if number < len(self.leaves) else []
        self.tracing.update(lambda: leaves, frame)
        self.tracing.losses(values, frame)
        self.tracing.end_iteration()

    def _content(self, n_iterations: int) -> bytes:
        return b"".join(array.tobytes() for tree in self.leaves[:n_iterations] for _, array in tree)


def _catboost_leaves(model: Any) -> Iterator[list[tuple[str, Any]]]:
    """Weights and values of the leaves of each tree.

    Source: CatBoost documentation, `get_tree_leaf_counts`, `get_leaf_values`, `get_leaf_weights`.
    """
    numpy = sys.modules["numpy"]
    counts = numpy.asarray(model.get_tree_leaf_counts(), "int64")
    parts = {"tree.leaf_values": numpy.asarray(model.get_leaf_values())}
    try:
        parts = {"tree.leaf_weights": numpy.asarray(model.get_leaf_weights()), **parts}
    except AssertionError:  # of several classes
        pass
    ends = numpy.cumsum(counts)
    for first, last in zip(ends - counts, ends):
        widths = {name: len(array) // int(ends[-1]) for name, array in parts.items()}
        yield [(name, array[widths[name] * first : widths[name] * last]) for name, array in parts.items()]


def catboost_data(data: Any, target: Any) -> dict[str, Any]:
    """Examples and labels from the arguments of `fit`; of a `Pool`, what it gives back."""
    if not hasattr(data, "get_label"):
        return {"input": data, "target": target}
    parts = {"target": data.get_label(), "weight": data.get_weight()}
    if data.num_row() * data.num_col() <= MOST_VALUES and not data.get_cat_feature_indices():
        parts["input"] = data.get_features()
    return {name: part for name, part in parts.items() if part is not None and len(part)}


def _tree_name(number: int, count: int) -> str:
    """`tree`, or `tree[1]` if an iteration has several, one for each class."""
    return "tree[%d]" % number if count > 1 else "tree"
