"""Which expressions are sets, and what their items are: the order of whole numbers follows from their values."""

from typing import Literal

import libcst as cst

from deviate.analysis.resolve.index import Binding, Function
from deviate.analysis.resolve.tree import dotted_name, last_name, positional, walk
from deviate.analysis.survey import Survey
from deviate.model.metric_vocabulary import split_identifier, word_set

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
                name_words = split_identifier(" ".join(last_name(target.target) for target in parent.targets))
                return bool(NUMBERED.intersection(name_words))
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
                return self._items_of_call(node, function, depth)
            case cst.Name() | cst.Attribute():
                return self._items_of_name(node, function, depth)
        return None

    def _items_of_call(self, call: cst.Call, function: Function, depth: int) -> Items | None:
        name = last_name(call.func)
        arguments = positional(call)
        if name in COUNTING or name in WRITING:
            return "numbers" if name in COUNTING else "texts"
        if name == "map" and arguments:
            return {"int": "numbers", "str": "texts"}.get(last_name(arguments[0]))  # type: ignore[return-value]
        if name in PASSING or name in COMBINING:
            owner = [call.func.value] if isinstance(call.func, cst.Attribute) else []
            return _join_kinds([self.items(value, function, depth) for value in (*owner, *arguments)])
        return None

    def _items_of_name(self, node: cst.Name | cst.Attribute, function: Function, depth: int) -> Items | None:
        name_words = split_identifier(last_name(node))
        if _are_counted(name_words):
            return "numbers"
        kinds: list[Items | None] = []
        if depth:
            values = [value for value, _ in self.survey.values(node, function)][1:]
            kinds = [self.items(value, function, depth - 1) for value in values]
            if isinstance(node, cst.Name):
                for call, where in function.module.calls_of(node.value, "add", "append"):
                    kinds += [self.kind(value, where, depth - 1) for value in positional(call)]
                for call, where in function.module.calls_of(node.value, "update", "extend"):
                    kinds += [self.items(value, where, depth - 1) for value in positional(call)]
        return _join_kinds(kinds) or ("numbers" if NUMBERED.intersection(name_words) else None)

    def kind(self, node: cst.CSTNode, function: Function, depth: int = DEEPEST) -> Items | None:
        """The kind of a single item."""
        match node:
            case cst.Integer():
                return "numbers"
            case cst.BaseString():
                return "texts"
            case cst.Call():
                name = last_name(node.func)
                return "numbers" if name in COUNTING else "texts" if name in WRITING else None
            case cst.Subscript():
                return self.items(node.value, function, depth) if isinstance(node.value, cst.Call) else None
            case cst.BinaryOperation():
                return _join_kinds([self.kind(side, function, depth) for side in (node.left, node.right)])
            case cst.Name() if depth:
                return self._variable(node, function, depth - 1)
        return None

    def _variable(self, node: cst.Name, function: Function, depth: int) -> Items | None:
        name_words = split_identifier(node.value)
        if _are_counted(name_words):
            return "numbers"
        _, bindings = self.survey.resolver.find(node.value, function)
        kinds: list[Items | None] = []
        for binding in bindings:
            value = binding.value
            if not isinstance(value, cst.BaseExpression):
                continue
            if binding.how == "for":
                is_count = last_name(value.func) == "enumerate" if isinstance(value, cst.Call) else False
                if is_count and binding.position[:1] == (0,):
                    kinds.append("numbers")
                elif not binding.position:
                    kinds.append(self.items(value, function, depth))
            elif binding.how == "assign":
                kinds.append(
                    self.items(value, function, depth) if binding.position else self.kind(value, function, depth)
                )
        return _join_kinds(kinds) or ("numbers" if NUMBERED.intersection(name_words) else None)


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
