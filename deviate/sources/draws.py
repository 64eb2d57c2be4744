"""Hazards of random draws and seeds: what no seed reaches, and seeds that are others in each run."""

import ast
import re
from collections.abc import Iterator

import libcst as cst

from deviate.analysis.resolve.index import Class, Function
from deviate.analysis.resolve.origins import CLOCKS
from deviate.analysis.resolve.tree import constant_text, dotted_name, keywords, last_name, positional, walk
from deviate.model.metric_vocabulary import split_identifier, word_set
from deviate.sources.catalogue import Matches, source
from deviate.sources.cures import either, instead, with_arguments, wrapped
from deviate.sources.names import LISTING_FUNCTIONS, TORCH_LOADERS, TORCH_PARAMETERS, draws_from
from deviate.sources.seeds import SEEDERS
from deviate.sources.survey import Called, Survey, is_true

CHANGING_SOURCES = CLOCKS | word_set(
    "os.getpid os.getppid builtins.hash builtins.id threading.get_ident time.clock_gettime datetime.datetime.timestamp "
    "os.times"
)


@source("changing-seed", "seeds", cure=instead("0"))
def changing_seed(survey: Survey) -> Matches:
    """Seeds computed from the clock, a process id, `hash()` or `id()`, which change between runs.

    The script looks seeded but gives different results each time. deviate derives its seeds from the seed of the
    script, so such a seed changes every stream in every variant, and nothing is held.

    Example:
        import random, time
        random.seed(int(time.time()))

    Source: Python documentation of `time.time`, `os.getpid`, and of `object.__hash__`: hash values of str and bytes
    objects "are salted with an unpredictable random value".
    """
    changing: dict[cst.CSTNode, Called] = {call.node: call for call in survey.calls(CHANGING_SOURCES)}
    for seeding in survey.in_order(SEEDERS) if changing else ():
        for argument in seeding.node.args:
            for value, _ in survey.values(argument.value, seeding.function):
                for part in walk(value):
                    if part in changing:
                        yield part, _describe_seed(changing.pop(part), f"seeds {seeding.name}")
    for node, call in changing.items():
        if _is_seed(node, survey):
            yield node, _describe_seed(call, "is used as a seed")


def _describe_seed(call: Called, subject: str) -> str:
    return f"{call.name.removeprefix('builtins.')}() {subject} and differs between runs"


def _is_seed(node: cst.CSTNode, survey: Survey) -> bool:
    """Whether a number becomes, through arithmetic alone, the value of a seed."""
    for parent in survey.nodes.ancestors(node):
        match parent:
            case cst.Arg(keyword=cst.Name(value=name)):
                return "seed" in name.lower() or name == "random_state"
            case cst.Call(func=cst.Attribute(attr=cst.Name(value="seed" | "set_seed" | "manual_seed"))):
                return True
            case cst.Assign():
                return any("seed" in last_name(target.target).lower() for target in parent.targets)
            case cst.Arg() | cst.BinaryOperation() | cst.UnaryOperation() | cst.IfExp() | cst.BooleanOperation():
                pass
            case cst.Attribute():
                pass
            case cst.Call() if last_name(parent.func) in ("int", "abs", "round", "float") or not positional(parent):
                pass
            case cst.Call() if constant_text(positional(parent)[0]) is None:
                return False
            case _:
                return False
    return False


COMPILERS = word_set("numba.jit numba.njit numba.vectorize numba.guvectorize numba.core.decorators.njit")
GLOBAL_SEEDERS = ("numpy.random.seed", "random.seed")


@source("compiled-draws", "seeds")
def compiled_draws(survey: Survey) -> Matches:
    """Random numbers drawn in functions compiled by Numba.

    Compiled code uses separate generators of Numba, seeded from the operating system in each process and thread.
    `numpy.random.seed` outside compiled code does not affect them, nor does deviate.

    Example:
        import numpy as np
        from numba import njit
        @njit
        def walk(n):
            return np.random.normal(0.0, 1.0, n).sum()
        total = walk(100)

    Instead:
        import numpy as np
        from numba import njit
        @njit
        def walk(steps):
            return steps.sum()
        total = walk(np.random.normal(0.0, 1.0, 100))

    Source: Numba documentation, "Supported NumPy features", random: "Calling numpy.random.seed() from non-Numba
    code … will seed the NumPy random generator, not the Numba random generator".
    """
    if "numba" not in survey.graph.imported_packages:
        return
    for function in survey.functions:
        node, around = function.node, function.parent
        if not isinstance(node, cst.FunctionDef) or around is None:
            continue
        marks = [
            decorator.decorator.func if isinstance(decorator.decorator, cst.Call) else decorator.decorator
            for decorator in node.decorators
        ]
        if not any(survey.resolver.qualified_name(mark, around) in COMPILERS for mark in marks):
            continue
        called = [(call, survey.resolver.qualified_name(call.func, function) or "") for call in function.calls]
        if not any(name in GLOBAL_SEEDERS for _, name in called):
            for call, name in called:
                if draws_from(name):
                    yield call, f"{name} draws from a separate generator of Numba here"


@source("drawn-seed", "seeds", cure=instead("0"))
def drawn_seed(survey: Survey) -> Matches:
    """Seeds drawn from an unseeded generator.

    The seed differs between runs, and so does everything that depends on it. deviate draws it from the stream `other`:
    a variant that varies `other` then varies every other stream too, and their shares cannot be separated.

    Example:
        import random, torch
        seed = random.randint(1, 10000)
        torch.manual_seed(seed)

    Source: Python documentation of `random.seed`: without a seed "the current system time is used", or randomness
    from the operating system.
    """
    drawn: dict[cst.CSTNode, tuple[str, Called]] = {}
    seeded = set()
    for seeding in survey.in_order(SEEDERS):
        draws = list(_draws_of_seed(seeding, survey))
        for node, library in draws:
            drawn.setdefault(node, (library, seeding))
        if not draws and seeding.node.args:
            seeded.add(seeding.name.partition(".")[0])
    for node, (library, seeding) in drawn.items():
        if library not in seeded:
            yield node, f"the seed of {seeding.name} is drawn from an unseeded generator"


def _draws_of_seed(seeding: Called, survey: Survey) -> Iterator[tuple[cst.CSTNode, str]]:
    """The random draws from which a seed is computed, each with its library."""
    if "worker" in seeding.function.name:  # seeded from the loader's own draw, as the framework advises
        return
    for argument in seeding.node.args:
        for value, function in survey.values(argument.value, seeding.function):
            for part in walk(value):
                if isinstance(part, cst.Call):
                    library = draws_from(survey.resolver.qualified_name(part.func, function) or "")
                    if library is not None:
                        yield part, library


ENTROPY_SOURCES = word_set(
    "os.urandom os.getrandom random.SystemRandom secrets.SystemRandom secrets.randbelow secrets.randbits "
    "secrets.choice secrets.token_bytes"
)
UNSEEDED_GENERATORS = word_set(
    "numpy.random.SeedSequence numpy.random.PCG64 numpy.random.PCG64DXSM numpy.random.MT19937 numpy.random.Philox "
    "numpy.random.SFC64"
)
IDENTIFIER_SOURCES = word_set("uuid.uuid1 uuid.uuid4 secrets.token_hex secrets.token_urlsafe")
NUMERIC_PARTS = word_set("int bytes fields time node")


@source(
    "entropy",
    "seeds",
    observed=("entropy",),
    held="--hold entropy",
    cure=wrapped(
        urandom="random.Random(0).randbytes({first})",
        getrandom="random.Random(0).randbytes({first})",
        SystemRandom="random.Random(0)",
        randbelow="random.Random(0).randrange({first})",
        uuid4="uuid.UUID(int=0)",
        SeedSequence="{callee}(0)",
        PCG64="{callee}(0)",
        MT19937="{callee}(0)",
        Philox="{callee}(0)",
    ),
)
def entropy(survey: Survey) -> Matches:
    """Random numbers from the operating system.

    `os.urandom`, `secrets`, `random.SystemRandom`, `uuid.uuid4` and unseeded bit generators of NumPy return different
    numbers in each run, regardless of seeds. deviate cannot hold them in any variant. `random.Random()`,
    `numpy.random.default_rng()`, `torch.seed()` and the like are not listed: deviate seeds them.

    Example:
        import os
        noise = os.urandom(16)

    Source: Python documentation of `os.urandom`, `secrets`, `random.SystemRandom` and `uuid.uuid4`; NumPy
    documentation of `SeedSequence`: without entropy it is "pulled from the OS".
    """
    for call in survey.calls(ENTROPY_SOURCES):
        yield call.node, f"{call.name} returns different numbers in each run, regardless of seeds"
    for call in survey.calls(UNSEEDED_GENERATORS):
        if not call.node.args:
            yield call.node, f"{call.last}() without a seed takes one from the operating system"
    for call in survey.calls(IDENTIFIER_SOURCES):
        if _is_number(call, survey):
            yield call.node, f"{call.name} returns a different value in each run, regardless of seeds"
        elif _names_file(call, survey) and any(survey.calls(LISTING_FUNCTIONS)):
            yield call.node, "files named at random are listed in another order in each run, even if sorted"


def _names_file(call: Called, survey: Survey) -> bool:
    """Whether an identifier is part of the name of a data file that is written."""
    text = next((node for node in survey.nodes.ancestors(call.node) if isinstance(node, cst.FormattedString)), None)
    around = (node for node in survey.nodes.ancestors(text) if isinstance(node, cst.Call)) if text is not None else ()
    return bool({last_name(node.func) for node in around} & WRITERS)


WRITERS = word_set("save savez savez_compressed to_csv to_parquet to_pickle write_text write_bytes copy move imwrite")


def _is_number(call: Called, survey: Survey) -> bool:
    """Whether an identifier is taken as a number, not as a name of a run or file."""
    parent = survey.nodes.parents.get(call.node)
    if isinstance(parent, cst.Attribute):
        return parent.attr.value in NUMERIC_PARTS
    if isinstance(parent, cst.Arg):
        outer = survey.nodes.parents[parent]
        return isinstance(outer, cst.Call) and last_name(outer.func) in ("int", "hash", "seed", "manual_seed")
    if isinstance(parent, cst.Assign):
        return any("seed" in split_identifier(last_name(target.target)) for target in parent.targets)
    return False


ENVIRONMENT_MAKERS = word_set(
    "gym.make gymnasium.make gym.vector.make gymnasium.vector.make gymnasium.make_vec gym3.make"
)
ENVIRONMENT_LIBRARIES = ("gym", "stable_baselines3.", "sb3_contrib.", "envpool.", "pettingzoo.", "supersuit.")


@source("environment-seed", "seeds", held="other", cure=wrapped(sample="{owner}.seed(0)"))
def environment_seed(survey: Survey) -> Matches:
    """Unseeded reinforcement-learning environments.

    An environment and each of its spaces have separate generators, seeded from the operating system unless the script
    passes a seed: episodes differ between runs, regardless of other seeds. Every variant except `as-is` seeds them.

    Example:
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        observation, _ = env.reset()

    Instead:
        import gymnasium as gym
        env = gym.make("CartPole-v1")
        observation, _ = env.reset(seed=1)

    Source: Gymnasium documentation of `Env.reset` and `Space.seed`; Gymnasium source, utils/seeding.py: without a seed
    `numpy.random.SeedSequence(None)`.
    """
    if not {"gym", "gymnasium"} & survey.graph.imported_packages:
        return
    if not _are_environments_seeded(survey):
        for call in survey.calls(ENVIRONMENT_MAKERS):
            yield call.node, "the environment is never seeded"
    spaces = [call for call in survey.method_calls("sample") if _is_of_space(call)]
    if not any(_is_of_space(call) for call in survey.method_calls("seed")):
        for call in spaces:
            if not _is_sample(call, survey):
                yield call.node, "the action space has a separate generator, which is never seeded"


def _is_of_space(call: Called) -> bool:
    """Whether a method belongs to an action space, or to another space that the script makes."""
    return "action_space" in dotted_name(call.node.func) or ".spaces." in call.name


def _are_environments_seeded(survey: Survey) -> bool:
    names = [name for name in survey.names if name.startswith(ENVIRONMENT_LIBRARIES)]
    methods = (call for name in ("reset", "seed", "set_seed") for call in survey.method_calls(name))
    seeding = [call for call in methods if call.name.startswith((".", *ENVIRONMENT_LIBRARIES))]
    return any(_gives_seed(call) for call in (*seeding, *survey.calls(names)))


def _is_sample(call: Called, survey: Survey) -> bool:
    """Whether an action is sampled only once, for instance to inspect its shape."""
    is_kept = isinstance(survey.nodes.parents.get(call.node), cst.Assign)
    return is_kept and not survey.nodes.loops_around(call.node)


def _gives_seed(call: Called) -> bool:
    return "seed" in keywords(call.node) or (call.last in ("seed", "set_seed") and bool(call.node.args))


OWN_GENERATORS = word_set("numpy.random.default_rng numpy.random.RandomState random.Random numpy.random.Generator")
NOT_FORKED = ("spawn", "forkserver")
START_METHOD_SETTERS = word_set("torch.multiprocessing.set_start_method multiprocessing.set_start_method")
KERAS_FITTING = ("fit", "fit_generator", "evaluate_generator", "predict_generator")


@source(
    "loader-workers",
    "seeds",
    held="augment",
    cure=either(DataLoader=with_arguments(num_workers=0), other=wrapped(other="{callee}({owner}.randint(2**31))")),
)
def loader_workers(survey: Survey) -> Matches:
    """Unseeded draws in data-loader workers.

    A worker process of a PyTorch `DataLoader` seeds the global generators of Python, NumPy (since PyTorch 1.9) and
    torch. A generator in an attribute of the data set is copied: all workers draw the same numbers, repeat them in each
    epoch, and draw others if the number of workers changes. deviate does not route workers started by `spawn` or
    `forkserver`: their draws belong to no stream.

    Example:
        import numpy as np
        from torch.utils.data import DataLoader, Dataset
        class Noisy(Dataset):
            def __init__(self):
                self.rng = np.random.default_rng(0)
            def __getitem__(self, index):
                return self.rng.normal(size=8)
        loader = DataLoader(Noisy(), num_workers=4)

    Source: PyTorch documentation of `torch.utils.data`, "Randomness in multi-process data loading"; PyTorch source,
    _utils/worker.py; Keras 2 documentation of `fit`, parameter `use_multiprocessing`.
    """
    for function in survey.functions:
        if function.name in ("__getitem__", "__iter__") and function.owner is not None:
            for made in function.calls:
                name = survey.resolver.qualified_name(made.func, function)
                if name in OWN_GENERATORS and not made.args:
                    yield made, f"{last_name(made.func)}() without a seed is another generator in each run and worker"
    started = any(_names_start(call.argument(0, "method")) for call in survey.calls(START_METHOD_SETTERS))
    for call in survey.calls(TORCH_LOADERS):
        if not _has_workers(call):
            continue
        generator_name = _own_generator_name(call, survey)
        if generator_name is not None and call.argument(None, "worker_init_fn") is None:
            yield call.node, f"each worker draws from a copy of the generator of the data set, {generator_name}"
        elif started or _names_start(call.argument(None, "multiprocessing_context")):
            yield call.node, "workers that are not forked draw from uncontrolled generators"
    if {"keras", "tensorflow"} & survey.graph.imported_packages:
        for call in survey.methods(KERAS_FITTING, ("keras.", "tensorflow.")):
            if is_true(call.argument(None, "use_multiprocessing")):
                yield call.node, "processes draw from copies of one generator, and batches arrive in any order"


def _names_start(node: cst.BaseExpression | None) -> bool:
    if isinstance(node, cst.Call) and node.args:  # get_context("spawn")
        node = node.args[0].value
    return constant_text(node) in NOT_FORKED


def _has_workers(call: Called) -> bool:
    n_workers = call.argument(5, "num_workers")
    return n_workers is not None and not (isinstance(n_workers, cst.Integer) and n_workers.value == "0")


def _own_generator_name(call: Called, survey: Survey) -> str | None:
    """The attribute of a data set of the project that stores the generator from which its items are drawn."""
    data = call.argument(0, "dataset")
    for data_class in survey.resolver.classes(data, call.function) if data is not None else ():
        for cls in survey.resolver.order(data_class)[0]:
            generators = [
                name
                for name, bound in cls.attributes.items()
                for binding, function in bound
                if function.name != "__getitem__"
                and isinstance(binding.value, cst.Call)
                and survey.resolver.qualified_name(binding.value.func, function) in OWN_GENERATORS
            ]
            method = survey.resolver.method(data_class, "__getitem__")
            used = {part.value for part in walk(method.node) if isinstance(part, cst.Name)} if method else set()
            for name in generators:
                if name in used:
                    return name
    return None


EMPTY_TENSORS = word_set("torch.empty torch.Tensor torch.FloatTensor torch.cuda.FloatTensor")
EMPTY_ARRAYS = word_set("numpy.empty numpy.empty_like numpy.ndarray torch.empty torch.empty_like")
ALL_PARAMETERS = ("parameters", "named_parameters", "modules")
INITIALIZERS = word_set(
    "uniform_ normal_ fill_ zero_ constant_ ones_ zeros_ xavier_uniform_ xavier_normal_ kaiming_uniform_ "
    "kaiming_normal_ orthogonal_ trunc_normal_ eye_ xavier_uniform kaiming_uniform uniform normal constant"
)
FILLING_METHODS = ("parameters", "named_parameters", "apply", "load_state_dict")


EMPTY = re.compile(r"\b(?:(?:Float)?Tensor|ndarray|empty)(_like)?\(")


def _with_zeros(node: ast.expr) -> str:
    return EMPTY.sub(r"zeros\1(", ast.unparse(node))


@source("uninitialised", "seeds", cure=_with_zeros)
def find_uninitialised(survey: Survey) -> Matches:
    """Uninitialised memory in parameters and in arrays that are computed with.

    `torch.empty(…)`, `torch.Tensor(…)` with sizes and `numpy.empty(…)` contain arbitrary memory. A parameter that no
    initializer fills, or an array that is computed with before it is filled, then differs between runs. If a variant
    holds `kernels`, PyTorch fills such memory with NaN, which reveals the mistake.

    Example:
        import torch
        import torch.nn as nn
        class Scale(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.empty(8))
            def forward(self, x):
                return x * self.weight
        model = Scale()

    Source: PyTorch documentation of `torch.empty`: "filled with uninitialized data"; of
    `torch.utils.deterministic.fill_uninitialized_memory`.
    """
    fills_all = any(_fills_all(function) for function in survey.functions)
    for call in survey.calls(TORCH_PARAMETERS):
        inner = next(iter(positional(call.node)), None)
        name = _attribute_of_parameter(call.node, survey)
        owner = call.function.owner
        if not isinstance(inner, cst.Call) or name is None or fills_all:
            continue
        is_empty = survey.resolver.qualified_name(inner.func, call.function) in EMPTY_TENSORS and _is_of_sizes(inner)
        if is_empty and not (_is_filled(name, owner) if owner else _is_touched(name, call.function)):
            yield call.node, f"{name} is never initialised: it starts with arbitrary memory"
    for call in survey.calls(EMPTY_ARRAYS):
        statement = survey.nodes.parents.get(call.node)
        target = statement.targets[0].target if isinstance(statement, cst.Assign) else None
        if isinstance(target, cst.Name) and _is_read_first(target, call, survey):
            yield call.node, f"{target.value} is computed with before it is filled: it starts with arbitrary memory"


def _is_read_first(target: cst.Name, call: Called, survey: Survey) -> bool:
    """Whether the first use of an array after its creation computes with its values."""
    names = [node for node in walk(call.function.node) if isinstance(node, cst.Name) and node.value == target.value]
    for node in names[names.index(target) + 1 :]:
        parent = survey.nodes.parents.get(node)
        if isinstance(parent, cst.AssignTarget):
            statement = survey.nodes.parents[parent]
            value = statement.value if isinstance(statement, cst.Assign) else statement
            if any(part in names for part in walk(value)):
                continue
            return False
        is_changed = isinstance(parent, cst.AugAssign) and node is parent.target
        return is_changed or isinstance(parent, cst.BinaryOperation | cst.UnaryOperation)
    return False


def _attribute_of_parameter(node: cst.CSTNode, survey: Survey) -> str | None:
    parent = survey.nodes.parents.get(node)
    return dotted_name(parent.targets[0].target) or None if isinstance(parent, cst.Assign) else None


def _is_of_sizes(call: cst.Call) -> bool:
    """Whether the arguments are sizes rather than values."""
    return last_name(call.func) == "empty" or not any(
        isinstance(argument.value, cst.List | cst.ListComp) for argument in call.args
    )


def _is_filled(name: str, owner: Class) -> bool:
    """Whether code other than the forward pass uses the parameter, or the class initialises all its parameters."""
    for method in owner.methods.values():
        if any(last_name(call.func) in FILLING_METHODS for call in method.calls):
            return True
        if method.name != "forward" and _is_touched(name, method):
            return True
    return False


def _is_touched(name: str, function: Function) -> bool:
    """Whether a call of a function changes the parameter, as its object or in an initializer."""
    for call in function.calls:
        is_filling = "init" in dotted_name(call.func).lower() or last_name(call.func).endswith("_")
        nodes = [node for argument in call.args for node in walk(argument.value)] if is_filling else []
        nodes += [call.func.value] if isinstance(call.func, cst.Attribute) else []
        if any(dotted_name(node).startswith(name) for node in nodes):
            return True
    return False


def _fills_all(function: Function) -> bool:
    """Whether a function iterates over all parameters and initialises them."""
    called = {last_name(call.func) for call in function.calls}
    return bool(called & {*ALL_PARAMETERS}) and bool(called & INITIALIZERS)
