"""Evidence that a loop trains: calls and assignments that change the weights of a model."""

import libcst as cst

from deviate.analysis.resolve.abstract_values import ClassRef
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.identifier_words import all_words
from deviate.analysis.resolve.tree import dotted_name, identifiers, keywords, last_name, positional, walk
from deviate.model.metric_vocabulary import split_identifier, word_set

UPDATES = word_set(
    "backward zero_grad apply_gradients gradient train_on_batch partial_fit value_and_grad apply_updates train_step "
    "training_step train_epoch train_one_epoch opt_update optimize_parameters minimize manual_backward "
    "clip_grad_norm_ gradients update_params update_parameters update_weights sgd_step"
)
"""Names of callables that train, whatever object they belong to."""

OPTIMIZERS = word_set("optimizer optim opt optimizers solver sgd adam adamw rmsprop tx")
STEPS_OF_OPTIMIZERS = word_set("step apply update run minimize")
OPERATIONS = word_set("train training trainer optim optimizer optimize optimizers opt solver minimize")
"""Words of graph operations that train when a session runs them."""

GRADIENTS = ("jax.grad", "jax.value_and_grad", "jax.jacrev", "autograd.grad", "autograd.value_and_grad")
FITTED = word_set("fit train learn")
UPDATING = word_set("update step boost")
UPDATERS = ("torch.optim.", "optax.", "xgboost.", "lightgbm.", "spacy.")
TRAINED = word_set("train fit finetune learn")
OTHERWISE = word_set(
    "data dataset datasets load loader loaders split set sets get make build create prepare read print plot show log "
    "is transform transforms sampler generator eval test val iter files path"
)
"""Words that, beside `train` in the name of a function, mean something else: `load_train_data`."""

RATES = word_set("lr learningrate rate eta alpha stepsize")
SLOPES = word_set("grad grads gradient gradients delta dw db g d")
ACTS = frozenset({cst.Call, cst.Assign, cst.AugAssign})
MODEL_NAMES = word_set("model net network")


class TrainingSigns:
    """Finds code that trains, in a node and in all functions that it calls."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.resolver = graph.resolver
        self._known: dict[cst.CSTNode, tuple[list[cst.CSTNode], list[cst.CSTNode]]] = {}

    def inside(self, node: cst.CSTNode) -> list[cst.CSTNode]:
        """The code that trains when a node runs, that in the node itself first."""
        return [sign for part in self._run_by(node) for sign in self._signs_in(part)[0]]

    def likely(self, node: cst.CSTNode) -> list[cst.CSTNode]:
        """The calls that may train when a node runs, judged by name alone, as their code is not available."""
        return [sign for part in self._run_by(node) for sign in self._signs_in(part)[1]]

    def _run_by(self, node: cst.CSTNode) -> list[cst.CSTNode]:
        return [node, *(function.node for function in self.graph.callees(node))]

    def _signs_in(self, node: cst.CSTNode) -> tuple[list[cst.CSTNode], list[cst.CSTNode]]:
        """The code in a node that trains, and the calls that may, by their names."""
        if node not in self._known:
            acts = [part for part in walk(node) if type(part) in ACTS]
            calls = [act for act in acts if type(act) is cst.Call and self._is_so_named(act)]
            self._known[node] = [act for act in acts if self._trains(act)], [*calls]
        return self._known[node]

    def _is_so_named(self, call: cst.Call) -> bool:
        """Whether the name of the callee says that it trains: `train(…)`. `model.train()` only sets the mode."""
        if type(call.func) is cst.Attribute and call.func.attr.value == "train" and not call.args:
            return not MODEL_NAMES.isdisjoint(split_identifier(dotted_name(call.func.value)))
        if type(call.func) is not cst.Name:
            return False
        name_words = split_identifier(call.func.value)
        if TRAINED.isdisjoint(name_words) or not OTHERWISE.isdisjoint(name_words):
            return False
        referents = self.resolver.resolve(call.func, self.graph.nodes.function_of(call))
        return not any(isinstance(referent, ClassRef) for referent in referents)

    def _trains(self, node: cst.CSTNode) -> bool:
        if type(node) is cst.Call:
            return self._is_training_call(node)
        if type(node) is cst.AugAssign:
            return type(node.operator) is cst.SubtractAssign and _is_descent(node.value)
        difference = node.value if type(node) is cst.Assign else None
        if type(difference) is cst.BinaryOperation and type(difference.operator) is cst.Subtract:
            return _is_descent(difference.right)
        return False

    def _is_training_call(self, call: cst.Call) -> bool:
        name = last_name(call.func)
        if name in UPDATES:
            return True
        owner = call.func.value if type(call.func) is cst.Attribute else call.func
        spelled = set(split_identifier(dotted_name(owner.value if type(owner) is cst.Subscript else owner)))
        if name in STEPS_OF_OPTIMIZERS and (OPTIMIZERS & spelled or self._is_stepped(call)):
            return True
        if name == "run" and self._runs_training(call, spelled):
            return True
        if name in FITTED and type(call.func) is cst.Attribute and call.args and not _is_mode(call):
            function = self.graph.nodes.function_of(call)
            is_seen = bool(self.resolver.functions(call.func, function))  # its effect is found inside the function
            return not is_seen and not _is_preparation(self.resolver.names(call.func, function))
        return self._is_library_update(call, name)

    def _is_stepped(self, call: cst.Call) -> bool:
        """Whether the call steps an optimizer passed as an argument, as in `scaler.step(optimizer)`."""
        return any(OPTIMIZERS & set(split_identifier(dotted_name(value))) for value in positional(call)[:1])

    def _runs_training(self, call: cst.Call, spelled: set[str]) -> bool:
        """Whether a TensorFlow session runs a training operation: `session.run(train_op)`, or `train_op.run()`."""
        if OPERATIONS & spelled:
            return True
        fetched = [*positional(call)[:1], *(value for key, value in keywords(call).items() if key == "fetches")]
        function = self.graph.nodes.function_of(call)
        for value in fetched:
            if isinstance(value, cst.Name):
                bound = self.resolver.find(value.value, function)[1]
                fetched += [
                    binding.value for binding in bound if isinstance(binding.value, cst.List | cst.Tuple | cst.Dict)
                ]
            parts = [item.value for item in value.elements] if isinstance(value, cst.List | cst.Tuple) else [value]
            names = (node.value for part in parts for node in walk(part) if isinstance(node, cst.Name))
            if OPERATIONS & set(all_words(names)):
                return True
            if any(_is_operation(name) for part in parts for name in self.resolver.names(part, function)):
                return True
        return False

    def _is_library_update(self, call: cst.Call, name: str) -> bool:
        if name not in UPDATING and type(call.func) is not cst.Name and type(call.func) is not cst.Call:
            return False
        names = self.resolver.names(call.func, self.graph.nodes.function_of(call))
        if any(qualified_name.removesuffix("()") in GRADIENTS for qualified_name in names):
            return True
        return name in UPDATING and any(
            qualified_name.startswith(UPDATERS) and "scheduler" not in qualified_name for qualified_name in names
        )


def _is_descent(step: cst.BaseExpression) -> bool:
    """Whether an expression is the step of plain gradient descent, `rate * gradient`."""
    if not any(
        isinstance(part, cst.BinaryOperation) and isinstance(part.operator, cst.Multiply) for part in walk(step)
    ):
        return False
    names = list(identifiers(step))
    name_words = set(all_words(names))
    return bool(RATES & name_words) and bool(
        SLOPES & name_words or any(name.startswith("d") and len(name) > 1 for name in names)
    )


def _is_operation(name: str) -> bool:
    return name.endswith((".minimize()", ".apply_gradients()")) and name.startswith(("tensorflow.", "tf_slim."))


def _is_mode(call: cst.Call) -> bool:
    """Whether the call sets the training mode: `model.train(True)`."""
    return {dotted_name(argument.value) for argument in call.args} <= {"True", "False", "mode"}


def _is_preparation(names: list[str]) -> bool:
    """Whether the `fit` or `train` of these objects only fits scalers, encoders or tokenizers."""
    parts = {part for name in names for part in split_identifier(name)}
    return bool(
        parts
        & word_set(
            "preprocessing decomposition extraction selection impute compose manifold cluster tokenizer tokenizers "
            "sentencepiece scaler encoder"
        )
    )
