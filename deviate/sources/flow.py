"""Data flow of values whose item order is arbitrary: whether a result depends on that order."""

from collections.abc import Iterator, Sequence

import libcst as cst

from deviate.analysis.resolve.index import Binding, Class, Function, Nodes
from deviate.analysis.resolve.tree import dotted_name, keywords, last_name, positional, walk
from deviate.analysis.survey import Survey
from deviate.model.metric_vocabulary import split_identifier, word_set

SORTING = word_set("sorted natsorted os_sorted humansorted sort")
ORDER_INSENSITIVE_CALLS = SORTING | word_set(
    "len set frozenset min max any all bool sum Counter unique isin in1d setdiff1d intersect1d union1d print pprint "
    "debug info warning error critical exception isinstance update difference difference_update intersection "
    "intersection_update union issubset issuperset isdisjoint symmetric_difference type id repr rmtree copytree dict "
    "fromkeys discard remove"
)
"""Functions whose result does not depend on the order of items."""

KEEPING = word_set(
    "list tuple iter reversed filter map tqdm trange track array asarray chain from_iterable join copy deepcopy Series"
)
"""Functions that return items in the order of their input."""

PICKING = word_set("choice choices sample enumerate zip pop popleft islice index")
ADDING = {"append": 0, "extend": 0, "appendleft": 0, "insert": 1}
WRITING = word_set("write writerow writerows writelines put put_nowait send")
TRAINING = word_set("backward step fit partial_fit train_on_batch minimize apply_gradients")
ASIDE = word_set(
    "push upload hub huggingface export clean cleanup prune backup archive zip plot plots video videos log logs logger "
    "logging raw"
)
"""Words in the names of functions and files that do not affect the result of training."""

TESTING = word_set("test testing infer inference demo predict")
"""The same for functions, unless the name also contains a word for training."""

REPORTING = word_set("print pprint log info debug warning error Image add_images log_image log_images")

DRAWING = word_set(
    "random random.Random() numpy.random numpy.random.default_rng() numpy.random.RandomState() torch.nn.init"
)
"""Modules and generators whose functions draw random numbers."""
NO_DRAWS = word_set("seed default_rng RandomState Random Generator SeedSequence getstate setstate get_state set_state")

COMPREHENSIONS = (cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)


class Flow:
    """Follows a value through the code that uses it, until the order of its items matters."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.nodes = survey.nodes
        self._visited: set[object] = set()
        self._nodes_by_name: dict[cst.CSTNode, dict[str, list[cst.CSTNode]]] = {}

    def order_matters(self, node: cst.BaseExpression, *, is_set: bool) -> bool:
        """Whether the item order of the value of an expression matters.

        Args:
            is_set: the value is a set: only code that takes items out of it depends on their order.
        """
        self._visited.clear()
        if is_aside(self.nodes.function_of(node)) or is_reported(node, self.nodes):
            return False
        return self._context_order_matters(node, is_set=is_set)

    def _context_order_matters(self, node: cst.CSTNode, *, is_set: bool = False) -> bool:
        parent = self.nodes.parents.get(node)
        match parent:
            case cst.Arg():
                return self._argument_order_matters(parent, is_set=is_set)
            case cst.Attribute():
                return self._method_order_matters(parent, is_set=is_set)
            case cst.Subscript() if node is parent.value:
                return not (is_set or is_one_item(parent))
            case cst.StarredElement():
                return True
            case cst.For():
                return node is parent.iter and self._loop_order_matters(parent)
            case cst.CompFor():
                return node is parent.iter and self._comprehension_order_matters(parent)
            case cst.BinaryOperation() | cst.BooleanOperation() | cst.NamedExpr() | cst.Await():
                return self._context_order_matters(parent, is_set=is_set)
            case cst.IfExp():
                return node is not parent.test and self._context_order_matters(parent, is_set=is_set)
        # A set may be stored or passed on: its order matters only where its items are taken out.
        return not is_set and self._statement_order_matters(node, parent)

    def _statement_order_matters(self, node: cst.CSTNode, parent: cst.CSTNode | None) -> bool:
        match parent:
            case cst.Assign():
                return any(self._target_order_matters(target.target) for target in parent.targets)
            case cst.AnnAssign() | cst.AugAssign():
                return self._target_order_matters(parent.target)
            case cst.WithItem(asname=cst.AsName() as alias):
                return self._target_order_matters(alias.name)
            case cst.Return() | cst.Yield() | cst.From():
                return self._return_order_matters(self.nodes.function_of(node))
            case cst.Element() | cst.DictElement() | cst.Lambda():
                return True
        return False

    # ------------------------------------------------------------ passed to calls

    def _argument_order_matters(self, argument: cst.Arg, *, is_set: bool) -> bool:
        call = self.nodes.parents[argument]
        if not isinstance(call, cst.Call):
            return False
        name = last_name(call.func)
        if name == "next":
            return self._first_item_matters(call, argument)
        if argument.star or name in PICKING:
            return name not in ORDER_INSENSITIVE_CALLS
        if name in ORDER_INSENSITIVE_CALLS:
            return False
        if name in KEEPING:
            return self._context_order_matters(call)
        if name in ADDING and isinstance(call.func, cst.Attribute):
            return not is_set and self._target_order_matters(call.func.value)
        if is_set:
            return False
        return self._parameter_order_matters(call, argument)

    def _first_item_matters(self, call: cst.Call, argument: cst.Arg) -> bool:
        """Whether it matters which item `next()` returns. Most often there is only one, so only `os.walk` counts.

        The first item of `os.walk` lists the files and folders of one folder.
        """
        parent = self.nodes.parents.get(call)
        is_walk = isinstance(argument.value, cst.Call) and last_name(argument.value.func) == "walk"
        return is_walk and isinstance(parent, cst.Subscript) and self._context_order_matters(parent)

    def _parameter_order_matters(self, call: cst.Call, argument: cst.Arg) -> bool:
        """Whether a function of the project depends on the order of this argument; library functions are assumed to."""
        callees = self.survey.resolver.functions(call.func, self.nodes.function_of(call))
        if not callees:
            return True
        for callee in callees:
            names = callee.function.parameters[int(callee.receiver is not None) :]
            if argument.keyword is not None:
                name = argument.keyword.value
            else:
                arguments = positional(call)
                place = arguments.index(argument.value) if argument.value in arguments else len(names)
                name = names[place] if place < len(names) else ""
            if name not in callee.function.parameters or self._variable_order_matters(name, callee.function):
                return True
        return False

    def _method_order_matters(self, attribute: cst.Attribute, *, is_set: bool) -> bool:
        call = self.nodes.parents.get(attribute)
        if not isinstance(call, cst.Call) or call.func is not attribute:
            return False
        name = attribute.attr.value
        return name in PICKING or (name == "copy" and not is_set and self._context_order_matters(call))

    def _comprehension_order_matters(self, clause: cst.CompFor) -> bool:
        outer: cst.CSTNode = clause
        while not isinstance(outer, COMPREHENSIONS):
            outer = self.nodes.parents[outer]
        return isinstance(outer, cst.ListComp | cst.GeneratorExp) and self._context_order_matters(outer)

    def _return_order_matters(self, function: Function) -> bool:
        edges = self.survey.graph.edges_into(function)
        if function in self._visited:
            return False
        self._visited.add(function)
        return not edges or any(
            self._context_order_matters(edge.node) for edge in edges if isinstance(edge.node, cst.Call)
        )

    # ------------------------------------------------------------ stored

    def _target_order_matters(self, target: cst.CSTNode) -> bool:
        """Whether the item order of the value stored in this name or attribute matters."""
        if isinstance(target, cst.Name):
            scope, _ = self.survey.resolver.find(target.value, self.nodes.function_of(target))
            return self._variable_order_matters(target.value, scope)
        if isinstance(target, cst.Attribute):
            return self._attribute_order_matters(target)
        return True

    def _variable_order_matters(self, name: str, scope: Function) -> bool:
        if (name, scope) in self._visited:
            return False
        self._visited.add((name, scope))
        if any(map(is_sorted_once, scope.bindings.get(name, ()))):
            return False
        return self._any_load_order_matters(
            [node for node in self._nodes_spelled(scope.node, name) if is_load(node, self.nodes)]
        )

    def _attribute_order_matters(self, target: cst.Attribute) -> bool:
        """Whether the item order of an attribute matters; assumed for attributes that their class never reads."""
        name = dotted_name(target)
        owner = self._class_of(target)
        if (name, owner) in self._visited:
            return False
        self._visited.add((name, owner))
        if owner is None:
            return True
        if any(is_sorted_once(binding) for binding, _ in owner.attributes.get(target.attr.value, ())):
            return False
        family = [owner, *self._related_classes(owner)]
        uses = [node for cls in family for node in self._nodes_spelled(cls.node, name)]
        loads = [node for node in uses if is_load(node, self.nodes)]
        return not loads or self._any_load_order_matters(loads)

    def _nodes_spelled(self, scope: cst.CSTNode, name: str) -> list[cst.CSTNode]:
        """The nodes of a function or class that spell this name or attribute."""
        if scope not in self._nodes_by_name:
            by_name = self._nodes_by_name[scope] = {}
            for node in walk(scope):
                if type(node) is cst.Name:
                    by_name.setdefault(node.value, []).append(node)
                elif type(node) is cst.Attribute:
                    by_name.setdefault(dotted_name(node), []).append(node)
        return self._nodes_by_name[scope].get(name, [])

    def _related_classes(self, owner: Class) -> list[Class]:
        """The classes of the project that share attributes with a class: its bases and subclasses."""
        resolver = self.survey.resolver
        bases = resolver.order(owner)[0][1:]
        modules = self.survey.graph.project.modules.values()
        return bases + [
            cls
            for module in list(modules)
            for cls in module.classes.values()
            if cls is not owner and owner in resolver.order(cls)[0]
        ]

    def _any_load_order_matters(self, loads: Sequence[cst.CSTNode]) -> bool:
        if any(is_sorted(node, self.nodes) for node in loads):
            return False
        return any(self._context_order_matters(node) for node in loads)

    def _class_of(self, target: cst.Attribute) -> Class | None:
        method = self.nodes.function_of(target).method
        is_own = method is not None and isinstance(target.value, cst.Name) and target.value.value == method.receiver
        return method.owner if method is not None and is_own else None

    # ------------------------------------------------------------ loops

    def _loop_order_matters(self, loop: cst.For) -> bool:
        """Whether the iterations of a loop have an effect that depends on their order."""
        counters = {
            node.target.value
            for node in walk(loop.body)
            if isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Name)
        }
        return any(self._iteration_order_matters(node, counters) for node in walk(loop.body))

    def _iteration_order_matters(self, node: cst.CSTNode, counters: set[str]) -> bool:
        match node:
            case cst.Yield():
                return self._context_order_matters(node)
            case cst.Return(value=cst.BaseExpression() as value):
                return not is_constant(value)
            case cst.Call():
                return self._effect_order_matters(node)
            case cst.Assign():
                items = [target.target for target in node.targets if isinstance(target.target, cst.Subscript)]
                return self._carries(node) or any(
                    is_numbered(part, counters) for item in items for part in (*item.slice, node.value)
                )
            case cst.AugAssign() if isinstance(node.target, cst.Name) and spells(node.value, node.target.value):
                return True
            case cst.AugAssign():
                return not is_count(node.value) and self._sum_order_matters(node.target)
        return False

    def _carries(self, statement: cst.Assign) -> bool:
        """Whether a number is computed from its last value: `total = 0.9 * total + value`."""
        target, value = statement.targets[0].target, statement.value
        if not isinstance(target, cst.Name) or not isinstance(value, cst.BinaryOperation):
            return False
        if not spells(value, target.value):
            return False
        if (
            isinstance(value.operator, cst.Add)
            and isinstance(value.left, cst.Name)
            and value.left.value == target.value
        ):
            return not is_count(value.right) and self._sum_order_matters(target)
        return True

    def _sum_order_matters(self, target: cst.BaseExpression) -> bool:
        """Whether the order of the terms of a sum matters: of floats it does for the last bits, wherever it is used."""
        if isinstance(target, cst.Name):
            _, bindings = self.survey.resolver.find(target.value, self.nodes.function_of(target))
            if any(is_float(binding.value) for binding in bindings):
                return True
        return self._target_order_matters(target)

    def _effect_order_matters(self, call: cst.Call) -> bool:
        name = last_name(call.func)
        if draws(self.survey.resolver.qualified_name(call.func, self.nodes.function_of(call)) or ""):
            return True
        if not isinstance(call.func, cst.Attribute):
            return False
        if name in ADDING:
            return self._target_order_matters(call.func.value)
        return name in WRITING or name in TRAINING


def is_aside(function: Function) -> bool:
    """Whether a function does not affect the result of training, by its name and that of its file."""
    name_words = split_identifier(function.name)
    stem = function.module.file.rpartition("/")[2]
    is_test = not TESTING.isdisjoint(name_words) and {"train", "split"}.isdisjoint(name_words)
    return is_test or not ASIDE.isdisjoint((*name_words, *split_identifier(stem)))


def is_reported(node: cst.CSTNode, nodes: Nodes) -> bool:
    """Whether an expression stands somewhere in what is printed or logged."""
    return any(last_name(call.func) in REPORTING for call in _enclosing_calls(node, nodes))


def is_sorted_once(binding: Binding) -> bool:
    """Whether a name is bound to the result of sorting."""
    return isinstance(binding.value, cst.Call) and last_name(binding.value.func) in SORTING


def is_sorted(node: cst.CSTNode, nodes: Nodes) -> bool:
    """Whether a list is sorted, in place or as a copy, or what is made of each of its items."""
    above = nodes.parents.get(node)
    if isinstance(above, cst.Attribute) and above.value is node and above.attr.value == "sort":
        return True
    for call in _enclosing_calls(node, nodes):
        if last_name(call.func) in SORTING:
            return True
        if last_name(call.func) not in KEEPING:
            return False
    return False


def _enclosing_calls(node: cst.CSTNode, nodes: Nodes) -> Iterator[cst.Call]:
    """The calls of its statement in whose arguments or function a node stands, innermost first."""
    for parent in nodes.ancestors(node):
        if isinstance(parent, cst.Call):
            yield parent
        if isinstance(parent, cst.BaseStatement | cst.BaseSmallStatement):
            return


def is_load(node: cst.CSTNode, nodes: Nodes) -> bool:
    """Whether a name or attribute is looked up here, not bound or merely spelled."""
    parent = nodes.parents.get(node)
    match parent:
        case cst.Attribute():
            return node is parent.value
        case cst.Arg():
            return node is not parent.keyword
        case cst.AssignTarget() | cst.AugAssign() | cst.AnnAssign() | cst.NamedExpr():
            return node is getattr(parent, "value", None)
        case cst.For() | cst.CompFor():
            return node is not parent.target
        case cst.Param():
            return node is parent.default
        case cst.FunctionDef() | cst.ClassDef() | cst.AsName() | cst.NameItem() | cst.ImportAlias() | None:
            return False
    return True


def is_one_item(subscript: cst.Subscript) -> bool:
    """Whether one item is taken at a fixed place, as of a list that has but one."""
    piece = subscript.slice[0].slice  # of several indices, the first
    return isinstance(piece, cst.Index) and isinstance(piece.value, cst.Integer | cst.UnaryOperation)


def is_constant(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.BaseNumber | cst.BaseString) or (
        isinstance(node, cst.Name) and node.value in ("True", "False", "None")
    )


def is_count(node: cst.BaseExpression) -> bool:
    """Whether whole numbers are added, the same in every order."""
    return isinstance(node, cst.Integer) or (
        isinstance(node, cst.Call) and last_name(node.func) in ("len", "int", "getsize", "count")
    )


def is_float(node: cst.CSTNode | None) -> bool:
    """Whether a sum starts from a float, or an array of them."""
    return isinstance(node, cst.Float) or (
        isinstance(node, cst.Call) and last_name(node.func) in ("zeros", "zeros_like")
    )


def spells(node: cst.CSTNode, name: str) -> bool:
    return any(type(part) is cst.Name and part.value == name for part in walk(node))


def draws(name: str) -> bool:
    """Whether a function draws a random number, by its full name."""
    owner, _, last = name.rpartition(".")
    return owner in DRAWING and last not in NO_DRAWS


def is_numbered(node: cst.CSTNode, counters: set[str]) -> bool:
    """Whether a key or value tells how many turns came before."""
    for part in walk(node):
        if isinstance(part, cst.Name) and part.value in counters:
            return True
        if isinstance(part, cst.Call) and last_name(part.func) == "len" and not keywords(part):
            return True
    return False
