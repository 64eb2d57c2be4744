"""Random numbers drawn in threads, in pools of processes and in parallel maps."""

import libcst as cst

from deviate.analysis.hazards.kernels import held_by_script
from deviate.analysis.hazards.names import draws_in
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Called, Survey
from deviate.analysis.resolve.tree import constant_number
from deviate.model.metric_vocabulary import word_set

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


@hazard("parallel-draws", "timing")
def parallel_draws(survey: Survey) -> Matches:
    """Random numbers drawn in threads, in pools of processes and in parallel maps.

    Who draws first gets the first number: which example or task gets which number depends on timing. Threads share the
    global generators, tasks of a pool are handed to whichever worker is free, and `tf.data` runs functions with random
    operations in any order when `num_parallel_calls` is given. deviate does not route what threads draw, and cannot say
    which process of a pool takes which task; op determinism, where a variant holds `kernels`, makes `tf.data` run such
    functions one after the other.

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
        yield called.node, f"{draw.name} ({place}) is drawn by {where}: in any order"
