"""Hazards of timing: results that depend on the order of parallel work."""

from collections.abc import Iterator, Mapping

import libcst as cst

from deviate.analysis.resolve.index import Binding, Function
from deviate.analysis.resolve.origins import CLOCKS
from deviate.analysis.resolve.tree import constant_number, constant_text, dotted_name, last_name, walk
from deviate.model.metric_vocabulary import split_identifier, word_set
from deviate.sources.catalogue import Matches, source
from deviate.sources.cures import instead, with_arguments
from deviate.sources.flow import REPORTING, Flow, is_aside
from deviate.sources.kernels import held_by_script, kernels
from deviate.sources.names import TENSORFLOW, TORCH_LOADERS, draws_in
from deviate.sources.patterns import ABSENT, constant, has, has_not, named
from deviate.sources.seeds import CATBOOST, LIGHTGBM, XGBOOST, parameters
from deviate.sources.survey import Called, Survey


@source(
    "graph-session",
    named(
        rf"{TENSORFLOW}((Interactive)?Session|train\.(MonitoredTrainingSession|(Singular)?MonitoredSession|Supervisor))",
        "TensorFlow does not guarantee determinism for sessions",
        lambda call, survey: not isinstance(survey.nodes.parents.get(call.node), cst.Attribute),  # `.list_devices()`
    ),
    group="timing",
    is_reported_once=True,
)
def graph_session() -> None:
    """Sessions of TensorFlow 1.

    A session runs independent operations of a graph on several threads. TensorFlow does not guarantee determinism for
    it, even with op determinism.

    Advice: train with functions of TensorFlow 2

    Example:
        import tensorflow.compat.v1 as tf
        with tf.Session() as session:
            session.run(train_op)

    Instead:
        import tensorflow as tf
        @tf.function
        def step(batch):
            return train_op(batch)

    Source: TensorFlow documentation of `tf.config.experimental.enable_op_determinism`: "determinism cannot be
    guaranteed when using the TF1 API".
    """


THREADS = word_set("threading.Thread threading.Timer")
POOLS = (
    r"(concurrent\.futures\.(thread\.)?(Thread|Process)PoolExecutor|torch\.multiprocessing\.Pool"
    r"|multiprocessing\.((pool|dummy|get_context\(\))\.)?(Thread)?Pool)\(\)\."
)
HANDED_FUNCTIONS = rf"{POOLS}(map|imap|imap_unordered|starmap|apply_async|map_async|starmap_async|submit)"
PARALLEL_MAPS = ("map", "interleave")


@source("parallel-draws", group="seeds", held="workers")
def parallel_draws(survey: Survey) -> Matches:
    """Random numbers drawn in threads, process pools and parallel maps.

    The number that an example or task draws depends on timing. Threads share the global generators, a pool passes tasks
    to any free worker, and `tf.data` runs functions with random operations in any order if `num_parallel_calls` is set.
    If a variant holds `kernels`, op determinism makes `tf.data` run such functions one after the other.

    Advice: give each piece of work a generator of its own, seeded by its index

    Example:
        import random
        from concurrent.futures import ThreadPoolExecutor
        def augment(image):
            return image + random.random()
        with ThreadPoolExecutor(4) as pool:
            images = list(pool.map(augment, images))

    Instead:
        import random
        from concurrent.futures import ThreadPoolExecutor
        def augment(image, shift):
            return image + shift
        shifts = [random.random() for _ in images]
        with ThreadPoolExecutor(4) as pool:
            images = list(pool.map(augment, images, shifts))

    Source: TensorFlow documentation of `tf.config.experimental.enable_op_determinism`, "Determinism and tf.data";
    Python documentation of `concurrent.futures` and `multiprocessing.pool`.
    """
    for call in survey.calls(THREADS):
        yield from _match_draw(call, call.argument(1, "target", "function"), survey, "a thread")
    for call in survey.calls(HANDED_FUNCTIONS):
        where = "threads" if _has_threads(call) else "whichever worker is free"
        yield from _match_draw(call, call.argument(0, "func", "fn"), survey, where)
    if _is_tensorflow_free(None, survey):
        for call in survey.methods(PARALLEL_MAPS, ("tensorflow.",)):
            calls = call.argument(1, "num_parallel_calls")
            if calls is not None and constant_number(calls) != 1:
                yield from _match_draw(call, call.argument(0, "map_func"), survey, "parallel calls")


def _has_threads(call: Called) -> bool:
    return "Thread" in call.name or "dummy" in call.name


def _is_tensorflow_free(_: Called | None, survey: Survey) -> bool:
    """Whether a program uses TensorFlow, and does not set it to deterministic operations."""
    return "tensorflow" in survey.graph.imported_packages and "tensorflow" not in held_by_script(survey)


def _match_draw(called: Called, task: cst.BaseExpression | None, survey: Survey, where: str) -> Matches:
    draw = next(draws_in(task, called.function, survey), None) if task is not None else None
    if draw is not None:
        place = survey.nodes.place(draw.node)
        yield called.node, f"{draw.name} ({place}) is drawn in any order, by {where}"


@source(
    "shared-memory",
    named(
        ["share_memory", "share_memory_"],
        "processes write to the weights without a lock, in any order",
        methods_of=["torch"],
    ),
    named(
        rf"{TENSORFLOW}(distribute\.(experimental\.)?ParameterServerStrategy|train\.replica_device_setter)",
        "workers update the weights in any order",
    ),
    group="timing",
    held="workers",
)
def shared_memory() -> None:
    """Weights that several processes write without a lock (Hogwild), and parameter servers.

    Updates of one process overwrite or mix with updates of another, in order of arrival.

    Advice: train in one process, or combine gradients before each update

    Example:
        import torch.multiprocessing as mp
        model.share_memory()
        mp.spawn(train, args=(model,), nprocs=4)

    Instead:
        from torch.nn.parallel import DistributedDataParallel
        model = DistributedDataParallel(model)

    Source: PyTorch documentation, "Multiprocessing best practices", Hogwild; TensorFlow documentation of
    `tf.config.experimental.enable_op_determinism`: `ParameterServerStrategy` "can introduce nondeterminism".
    """


@source("time-limit", group="timing", observed=("clock",), held="clock")
def time_limit(survey: Survey) -> Matches:
    """Training that ends at a time limit.

    The number of steps within a time differs between runs and machines, and so does the result.

    Advice: limit steps instead of seconds

    Example:
        import time
        start = time.time()
        for step in range(10000):
            train(step)
            if time.time() - start > 3600:
                break

    Instead:
        for step in range(10000):
            train(step)
            if step > 5000:
                break

    Source: Python documentation of `time.time`.
    """
    for branch in _decided_by_clocks(survey):
        if _is_limit(branch):
            yield branch.test, "the number of steps within the time limit differs between runs"


SAVING = word_set("save saves checkpoint dump log flush report display show plot progress heartbeat notify sync write")
"""Words in the names of functions that report or store."""
PACING = word_set("sleep poll wait")


def _decided_by_clocks(survey: Survey) -> Iterator[cst.If | cst.While]:
    """Statements with a condition on a reading of the clock, apart from messages every ten seconds."""
    clocks = {call.node for call in survey.calls(CLOCKS)}
    for function in survey.functions if clocks else ():
        for branch in walk(function.node):
            if not isinstance(branch, cst.If | cst.While) or survey.nodes.function_of(branch) is not function:
                continue
            names = [part for part in walk(branch.test) if isinstance(part, cst.Name | cst.Attribute | cst.Call)]
            values = (value for name in names for value, _ in survey.values(name, function))
            is_report = isinstance(branch, cst.If) and branch.orelse is None and any(map(_reports, _called(branch)))
            if not is_report and any(part in clocks for value in values for part in walk(value)):
                yield branch


def _called(branch: cst.If | cst.While) -> list[str]:
    """The last names of the functions that a branch calls."""
    return [last_name(call.func) for call in walk(branch.body) if isinstance(call, cst.Call)]


def _reports(name: str) -> bool:
    return name in REPORTING or not SAVING.isdisjoint(split_identifier(name))


def _is_limit(branch: cst.If | cst.While) -> bool:
    """Whether a condition ends a loop that does not only wait."""
    if isinstance(branch, cst.While):
        return PACING.isdisjoint(_called(branch))
    return any(isinstance(part, cst.Break) for part in walk(branch.body))


@source("clock", group="timing", observed=("clock",), held="clock")
def clock(survey: Survey) -> Matches:
    """A reading of the clock that decides what is computed.

    What the script computes depends on how fast it runs, or on when it starts: a learning rate that is halved after a
    slow step, another branch at odd milliseconds.

    Advice: decide by steps or by an argument of the script, not by the time

    Example:
        import time
        start = time.perf_counter()
        train(epoch)
        if time.perf_counter() - start > 60:
            rate = rate / 2

    Instead:
        train(epoch)
        if epoch % 10 == 9:
            rate = rate / 2

    Source: Python documentation of `time.perf_counter`.
    """
    for branch in _decided_by_clocks(survey):
        is_condition = isinstance(branch, cst.If) and not is_aside(survey.nodes.function_of(branch))
        if is_condition and not _is_limit(branch):
            yield branch.test, "another branch runs in a slower or later run"


COMPLETION_ITERATORS = word_set("concurrent.futures.as_completed asyncio.as_completed ray.wait")
ARRIVING = "results arrive in order of completion"


def _order_matters(call: Called, survey: Survey) -> bool:
    return Flow(survey).order_matters(call.node, is_set=False)


def _unordered_options(survey: Survey) -> Matches:
    """Options of `tf.data` that give up the order."""
    for name in ("deterministic", "experimental_deterministic") if _is_tensorflow_free(None, survey) else ():
        for target, value, _ in survey.attribute_assignments.get(name, ()):
            is_option = isinstance(target.value, cst.Name | cst.Attribute) and "cudnn" not in survey.nodes.code(target)
            if constant(value) is False and is_option:
                yield target, ARRIVING


@source(
    "unordered-results",
    named(["imap_unordered"], ARRIVING, _order_matters, methods_of=[""]),
    named(COMPLETION_ITERATORS, ARRIVING, _order_matters),
    named(TORCH_LOADERS, ARRIVING, has(in_order=False)),
    named(["joblib.Parallel"], ARRIVING, has(return_as="generator_unordered")),
    kernels(
        ("map", "interleave", "batch", "ragged_batch", "from_generator"),
        ARRIVING,
        _is_tensorflow_free,
        has(deterministic=False),
        methods_of="tensorflow",
        device="",
    ),
    _unordered_options,
    group="order",
    observed=("completion",),
    held="workers",
    cure=instead(
        imap_unordered="{owner}.imap({arguments})",
        as_completed="{first}",
        DataLoader=with_arguments(in_order=True),
        Parallel=with_arguments(return_as="'generator'"),
        map=with_arguments(deterministic=True),
        interleave=with_arguments(deterministic=True),
        batch=with_arguments(deterministic=True),
    ),
)
def unordered_results() -> None:
    """Results of parallel work in order of completion.

    The order of completion differs between runs. Data collected, summed or trained on in that order then differ,
    although every seed is the same.

    Example:
        from multiprocessing import Pool
        with Pool(4) as pool:
            rows = list(pool.imap_unordered(load, paths))
        train(rows)

    Source: Python documentation of `Pool.imap_unordered` ("the ordering of the results … should be considered
    arbitrary") and `concurrent.futures.as_completed`; TensorFlow documentation of `Dataset.map`, parameter
    `deterministic`; PyTorch documentation of `DataLoader`, parameter `in_order`.
    """


@source(
    "forest-threads",
    named(
        r"sklearn\.ensemble\.(RandomForest|ExtraTrees)(Classifier|Regressor)",
        "predictions of trees are added in the order in which threads are ready",
        has_not(n_jobs=(ABSENT, None, 1)),
    ),
    group="timing",
    held="threads",
    cure=with_arguments(n_jobs=1),
)
def forest_threads() -> None:
    """Forests of scikit-learn that predict with several threads.

    Each thread adds the predictions of its trees to one sum when it is ready, so the sum rounds differently. The fitted
    trees are the same.

    Example:
        from sklearn.ensemble import RandomForestClassifier
        forest = RandomForestClassifier(random_state=1, n_jobs=-1).fit(x, y)
        scores = forest.predict_proba(x)

    Source: scikit-learn 1.9, `sklearn.ensemble._forest`: threads add to one array under a lock, in any order.
    """


@source(
    "word-vectors",
    named(
        r"gensim\.models\.((word2vec|fasttext|doc2vec)\.)?(Word2Vec|FastText|Doc2Vec|LdaMulticore)",
        "threads write to the same vectors in any order",
        has_not(workers=(0, 1)),
    ),
    group="timing",
    held="workers",
    cure=with_arguments(workers=1),
)
def word_vectors() -> None:
    """Word vectors trained by several threads.

    gensim trains models with three threads by default, which write to the same vectors in any order.

    Example:
        from gensim.models import Word2Vec
        model = Word2Vec(sentences, seed=1)

    Source: gensim documentation of `Word2Vec`, parameter `seed`: "you must also limit the model to a single worker
    thread (workers=1)".
    """


SETTLED = word_set("deterministic force_row_wise force_col_wise")
THREAD_COUNTS = word_set("num_threads num_thread nthread nthreads n_jobs thread_count")


@source(
    "boosting-threads",
    group="timing",
    operations_on_cpu=r"tree.*|HistGradientBoosting.*|valid_\d\w*",
    held="threads",
    cure=instead(
        with_arguments(deterministic=True, force_row_wise=True),
        train="",
        cv="",
        **dict.fromkeys(("XGBClassifier", "XGBRegressor"), with_arguments(updater="'coord_descent'")),
    ),
)
def boosting_threads(survey: Survey) -> Matches:
    """Boosting whose threads decide how sums are rounded.

    LightGBM measures which of two ways to build histograms is faster, and its threads add in any order; XGBoost's
    `gblinear` updates weights without a lock; CatBoost adds in any order on a GPU. Trees then differ in the last bits,
    and sometimes in a split.

    Example:
        from lightgbm import LGBMClassifier
        model = LGBMClassifier(n_estimators=50, random_state=1).fit(x, y)

    Source: LightGBM documentation, parameters `deterministic` and `force_row_wise`; XGBoost documentation, `updater`
    shotgun: it "produces a nondeterministic solution on each run"; CatBoost documentation, `task_type`.
    """
    for call in survey.calls(LIGHTGBM):
        options = parameters(call.node, call.function, survey.graph)
        if options is not None and SETTLED.isdisjoint(options) and not _is_single(options):
            yield call.node, "threads add in any order, and the way of adding is chosen by its time"
    for call in survey.calls(XGBOOST):
        options = parameters(call.node, call.function, survey.graph) or {}
        is_linear = constant_text(options.get("booster")) == "gblinear"
        if is_linear and constant_text(options.get("updater")) != "coord_descent" and not _is_single(options):
            yield call.node, "threads update the weights without a lock"
    for call in survey.calls(CATBOOST):
        if constant_text((parameters(call.node, call.function, survey.graph) or {}).get("task_type")) == "GPU":
            yield call.node, "threads of a GPU add in any order", "gpu"


def _is_single(options: Mapping[str, cst.BaseExpression]) -> bool:
    return any(constant_number(options[name]) == 1 for name in THREAD_COUNTS.intersection(options))


@source("thread-updates", group="timing", observed=("thread-order",), held="workers")
def thread_updates(survey: Survey) -> Matches:
    """Threads that add to one value, or append to one list.

    Sums of floating-point numbers depend on the order of their terms, and that is the order in which threads are ready;
    so is the order of a list that several threads fill. An update without a lock can also be lost.

    Advice: let each thread return its result, and combine the results in a fixed order

    Example:
        import threading
        import numpy as np
        weights = np.zeros(8)
        def train(gradient):
            weights[:] -= 0.1 * gradient
        for gradient in gradients:
            threading.Thread(target=train, args=(gradient,)).start()

    Instead:
        import numpy as np
        from concurrent.futures import ThreadPoolExecutor
        weights = np.zeros(8)
        with ThreadPoolExecutor() as pool:
            for step in pool.map(lambda gradient: 0.1 * gradient, gradients):
                weights[:] -= step

    Source: Python documentation of `concurrent.futures` and `threading`; Goldberg, 1991, "What every computer scientist
    should know about floating-point arithmetic".
    """
    for function in dict.fromkeys(_thread_functions(survey)):
        for node in walk(function.node):
            if isinstance(node, cst.AugAssign) and _is_shared(node.target, function, survey):
                yield node, "threads update it without a lock, in any order"


def _thread_functions(survey: Survey) -> Iterator[Function]:
    """Functions of the project that run in threads: those handed to one, and `run` of its subclasses."""
    tasks = [(call, call.argument(1, "target", "function")) for call in survey.calls(THREADS)]
    tasks += [(call, call.argument(0, "func", "fn")) for call in survey.calls(HANDED_FUNCTIONS) if _has_threads(call)]
    for call, task in tasks:
        if task is not None:
            yield from (ref.function for ref in survey.resolver.functions(task, call.function))
    for function in survey.functions:
        owner = function.owner if function.name == "run" else None
        names = [name for base in (owner.bases if owner else ()) for name in survey.resolver.names(base, function)]
        if not THREADS.isdisjoint(names):
            yield function


def _is_shared(target: cst.BaseExpression, function: Function, survey: Survey) -> bool:
    """Whether other threads can have what a statement without a lock updates: it comes from outside of the function."""
    if any(isinstance(node, cst.With) for node, _ in survey.nodes.around(target)):
        return False
    while isinstance(target, cst.Subscript):
        target = target.value
    name, _, attribute = dotted_name(target).partition(".")
    if name == function.receiver:
        bindings = function.owner.attributes.get(attribute, ()) if function.owner else ()
        return any(_is_handed(binding, where, survey) for binding, where in bindings)
    return bool(name) and survey.resolver.find(name, function)[0] is not function


def _is_handed(binding: Binding, function: Function, survey: Survey) -> bool:
    """Whether a name is bound to an argument of a function."""
    if not isinstance(binding.value, cst.BaseExpression):
        return False
    parts = survey.resolver.unpacked_items(binding.value, binding.position, function) if binding.position else ()
    values = [value for value, _ in parts] or [binding.value]
    return any(isinstance(value, cst.Name) and value.value in function.parameters for value in values)


CPU_COUNTS = r"os\.(process_)?cpu_count|(multiprocessing|joblib)\.cpu_count"
DIVIDING = word_set("array_split split chunk linspace range")


@source("divided-work", group="timing", cure=instead("4"))
def divided_work(survey: Survey) -> Matches:
    """Work that is divided by the number of processors.

    How many parts there are decides how their results are added up, so the last bits depend on the machine, and on how
    many of its processors a process may use. deviate gives all runs of an experiment the same number where it can.

    Example:
        import os
        import numpy as np
        parts = np.array_split(x, os.cpu_count())

    Source: Python documentation of `os.cpu_count` and `os.process_cpu_count`.
    """
    for call in survey.calls(CPU_COUNTS):
        names = list(map(dotted_name, survey.targets(call.node)))
        uses = [node for node in walk(call.function.node) if isinstance(node, cst.Name) and node.value in names]
        if any(_divides(use, survey) for use in (call.node, *uses)):
            yield call.node, "the number of processors decides how work is divided"


def _divides(node: cst.CSTNode, survey: Survey) -> bool:
    parent = survey.nodes.parents.get(node)
    if isinstance(parent, cst.BinaryOperation):
        return node is parent.right and isinstance(parent.operator, cst.FloorDivide | cst.Divide | cst.Modulo)
    call = survey.nodes.parents.get(parent) if isinstance(parent, cst.Arg) else None
    return isinstance(call, cst.Call) and last_name(call.func) in DIVIDING
