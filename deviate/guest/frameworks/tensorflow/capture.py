"""TensorFlow: captures outputs in loops that the script writes itself, in which it calls a Keras model for inference.

In a graph, the call is seen once, when the graph is built. After each run of the graph, a copy of the part that
computes the outputs runs on the same inputs, unless that part changes state or draws random numbers.
"""

from __future__ import annotations

import sys
import weakref
from functools import partial
from threading import get_ident
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable, Mapping
from ...observers.augmentations import Augmentation, Images
from ...observers.capture_sets import Loops
from ...observers.rows import NOTHING, arrays_in, augmented, numbers
from ...regions import Held
from .proof import TensorFlowProof

FRAMEWORK = "keras"
PYTHON = "tensorflow.python."
UNSAFE = ("Assign", "Random", "PyFunc", "Iterator", "Write", "Print", "Insert", "Enqueue", "Dequeue", "Summary")
"""What the names of operations hold that change something, or draw."""
HARMLESS = ("ReadVariableOp", "ResourceGather", "Stateless", "VarHandleOp")


class Traced:
    """A call of a model in a graph."""

    def __init__(self, graph: Any, model: Any, outputs: Any, inputs: list[Any]) -> None:
        self.graph = weakref.ref(graph)
        self.model = weakref.ref(model)
        self.outputs = weakref.ref(outputs)
        self.inputs = inputs
        self.truth: Any = None
        self.copy: Any = None


class ModelCalls(Loops):
    """Calls of trained models by the script."""

    def __init__(self, context: AdapterContext) -> None:
        super().__init__(context.capture, context.project, FRAMEWORK)
        self.context = context
        self.proof = context.part(TensorFlowProof)
        self.drawn: tuple[Any, Any] | None = None
        self.traced: dict[int, Traced] = {}
        self.training: weakref.WeakSet[Any] = weakref.WeakSet()
        self.trained: weakref.WeakSet[Any] = weakref.WeakSet()

    def patch(self) -> None:
        """TensorFlow has been imported."""
        graphs = sys.modules[PYTHON + "eager.polymorphic_function.concrete_function"].ConcreteFunction
        self.context.observe(graphs, "_call_flat", after=self._ran)
        iterator = sys.modules[PYTHON + "data.ops.iterator_ops"].OwnedIterator
        self.context.observe(iterator, "__next__", after=self._draw)
        backprop = sys.modules[PYTHON + "eager.backprop"]
        self.context.observe(backprop.GradientTape, "gradient", before=self._differentiates)

    # ------------------------------------------------------------ what is seen

    def see_call(self, model: Any, inputs: list[Any], outputs: Any, frame: FrameType) -> None:
        """A model is called, possibly while a graph is built, when its outputs have no values yet."""
        if hasattr(outputs, "numpy") and not hasattr(outputs, "graph"):
            if self.is_trained(model):
                self._add(model, outputs, None, inputs, frame)
        elif "FuncGraph" in type(getattr(outputs, "graph", None)).__name__:
            traced = self.traced.get(id(outputs.graph))
            if traced is None or traced.graph() is not outputs.graph:
                self.traced[id(outputs.graph)] = Traced(outputs.graph, model, outputs, inputs)

    def scores(self, truth: Any, outputs: Any) -> None:
        """A metric is updated with labels and outputs."""
        graph = getattr(outputs, "graph", None)
        if graph is not None:
            traced = self.traced.get(id(graph))
            if traced is not None and traced.outputs() is outputs and hasattr(truth, "graph"):
                traced.truth = truth
        else:
            super().scores(truth, outputs)

    def _differentiates(self, *args: Any, **kwargs: Any) -> None:
        ops: Any = sys.modules[PYTHON + "framework.ops"]
        graph = ops.get_default_graph() if not sys.modules["tensorflow"].executing_eagerly() else None
        if graph is not None:
            self.training.add(graph)
        else:
            self.training_continues()

    def is_trained(self, model: Any) -> bool:
        if model not in self.trained:
            if not self.proof.is_trained(model):
                return False
            self.trained.add(model)
        return True

    # ------------------------------------------------------------ data sets

    def _draw(self, batch: Any, iterator: Any) -> None:
        if get_ident() == self.capture.thread:
            self.drawn = iterator, batch

    def _add(self, model: Any, outputs: Any, truth: Any, inputs: list[Any], frame: FrameType) -> None:
        if not self.capture.is_script_thread():
            return
        rows = outputs.shape[0] if len(outputs.shape) else 0
        iterator, batch = self.drawn or (None, None)
        loop = self.loop_of(None, frame, iterator)
        if truth is None and iterator is not None:
            truth = _labels(batch, inputs, rows)
        elif truth is None and inputs:
            truth = numbers(self.sets.beside(inputs[0], frame))
        further = augmented_calls(self.context, partial(model, training=False), inputs, outputs)
        loop.add(outputs, truth, inputs, further)

    def hand_over(self) -> None:
        super().hand_over()
        self.drawn = None

    # ------------------------------------------------------------ graphs

    def _ran(self, result: Any, function: Any, tensor_inputs: Any, captured_inputs: Any) -> None:
        """A graph has run. Graphs that compute gradients train."""
        if not (self.traced or self.training):
            return
        graph = function.graph
        try:
            traced = self.traced.get(id(graph))
            if get_ident() != self.capture.thread or not sys.modules["tensorflow"].executing_eagerly():
                return
            if graph in self.training:
                self.training_continues()
            elif traced is not None and traced.graph() is graph:
                model = traced.model()
                if model is not None and self.is_trained(model):
                    self._take(model, traced, graph, tensor_inputs, captured_inputs)
        except Exception as error:
            self.traced.pop(id(graph), None)
            self.recorder.fault("outputs of a graph", error)

    def _take(self, model: Any, traced: Traced, graph: Any, arguments: Any, captured: Any) -> None:
        if traced.copy is None:
            traced.copy = self._copy_graph(traced, graph)
        if traced.copy is False:
            return
        function, n_inputs, is_labelled = traced.copy
        results = list(function._call_flat(list(arguments), list(captured)))
        outputs, inputs = results[0], results[1 : 1 + n_inputs]
        self._add(model, outputs, results[-1] if is_labelled else None, inputs, sys._getframe(3))

    def _copy_graph(self, traced: Traced, graph: Any) -> Any:
        """The part of a graph that computes outputs, inputs and labels; False if it cannot be run twice."""
        fetches = [traced.outputs(), *(each for each in traced.inputs if getattr(each, "graph", None) is graph)]
        n_inputs = len(fetches) - 1
        is_labelled = getattr(traced.truth, "graph", None) is graph
        if is_labelled:
            fetches.append(traced.truth)
        bad = _unsafe(graph, fetches)
        if bad:
            self.sets.refuse("evaluation", "%s stands before the outputs in a graph" % bad)
            return False
        return _part(graph, fetches), n_inputs, is_labelled


def _unsafe(graph: Any, tensors: list[Any]) -> str:
    """Type of the first operation behind these tensors with side effects; "" if there is none."""
    waiting, seen = [tensor.op for tensor in tensors], set()
    while waiting:
        operation = waiting.pop()
        if operation not in seen:
            seen.add(operation)
            waiting += [tensor.op for tensor in operation.inputs] + list(operation.control_inputs)
    library = {each.signature.name: each for each in graph.as_graph_def().library.function}
    nodes = [operation.node_def for operation in seen]
    functions: set[str] = set()
    while nodes:
        node = nodes.pop()
        if any(part in node.op for part in UNSAFE) and not node.op.startswith(HARMLESS):
            return str(node.op)
        inner = {attr.func.name for attr in node.attr.values() if attr.HasField("func")} | {node.op}
        for name in inner - functions:
            functions.add(name)
            nodes += library[name].node_def if name in library else ()
    return ""


def _part(graph: Any, fetches: list[Any]) -> Any:
    """A function from the inputs of a graph to some of its tensors."""
    wrapping: Any = sys.modules[PYTHON + "eager.wrap_function"]
    whole = wrapping.WrappedFunction(graph, variable_holder=wrapping.VariableHolder(share_variables=True))
    return whole.prune(graph.inputs, fetches)


def _labels(batch: Any, inputs: list[Any], rows: int) -> Any:
    """Labels in a batch of a dataset: arrays with a row per example that are not inputs."""
    if not isinstance(batch, (list, tuple)) or len(batch) < 2:
        return None
    labels = next(arrays_in(batch[1]), None)
    is_theirs = labels is not None and labels.shape[0] == rows and all(labels is not each for each in inputs)
    return labels if is_theirs else None


# ---------------------------------------------------------------- test-time augmentation, with any backend of Keras


def augmented_calls(
    context: AdapterContext, call: Callable[[Any], Any], inputs: Any, outputs: Any
) -> Mapping[str, Any]:
    """Mean outputs by name of the augmentation; none for a model with several inputs, or without images.

    Args:
        call: calls the model for inference, outside of graphs.
    """
    if not context.capture.augmentations:
        return NOTHING
    is_first = sys.modules["keras.src.backend.config"].image_data_format() == "channels_first"
    augmentation = Augmentation(context.capture, Images((2, 3) if is_first else (1, 2)))
    with Held(context, "is_inside", True), Held(context, "is_own_call", True):
        return augmented(augmentation, inputs, outputs, call)
