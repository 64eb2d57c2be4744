"""Items taken out of a set one after the other."""

from collections.abc import Iterator

import libcst as cst

from deviate.analysis.hazards.flow import Flow
from deviate.analysis.hazards.registry import Matches, hazard
from deviate.analysis.hazards.sets import Sets
from deviate.analysis.hazards.survey import Survey
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import positional
from deviate.model.metric_vocabulary import word_set

ORDER_TAKERS = word_set(
    "builtins.list builtins.tuple builtins.enumerate builtins.iter builtins.zip builtins.map builtins.filter "
    "random.sample random.choice random.choices numpy.array numpy.asarray numpy.fromiter pandas.Series tqdm.tqdm"
)
ORDER_TAKING_METHODS = ("join", "pop", "extend")


@hazard("set-order", "order")
def set_order(survey: Survey) -> Matches:
    """Items taken out of a set one after the other.

    The order of texts in a set follows the hash seed of Python, which is another one in each process; that of
    objects follows their addresses. Where the order becomes that of classes, words or examples, indices and sums
    change. deviate sets `PYTHONHASHSEED`: it is the factor `hash`, varied in `algo+impl` and held in the other
    variants. Addresses it cannot hold. Sets of whole numbers are not listed, nor what does not depend on the order:
    `sorted`, `len`, `in`, `max`.

    Example:
        labels = ["cat", "dog", "cat"]
        classes = list(set(labels))
        targets = [classes.index(label) for label in labels]

    Instead:
        labels = ["cat", "dog", "cat"]
        classes = sorted(set(labels))
        targets = [classes.index(label) for label in labels]

    Source: Python documentation of `object.__hash__`: "Changing hash values affects the iteration order of sets".
    """
    sets, flow = Sets(survey), Flow(survey)
    for node, site, function in _iterated_sets(survey):
        is_shuffled = sets.is_set(node, function) and not sets.are_numbers(node, function)
        if is_shuffled and flow.order_matters(node, is_set=True):
            yield site, "the items come in an order that follows the hash seed of Python, or their addresses"


def _iterated_sets(survey: Survey) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode, Function]]:
    """Set expressions whose items are taken out, each with its label in the report."""
    for function in survey.functions:
        seen: set[cst.CSTNode] = set()
        for bindings in function.bindings.values():
            for binding in bindings:
                if binding.how == "for" and isinstance(binding.value, cst.BaseExpression) and binding.value not in seen:
                    seen.add(binding.value)
                    yield binding.value, binding.value, function
    for call in (*survey.calls(ORDER_TAKERS), *survey.methods(ORDER_TAKING_METHODS, ("builtins.",))):
        for value in positional(call.node):
            yield value, call.node, call.function
        if call.last == "pop" and not call.node.args and isinstance(call.node.func, cst.Attribute):
            yield call.node.func.value, call.node, call.function
