"""Numbers made with `hash()` of a text, or order by `id()`."""

import libcst as cst

from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.survey import Survey
from deviate.analysis.resolve.tree import last_name


@hazard("hash-value", "order")
def hash_value(survey: Survey) -> Matches:
    """Numbers made with `hash()` of a text, or order by `id()`.

    Python salts the hash of texts in each process: what is put into a bucket, a fold or a vector by `hash(text) %
    n` lands elsewhere in the next run. deviate sets `PYTHONHASHSEED`: it is the factor `hash`, varied in
    `algo+impl` and held in the other variants. Addresses (`id`) it cannot hold.

    Example:
        is_test = hash(name) % 10 == 0

    Instead:
        import zlib
        is_test = zlib.crc32(name.encode()) % 10 == 0

    Source: Python documentation of `object.__hash__` and `PYTHONHASHSEED`.
    """
    for call in survey.calls(["builtins.hash"]):
        if call.function.name != "__hash__" and _is_hash_reduced(call.node, survey):
            yield call.node, "the hash of a text is another number in each process"
    for name in ("builtins.sorted", "builtins.min", "builtins.max"):
        for call in survey.calls([name]):
            yield from _by_address(call.node)
    for call in survey.methods(["sort"]):
        yield from _by_address(call.node)


def _is_hash_reduced(node: cst.CSTNode, survey: Survey) -> bool:
    """Whether the hash is reduced to a range, as for a bucket or an index."""
    for parent in survey.nodes.ancestors(node):
        if isinstance(parent, cst.BinaryOperation) and isinstance(parent.operator, cst.Modulo | cst.BitAnd):
            return True
        is_passed = isinstance(parent, cst.Call) and last_name(parent.func) in ("abs", "int")
        if not (is_passed or isinstance(parent, cst.Arg | cst.BinaryOperation | cst.UnaryOperation)):
            return False
    return False


def _by_address(call: cst.Call) -> Matches:
    for argument in call.args:
        name = last_name(argument.value)
        if argument.keyword is not None and argument.keyword.value == "key" and name in ("id", "hash"):
            yield call, f"the order by {name}() is another one in each process"
