"""Whether the order of items matters where a collection is used, as far as its function and its class show it.

What is handed to other functions counts as used. A run shows what the items were and whether they differed.
"""

import libcst as cst

from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import dotted_name, last_name, walk
from deviate.model.metric_vocabulary import split_identifier, word_set
from deviate.sources.names import draws_from
from deviate.sources.patterns import constant
from deviate.sources.survey import Survey

SORTING = word_set("sorted natsorted os_sorted humansorted sort")
REPORTING = word_set("print pprint log info debug warning error Image add_images log_image log_images")
ORDER_INSENSITIVE_CALLS = SORTING | word_set(
    "len set frozenset min max any all bool sum Counter unique isin in1d setdiff1d intersect1d union1d critical "
    "exception isinstance update difference difference_update intersection intersection_update union issubset "
    "issuperset isdisjoint symmetric_difference type id repr rmtree copytree dict fromkeys discard remove"
)
"""Functions whose result does not depend on the order of items."""
KEEPING = word_set(
    "list tuple iter reversed filter map tqdm trange track array asarray chain from_iterable join copy deepcopy Series"
)
"""Functions that return items in the order of their input."""
PICKING = word_set("choice choices sample enumerate zip pop popleft islice index")
ADDING = word_set("append extend appendleft insert")
ACTING = word_set(
    "write writerow writerows writelines put put_nowait send backward step fit partial_fit train_on_batch minimize "
    "apply_gradients"
)
"""Methods that write somewhere, or train."""
COUNTING = word_set("len int getsize count")
"""Functions that return whole numbers, whose sum is the same in every order."""
ASIDE = word_set(
    "push upload hub huggingface export clean cleanup prune backup archive zip plot plots video videos log logs logger "
    "logging raw test testing infer inference demo predict"
)
"""Words in the names of functions that do not affect the result of training."""


class Flow:
    """Follows a collection until the order of its items matters."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.nodes = survey.nodes
        self._seen: set[object] = set()

    def order_matters(self, node: cst.BaseExpression, *, is_set: bool) -> bool:
        """Whether the item order of the value of an expression matters.

        Args:
            is_set: the value is a set: only code that takes items out of it depends on their order.
        """
        self._seen.clear()
        is_unused = is_aside(self.nodes.function_of(node)) or self._stands_in(node, REPORTING)
        return not is_unused and self._matters(node, is_set=is_set)

    def _stands_in(self, node: cst.CSTNode, names: frozenset[str]) -> bool:
        """Whether an expression stands somewhere in a call of one of these functions."""
        for parent in self.nodes.ancestors(node):
            if isinstance(parent, cst.Call) and last_name(parent.func) in names:
                return True
            if isinstance(parent, cst.BaseStatement | cst.BaseSmallStatement):
                break
        return False

    def _matters(self, node: cst.CSTNode, *, is_set: bool = False) -> bool:
        parent = self.nodes.parents.get(node)
        match parent:
            case cst.Arg() if node is parent.value:
                return self._matters_to_call(parent, is_set=is_set)
            case cst.Attribute() if node is parent.value:
                return parent.attr.value in PICKING
            case cst.StarredElement():
                return True
            case cst.For() if node is parent.iter:
                return self._matters_to_loop(parent)
            case cst.CompFor() if node is parent.iter:
                outer = next(one for one in self.nodes.ancestors(node) if isinstance(one, cst.BaseComp))
                return isinstance(outer, cst.ListComp | cst.GeneratorExp) and self._matters(outer)
            case cst.BinaryOperation() | cst.BooleanOperation() | cst.NamedExpr() | cst.Await() | cst.IfExp():
                return node is not getattr(parent, "test", None) and self._matters(parent, is_set=is_set)
        # A set may be stored or passed on: its order matters only where its items are taken out.
        return not is_set and self._matters_to_statement(node, parent)

    def _matters_to_statement(self, node: cst.CSTNode, parent: cst.CSTNode | None) -> bool:
        match parent:
            case cst.Subscript() if node is parent.value:
                return not is_one_item(parent)
            case cst.Assign():
                return any(self._matters_in(target.target) for target in parent.targets)
            case cst.AnnAssign() | cst.AugAssign() if node is parent.value:
                return self._matters_in(parent.target)
            case cst.WithItem(asname=cst.AsName() as alias):
                return self._matters_in(alias.name)
            case cst.Return():
                callers = self.survey.graph.edges_into(self.nodes.function_of(node))
                return self._is_new(parent) and (not callers or any(self._matters(edge.node) for edge in callers))
        return isinstance(parent, cst.Yield | cst.From | cst.Element | cst.DictElement | cst.Lambda)

    def _matters_to_call(self, argument: cst.Arg, *, is_set: bool) -> bool:
        call = self.nodes.parents[argument]
        name = last_name(call.func) if isinstance(call, cst.Call) else "type"
        if name in ORDER_INSENSITIVE_CALLS:
            return False
        if argument.star or name in PICKING:
            return True
        if name == "next":  # most often there is only one item; the first one of `os.walk` lists those of a folder
            outer = self.nodes.parents.get(call)
            return isinstance(outer, cst.Subscript) and self._matters(outer)
        if name in KEEPING:
            return self._matters(call)
        return not is_set and (name not in ADDING or self._adds(call))

    def _adds(self, call: cst.CSTNode) -> bool:
        """Whether a call adds to a collection whose order matters."""
        match call:
            case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=name))):
                return name in ADDING and self._matters_in(owner)
        return False

    def _matters_in(self, target: cst.CSTNode) -> bool:
        """Whether the item order of what is stored in a name or attribute matters, in its function or class."""
        function = self.nodes.function_of(target)
        scope: cst.CSTNode
        if isinstance(target, cst.Name):
            scope = self.survey.resolver.find(target.value, function)[0].node
        elif isinstance(target, cst.Attribute) and function.owner is not None:
            scope = function.owner.node
        else:
            return True
        name = dotted_name(target)
        if not self._is_new(name, scope):
            return False
        uses = [node for node in walk(scope) if type(node) is type(target) and dotted_name(node) == name]
        uses = [node for node in uses if not isinstance(self.nodes.parents.get(node), cst.AssignTarget)]
        if any(self._stands_in(node, SORTING) for node in uses):  # `sort` as a method too
            return False
        return any(map(self._matters, uses)) or (not uses and isinstance(target, cst.Attribute))

    def _is_new(self, *key: object) -> bool:
        """Whether something is met for the first time."""
        is_new = key not in self._seen
        self._seen.add(key)
        return is_new

    def _matters_to_loop(self, loop: cst.For) -> bool:
        """Whether the iterations of a loop have an effect that depends on their order."""
        nodes = list(walk(loop.body))
        counters = {dotted_name(node.target) for node in nodes if isinstance(node, cst.AugAssign)}
        return any(self._matters_to_iteration(node, counters) for node in nodes)

    def _matters_to_iteration(self, node: cst.CSTNode, counters: set[str]) -> bool:
        match node:
            case cst.Return(value=cst.BaseExpression() as value):
                return constant(value) is value
            case cst.Call():
                name = self.survey.resolver.qualified_name(node.func, self.nodes.function_of(node)) or ""
                is_act = isinstance(node.func, cst.Attribute) and node.func.attr.value in ACTING
                return is_act or draws_from(name) is not None or self._adds(node)
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name() as target)], value=cst.BinaryOperation() as sum_
            ):
                # A number that is computed from its last value: `total = 0.9 * total + value`.
                return spells(sum_, {target.value}) and not is_count(sum_.right)
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Subscript() as target)]):
                # An item is told how many turns came before.
                return any(spells(part, {*counters, "len"}) for part in (*target.slice, node.value))
            case cst.AugAssign():
                return not is_count(node.value)
        return isinstance(node, cst.Yield)


def is_aside(function: Function) -> bool:
    """Whether a function does not affect the result of training, by its name."""
    words = split_identifier(function.name)
    return not ASIDE.isdisjoint(words) and {"train", "split"}.isdisjoint(words)


def is_one_item(subscript: cst.Subscript) -> bool:
    """Whether one item is taken at a fixed place, as of a list that has but one."""
    piece = subscript.slice[0].slice  # of several indices, the first
    return isinstance(piece, cst.Index) and isinstance(piece.value, cst.Integer | cst.UnaryOperation)


def is_count(node: cst.BaseExpression) -> bool:
    """Whether whole numbers are added, the same in every order."""
    return isinstance(node, cst.Integer) or (isinstance(node, cst.Call) and last_name(node.func) in COUNTING)


def spells(node: cst.CSTNode, names: set[str]) -> bool:
    return any(type(part) is cst.Name and part.value in names for part in walk(node))
