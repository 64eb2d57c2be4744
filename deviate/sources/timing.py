"""Hazards of timing: results that depend on the order of parallel work."""

import ast
from collections.abc import Iterator

import libcst as cst

from deviate.analysis.resolve.origins import CLOCKS
from deviate.analysis.resolve.tree import constant_number, constant_text, dotted_name, keywords, last_name, walk
from deviate.analysis.survey import Called, Survey, is_false, is_true
from deviate.model.metric_vocabulary import word_set
from deviate.sources.catalogue import Matches, source
from deviate.sources.cures import either, with_arguments, wrapped
from deviate.sources.flow import Flow, is_aside
from deviate.sources.kernels import held_by_script
from deviate.sources.names import TENSORFLOW, TORCH_LOADERS, draws_in, under
from deviate.sources.values import ValueUse

GRAPH_SESSIONS = under(
    TENSORFLOW,
    "Session InteractiveSession train.MonitoredTrainingSession train.MonitoredSession train.Supervisor "
    "train.SingularMonitoredSession",
)


@source("graph-session", "timing", is_reported_once=True)
def graph_session(survey: Survey) -> Matches:
    """Sessions of TensorFlow 1.

    A session runs independent operations of a graph on several threads. TensorFlow does not guarantee determinism for
    it, even with op determinism. deviate reports what it cannot hold. Only the first place in each file is listed.

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
    for call in survey.calls(GRAPH_SESSIONS):
        if not isinstance(survey.nodes.parents.get(call.node), cst.Attribute):  # `Session().list_devices()`
            yield call.node, "TensorFlow does not guarantee determinism for sessions"


THREADS = word_set("threading.Thread threading.Timer")
POOLS = (
    "concurrent.futures.ThreadPoolExecutor()", "concurrent.futures.ProcessPoolExecutor()",
    "concurrent.futures.thread.ThreadPoolExecutor()", "multiprocessing.Pool()", "multiprocessing.pool.Pool()",
    "multiprocessing.pool.ThreadPool()", "multiprocessing.dummy.Pool()", "torch.multiprocessing.Pool()",
    "multiprocessing.get_context().Pool()",
)  # fmt: skip
HANDING_METHODS = ("map", "imap", "imap_unordered", "starmap", "apply_async", "map_async", "starmap_async", "submit")
HANDED_FUNCTIONS = frozenset(f"{pool}.{method}" for pool in POOLS for method in HANDING_METHODS)
PARALLEL_MAPS = ("map", "interleave", "parallel_interleave", "map_and_batch")


@source("parallel-draws", "timing", held="--hold workers")
def parallel_draws(survey: Survey) -> Matches:
    """Random numbers drawn in threads, process pools and parallel maps.

    The number that an example or task draws depends on timing. Threads share the global generators, a pool passes tasks
    to any free worker, and `tf.data` runs functions with random operations in any order if `num_parallel_calls` is set.
    deviate does not route draws of threads, and cannot predict which process of a pool runs which task. If a variant
    holds `kernels`, op determinism makes `tf.data` run such functions one after the other.

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
        where = "threads" if "Thread" in call.name or "dummy" in call.name else "whichever worker is free"
        yield from _match_draw(call, call.argument(0, "func", "fn"), survey, where)
    if "tensorflow" not in held_by_script(survey) and "tensorflow" in survey.graph.imported_packages:
        for call in survey.methods(PARALLEL_MAPS, ("tensorflow.",)):
            calls = call.argument(1, "num_parallel_calls")
            if calls is not None and constant_number(calls) != 1:
                yield from _match_draw(call, call.argument(0, "map_func"), survey, "parallel calls")


def _match_draw(called: Called, task: cst.BaseExpression | None, survey: Survey, where: str) -> Matches:
    draw = next(draws_in(task, called.function, survey), None) if task is not None else None
    if draw is not None:
        place = survey.nodes.place(draw.node)
        yield called.node, f"{draw.name} ({place}) is drawn in any order, by {where}"


PARAMETER_SERVERS = under(
    TENSORFLOW,
    "distribute.experimental.ParameterServerStrategy distribute.ParameterServerStrategy train.replica_device_setter",
)


@source("shared-memory", "timing")
def shared_memory(survey: Survey) -> Matches:
    """Weights that several processes write without a lock (Hogwild), and parameter servers.

    Updates of one process overwrite or mix with updates of another, in order of arrival. This is part of the algorithm,
    not rounding: deviate cannot hold it in any variant.

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
    for call in survey.methods(["share_memory", "share_memory_"], ("torch.",)):
        yield call.node, "processes write to the weights without a lock, in any order"
    for call in survey.calls(PARAMETER_SERVERS):
        yield call.node, "workers update the weights in any order"


EXITS = ("sys.exit", "exit", "quit")


@source("time-limit", "timing", observed=("clock",), held="--hold clock")
def time_limit(survey: Survey) -> Matches:
    """Training that ends at a time limit.

    The number of steps within a time differs between runs and machines, and so does the result. deviate cannot hold it
    in any variant.

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
    for call in survey.calls(CLOCKS):
        for test in _clock_tests(call, survey):
            yield test, "the number of steps within the time limit differs between runs"


def _clock_tests(call: Called, survey: Survey) -> Iterator[cst.CSTNode]:
    """Conditions on the elapsed time that end a loop."""
    previous: cst.CSTNode = call.node
    for parent in survey.nodes.ancestors(call.node):
        if isinstance(parent, cst.Assign):
            yield from _later_tests(parent, call, survey)
            return
        is_test = isinstance(parent, cst.If | cst.While) and previous is parent.test
        if is_test and _is_limit(previous, parent, survey):
            yield previous
        if isinstance(parent, cst.BaseStatement | cst.BaseSmallStatement):
            return
        previous = parent


def _later_tests(statement: cst.Assign, call: Called, survey: Survey) -> Iterator[cst.CSTNode]:
    """Such conditions on an elapsed time that was first stored in a variable."""
    target = statement.targets[0].target
    if not isinstance(statement.value, cst.BinaryOperation) or not isinstance(target, cst.Name):
        return
    for node in walk(call.function.node):
        if isinstance(node, cst.If | cst.While) and _is_limit(node.test, node, survey):
            names = (part.value for part in walk(node.test) if isinstance(part, cst.Name))
            if target.value in names:
                yield node.test


def _is_limit(test: cst.CSTNode, statement: cst.CSTNode, survey: Survey) -> bool:
    if not any(isinstance(part, cst.Comparison) for part in walk(test)):
        return False
    if isinstance(statement, cst.While):
        called = {last_name(part.func) for part in walk(statement.body) if isinstance(part, cst.Call)}
        return not called & {"sleep", "poll", "wait"}
    body = statement.body if isinstance(statement, cst.If) else statement
    leaves = any(
        isinstance(part, cst.Break) or (isinstance(part, cst.Call) and dotted_name(part.func) in EXITS)
        for part in walk(body)
    )
    return leaves and bool(survey.nodes.loops_around(statement))


@source("clock-condition", "timing", observed=("clock",), held="--hold clock")
def clock_condition(survey: Survey) -> Matches:
    """A condition on the clock.

    What the script computes depends on how fast it runs, or on when it starts: a learning rate that is halved after a
    slow step, another branch at odd milliseconds. Not listed are conditions that only report or save something, and
    those that end a loop (`time-limit`). deviate cannot hold it in any variant; `deviate diverge --hold clock` can.

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
    limits = {test for call in survey.calls(CLOCKS) for test in _clock_tests(call, survey)}
    for call in survey.calls(CLOCKS):
        use = ValueUse(survey, "clock")
        if is_aside(call.function) or use.of(call.node) != "computed":
            continue
        for branch in use.branches:
            if branch.test not in limits:
                yield branch.test, "another branch runs in a slower or later run"


COMPLETION_ITERATORS = word_set("concurrent.futures.as_completed asyncio.as_completed ray.wait")
PARALLEL_METHODS = ("map", "interleave", "batch", "ragged_batch", "from_generator")
ORDER_OPTIONS = ("deterministic", "experimental_deterministic")
SLOPPY_INTERLEAVES = under(TENSORFLOW, "data.experimental.parallel_interleave contrib.data.parallel_interleave")
SHUFFLING_QUEUES = under(
    TENSORFLOW, "train.batch train.shuffle_batch train.batch_join train.shuffle_batch_join train.maybe_batch"
)


@source(
    "unordered-results",
    "timing",
    observed=("completion",),
    held="--hold workers",
    cure=either(
        imap_unordered=lambda node: ast.unparse(node).replace("imap_unordered", "imap"),
        as_completed=wrapped(as_completed="{first}"),
        DataLoader=with_arguments(in_order=True),
        Parallel=with_arguments(return_as="'generator'"),
        map=with_arguments(deterministic=True),
        interleave=with_arguments(deterministic=True),
        batch=with_arguments(deterministic=True),
    ),
)
def unordered_results(survey: Survey) -> Matches:
    """Results of parallel work in order of completion.

    The order of completion differs between runs. Data collected, summed or trained on in that order then differ,
    although every seed is the same. deviate holds the order for `tf.data` only, if a variant holds `kernels`.

    Example:
        from multiprocessing import Pool
        with Pool(4) as pool:
            rows = list(pool.imap_unordered(load, paths))
        train(rows)

    Source: Python documentation of `Pool.imap_unordered` ("the ordering of the results … should be considered
    arbitrary") and `concurrent.futures.as_completed`; TensorFlow documentation of `Dataset.map`, parameter
    `deterministic`; PyTorch documentation of `DataLoader`, parameter `in_order`.
    """
    flow = Flow(survey)
    message = "results arrive in order of completion"
    for call in (*survey.methods(["imap_unordered"], ("",)), *survey.calls(COMPLETION_ITERATORS)):
        if flow.order_matters(call.node, is_set=False):
            yield call.node, message
    for call in survey.calls(TORCH_LOADERS):
        if is_false(call.argument(None, "in_order")):
            yield call.node, message
    for call in survey.calls(["joblib.Parallel"]):
        if constant_text(call.argument(None, "return_as")) == "generator_unordered":
            yield call.node, message
    if "tensorflow" in survey.graph.imported_packages and "tensorflow" not in held_by_script(survey):
        yield from _of_tensorflow(survey)


def _of_tensorflow(survey: Survey) -> Matches:
    message = "elements arrive in order of completion"
    for call in survey.methods(PARALLEL_METHODS, ("tensorflow.",)):
        if is_false(call.argument(None, "deterministic")):
            yield call.node, message
    for call in survey.calls(SLOPPY_INTERLEAVES):
        if is_true(call.argument(2, "sloppy")):
            yield call.node, message
    for call in survey.calls(SHUFFLING_QUEUES):
        threads = keywords(call.node).get("num_threads")
        if threads is not None and constant_number(threads) != 1:
            yield call.node, message
    for name in ORDER_OPTIONS:
        for target, value, _ in survey.attribute_assignments.get(name, ()):
            is_option = isinstance(target.value, cst.Name | cst.Attribute) and "cudnn" not in survey.nodes.code(target)
            if is_false(value) and is_option:
                yield target, message


FORESTS = under(
    ("sklearn.ensemble.",),
    "RandomForestClassifier RandomForestRegressor ExtraTreesClassifier ExtraTreesRegressor",
)


@source("forest-threads", "timing", held="--hold threads", cure=with_arguments(n_jobs=1))
def forest_threads(survey: Survey) -> Matches:
    """Forests of scikit-learn that predict with several threads.

    Each thread adds the predictions of its trees to one sum when it is ready, so the sum rounds differently. The fitted
    trees are the same. deviate cannot hold it in any variant.

    Example:
        from sklearn.ensemble import RandomForestClassifier
        forest = RandomForestClassifier(random_state=1, n_jobs=-1).fit(x, y)
        scores = forest.predict_proba(x)

    Source: scikit-learn 1.9, `sklearn.ensemble._forest`: threads add to one array under a lock, in any order.
    """
    for call in survey.calls(FORESTS):
        jobs = call.argument(None, "n_jobs")
        if jobs is not None and dotted_name(jobs) != "None" and constant_number(jobs) != 1:
            yield call.node, "predictions of trees are added in the order in which threads are ready"


WORD_VECTOR_MODELS = under(
    ("gensim.models.",),
    "Word2Vec FastText Doc2Vec word2vec.Word2Vec fasttext.FastText doc2vec.Doc2Vec LdaMulticore",
)


@source("word-vectors", "timing", cure=with_arguments(workers=1))
def word_vectors(survey: Survey) -> Matches:
    """Word vectors trained by several threads.

    gensim trains models with three threads by default, which write to the same vectors in any order. deviate cannot
    hold it in any variant.

    Example:
        from gensim.models import Word2Vec
        model = Word2Vec(sentences, seed=1)

    Source: gensim documentation of `Word2Vec`, parameter `seed`: "you must also limit the model to a single worker
    thread (workers=1)".
    """
    for call in survey.calls(WORD_VECTOR_MODELS):
        workers = call.argument(None, "workers")
        if workers is None or constant_number(workers) not in (0, 1):
            yield call.node, "threads write to the same vectors in any order"
