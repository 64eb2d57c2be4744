"""What becomes of a value in the code that uses it: whether a result depends on the order of its items."""

from collections.abc import Iterator

import libcst as cst

from deviate.analysis.resolve.index import Binding, Class, Function, Nodes
from deviate.analysis.resolve.tree import dotted_name, last_name, positional, walk
from deviate.model.metric_vocabulary import split_identifier, word_set
from deviate.sources.names import NO_DRAWS
from deviate.sources.survey import Survey

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

COMPREHENSIONS = (cst.ListComp, cst.GeneratorExp, cst.SetComp, cst.DictComp)


class Follower:
    """Follows a value through names, attributes, parameters and callers."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.nodes = survey.nodes
        self.resolver = survey.resolver
        self._seen: set[object] = set()
        self._spelled: dict[cst.CSTNode, dict[str, list[cst.CSTNode]]] = {}

    def is_new(self, *key: object) -> bool:
        """Whether something is met for the first time."""
        is_new = key not in self._seen
        self._seen.add(key)
        return is_new

    def loads(self, scope: cst.CSTNode, name: str) -> list[cst.CSTNode]:
        """Where a function or class looks up a name or attribute."""
        if scope not in self._spelled:
            by_name = self._spelled[scope] = {}
            for node in walk(scope):
                if type(node) is cst.Name or type(node) is cst.Attribute:
                    by_name.setdefault(dotted_name(node), []).append(node)
        return [node for node in self._spelled[scope].get(name, ()) if is_load(node, self.nodes)]

    def owner(self, target: cst.Attribute) -> Class | None:
        """The class whose method has the attribute of its own object as a target."""
        method = self.nodes.function_of(target).method
        is_own = method is not None and isinstance(target.value, cst.Name) and target.value.value == method.receiver
        return method.owner if method is not None and is_own else None

    def family(self, owner: Class) -> list[Class]:
        """The classes of the project that share attributes with a class: itself, its bases and its subclasses."""
        modules = list(self.survey.graph.project.modules.values())
        classes = [cls for module in modules for cls in module.classes.values() if cls is not owner]
        return [*self.resolver.order(owner)[0], *(cls for cls in classes if owner in self.resolver.order(cls)[0])]

    def parameters(self, call: cst.Call, argument: cst.Arg) -> list[tuple[str, Function]]:
        """The parameters of functions of the project that get an argument; without a name where that is unknown."""
        found = []
        for callee in self.resolver.functions(call.func, self.nodes.function_of(call)):
            names, arguments = callee.function.parameters[int(callee.receiver is not None) :], positional(call)
            place = arguments.index(argument.value) if argument.value in arguments else len(names)
            by_place = names[place] if place < len(names) else ""
            found.append((argument.keyword.value if argument.keyword is not None else by_place, callee.function))
        return found

    def calls_of(self, function: Function) -> list[cst.Call]:
        return [edge.node for edge in self.survey.graph.edges_into(function) if isinstance(edge.node, cst.Call)]


class Flow(Follower):
    """Follows a collection until the order of its items matters."""

    def order_matters(self, node: cst.BaseExpression, *, is_set: bool) -> bool:
        """Whether the item order of the value of an expression matters.

        Args:
            is_set: the value is a set: only code that takes items out of it depends on their order.
        """
        self._seen.clear()
        if is_aside(self.nodes.function_of(node)) or is_reported(node, self.nodes):
            return False
        return self._matters(node, is_set=is_set)

    def _matters(self, node: cst.CSTNode, *, is_set: bool = False) -> bool:
        parent = self.nodes.parents.get(node)
        match parent:
            case cst.Arg():
                return self._matters_to_call(parent, is_set=is_set)
            case cst.Attribute():
                call = self.nodes.parents.get(parent)
                is_called = isinstance(call, cst.Call) and call.func is parent
                is_copied = parent.attr.value == "copy" and not is_set and call is not None and self._matters(call)
                return is_called and (parent.attr.value in PICKING or is_copied)
            case cst.Subscript() if node is parent.value:
                return not (is_set or is_one_item(parent))
            case cst.StarredElement():
                return True
            case cst.For():
                return node is parent.iter and self._matters_to_loop(parent)
            case cst.CompFor():
                return node is parent.iter and self._matters_to_comprehension(parent)
            case cst.BinaryOperation() | cst.BooleanOperation() | cst.NamedExpr() | cst.Await():
                return self._matters(parent, is_set=is_set)
            case cst.IfExp():
                return node is not parent.test and self._matters(parent, is_set=is_set)
        # A set may be stored or passed on: its order matters only where its items are taken out.
        return not is_set and self._matters_to_statement(node, parent)

    def _matters_to_statement(self, node: cst.CSTNode, parent: cst.CSTNode | None) -> bool:
        match parent:
            case cst.Assign():
                return any(self._matters_in(target.target) for target in parent.targets)
            case cst.AnnAssign() | cst.AugAssign():
                return self._matters_in(parent.target)
            case cst.WithItem(asname=cst.AsName() as alias):
                return self._matters_in(alias.name)
            case cst.Return() | cst.Yield() | cst.From():
                function = self.nodes.function_of(node)
                if not self.is_new(function):
                    return False
                return not self.survey.graph.edges_into(function) or any(map(self._matters, self.calls_of(function)))
            case cst.Element() | cst.DictElement() | cst.Lambda():
                return True
        return False

    def _matters_to_call(self, argument: cst.Arg, *, is_set: bool) -> bool:
        call = self.nodes.parents[argument]
        if not isinstance(call, cst.Call):
            return False
        name = last_name(call.func)
        if name == "next":  # most often there is only one item; the first one of `os.walk` lists those of a folder
            outer = self.nodes.parents.get(call)
            is_walk = isinstance(argument.value, cst.Call) and last_name(argument.value.func) == "walk"
            return is_walk and isinstance(outer, cst.Subscript) and self._matters(outer)
        if argument.star or name in PICKING:
            return name not in ORDER_INSENSITIVE_CALLS
        if name in ORDER_INSENSITIVE_CALLS:
            return False
        if name in KEEPING:
            return self._matters(call)
        if name in ADDING and isinstance(call.func, cst.Attribute):
            return not is_set and self._matters_in(call.func.value)
        parameters = [] if is_set else self.parameters(call, argument)
        if not parameters:  # functions of libraries are assumed to depend on it
            return not is_set
        return any(
            name not in function.parameters or self._matters_in_variable(name, function)
            for name, function in parameters
        )

    def _matters_to_comprehension(self, clause: cst.CompFor) -> bool:
        outer: cst.CSTNode = clause
        while not isinstance(outer, COMPREHENSIONS):
            outer = self.nodes.parents[outer]
        return isinstance(outer, cst.ListComp | cst.GeneratorExp) and self._matters(outer)

    # ------------------------------------------------------------ stored

    def _matters_in(self, target: cst.CSTNode) -> bool:
        """Whether the item order of the value stored in this name or attribute matters."""
        if isinstance(target, cst.Name):
            return self._matters_in_variable(
                target.value, self.resolver.find(target.value, self.nodes.function_of(target))[0]
            )
        return not isinstance(target, cst.Attribute) or self._matters_in_attribute(target)

    def _matters_in_variable(self, name: str, scope: Function) -> bool:
        if not self.is_new(name, scope) or any(map(is_sorted_once, scope.bindings.get(name, ()))):
            return False
        return self._any_matters(self.loads(scope.node, name))

    def _matters_in_attribute(self, target: cst.Attribute) -> bool:
        """Whether the item order of an attribute matters; assumed for attributes that their class never reads."""
        name, owner = dotted_name(target), self.owner(target)
        if not self.is_new(name, owner):
            return False
        if owner is None:
            return True
        if any(is_sorted_once(binding) for binding, _ in owner.attributes.get(target.attr.value, ())):
            return False
        loads = [node for cls in self.family(owner) for node in self.loads(cls.node, name)]
        return not loads or self._any_matters(loads)

    def _any_matters(self, loads: list[cst.CSTNode]) -> bool:
        return not any(is_sorted(node, self.nodes) for node in loads) and any(map(self._matters, loads))

    # ------------------------------------------------------------ loops

    def _matters_to_loop(self, loop: cst.For) -> bool:
        """Whether the iterations of a loop have an effect that depends on their order."""
        nodes = list(walk(loop.body))
        updates = [node.target for node in nodes if isinstance(node, cst.AugAssign)]
        counters = {target.value for target in updates if isinstance(target, cst.Name)}
        return any(self._matters_to_iteration(node, counters) for node in nodes)

    def _matters_to_iteration(self, node: cst.CSTNode, counters: set[str]) -> bool:
        match node:
            case cst.Yield():
                return self._matters(node)
            case cst.Return(value=cst.BaseExpression() as value):
                return not is_constant(value)
            case cst.Call():
                return self._matters_to_effect(node)
            case cst.Assign(
                targets=[cst.AssignTarget(target=cst.Name() as target)], value=cst.BinaryOperation() as sum_
            ):
                # A number that is computed from its last value: `total = 0.9 * total + value`.
                if not spells(sum_, target.value):
                    return False
                is_sum = isinstance(sum_.operator, cst.Add) and dotted_name(sum_.left) == target.value
                return self._matters_to_sum(target, sum_.right) if is_sum else True
            case cst.Assign():
                items = [item.target for item in node.targets if isinstance(item.target, cst.Subscript)]
                return any(is_numbered(part, counters) for item in items for part in (*item.slice, node.value))
            case cst.AugAssign():
                is_carried = isinstance(node.target, cst.Name) and spells(node.value, node.target.value)
                return is_carried or self._matters_to_sum(node.target, node.value)
        return False

    def _matters_to_sum(self, target: cst.BaseExpression, term: cst.BaseExpression) -> bool:
        """Whether the order of the terms of a sum matters: of floats it does for the last bits, wherever it is used."""
        if is_count(term):
            return False
        if isinstance(target, cst.Name):
            _, bindings = self.resolver.find(target.value, self.nodes.function_of(target))
            if any(is_float(binding.value) for binding in bindings):
                return True
        return self._matters_in(target)

    def _matters_to_effect(self, call: cst.Call) -> bool:
        name, owner = last_name(call.func), self.resolver.qualified_name(call.func, self.nodes.function_of(call)) or ""
        if owner.rpartition(".")[0] in DRAWING and name not in NO_DRAWS:
            return True
        if not isinstance(call.func, cst.Attribute):
            return False
        return name in WRITING or name in TRAINING or (name in ADDING and self._matters_in(call.func.value))


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


def is_numbered(node: cst.CSTNode, counters: set[str]) -> bool:
    """Whether a key or value tells how many turns came before."""
    for part in walk(node):
        if isinstance(part, cst.Name) and part.value in counters:
            return True
        if isinstance(part, cst.Call) and last_name(part.func) == "len":
            return True
    return False
