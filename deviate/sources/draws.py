"""Hazards of random draws and seeds: what no seed reaches, and seeds that are others in each run."""

import ast
import re
from collections.abc import Iterator

import libcst as cst

from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.origins import CLOCKS
from deviate.analysis.resolve.tree import constant_text, dotted_name, keywords, last_name, positional, walk
from deviate.model.metric_vocabulary import split_identifier, word_set
from deviate.sources.catalogue import Matches, source
from deviate.sources.cures import has_constant, instead, with_arguments
from deviate.sources.names import LISTING_FUNCTIONS, TORCH_LOADERS, draws_from
from deviate.sources.seeds import SEED_TAKERS, SEEDERS
from deviate.sources.survey import Called, Survey

CHANGING_SOURCES = CLOCKS | word_set(
    "os.getpid os.getppid builtins.hash builtins.id threading.get_ident time.clock_gettime datetime.datetime.timestamp "
    "os.times"
)
WITH_SEED = {"from_non_deterministic_state": "{owner}.from_seed(0)", **dict.fromkeys(SEED_TAKERS, "{callee}(0{rest})")}


def _with_constant(node: ast.expr) -> str:
    """A constant seed; `seed()` of a generator of PyTorch takes none."""
    is_bare = isinstance(node, ast.Call) and not node.args and getattr(node.func, "attr", "") == "seed"
    return instead(seed="{owner}.manual_seed(0)")(node) if is_bare else instead("0", **WITH_SEED)(node)


@source(
    "changing-seed",
    group="seeds",
    observed=("seed", "clock", "process-id"),
    cure=_with_constant,
)
def changing_seed(survey: Survey) -> Matches:
    """A seed that is another number in each run.

    Computed from the clock, a process id, `hash()` or `id()`, it makes a script look seeded that is not. deviate
    derives its seeds from the seed of the script, so such a seed changes every stream in every variant, and nothing is
    held.

    Example:
        import random, time
        random.seed(int(time.time()))

    Source: Python documentation of `time.time`, `os.getpid`, and of `object.__hash__`: hash values of str and bytes
    objects "are salted with an unpredictable random value".
    """
    changing: dict[cst.CSTNode, Called] = {call.node: call for call in survey.calls(CHANGING_SOURCES)}
    for seeding, part, _ in _calls_in_seeds(survey) if changing else ():
        if part in changing:
            yield part, _describe_seed(changing.pop(part), f"seeds {seeding.name}")
    for node, call in changing.items():
        if _is_seed(node, survey):
            yield node, _describe_seed(call, "is used as a seed")
    for call in survey.calls(["torch.Generator().seed"]):
        yield call.node, "seed() takes a seed from the operating system"


def _calls_in_seeds(survey: Survey) -> Iterator[tuple[Called, cst.Call, Function]]:
    """The calls from which seeds are computed, each with what it seeds and its function."""
    for seeding in survey.in_order(SEEDERS):
        for argument in seeding.node.args:
            for value, function in survey.values(argument.value, seeding.function):
                yield from ((seeding, part, function) for part in walk(value) if isinstance(part, cst.Call))


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
            case cst.Assign(targets=targets):
                return any("seed" in last_name(target.target).lower() for target in targets)
        is_number = isinstance(parent, cst.Call) and (last_name(parent.func) in NUMERIC or not positional(parent))
        if not is_number and not isinstance(parent, ARITHMETIC):
            return False
    return False


NUMERIC = ("int", "abs", "round", "float")
ARITHMETIC = (cst.Arg, cst.BinaryOperation, cst.UnaryOperation, cst.IfExp, cst.BooleanOperation, cst.Attribute)
COMPILERS = word_set("jit njit vectorize guvectorize")
"""Decorators of Numba."""
GLOBAL_SEEDERS = ("numpy.random.seed", "random.seed")


@source("compiled-draws", group="seeds")
def compiled_draws(survey: Survey) -> Matches:
    """Random numbers drawn in functions compiled by Numba.

    Compiled code uses separate generators of Numba, seeded from the operating system in each process and thread.

    Advice: draw outside of the compiled function and pass the numbers in, or seed inside of it

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
    for function in survey.functions if "numba" in survey.graph.imported_packages else ():
        if COMPILERS.isdisjoint(mark.rpartition(".")[2] for mark in function.marks):
            continue
        called = [(call, survey.resolver.qualified_name(call.func, function) or "") for call in function.calls]
        if not any(name in GLOBAL_SEEDERS for _, name in called):
            for call, name in called:
                if draws_from(name):
                    yield call, f"{name} draws from a separate generator of Numba here"


@source("drawn-seed", group="seeds", held="other", cure=instead("0"))
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
    for seeding, part, function in _calls_in_seeds(survey):
        library = draws_from(survey.resolver.qualified_name(part.func, function) or "")
        # A worker is seeded from the loader's own draw, as the framework advises.
        if library is not None and "worker" not in seeding.function.name:
            drawn.setdefault(part, (library, seeding))
    by_draw = {seeding.node for _, seeding in drawn.values()}
    seeders = [call for call in survey.calls(SEEDERS) if call.node.args and call.node not in by_draw]
    seeded = {call.name.partition(".")[0] for call in seeders}
    for node, (library, seeding) in drawn.items():
        if library not in seeded:
            yield node, f"the seed of {seeding.name} is drawn from an unseeded generator"


ENTROPY_SOURCES = word_set(
    "os.urandom os.getrandom random.SystemRandom secrets.SystemRandom secrets.randbelow secrets.randbits "
    "secrets.choice secrets.token_bytes"
)
BIT_GENERATORS = ("SeedSequence", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
IDENTIFIER_SOURCES = word_set("uuid.uuid1 uuid.uuid4 secrets.token_hex secrets.token_urlsafe")
NUMERIC_PARTS = word_set("int bytes fields time node")


@source(
    "entropy",
    group="seeds",
    observed=("entropy",),
    held="entropy",
    cure=instead(
        **dict.fromkeys(("urandom", "getrandom", "token_bytes"), "random.Random(0).randbytes({first})"),
        **dict.fromkeys(("uuid1", "uuid4"), "uuid.UUID(int=random.getrandbits(128))"),
        **dict.fromkeys(BIT_GENERATORS, "{callee}(0)"),
        token_hex="random.randbytes({first}).hex()",  # noqa: S106
        randbits="random.Random(0).getrandbits({first})",
        randbelow="random.Random(0).randrange({first})",
        SystemRandom="random.Random(0)",
        seed="{owner}.manual_seed(0)",
    ),
)
def entropy(survey: Survey) -> Matches:
    """Random numbers from the operating system.

    `os.urandom`, `secrets`, `random.SystemRandom`, `uuid.uuid4` and unseeded bit generators of NumPy return different
    numbers in each run, regardless of seeds.

    Advice: draw from a generator that the script seeds once, at its beginning (`random.seed(0)`)

    Example:
        import os
        noise = os.urandom(16)

    Source: Python documentation of `os.urandom`, `secrets`, `random.SystemRandom` and `uuid.uuid4`; NumPy
    documentation of `SeedSequence`: without entropy it is "pulled from the OS".
    """
    for call in survey.calls(ENTROPY_SOURCES):
        yield call.node, f"{call.name} returns different numbers in each run, regardless of seeds"
    for call in survey.calls(f"numpy.random.{name}" for name in BIT_GENERATORS):
        if not call.node.args:
            yield call.node, f"{call.last}() without a seed takes one from the operating system"
    for call in survey.calls(IDENTIFIER_SOURCES):
        if _is_number(call, survey):
            yield call.node, f"{call.name} returns a different value in each run, regardless of seeds"
        elif _names_file(call, survey) and any(survey.calls(LISTING_FUNCTIONS)):
            yield call.node, "files named at random are listed in another order in each run, even if sorted"


WRITERS = word_set("save savez savez_compressed to_csv to_parquet to_pickle write_text write_bytes copy move imwrite")


def _names_file(call: Called, survey: Survey) -> bool:
    """Whether an identifier is part of the name of a data file that is written."""
    text = next((node for node in survey.nodes.ancestors(call.node) if isinstance(node, cst.FormattedString)), None)
    around = (node for node in survey.nodes.ancestors(text) if isinstance(node, cst.Call)) if text is not None else ()
    return bool({last_name(node.func) for node in around} & WRITERS)


def _is_number(call: Called, survey: Survey) -> bool:
    """Whether an identifier is taken as a number, not as a name of a run or file."""
    parent = survey.nodes.parents.get(call.node)
    if isinstance(parent, cst.Attribute):
        return parent.attr.value in NUMERIC_PARTS
    if isinstance(parent, cst.Arg):
        outer = survey.nodes.parents[parent]
        return isinstance(outer, cst.Call) and last_name(outer.func) in ("int", "hash", "seed", "manual_seed")
    return any("seed" in split_identifier(last_name(target)) for target in survey.targets(call.node))


ENVIRONMENT_MAKERS = word_set(
    "gym.make gymnasium.make gym.vector.make gymnasium.vector.make gymnasium.make_vec gym3.make"
)
ENVIRONMENT_LIBRARIES = ("gym", "stable_baselines3.", "sb3_contrib.", "envpool.", "pettingzoo.", "supersuit.")


def _with_seed(node: ast.expr) -> str:
    """The first reset with a seed, or the seed of a space that draws."""
    code = ast.unparse(node)
    if re.fullmatch(r".*space\.sample\(.*\)", code):
        return f"{code[: code.rindex('.sample(')]}.seed(0)"
    return with_arguments(seed=0)(node) if re.fullmatch(r"[\w.]+\.reset\(.*\)", code) else ""


@source("environment-seed", group="seeds", observed=("entropy",), held="other", cure=_with_seed)
def environment_seed(survey: Survey) -> Matches:
    """Unseeded reinforcement-learning environments.

    An environment and each of its spaces have separate generators, seeded from the operating system unless the script
    passes a seed: episodes differ between runs, regardless of other seeds.

    Advice: seed the first reset and each space once

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
    if not any(map(_is_of_space, survey.method_calls("seed"))):
        for call in filter(_is_of_space, survey.method_calls("sample")):
            # Sampled only once, it shows what actions look like.
            if survey.nodes.loops_around(call.node) or not survey.targets(call.node):
                yield call.node, "the action space has a separate generator, which is never seeded"


def _is_of_space(call: Called) -> bool:
    """Whether a method belongs to an action space, or to another space that the script makes."""
    return "action_space" in dotted_name(call.node.func) or ".spaces." in call.name


def _are_environments_seeded(survey: Survey) -> bool:
    names = [name for name in survey.names if name.startswith(ENVIRONMENT_LIBRARIES)]
    methods = (call for name in ("reset", "seed", "set_seed") for call in survey.method_calls(name))
    seeding = [call for call in methods if call.name.startswith((".", *ENVIRONMENT_LIBRARIES))]
    return any(
        "seed" in keywords(call.node) or (call.last in ("seed", "set_seed") and bool(call.node.args))
        for call in (*seeding, *survey.calls(names))
    )


OWN_GENERATORS = word_set("numpy.random.default_rng numpy.random.RandomState random.Random numpy.random.Generator")
NOT_FORKED = ("spawn", "forkserver")
START_METHOD_SETTERS = word_set("torch.multiprocessing.set_start_method multiprocessing.set_start_method")


@source(
    "loader-workers",
    group="seeds",
    held="augment",
    cure=instead("{callee}({owner}.randint(2**31))", DataLoader=with_arguments(num_workers=0)),
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
    _utils/worker.py.
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


def _names_start(node: cst.BaseExpression | None) -> bool:
    if isinstance(node, cst.Call) and node.args:  # get_context("spawn")
        node = node.args[0].value
    return constant_text(node) in NOT_FORKED


def _has_workers(call: Called) -> bool:
    n_workers = call.argument(5, "num_workers")
    return n_workers is not None and not (isinstance(n_workers, cst.Integer) and n_workers.value == "0")


def _own_generator_name(call: Called, survey: Survey) -> str | None:
    """The attribute of a data set of the project that stores the generator from which its items are drawn."""
    data, resolver = call.argument(0, "dataset"), survey.resolver
    for data_class in resolver.classes(data, call.function) if data is not None else ():
        method = resolver.method(data_class, "__getitem__")
        used = {part.value for part in walk(method.node) if isinstance(part, cst.Name)} if method else set()
        for name, bound in data_class.attributes.items():
            for binding, function in bound if name in used else ():
                maker = binding.value.func if isinstance(binding.value, cst.Call) and function is not method else None
                if maker is not None and resolver.qualified_name(maker, function) in OWN_GENERATORS:
                    return name
    return None


def _with_own_seed(node: ast.expr) -> str:
    """A generator that is made or seeded without a constant, with one."""
    return "" if has_constant(node) else instead(**WITH_SEED)(node)


@source("missing-seed", group="seeds", observed=("entropy",), held="algo", cure=_with_own_seed)
def missing_seed() -> None:
    """Random draws of a generator that the script never seeds.

    Python, NumPy and frameworks start their generators from the operating system, so weights, orders and splits differ
    in each run.

    Advice: seed each library that draws, once, before the first draw

    Source: Python documentation of `random.seed`; NumPy documentation of `numpy.random.seed`; PyTorch documentation,
    "Reproducibility".
    """


@source("unrouted-draws", group="seeds")
def unrouted_draws() -> None:
    """Draws that no variant controls.

    These are states of generators that were loaded, devices whose generator deviate does not route, and what else a run
    reports as uncontrolled.

    Advice: draw from a generator that the script seeds once, at its beginning (`random.seed(0)`)

    Source: this manual, "Variants".
    """
