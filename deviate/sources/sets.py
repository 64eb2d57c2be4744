"""Which expressions are sets, and whether their items are whole numbers, whose order follows from their values."""

from typing import Literal

import libcst as cst

from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import dotted_name, last_name, positional, walk
from deviate.model.metric_vocabulary import split_identifier, word_set
from deviate.sources.survey import Survey

MAKING = ("builtins.set", "builtins.frozenset")
COMBINING = ("union", "intersection", "difference", "symmetric_difference")
OPERATORS = (cst.Subtract, cst.BitAnd, cst.BitOr, cst.BitXor)
PASSING = word_set("set frozenset list tuple sorted tolist flatten ravel copy unique array chain reversed filter map")
COUNTING = word_set(
    "range arange randint randperm permutation len int ord nonzero argsort argwhere where abs round sum count index"
)
WRITING = word_set(
    "str format join split rsplit splitlines basename dirname strip lower upper replace listdir glob keys readlines "
    "read decode partition repr getattr named_parameters"
)
COUNTED = word_set("idx idxs index indices indexes ind inds num nums number numbers int ints")
FILLING = ("add", "append", "update", "extend")
DEEPEST = 4


def is_set(node: cst.CSTNode, function: Function, survey: Survey, depth: int = DEEPEST) -> bool:
    """Whether an expression is a set on every code path."""
    match node:
        case cst.Call(func=cst.Attribute(attr=cst.Name(value=name)) as func) if name in COMBINING:
            return is_set(func.value, function, survey, depth)
        case cst.Call():
            return survey.resolver.qualified_name(node.func, function) in MAKING
        case cst.BinaryOperation(operator=operator) if isinstance(operator, OPERATORS):
            sides = (node.left, node.right)
            return any(is_set(side, function, survey, depth) or _is_keys(side) for side in sides)
        case cst.Name() | cst.Attribute() if depth:
            values = [(value, where) for value, where in survey.values(node, function) if value is not node]
            # Within `items = list(items)` they are what they were before.
            values = [(value, where) for value, where in values if not any(part is node for part in walk(value))]
            return bool(values) and all(is_set(value, where, survey, depth - 1) for value, where in values)
    return isinstance(node, cst.Set | cst.SetComp)


def _is_keys(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and last_name(node.func) == "keys" and not node.args


def kind_of(
    node: cst.CSTNode, function: Function, survey: Survey, depth: int = DEEPEST
) -> Literal["numbers", "texts"] | None:
    """What an item or the items of a collection are; None if unknown."""
    parts: list[tuple[cst.CSTNode, Function]] = []
    match node:
        case cst.Integer():
            return "numbers"
        case cst.BaseString():
            return "texts"
        case cst.Set() | cst.List() | cst.Tuple():
            parts = [(item.value, function) for item in node.elements]
        case cst.SetComp() | cst.ListComp() | cst.GeneratorExp():
            parts = [(node.elt, function)]
        case cst.BinaryOperation():
            parts = [(node.left, function), (node.right, function)]
        case cst.Subscript():
            parts = [(node.value, function)]
        case cst.Call() | cst.Name() | cst.Attribute():
            name = last_name(node.func if isinstance(node, cst.Call) else node)
            words = split_identifier(name)
            if name in COUNTING or (words[-1:] and (words[-1] in COUNTED or (words[0] in COUNTED and len(words) == 2))):
                return "numbers"
            if name in WRITING:
                return "texts"
            parts = _inside(node, name, function) if isinstance(node, cst.Call) else _stored(node, function, survey)
    kinds = {kind_of(part, where, survey, depth - 1) for part, where in parts} if depth else set()
    # The order of texts depends on the hash seed, so they decide.
    return "texts" if "texts" in kinds else "numbers" if "numbers" in kinds else None


def _inside(call: cst.Call, name: str, function: Function) -> list[tuple[cst.CSTNode, Function]]:
    """What a call returns items of."""
    owner = [call.func.value] if isinstance(call.func, cst.Attribute) else []
    passed = [*owner, *positional(call)] if name in PASSING or name in COMBINING else []
    return [(value, function) for value in passed]


def _stored(node: cst.Name | cst.Attribute, function: Function, survey: Survey) -> list[tuple[cst.CSTNode, Function]]:
    """What is put into a collection."""
    filled = function.module.calls_of(dotted_name(node), *FILLING)
    return [
        *((value, where) for value, where in survey.values(node, function) if value is not node),
        *((value, where) for call, where in filled for value in positional(call)),
    ]
