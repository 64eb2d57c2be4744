"""Hazards of order: files, sets and hash values, whose order is not fixed."""

from collections.abc import Iterator

import libcst as cst

from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import last_name, positional
from deviate.model.metric_vocabulary import word_set
from deviate.sources.catalogue import Matches, source
from deviate.sources.cures import instead
from deviate.sources.flow import Flow
from deviate.sources.names import LISTING_FUNCTIONS
from deviate.sources.sets import is_set, kind_of
from deviate.sources.survey import Survey


@source(
    "file-order",
    group="order",
    observed=("listing",),
    held="listing",
    cure=instead(
        "sorted({code})",
        scandir="sorted({code}, key=lambda entry: entry.name)",
        walk="sorted((folder, folders, sorted(names)) for folder, folders, names in {code})",
    ),
)
def file_order(survey: Survey) -> Matches:
    """Files in the order of the file system.

    `os.listdir`, `glob` and similar functions return names in an order that depends on the file system and on how the
    folder was filled: a copy of the data on another machine may be read in a different order. Splits, batches and
    indices by position then differ, although every seed is the same.

    Advice: sort the names

    Example:
        import os
        names = os.listdir("images")
        train = names[:800]

    Source: Python documentation of `os.listdir`, `os.scandir` and `Path.iterdir` ("in arbitrary order") and of `glob`
    ("results are returned in arbitrary order"); TensorFlow documentation of `tf.io.gfile.listdir`.
    """
    flow = Flow(survey)
    for call in (*survey.calls(LISTING_FUNCTIONS), *survey.methods(("iterdir", "rglob"), ("pathlib.",))):
        if flow.order_matters(call.node, is_set=False):
            yield call.node, "names are in the order of the file system"


@source(
    "hash-value",
    group="order",
    observed=("hash", "address"),
    held="hash",
    cure=instead(hash="zlib.crc32(str({arguments}).encode())"),
)
def hash_value(survey: Survey) -> Matches:
    """Numbers computed with `hash()` of a string.

    Python salts the hashes of strings in each process: a bucket, fold or index computed as `hash(text) % n` differs in
    the next run.

    Advice: take a checksum, or set PYTHONHASHSEED=0 before Python starts

    Example:
        is_test = hash(name) % 10 == 0

    Source: Python documentation of `object.__hash__` and `PYTHONHASHSEED`.
    """
    for call in survey.calls(["builtins.hash"]):
        if call.function.name != "__hash__" and _is_hash_reduced(call.node, survey):
            yield call.node, "the hash of a string differs between processes"


REDUCING = (cst.Modulo, cst.BitAnd, cst.Divide, cst.FloorDivide, cst.RightShift)


def _is_hash_reduced(node: cst.CSTNode, survey: Survey) -> bool:
    """Whether the hash is reduced to a range or compared, as for a bucket, a fraction or a fold."""
    for parent in survey.nodes.ancestors(node):
        if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, REDUCING):
            return True
        if isinstance(parent, cst.Comparison):
            return isinstance(parent.comparisons[0].operator, cst.LessThan | cst.GreaterThan)
        is_passed = isinstance(parent, cst.Call) and last_name(parent.func) in ("abs", "int")
        if not (is_passed or isinstance(parent, cst.Arg | cst.BinaryOperation | cst.UnaryOperation)):
            return False
    return False


ORDER_TAKERS = word_set(
    "builtins.list builtins.tuple builtins.enumerate builtins.iter builtins.zip builtins.map builtins.filter "
    "random.sample random.choice random.choices numpy.array numpy.asarray numpy.fromiter pandas.Series tqdm.tqdm"
)
ORDER_TAKING_METHODS = ("join", "pop", "extend")
SORTED_FIRST = dict.fromkeys(
    ("enumerate", "iter", "filter", "sample", "choice", "array", "asarray", "Series", "join", "extend"),
    "{callee}(sorted({first}){rest})",
)


@source(
    "set-order",
    group="order",
    observed=("set-order",),
    held="hash",
    cure=instead(list="sorted({first})", tuple="sorted({first})", pop="", set="sorted({code})", **SORTED_FIRST),
)
def set_order(survey: Survey) -> Matches:
    """Iteration over a set.

    The order of strings in a set depends on the hash seed of Python, which differs between processes; the order of
    objects depends on their addresses. If classes, words or examples follow that order, indices and sums change. Not
    listed are sets of integers, and uses that do not depend on the order: `sorted`, `len`, `in`, `max`.

    Advice: sort the items, or set PYTHONHASHSEED=0 before Python starts

    Example:
        labels = ["cat", "dog", "cat"]
        classes = list(set(labels))
        targets = [classes.index(label) for label in labels]

    Source: Python documentation of `object.__hash__`: "Changing hash values affects the iteration order of sets".
    """
    flow = Flow(survey)
    for node, site, function in _iterated_sets(survey):
        is_shuffled = is_set(node, function, survey) and kind_of(node, function, survey) != "numbers"
        if is_shuffled and flow.order_matters(node, is_set=True):
            yield site, "the order of items depends on the hash seed of Python, or on their addresses"


def _iterated_sets(survey: Survey) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode, Function]]:
    """Set expressions whose items are taken out, each with its label in the report."""
    for function in survey.functions:
        for bindings in function.bindings.values():
            for binding in bindings:
                if binding.how == "for" and isinstance(binding.value, cst.BaseExpression):
                    yield binding.value, binding.value, function
    for call in (*survey.calls(ORDER_TAKERS), *survey.methods(ORDER_TAKING_METHODS, ("builtins.",))):
        for value in positional(call.node):
            yield value, call.node, call.function
        if call.last == "pop" and not call.node.args and isinstance(call.node.func, cst.Attribute):
            yield call.node.func.value, call.node, call.function
