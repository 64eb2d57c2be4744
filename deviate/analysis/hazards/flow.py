"""Where values of arbitrary order go: whether anything comes to depend on that order."""

from collections.abc import Sequence

import libcst as cst

from deviate.analysis.hazards.survey import Survey
from deviate.analysis.hazards.uses import (
    ADDING,
    COMPREHENSIONS,
    INDIFFERENT,
    KEEPING,
    PICKING,
    SORTING,
    TRAINING,
    WRITING,
    is_aside,
    is_constant,
    is_count,
    is_load,
    is_numbered,
    is_one_item,
    is_reported,
    is_sorted,
)
from deviate.analysis.resolve.index import Class, Function
from deviate.analysis.resolve.tree import dotted_name, last_name, positional, walk


class Flow:
    """Follows a value forwards, as far as it can be seen, and stops where the order of its items counts."""

    def __init__(self, survey: Survey) -> None:
        self.survey = survey
        self.nodes = survey.nodes
        self._seen: set[object] = set()
        self._known: dict[cst.CSTNode, dict[str, list[cst.CSTNode]]] = {}

    def matters(self, node: cst.BaseExpression, *, is_set: bool) -> bool:
        """Whether the order of the items of an expression counts for something.

        Args:
            is_set: a set may be handed around as it is: only what takes its items out counts.
        """
        self._seen.clear()
        if is_aside(self.nodes.function_of(node)) or is_reported(node, self.nodes):
            return False
        return self._matters_above(node, is_set=is_set)

    def _matters_above(self, node: cst.CSTNode, *, is_set: bool = False) -> bool:
        parent = self.nodes.parents.get(node)
        match parent:
            case cst.Arg():
                return self._matters_in_call(parent, is_set=is_set)
            case cst.Attribute():
                return self._method(parent, is_set=is_set)
            case cst.Subscript() if node is parent.value:
                return not (is_set or is_one_item(parent))
            case cst.StarredElement():
                return True
            case cst.For():
                return node is parent.iter and self._loop(parent)
            case cst.CompFor():
                return node is parent.iter and self._comprehension(parent)
            case cst.BinaryOperation() | cst.BooleanOperation() | cst.NamedExpr() | cst.Await():
                return self._matters_above(parent, is_set=is_set)
            case cst.IfExp():
                return node is not parent.test and self._matters_above(parent, is_set=is_set)
        # What becomes of a set itself is seen where its items are taken out.
        return not is_set and self._is_list_used(node, parent)

    def _is_list_used(self, node: cst.CSTNode, parent: cst.CSTNode | None) -> bool:
        match parent:
            case cst.Assign():
                return any(self._matters_in_target(target.target) for target in parent.targets)
            case cst.AnnAssign() | cst.AugAssign():
                return self._matters_in_target(parent.target)
            case cst.WithItem(asname=cst.AsName() as alias):
                return self._matters_in_target(alias.name)
            case cst.Return() | cst.Yield() | cst.From():
                return self._matters_to_callers(self.nodes.function_of(node))
            case cst.Element() | cst.DictElement() | cst.Lambda():
                return True
        return False

    # ------------------------------------------------------------ handed on

    def _matters_in_call(self, argument: cst.Arg, *, is_set: bool) -> bool:
        call = self.nodes.parents[argument]
        if not isinstance(call, cst.Call):
            return False
        name = last_name(call.func)
        if name == "next":
            return self._first(call, argument)
        if argument.star or name in PICKING:
            return name not in INDIFFERENT
        if name in INDIFFERENT:
            return False
        if name in KEEPING:
            return self._matters_above(call)
        if name in ADDING and isinstance(call.func, cst.Attribute):
            return not is_set and self._matters_in_target(call.func.value)
        if is_set:
            return False
        return self._parameters(call, argument)

    def _first(self, call: cst.Call, argument: cst.Arg) -> bool:
        """Whether the order counts of what comes first: of many there is no telling, but most often it is the only one.

        What `os.walk` gives first are the files and folders of one folder.
        """
        parent = self.nodes.parents.get(call)
        is_walk = isinstance(argument.value, cst.Call) and last_name(argument.value.func) == "walk"
        return is_walk and isinstance(parent, cst.Subscript) and self._matters_above(parent)

    def _parameters(self, call: cst.Call, argument: cst.Arg) -> bool:
        """Whether the order counts in a function of the project; in one of a library it is taken to."""
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
            if name not in callee.function.parameters or self._matters_in_variable(name, callee.function):
                return True
        return False

    def _method(self, attribute: cst.Attribute, *, is_set: bool) -> bool:
        call = self.nodes.parents.get(attribute)
        if not isinstance(call, cst.Call) or call.func is not attribute:
            return False
        name = attribute.attr.value
        return name in PICKING or (name == "copy" and not is_set and self._matters_above(call))

    def _comprehension(self, clause: cst.CompFor) -> bool:
        outer: cst.CSTNode = clause
        while not isinstance(outer, COMPREHENSIONS):
            outer = self.nodes.parents[outer]
        return isinstance(outer, cst.ListComp | cst.GeneratorExp) and self._matters_above(outer)

    def _matters_to_callers(self, function: Function) -> bool:
        edges = self.survey.graph.edges_into(function)
        if function in self._seen:
            return False
        self._seen.add(function)
        return not edges or any(self._matters_above(edge.node) for edge in edges if isinstance(edge.node, cst.Call))

    # ------------------------------------------------------------ kept

    def _matters_in_target(self, target: cst.CSTNode) -> bool:
        """Whether the order counts of what a name or attribute holds."""
        if isinstance(target, cst.Name):
            scope, _ = self.survey.resolver.find(target.value, self.nodes.function_of(target))
            return self._matters_in_variable(target.value, scope)
        if isinstance(target, cst.Attribute):
            return self._matters_in_attribute(target)
        return True

    def _matters_in_variable(self, name: str, scope: Function) -> bool:
        if (name, scope) in self._seen:
            return False
        self._seen.add((name, scope))
        bound = [binding.value for binding in scope.bindings.get(name, ())]
        if any(isinstance(value, cst.Call) and last_name(value.func) in SORTING for value in bound):
            return False
        return self._any_matters([node for node in self._nodes_spelled(scope.node, name) if is_load(node, self.nodes)])

    def _matters_in_attribute(self, target: cst.Attribute) -> bool:
        """The same of an attribute; one that its class never looks at is somebody else's to use."""
        name = dotted_name(target)
        owner = self._class_of(target)
        if (name, owner) in self._seen:
            return False
        self._seen.add((name, owner))
        if owner is None:
            return True
        bound = owner.attributes.get(target.attr.value, ())
        if any(
            isinstance(binding.value, cst.Call) and last_name(binding.value.func) in SORTING for binding, _ in bound
        ):
            return False
        family = [owner, *self._related_classes(owner)]
        uses = [node for cls in family for node in self._nodes_spelled(cls.node, name)]
        loads = [node for node in uses if is_load(node, self.nodes)]
        return not loads or self._any_matters(loads)

    def _nodes_spelled(self, scope: cst.CSTNode, name: str) -> list[cst.CSTNode]:
        """The places in a function or class where a name or an attribute is spelled like that."""
        if scope not in self._known:
            nodes_by_name = self._known[scope] = {}
            for node in walk(scope):
                if type(node) is cst.Name:
                    nodes_by_name.setdefault(node.value, []).append(node)
                elif type(node) is cst.Attribute:
                    nodes_by_name.setdefault(dotted_name(node), []).append(node)
        return self._known[scope].get(name, [])

    def _related_classes(self, owner: Class) -> list[Class]:
        """The classes of the project that share the attributes of a class: its bases, and what is derived from it."""
        resolver = self.survey.resolver
        bases = resolver.order(owner)[0][1:]
        modules = self.survey.graph.project.modules.values()
        return bases + [
            cls
            for module in list(modules)
            for cls in module.classes.values()
            if cls is not owner and owner in resolver.order(cls)[0]
        ]

    def _any_matters(self, loads: Sequence[cst.CSTNode]) -> bool:
        if any(is_sorted(node, self.nodes) for node in loads):
            return False
        return any(self._matters_above(node) for node in loads)

    def _class_of(self, target: cst.Attribute) -> Class | None:
        function: Function | None = self.nodes.function_of(target)
        while function is not None and function.owner is None:
            function = function.parent
        if function is None or not isinstance(target.value, cst.Name) or target.value.value != function.receiver:
            return None
        return function.owner

    # ------------------------------------------------------------ loops

    def _loop(self, loop: cst.For) -> bool:
        """Whether the turns of a loop leave something that depends on their order."""
        counters = {
            node.target.value
            for node in walk(loop.body)
            if isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Name)
        }
        return any(self._turn(node, counters) for node in walk(loop.body))

    def _turn(self, node: cst.CSTNode, counters: set[str]) -> bool:
        match node:
            case cst.Yield():
                return self._matters_above(node)
            case cst.Return(value=cst.BaseExpression() as value):
                return not is_constant(value)
            case cst.Call():
                return self._effect(node)
            case cst.Assign():
                items = [target.target for target in node.targets if isinstance(target.target, cst.Subscript)]
                return any(is_numbered(part, counters) for item in items for part in (*item.slice, node.value))
            case cst.AugAssign():
                return not is_count(node.value) and self._matters_in_target(node.target)
        return False

    def _effect(self, call: cst.Call) -> bool:
        name = last_name(call.func)
        if not isinstance(call.func, cst.Attribute):
            return False
        if name in ADDING:
            return self._matters_in_target(call.func.value)
        return name in WRITING or name in TRAINING
