"""Managed loops: training that a framework runs, recognised by the call that starts it."""

from dataclasses import dataclass

import libcst as cst

from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.tree import dotted_name, keywords, last_name, positional
from deviate.model.metric_vocabulary import split_identifier, word_set

FIT_ARGUMENTS = word_set("epochs validation_data validation_split steps_per_epoch batch_size nb_epoch")
EVALUATORS = word_set("eval evaluator evaluate val valid validation validator test tester inference")


@dataclass(frozen=True, slots=True)
class TrainingFramework:
    """A framework whose objects have a method that trains.

    Attributes:
        packages: prefixes of the full names of its objects. methods: the methods that train.
        owners: the full name contains one of these; empty if any name will do.
        spelled: words in the variable name of its object, used if the object cannot be resolved.
        is_last_resort: it counts only if nothing else trains, as it may be a tool beside the training.
    """

    name: str
    packages: tuple[str, ...]
    methods: frozenset[str]
    owners: tuple[str, ...] = ()
    spelled: frozenset[str] = frozenset()
    is_last_resort: bool = False


KERAS = TrainingFramework(
    "Keras", ("keras", "tf_keras", "tensorflow.keras", "tensorflow.python.keras"), word_set("fit fit_generator")
)
TRANSFORMERS = TrainingFramework(
    "the Trainer of Transformers",
    ("transformers", "trl", "adapters", "sentence_transformers", "setfit", "optimum"),
    word_set("train"),
    ("Trainer",),
    word_set("trainer"),
)
LIGHTNING = TrainingFramework(
    "Lightning", ("lightning", "pytorch_lightning"), word_set("fit"), ("Trainer",), word_set("trainer")
)
FRAMEWORKS = (
    KERAS,
    TRANSFORMERS,
    LIGHTNING,
    TrainingFramework("LightningCLI", ("lightning", "pytorch_lightning"), word_set("LightningCLI")),
    TrainingFramework("tf.estimator", ("tensorflow",), word_set("train train_and_evaluate"), ("stimator",)),
    TrainingFramework(
        "fastai",
        ("fastai",),
        word_set("fit fit_one_cycle fine_tune fit_flat_cos fit_sgdr"),
        spelled=word_set("learn learner"),
    ),
    TrainingFramework("Ignite", ("ignite",), word_set("run"), ("Engine()", "_trainer()"), word_set("trainer")),
    TrainingFramework("Stable-Baselines", ("stable_baselines", "stable_baselines3", "sb3_contrib"), word_set("learn")),
    TrainingFramework("Sentence Transformers", ("sentence_transformers",), word_set("fit")),
    TrainingFramework(
        "the library",
        ("sklearn", "xgboost", "lightgbm", "catboost", "imblearn", "ngboost", "cuml", "autogluon", "flaml"),
        word_set("fit train"),
        is_last_resort=True,
    ),
)
PREPARING = word_set(
    "preprocessing decomposition extraction selection impute compose manifold cluster scaler encoder vectorizer "
    "binarizer imputer over under"
)
"""Words in the full names of objects that are fitted to data before the model is."""


def framework_of(call: cst.Call, graph: CallGraph) -> TrainingFramework | None:
    """The framework that trains when a call runs; None if the call starts no managed loop."""
    method = last_name(call.func)
    frameworks = [framework for framework in FRAMEWORKS if method in framework.methods]
    if not frameworks:
        return None
    function = graph.nodes.function_of(call)
    if isinstance(call.func, cst.Attribute) and EVALUATORS & set(
        split_identifier(dotted_name(call.func.value).rpartition(".")[2])
    ):
        return None
    names = [name for name in graph.resolver.names(call.func, function) if not name.startswith("builtins.")]
    for framework in frameworks:
        if any(_is_of(name, framework) for name in names):
            return framework
    if any(not _is_untold(name) for name in names) or graph.resolver.functions(call.func, function):
        return None
    return next((framework for framework in frameworks if _is_spelled(call, framework, graph)), None)


def _is_of(name: str, framework: TrainingFramework) -> bool:
    inside = any(name.startswith((f"{package}.", f"{package}()")) for package in framework.packages)
    if not inside or not any(owner in name for owner in framework.owners or ("",)):
        return False
    if framework.is_last_resort:
        return PREPARING.isdisjoint(split_identifier(name))
    return framework is not TRANSFORMERS or "from_pretrained" not in name


def _is_untold(name: str) -> bool:
    """Whether a full name leaves the type of the object open, as for objects created from a configuration."""
    return not any(name.startswith(f"{package}.") for framework in FRAMEWORKS for package in framework.packages)


def _is_spelled(call: cst.Call, framework: TrainingFramework, graph: CallGraph) -> bool:
    if not isinstance(call.func, cst.Attribute):
        return False
    imported = {package.split(".")[0] for package in framework.packages} & graph.imported_packages
    if not imported:
        return False
    if framework is KERAS:
        return bool(FIT_ARGUMENTS & keywords(call).keys()) or compile_of(call, graph) is not None
    return bool(framework.spelled & set(split_identifier(dotted_name(call.func.value))))


def compile_of(call: cst.Call, graph: CallGraph) -> cst.Call | None:
    """The call of `compile` that belongs to a call of `fit`: of the same variable, else the last one."""
    compiling = [other for other, _ in graph.calls if _is_compile(other)]
    receiver = dotted_name(call.func).rpartition(".")[0]
    same = [other for other in compiling if dotted_name(other.func).rpartition(".")[0] == receiver]
    return next(iter([*same, *reversed(compiling)]), None)


def _is_compile(call: cst.Call) -> bool:
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "compile":
        return False
    return bool({"optimizer", "loss", "metrics"} & keywords(call).keys()) or len(positional(call)) > 1
