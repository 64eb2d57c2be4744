"""Which expressions are sets, and what their items are: the order of whole numbers follows from their values."""

from collections.abc import Iterable, Iterator
from typing import Literal

import libcst as cst

from deviate.analysis.resolve.index import Binding, Function
from deviate.analysis.resolve.tree import dotted_name, last_name, positional, walk
from deviate.model.metric_vocabulary import split_identifier, word_set
from deviate.sources.survey import Survey

Items = Literal["numbers", "texts"]
MAKING = ("builtins.set", "builtins.frozenset")
COMBINING = ("union", "intersection", "difference", "symmetric_difference")
OPERATORS = (cst.Subtract, cst.BitAnd, cst.BitOr, cst.BitXor)
PASSING = word_set("set frozenset list tuple sorted tolist flatten ravel copy unique array chain reversed filter")
COUNTING = word_set(
    "range arange randint randperm permutation len int ord nonzero argsort argwhere where abs round sum count index"
)
WRITING = word_set(
    "str format join split rsplit splitlines basename dirname strip lower upper replace listdir glob keys readlines "
    "read decode partition repr getattr named_parameters"
)
COUNTED = word_set("idx idxs index indices indexes ind inds num nums number numbers int ints")
NUMBERED = word_set("id ids pid pids uid uids")
"""Words for values that are most often integers, unless the source shows a string."""

LISTING = ("list", "tuple", "sorted", "permutation", "array")
DEEPEST = 4


class Sets:
    """Infers which expressions are sets, and of what."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey

    # ------------------------------------------------------------ sets

    def is_set(self, node: cst.CSTNode | None, function: Function, depth: int = DEEPEST) -> bool:
        """Whether an expression is a set on every code path."""
        match node:
            case cst.Set() | cst.SetComp():
                return True
            case cst.Call(func=cst.Attribute(attr=cst.Name(value=name)) as func) if name in COMBINING:
                return self.is_set(func.value, function, depth)
            case cst.Call():
                return self.survey.resolver.qualified_name(node.func, function) in MAKING
            case cst.BinaryOperation(operator=operator) if isinstance(operator, OPERATORS):
                return any(self.is_set(side, function, depth) or _is_keys(side) for side in (node.left, node.right))
            case cst.Name() | cst.Attribute() if depth:
                return self._holds_set(node, function, depth - 1)
        return False

    def _holds_set(self, node: cst.Name | cst.Attribute, function: Function, depth: int) -> bool:
        """Whether only sets are assigned to a name or attribute; after `items = list(items)` it is no set."""
        values: list[tuple[Binding | None, cst.CSTNode | None, Function]]
        if isinstance(node, cst.Name):
            scope, bindings = self.survey.resolver.find(node.value, function)
            values = [(binding, binding.value, scope) for binding in bindings]
        else:
            values = [(None, value, where) for value, where in self.survey.values(node, function) if value is not node]
        again = [value for _, value, _ in values if value is not None and _is_made_of(value, node)]
        if again and not any(part is node for value in again for part in walk(value)):
            return False
        sources = [entry for entry in values if entry[1] not in again]
        return bool(sources) and all(
            self.is_set(value, where, depth) if binding is None else self._binds_set(node, binding, where, depth)
            for binding, value, where in sources
        )

    def _binds_set(self, node: cst.CSTNode, binding: Binding, scope: Function, depth: int) -> bool:
        if binding.how == "parameter":
            arguments = [edge.argument(last_name(node)) for edge in self.survey.graph.edges_into(scope)]
            return bool(arguments) and all(
                argument is not None and self.is_set(argument[0], argument[1], depth) for argument in arguments
            )
        is_plain = binding.how in ("assign", "add") and not binding.position
        return is_plain and self.is_set(binding.value, scope, depth)

    # ------------------------------------------------------------ items

    def are_numbers(self, node: cst.BaseExpression, function: Function) -> bool:
        """Whether a set holds integers, judged by its items or by the name of a loop variable over it."""
        items = self.items(node, function)
        return items == "numbers" or (items is None and self._is_called_number(node))

    def _is_called_number(self, node: cst.CSTNode) -> bool:
        for parent in self.survey.nodes.ancestors(node):
            if isinstance(parent, cst.Assign):
                return bool(NUMBERED.intersection(split_identifier(last_name(parent.targets[0].target))))
            if not isinstance(parent, cst.Arg | cst.Call):
                return False
        return False

    def items(self, node: cst.CSTNode, function: Function, depth: int = DEEPEST) -> Items | None:
        """The items of a collection; None if unknown."""
        match node:
            case cst.Set() | cst.List() | cst.Tuple():
                return _join_kinds([self.kind(item.value, function, depth) for item in node.elements])
            case cst.SetComp() | cst.ListComp() | cst.GeneratorExp():
                return self.kind(node.elt, function, depth)
            case cst.BinaryOperation():
                return _join_kinds([self.items(side, function, depth) for side in (node.left, node.right)])
            case cst.Subscript():
                return self.items(node.value, function, depth)
            case cst.Call():
                name, arguments = last_name(node.func), positional(node)
                if name == "map" and arguments:
                    return {"int": "numbers", "str": "texts"}.get(last_name(arguments[0]))  # type: ignore[return-value]
                owner = [node.func.value] if isinstance(node.func, cst.Attribute) else []
                passed = [*owner, *arguments] if name in PASSING or name in COMBINING else []
                return _by_name(name) or _join_kinds([self.items(value, function, depth) for value in passed])
            case cst.Name() | cst.Attribute():
                return self._named(node, self._stored(node, function, depth - 1) if depth else ())
        return None

    def kind(self, node: cst.CSTNode, function: Function, depth: int = DEEPEST) -> Items | None:
        """The kind of a single item."""
        match node:
            case cst.Integer():
                return "numbers"
            case cst.BaseString():
                return "texts"
            case cst.Call():
                return _by_name(last_name(node.func))
            case cst.Subscript(value=cst.Call()):
                return self.items(node.value, function, depth)
            case cst.BinaryOperation():
                return _join_kinds([self.kind(side, function, depth) for side in (node.left, node.right)])
            case cst.Name():
                return self._named(node)
        return None

    def _named(self, node: cst.Name | cst.Attribute, kinds: Iterable[Items | None] = ()) -> Items | None:
        """What a name stands for: by its last word, by what is stored in it, or by any of its words."""
        words = split_identifier(last_name(node))
        if _are_counted(words):
            return "numbers"
        return _join_kinds(list(kinds)) or ("numbers" if NUMBERED.intersection(words) else None)

    def _stored(self, node: cst.Name | cst.Attribute, function: Function, depth: int) -> Iterator[Items | None]:
        """The items that are put into a collection."""
        for value, _ in list(self.survey.values(node, function))[1:]:
            yield self.items(value, function, depth)
        for call, where in function.module.calls_of(dotted_name(node), "add", "append"):
            yield from (self.kind(value, where, depth) for value in positional(call))
        for call, where in function.module.calls_of(dotted_name(node), "update", "extend"):
            yield from (self.items(value, where, depth) for value in positional(call))


def _by_name(name: str) -> Items | None:
    """What a function gives, by its name."""
    return "numbers" if name in COUNTING else "texts" if name in WRITING else None


def _join_kinds(kinds: list[Items | None]) -> Items | None:
    """The kind of several items: strings decide, as their order depends on the hash seed."""
    return "texts" if "texts" in kinds else "numbers" if "numbers" in kinds else None


def _are_counted(name_words: list[str]) -> bool:
    """Whether a name denotes integers: `train_idx` and `idx_shard` do, `idx_features_labels` does not."""
    return name_words[-1:] != [] and (name_words[-1] in COUNTED or (len(name_words) == 2 and name_words[0] in COUNTED))


def _is_keys(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and last_name(node.func) == "keys" and not node.args


def _is_made_of(value: cst.CSTNode, name: cst.Name | cst.Attribute) -> bool:
    """Whether a name is rebound to a value computed from its old one: `items = list(items)`."""
    if not isinstance(value, cst.ListComp | cst.Call):
        return False
    if isinstance(value, cst.Call) and last_name(value.func) not in LISTING:
        return False
    return any(type(part) is type(name) and dotted_name(part) == dotted_name(name) for part in walk(value))
