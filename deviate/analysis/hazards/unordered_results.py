"""Results taken in the order in which parallel work is done."""

import libcst as cst

from deviate.analysis.hazards.flow import Flow
from deviate.analysis.hazards.kernels import held_by_script
from deviate.analysis.hazards.names import TENSORFLOW, TORCH_LOADERS, under
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey, is_false, is_true
from deviate.analysis.resolve.tree import constant_number, constant_text, keywords
from deviate.model.metric_vocabulary import word_set

COMPLETION_ITERATORS = word_set("concurrent.futures.as_completed asyncio.as_completed ray.wait")
PARALLEL_METHODS = ("map", "interleave", "batch", "ragged_batch", "from_generator")
ORDER_OPTIONS = ("deterministic", "experimental_deterministic")
SLOPPY_INTERLEAVES = under(TENSORFLOW, "data.experimental.parallel_interleave contrib.data.parallel_interleave")
SHUFFLING_QUEUES = under(
    TENSORFLOW, "train.batch train.shuffle_batch train.batch_join train.shuffle_batch_join train.maybe_batch"
)


@hazard("unordered-results", "timing")
def unordered_results(survey: Survey) -> Matches:
    """Results taken in the order in which parallel work is done.

    The first to finish comes first, and that is another one in each run. What is collected, summed or trained on in
    that order differs, though every seed is the same. deviate holds it for `tf.data` alone, where a variant holds
    `kernels`.

    Example:
        from multiprocessing import Pool
        with Pool(4) as pool:
            rows = list(pool.imap_unordered(load, paths))
        train(rows)

    Instead:
        from multiprocessing import Pool
        with Pool(4) as pool:
            rows = list(pool.imap(load, paths))
        train(rows)

    Source: Python documentation of `Pool.imap_unordered` ("the ordering of the results … should be considered
    arbitrary") and `concurrent.futures.as_completed`; TensorFlow documentation of `Dataset.map`, parameter
    `deterministic`; PyTorch documentation of `DataLoader`, parameter `in_order`.
    """
    flow = Flow(survey)
    message = "results come in the order in which they are done"
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
    message = "elements come in the order in which they are done"
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
