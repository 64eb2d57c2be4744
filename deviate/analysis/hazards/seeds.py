"""Seeds that a script sets, as far as its source tells: calls whose name says that they seed, and seeds as arguments.

What a library is called does not matter, so that one that nobody knows is listed too. Which of them a run replaces is
another question: that is known of the libraries whose draws deviate routes.
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
from deviate.model.metric_vocabulary import split_words, words

SEEDERS = split_words(
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
MAKERS = split_words(
    "Random RandomState default_rng SeedSequence PCG64 PCG64DXSM Philox SFC64 MT19937 Rngs PRNGKey PRNGSequence "
    "SeedGenerator SobolEngine"
)
"""The same by their last names, where these do not say that they seed."""
ASKING = split_words("get find load parse print log is has read show check initial derive hash")
"""First words of functions that only speak of a seed."""
RECORDING = split_words(
    "dict Namespace SimpleNamespace set_defaults add_argument format update replace _replace print log info debug "
    "partial setattr"
)
"""Functions that put a seed down for later."""
ROUTED = split_words(
    "random numpy scipy sklearn torch tensorflow keras tf_keras jax flax haiku transformers accelerate "
    "lightning pytorch_lightning autograd"
)
"""Packages whose seeds a run replaces."""
BY_PARAMETERS = split_words("lightgbm xgboost catboost")
"""Packages whose functions are given their seeds in a dict."""
EVERYTHING = split_words("seed_everything manual_seed")
"""Functions that seed one of these, whatever they are methods of."""
DIVIDING = re.compile(r"sklearn\.(model_selection\.(\w*(Split|Fold)|train_test_split)|datasets\.\w+)\b")
"""What says which examples there are: its seeds stand where the split is held."""
BY_PLACE = re.compile(
    r"sklearn\.(utils\.(shuffle|resample)|model_selection\.(learning_curve|LearningCurve|Halving|Tuned))|keras\.datasets\."
)
"""What belongs to one stream or another by where it is called, or to none."""


def seed_calls(graph: CallGraph) -> tuple[SeedCall, ...]:
    """Calls that seed a generator, in source order. Generators made without a seed are none."""
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
"""What becomes of a seed in variants that hold or vary streams, as far as that is known before a run."""


def fate_of(seed: SeedCall) -> Fate:
    package, _, _ = seed.call.partition(".")
    if BY_PLACE.search(seed.call):
        return "unknown"
    if DIVIDING.match(seed.call):
        return "kept with the split"
    return "replaced" if package in ROUTED or seed.call.rpartition(".")[2] in EVERYTHING else "unknown"


def _argument(call: cst.Call, name: str, function: Function, graph: CallGraph) -> str | None:
    """The seeds among the arguments of a call, as they are written; None where there are none.

    Args:
        name: the full name of what is called, empty where that is not known.
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
    """The seeds in dicts that a call is given."""
    for value in [*positional(call), *keywords(call).values()]:
        referents = graph.resolver.resolve(value, function)
        nodes = [referent.node for referent in referents if isinstance(referent, Container)] or [value]
        for node in nodes:
            items = named_items(node) if isinstance(node, cst.Dict) else ()
            yield from ((name, seed) for name, seed in items if _is_seed(name, seed))


def _says_that_it_seeds(name: str) -> bool:
    if name in MAKERS:
        return True
    parts = words(name)
    return bool({"seed", "seeds"} & set(parts)) and parts[0] not in ASKING


def _is_seed(name: str, value: cst.BaseExpression) -> bool:
    is_nothing = isinstance(value, cst.Name) and value.value in ("None", "True", "False")
    return not is_nothing and (name == "random_state" or words(name)[-1:] == ["seed"])


def _is_of_project(call: cst.Call, function: Function, graph: CallGraph) -> bool:
    """Whether a function of the project is called: what it hands the seed to is listed."""
    return any(not isinstance(referent, External) for referent in graph.resolver.resolve(call.func, function))
