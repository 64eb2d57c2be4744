"""Seeds that a script sets: calls whose name says that they seed, and arguments that are seeds.

Unknown libraries are included. What becomes of a seed depends on what is drawn with it: the runs tell.
"""

import libcst as cst

from deviate.analysis.metrics.displays import Displays
from deviate.analysis.resolve.abstract_values import External
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import constant_text, keywords, last_name, positional
from deviate.model.analysis import SeedCall
from deviate.model.metric_vocabulary import split_identifier, word_set

SEEDERS = word_set(
    "random.seed random.Random numpy.random.seed numpy.random.default_rng numpy.random.RandomState "
    "numpy.random.SeedSequence numpy.random.PCG64 numpy.random.PCG64DXSM numpy.random.Philox numpy.random.SFC64 "
    "numpy.random.MT19937 "
    "torch.manual_seed torch.cuda.manual_seed torch.cuda.manual_seed_all torch.random.manual_seed "
    "torch.Generator().manual_seed tensorflow.random.set_seed tensorflow.set_random_seed "
    "tensorflow.compat.v1.set_random_seed tensorflow.random.set_random_seed tensorflow.keras.utils.set_random_seed "
    "keras.utils.set_random_seed jax.random.PRNGKey jax.random.key transformers.set_seed accelerate.utils.set_seed "
    "lightning.seed_everything pytorch_lightning.seed_everything"
)
"""Functions whose first argument is a seed, by their full names."""
MAKERS = word_set(
    "Random RandomState default_rng SeedSequence PCG64 PCG64DXSM Philox SFC64 MT19937 Rngs PRNGKey PRNGSequence "
    "SeedGenerator SobolEngine"
)
"""Constructors whose first argument is a seed, by their last names."""
SEED_TAKERS = MAKERS | {name.rpartition(".")[2] for name in SEEDERS}
"""All of them, by their last names."""
SEEDING = {
    "random": "random.seed(0)",
    "numpy": "np.random.seed(0)",
    "torch": "torch.manual_seed(0)",
    "tensorflow": "tf.random.set_seed(0)",
}
"""Lines that seed the generators which all code of a library shares."""
SEEDING_ALL = word_set("set_seed seed_everything set_random_seed enable_full_determinism")
"""Last names of functions that seed all libraries."""
ASKING = word_set("get find load parse print log is has read show check initial derive hash")
"""First words of functions that only query or check a seed."""
RECORDING = word_set(
    "dict Namespace SimpleNamespace set_defaults add_argument format update replace _replace print log info debug "
    "partial setattr"
)
"""Functions that store a seed for later."""
BY_PARAMETERS = word_set("lightgbm xgboost catboost")
"""Packages whose functions accept seeds in a dict of parameters."""
LIGHTGBM = r"lightgbm\.(train|cv|LGBM\w+)"
XGBOOST = r"xgboost\.(train|cv|XGB\w+)"
CATBOOST = r"catboost\.(train|cv|CatBoost\w*)"
TAKING_PARAMETERS = word_set("train cv CatBoost")
"""Names of functions whose first argument contains the parameters."""


def seed_calls(graph: CallGraph) -> tuple[SeedCall, ...]:
    """Calls that seed a generator, in source order. Generators created without a seed are not included."""
    seeds = []
    order = {file: number for number, file in enumerate(graph.project.files())}
    for call, function in graph.calls:
        name = graph.resolver.qualified_name(call.func, function)
        argument = _argument(call, name or "", function, graph)
        if argument is not None:
            name = name or " ".join(graph.nodes.code(call.func).split())
            seeds.append(SeedCall(name, argument, function.module.file, graph.nodes.line(call)))
    return tuple(sorted(seeds, key=lambda seed: (order[seed.file], seed.line)))


def _argument(call: cst.Call, name: str, function: Function, graph: CallGraph) -> str | None:
    """The seed arguments of a call, as source text; None if there are none.

    Args:
        name: full name of the callee, empty if unknown.
    """
    last, by_name = last_name(call.func), keywords(call)
    is_seeding = bool(call.args) and (_says_that_it_seeds(last) or name in SEEDERS)
    seeds = {} if last in RECORDING else {key: value for key, value in by_name.items() if _is_seed(key, value)}
    if name.partition(".")[0] in BY_PARAMETERS:
        options = parameters(call, function, graph) or {}
        seeds |= {key: value for key, value in options.items() if _is_seed(key, value)}
    if not (is_seeding or seeds) or _is_of_project(call, function, graph):
        return None
    if is_seeding:
        return ", ".join(graph.nodes.code(value) for value in [*positional(call), *by_name.values()])
    return ", ".join(f"{key}={graph.nodes.code(value)}" for key, value in seeds.items())


def parameters(call: cst.Call, function: Function, graph: CallGraph) -> dict[str, cst.BaseExpression] | None:
    """The arguments of a call by name, those in a dict included; None where the source does not show the dict."""
    found = keywords(call)
    given = [argument.value for argument in call.args if argument.star == "**"]
    given += [found.get("params", *positional(call)[:1])] if last_name(call.func) in TAKING_PARAMETERS else []
    for value in given:
        shown = Displays(graph).mapping_items(value, function)
        is_changed = isinstance(value, cst.Name) and any(function.module.calls_of(value.value, "update"))
        if shown is None or is_changed or any(key is None for key, _, _ in shown):
            return None
        found |= {key if isinstance(key, str) else constant_text(key) or "": value for key, value, _ in shown}
    return found


def _says_that_it_seeds(name: str) -> bool:
    if name in MAKERS:
        return True
    parts = split_identifier(name)
    return bool({"seed", "seeds"} & set(parts)) and parts[0] not in ASKING


def _is_seed(name: str, value: cst.BaseExpression) -> bool:
    is_nothing = isinstance(value, cst.Name) and value.value in ("None", "True", "False")
    return not is_nothing and (name == "random_state" or split_identifier(name)[-1:] == ["seed"])


def _is_of_project(call: cst.Call, function: Function, graph: CallGraph) -> bool:
    """Whether the callee is a function of the project: the calls to which it passes the seed are listed instead."""
    return any(not isinstance(referent, External) for referent in graph.resolver.resolve(call.func, function))
