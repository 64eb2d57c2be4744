"""Seeds that a script sets: calls whose name says that they seed, and arguments that are seeds.

Unknown libraries are included. Runs replace only the seeds of libraries whose draws deviate routes.
"""

import re
from collections.abc import Iterator
from typing import Literal

import libcst as cst

from deviate.analysis.resolve.abstract_values import Container, External
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import keywords, last_name, named_items, positional
from deviate.model import SeedCall
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
ASKING = word_set("get find load parse print log is has read show check initial derive hash")
"""First words of functions that only query or check a seed."""
RECORDING = word_set(
    "dict Namespace SimpleNamespace set_defaults add_argument format update replace _replace print log info debug "
    "partial setattr"
)
"""Functions that store a seed for later."""
ROUTED = word_set(
    "random numpy scipy sklearn torch tensorflow keras tf_keras jax flax haiku transformers accelerate "
    "lightning pytorch_lightning autograd"
)
"""Packages whose seeds deviate replaces in runs."""
BY_PARAMETERS = word_set("lightgbm xgboost catboost")
"""Packages whose functions take seeds in a dict of parameters."""
EVERYTHING = word_set("seed_everything manual_seed")
"""Functions that seed every generator, whatever they are methods of."""
DIVIDING = re.compile(r"sklearn\.(model_selection\.(\w*(Split|Fold)|train_test_split)|datasets\.\w+)\b")
"""Functions that split the data: their seeds are kept where the split is held."""
BY_PLACE = re.compile(
    r"sklearn\.(utils\.(shuffle|resample)|model_selection\.(learning_curve|LearningCurve|Halving|Tuned))|keras\.datasets\."
)
"""Functions whose stream depends on where they are called, if they have one."""


def seed_calls(graph: CallGraph) -> tuple[SeedCall, ...]:
    """Calls that seed a generator, in source order. Generators created without a seed are not included."""
    seeds = []
    order = {file: number for number, file in enumerate(graph.project.files())}
    for call, function in graph.calls:
        if not call.args:
            continue
        name = graph.resolver.qualified_name(call.func, function)
        argument = _argument(call, name or "", function, graph)
        if argument is not None:
            name = name or " ".join(graph.nodes.code(call.func).split())
            seeds.append(SeedCall(name, argument, function.module.file, graph.nodes.line(call)))
    return tuple(sorted(seeds, key=lambda seed: (order[seed.file], seed.line)))


Fate = Literal["replaced", "kept with the split", "unknown"]
"""What happens to a seed in variants that hold or vary streams, as far as known before a run."""


def fate_of(seed: SeedCall) -> Fate:
    package, _, _ = seed.call.partition(".")
    if BY_PLACE.search(seed.call):
        return "unknown"
    if DIVIDING.match(seed.call):
        return "kept with the split"
    return "replaced" if package in ROUTED or seed.call.rpartition(".")[2] in EVERYTHING else "unknown"


def _argument(call: cst.Call, name: str, function: Function, graph: CallGraph) -> str | None:
    """The seed arguments of a call, as source text; None if there are none.

    Args:
        name: full name of the callee, empty if unknown.
    """
    last, by_name = last_name(call.func), keywords(call)
    is_seeding = _says_that_it_seeds(last) or name in SEEDERS
    seeds = {} if last in RECORDING else {key: value for key, value in by_name.items() if _is_seed(key, value)}
    if name.partition(".")[0] in BY_PARAMETERS:
        seeds |= dict(_parameters(call, function, graph))
    if not (is_seeding or seeds) or _is_of_project(call, function, graph):
        return None
    if is_seeding:
        return ", ".join(graph.nodes.code(value) for value in [*positional(call), *by_name.values()])
    return ", ".join(f"{key}={graph.nodes.code(value)}" for key, value in seeds.items())


def _parameters(call: cst.Call, function: Function, graph: CallGraph) -> Iterator[tuple[str, cst.BaseExpression]]:
    """The seeds in dicts passed to a call."""
    for value in [*positional(call), *keywords(call).values()]:
        referents = graph.resolver.resolve(value, function)
        nodes = [referent.node for referent in referents if isinstance(referent, Container)] or [value]
        for node in nodes:
            items = named_items(node) if isinstance(node, cst.Dict) else ()
            yield from ((name, seed) for name, seed in items if _is_seed(name, seed))


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
