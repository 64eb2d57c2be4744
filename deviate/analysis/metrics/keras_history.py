"""Training history: the keys that a framework which runs the training reports by itself, as far as known."""

import re
from collections.abc import Iterator

import libcst as cst

from deviate.analysis.loops.managed import BASELINES, KERAS, TRANSFORMERS, Framework, compiles
from deviate.analysis.metrics.baselines_history import baselines_keys
from deviate.analysis.metrics.trl_history import trl_keys
from deviate.analysis.resolve.abstract_values import ClassRef, External, Instance, Placed
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import (
    argument,
    constant_text,
    dotted_name,
    keywords,
    last_name,
    named_items,
    positional,
    walk,
)
from deviate.model.metric_vocabulary import word_set

VALIDATION = {"validation_data": 7, "validation_split": 6}
"""Arguments of `fit`, with their positions."""
TRAINED = ("loss", "grad_norm", "train_loss", "train_runtime", "train_samples_per_second", "train_steps_per_second")
EVALUATED = ("loss", "runtime", "samples_per_second", "steps_per_second")
STRATEGIES = ("eval_strategy", "evaluation_strategy", "do_eval", "eval_on_start")
SELF_NAMED = word_set(
    "accuracy f1 precision recall mse mae perplexity exact_match matthews_correlation rouge1 bleu roc_auc"
)
"""Metrics of the Evaluate library whose result is an item of the same name."""

DEEPEST = 6


def history_keys(call: cst.Call, framework: Framework, graph: CallGraph) -> list[str]:
    """Keys under which the framework reports values; empty if the script itself names the reported values."""
    if framework is KERAS:
        return _Keras(call, graph).keys()
    if framework is TRANSFORMERS:
        return _Transformers(call, graph).keys()
    if framework is BASELINES:
        return baselines_keys(call, graph)
    return []


def history_evidence(framework: Framework) -> tuple[str, ...]:
    """Why a key of the history is a metric."""
    if framework is KERAS:
        return ("reported by Keras in the history of fit()", "predicted from compile() and the validation data")
    return (f"reported by {framework.name}", "predicted from the arguments that it is made with")


# ---------------------------------------------------------------- Keras


class _Keras:
    """Keys of the history of one call of `fit`."""

    def __init__(self, call: cst.Call, graph: CallGraph) -> None:
        self.call, self.graph = call, graph
        self.function = graph.nodes.function_of(call)

    def keys(self) -> list[str]:
        compiled = next(iter(compiles(self.call, self.graph)), None)
        trained = self._of_step("train_step", compiled) or ["loss", *self._list_compiled(compiled)]
        keys = list(dict.fromkeys(trained))
        if self._validates():
            tested = self._of_step("test_step", compiled) or ["loss", *self._list_compiled(compiled)]
            keys += [f"val_{key}" for key in dict.fromkeys(tested)]
        return keys

    def _list_compiled(self, compiled: cst.Call | None) -> list[str]:
        """Keys from the losses and metrics that a model is compiled with."""
        if compiled is None:
            return []
        function = self.graph.nodes.function_of(compiled)
        outputs = self._output_keys(argument(compiled, 1, "loss"), function)
        keys = self._metrics(argument(compiled, 2, "metrics"), function)
        keys += self._metrics(argument(compiled, None, "weighted_metrics"), function)
        if len(outputs) == 1:  # of a model with one output, Keras names neither loss nor metrics after it
            return [key.removeprefix(f"{outputs[0]}_") for key in keys]
        return [*(f"{output}_loss" for output in outputs), *keys]

    def _assigned(self, name: str, function: Function) -> list[Placed]:
        """What is assigned to a variable, in order; of several that a function returns, the one that it takes."""
        scope, bindings = self.graph.resolver.find(name, function)
        values: list[Placed] = []
        for binding in bindings:
            if binding.how != "assign" or not isinstance(binding.value, cst.BaseExpression):
                continue
            parts = (
                self.graph.resolver.unpacked_items(binding.value, binding.position, scope)
                if binding.position
                else [(binding.value, scope)]
            )
            values += [(value, where) for value, where in parts if isinstance(value, cst.BaseExpression)]
        return values

    def _output_keys(self, node: cst.BaseExpression | None, function: Function) -> list[str]:
        """The keys of a dict, or of the one that a variable holds."""
        values = self._assigned(node.value, function) if isinstance(node, cst.Name) else []
        return _constant_keys(values[-1][0] if values else node)

    def _metrics(self, metrics: cst.BaseExpression | None, function: Function, depth: int = DEEPEST) -> list[str]:
        if metrics is None or depth == 0:
            return []
        if isinstance(metrics, cst.List | cst.Tuple):
            return [key for item in metrics.elements for key in self._metrics(item.value, function, depth - 1)]
        if isinstance(metrics, cst.Dict):
            return [
                f"{output}_{key}"
                for output, value in named_items(metrics)
                for key in self._metrics(value, function, depth - 1)
            ]
        text = constant_text(metrics)
        if text is not None:
            return [text if text.islower() else _snake(text)]
        if isinstance(metrics, cst.Call):
            returned = self._returned(metrics, function)
            return self._metrics(*returned[-1], depth - 1) if returned else [self._metric_name(metrics, function)]
        if isinstance(metrics, cst.Name) and metrics.value != "None":
            scope, bindings = self.graph.resolver.find(metrics.value, function)
            values = self._assigned(metrics.value, function)
            if values:
                return self._metrics(*values[-1], depth - 1)
            for edge in self.graph.edges_into(scope) if any(binding.how == "parameter" for binding in bindings) else ():
                handed = edge.argument(metrics.value)
                if handed is not None and isinstance(handed[0], cst.BaseExpression):
                    return self._metrics(handed[0], handed[1], depth - 1)
            if any(binding.how == "parameter" for binding in bindings):
                return []
        return [last_name(metrics)] if last_name(metrics) not in ("", "None") else []

    def _returned(self, call: cst.Call, function: Function) -> list[Placed]:
        """What a function of the project returns: metrics, or the function that is one."""
        callees = (reference.function for reference in self.graph.resolver.functions(call.func, function))
        return [(value, callee) for callee in callees if callee.name != "__init__" for value in callee.returns]

    def _metric_name(self, call: cst.Call, function: Function) -> str:
        """Name of a metric object: its argument, the default of its constructor, or derived from its class."""
        name = constant_text(keywords(call).get("name"))
        for referent in self.graph.resolver.resolve(call.func, function) if name is None else ():
            if isinstance(referent, ClassRef):
                name = name or self._declared_name(referent)
            elif isinstance(referent, External):
                return _snake(referent.name.rpartition(".")[2])
        return name or _snake(last_name(call.func))

    def _declared_name(self, referent: ClassRef) -> str | None:
        constructor = self.graph.resolver.method(referent.cls, "__init__")
        if constructor is None:
            return None
        for binding in constructor.bindings.get("name", ()):
            if binding.how == "parameter" and constant_text(binding.value) is not None:
                return constant_text(binding.value)
        outer = (call for call in constructor.calls if dotted_name(call.func) == "super().__init__")
        return next((name for call in outer if (name := constant_text(keywords(call).get("name")))), None)

    def _of_step(self, name: str, compiled: cst.Call | None) -> list[str]:
        """Keys of the dict that the model's own `train_step` or `test_step` returns."""
        if not isinstance(self.call.func, cst.Attribute):
            return []
        for referent in self.graph.resolver.resolve(self.call.func.value, self.function):
            step = self.graph.resolver.method(referent.cls, name) if isinstance(referent, Instance) else None
            for returned in step.returns if step is not None else ():
                keys = self._output_keys(returned, step) if step is not None else []
                if keys:
                    return keys
                if isinstance(returned, cst.DictComp) and isinstance(referent, Instance):
                    return [*self._trackers(referent), *self._list_compiled(compiled)]
        return []

    def _trackers(self, model: Instance) -> Iterator[str]:
        """Names of the metric objects that a model creates for itself."""
        for cls in self.graph.resolver.order(model.cls)[0]:
            for method in cls.methods.values():
                for call in method.calls:
                    name = constant_text(keywords(call).get("name"))
                    names = self.graph.resolver.names(call.func, method)
                    if name is not None and any(".metrics." in full for full in names):
                        yield name

    def _validates(self) -> bool:
        data = [argument(self.call, place, name) for name, place in VALIDATION.items()]
        return any(value is not None and not _is_nothing(value) for value in data)


def _constant_keys(node: cst.BaseExpression | None) -> list[str]:
    return [key for key, _ in named_items(node)] if isinstance(node, cst.Dict) else []


def _is_nothing(value: cst.BaseExpression) -> bool:
    if isinstance(value, cst.Name):
        return value.value in ("None", "False")
    text = constant_text(value)
    if text is not None:
        return text == "no"
    return isinstance(value, cst.Integer | cst.Float) and float(value.evaluated_value) == 0


def _snake(name: str) -> str:
    """The name that Keras gives an object of a class. Source: keras.utils.to_snake_case."""
    spaced = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", spaced).lower()


# ---------------------------------------------------------------- Transformers


class _Transformers:
    """Keys that a Trainer logs. Source: transformers.Trainer, `log` and `speed_metrics`."""

    def __init__(self, call: cst.Call, graph: CallGraph) -> None:
        self.call, self.graph = call, graph
        self.constructions = list(self._constructions())

    def keys(self) -> list[str]:
        trainer_keys = [key for trainer in self._classes() for key in trl_keys(trainer, self.constructions, self.graph)]
        keys = [*TRAINED, *trainer_keys]
        if self._evaluates():
            keys += [f"eval_{key}" for key in trainer_keys]
            keys += [f"eval_{key}" for key in (*EVALUATED, *self._list_computed()) if not key.startswith("eval_")]
            keys += [key for key in self._list_computed() if key.startswith("eval_")]
        return list(dict.fromkeys(keys))

    def _constructions(self) -> Iterator[tuple[cst.Call, Function]]:
        """The calls that create the trainer: of its class, and in subclasses of their base class."""
        classes = set(self._classes())
        for call, around in self.graph.calls:
            for referent in self.graph.resolver.resolve(call.func, around):
                if isinstance(referent, External):
                    is_made = referent.name in classes or referent.name.removesuffix("().__init__") in classes
                else:
                    is_made = isinstance(referent, ClassRef) and not classes.isdisjoint(
                        self.graph.resolver.order(referent.cls)[1]
                    )
                if is_made:
                    yield call, around
                    break

    def _classes(self) -> list[str]:
        """Full names of the trainer's classes, as far as libraries define them."""
        function = self.graph.nodes.function_of(self.call)
        return [name.rpartition("().")[0] for name in self.graph.resolver.names(self.call.func, function)]

    def _evaluates(self) -> bool:
        """Whether the trainer evaluates: because of its settings during training, or by an explicit call."""
        owner = self.call.func.value if isinstance(self.call.func, cst.Attribute) else self.call
        evaluations = (dotted_name(owner) + ".evaluate", "self.evaluate")
        if any(dotted_name(call.func) in evaluations for call, _ in self.graph.calls):
            return True
        datasets = [keywords(call).get("eval_dataset") for call, _ in self.constructions]
        if all(value is None or _is_nothing(value) for value in datasets):
            return False
        settings = [call for call, _ in self.graph.calls if last_name(call.func).endswith("TrainingArguments")]
        strategies = [keywords(call)[key] for call in settings for key in STRATEGIES if key in keywords(call)]
        is_open = not settings or any(argument.star for call in settings for argument in call.args)
        return is_open or any(not _is_nothing(value) for value in strategies)

    def _list_computed(self) -> list[str]:
        """Keys of the dict that `compute_metrics` returns."""
        keys: list[str] = []
        for call, around in self.constructions:
            computing = keywords(call).get("compute_metrics")
            for routine in self.graph.resolver.functions(computing, around) if computing is not None else ():
                for returned in routine.function.returns:
                    keys += self._list_returned(returned, routine.function)
        return list(dict.fromkeys(keys))

    def _list_returned(self, node: cst.BaseExpression, function: Function, depth: int = DEEPEST) -> list[str]:
        if depth == 0:
            return []
        if isinstance(node, cst.Dict):
            whole = [item.value for item in node.elements if isinstance(item, cst.StarredDictElement)]
            inner = [key for value in whole for key in self._list_returned(value, function, depth - 1)]
            return [*_constant_keys(node), *inner]
        if isinstance(node, cst.DictComp):
            return self._list_returned(node.for_in.iter, function, depth - 1)
        if isinstance(node, cst.Name):
            keys = []
            for binding in self.graph.resolver.find(node.value, function)[1]:
                text = constant_text(binding.key)
                if binding.how == "item" and text is not None:
                    keys.append(text)
                elif (value := binding.whole("assign")) is not None:
                    keys += self._list_returned(value, function, depth - 1)
            return keys
        if isinstance(node, cst.Call):
            return self._list_called(node, function, depth)
        return []

    def _list_called(self, call: cst.Call, function: Function, depth: int) -> list[str]:
        if last_name(call.func) == "dict":
            return list(keywords(call))
        if last_name(call.func) == "items" and isinstance(call.func, cst.Attribute):
            return self._list_returned(call.func.value, function, depth - 1)
        if last_name(call.func) == "compute" and isinstance(call.func, cst.Attribute):
            return [name for name in self._list_loaded(call.func.value, function) if name in SELF_NAMED]
        return [
            key
            for routine in self.graph.resolver.functions(call.func, function)
            for returned in routine.function.returns
            for key in self._list_returned(returned, routine.function, depth - 1)
        ]

    def _list_loaded(self, metric: cst.BaseExpression, function: Function) -> Iterator[str]:
        """Names under which a metric is loaded from the Evaluate library."""
        values: list[cst.CSTNode | None] = [metric]
        if isinstance(metric, cst.Name):
            values += [binding.value for binding in self.graph.resolver.find(metric.value, function)[1]]
        for value in values:
            for part in walk(value) if value is not None else ():
                if isinstance(part, cst.Call) and last_name(part.func) in ("load", "load_metric"):
                    yield from (name for argument in positional(part)[:1] if (name := constant_text(argument)))
