"""Conditions on a call path: the branches that constants passed on the way, or defaults of options, decide against."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import libcst as cst

from deviate.analysis.resolve.calls import LONGEST_CALL_PATH, REGISTERING, CallGraph, CallPath, Frame
from deviate.analysis.resolve.index import BLOCKS, Binding, Function, is_exit
from deviate.analysis.resolve.tree import (
    argument,
    constant_number,
    constant_text,
    dotted_name,
    keywords,
    positional,
    walk,
)
from deviate.model.metric_vocabulary import word_set

DEEPEST = 12
MOST_TRIED = 1000
"""Limit of calls followed in search of a way on which nothing is turned off."""
SWITCHES = {"store_true": False, "store_false": True}
FILLING = REGISTERING | word_set("capture configurable configure inject option argument")
"""Decorators with which a library fills in arguments: those of the command line, or of a configuration."""

CONSTANTS: dict[str, bool | None] = {"True": True, "False": False, "None": None}


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that is known."""

    value: object


class Unknown:
    """A value of which at most is known that it is not None."""


UNKNOWN, PRESENT = Unknown(), Unknown()
Known = Constant | Unknown


@dataclass(frozen=True, slots=True)
class Guard:
    """A condition under which alone a node runs: that of a branch, or of an early exit before it.

    Attributes:
        statement: the `if`. is_met: whether its test must be true.
    """

    statement: cst.If
    is_met: bool


class Conditions:
    """Decides conditions on call paths.

    Nothing is assumed of what callbacks get, except that switches of methods keep their defaults: libraries pass data.
    """

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph
        self.nodes = graph.nodes
        self._guards: dict[int, tuple[cst.CSTNode, tuple[Guard, ...]]] = {}
        self._open: dict[int, tuple[Guard, ...]] = {}
        self._truths: dict[tuple[int, int], bool | None] = {}
        self._option_truths: dict[int, bool | None] = {}
        self._options: dict[str, Known] | None = None
        self._first = 0

    def is_turned_off(self, call_path: CallPath) -> bool:
        """Whether arguments and defaults on a call path decide against a branch that it takes."""
        return any(
            self._truth(guard.statement.test, call_path, place) is (not guard.is_met)
            for place, frame in enumerate(call_path)
            for guard in self._open_guards(frame)
        )

    def _open_guards(self, frame: Frame) -> tuple[Guard, ...]:
        """The conditions on the node of a frame in which there is a variable of its function."""
        key = id(frame.node)
        if key not in self._open:
            bound = {} if frame.function.is_module else frame.function.bindings
            self._open[key] = tuple(
                guard
                for guard in self.guards(frame.node)
                if any(type(part) is cst.Name and part.value in bound for part in walk(guard.statement.test))
            )
        return self._open[key]

    def finds_way(self, node: cst.CSTNode) -> bool:
        """Whether there is a call path to a node that nothing turns off, or may be one."""
        waiting: list[CallPath] = [(Frame(self.nodes.function_of(node), node),)]
        for _ in range(MOST_TRIED):
            if not waiting:
                return False
            tail = waiting.pop()
            if self.is_turned_off(tail):
                continue
            if tail[0].function is self.graph.project.entry.top:
                return True
            passed = {id(frame.function) for frame in tail}
            waiting += [
                (Frame(edge.caller, edge.node, edge), *tail)
                for edge in self.graph.edges_into(tail[0].function)
                if id(edge.caller) not in passed and len(tail) <= LONGEST_CALL_PATH
            ]
        return True

    def takes_other_option(self, call_path: CallPath, others: Sequence[CallPath]) -> bool:
        """Whether a call path takes a branch that an option turns off, and one of the others takes that beside it.

        Constants that a module sets count as options.
        """
        for frame in call_path:
            for guard in self.guards(frame.node):
                if self._option_truth(guard.statement.test) is not (not guard.is_met):
                    continue
                beside = Guard(guard.statement, not guard.is_met)
                if any(beside in self.guards(one.node) for other in others for one in other):
                    return True
        return False

    def guards(self, node: cst.CSTNode) -> tuple[Guard, ...]:
        """The conditions in a function under which alone a node in it runs, innermost first."""
        if id(node) not in self._guards:  # by the node's id, as hashing a node is slow
            self._guards[id(node)] = (node, tuple(self._find_guards(node)))
        return self._guards[id(node)][1]

    def _find_guards(self, node: cst.CSTNode) -> list[Guard]:
        guards = []
        for parent, below in self.nodes.around(node):
            if type(parent) is cst.If:
                if below is not parent.test:
                    guards.append(Guard(parent, below is parent.body))
            elif type(parent) in BLOCKS and isinstance(parent, cst.BaseSuite | cst.Module):
                for statement in parent.body:
                    if statement is below:
                        break
                    if type(statement) is cst.If and _leaves(statement):
                        guards.append(Guard(statement, is_met=False))
        return guards

    # ------------------------------------------------------------ values

    def _truth(self, test: cst.BaseExpression, call_path: CallPath, place: int) -> bool | None:
        key = id(test), id(call_path[place - 1].edge) if place else 0
        if key not in self._truths:
            self._first = place
            value = self._value(test, call_path, place, DEEPEST)
            truth = bool(value.value) if isinstance(value, Constant) else None
            if self._first < place - 1:  # it depends on further calls
                return truth
            self._truths[key] = truth
        return self._truths[key]

    def _value(self, node: cst.BaseExpression, call_path: CallPath, place: int, depth: int) -> Known:
        """The value of an expression in a frame of a call path."""
        literal = _literal(node)
        if literal is not None or depth == 0:
            return literal or UNKNOWN
        if type(node) is cst.Name:
            return self._value_of_name(node, call_path, place, depth - 1)
        return _combine(node, lambda part: self._value(part, call_path, place, depth - 1))

    def _value_of_name(self, node: cst.Name, call_path: CallPath, place: int, depth: int) -> Known:
        function = call_path[place].function
        bindings = [] if function.is_module else function.bindings.get(node.value, [])
        earlier = [binding for binding in bindings if binding.how == "parameter" or not self._is_later(binding, node)]
        if len(earlier) != 1 or node.value in function.globals:
            return UNKNOWN
        if earlier[0].how == "parameter":
            return self._passed(node.value, earlier[0], call_path, place, depth)
        value = earlier[0].whole("assign")
        is_sure = value is not None and not self._is_guarded(earlier[0], node)
        return self._value(value, call_path, place, depth) if value is not None and is_sure else UNKNOWN

    def _is_later(self, binding: Binding, use: cst.CSTNode) -> bool:
        """Whether a name is bound only after it is used, in no loop around both."""
        if binding.node not in self.nodes.parents:
            return False
        source = self.nodes.source(use)
        is_behind = source.line(binding.node) > source.line(use)
        around = self.nodes.loops_around(use) if is_behind else ()
        return is_behind and not any(loop in around for loop in self.nodes.loops_around(binding.node))

    def _is_guarded(self, binding: Binding, use: cst.CSTNode) -> bool:
        """Whether a name is bound under a condition that need not hold where it is used."""
        around = {id(guard.statement) for guard in self.guards(use)}
        return any(id(guard.statement) not in around for guard in self.guards(binding.node))

    def _passed(self, name: str, binding: Binding, call_path: CallPath, place: int, depth: int) -> Known:
        """The value that the call before a frame passes to a parameter."""
        self._first = min(self._first, place - 1)
        edge = call_path[place - 1].edge if place else None
        if edge is None or self._is_open(edge.callee):
            return UNKNOWN
        default = binding.value if isinstance(binding.value, cst.BaseExpression) else None
        passed = edge.argument(name)
        if passed is None:
            is_open = isinstance(edge.node, cst.Call) and any(each.star for each in edge.node.args)
            constant = _literal(default) if default is not None and not is_open else None
            is_switch = constant is not None and isinstance(constant.value, bool)
            is_kept = not edge.is_handed or (is_switch and edge.skipped > 0)
            return constant if constant is not None and is_kept else UNKNOWN
        value, where = passed
        if not isinstance(value, cst.BaseExpression):
            return PRESENT
        content = _literal(value) or UNKNOWN
        if content is UNKNOWN and where is call_path[place - 1].function:
            content = self._value(value, call_path, place - 1, depth)
        is_object = type(value) in (cst.Name, cst.Attribute, cst.Call) and not _is_parameter(value, where)
        is_object = is_object and bool(self.graph.resolver.resolve(value, where))
        return PRESENT if content is UNKNOWN and is_object else content

    def _is_open(self, function: Function) -> bool:
        """Whether a function gets arguments that no call on a path shows: from a library, or from itself."""
        is_filled = any(mark.rpartition(".")[2] in FILLING for mark in function.marks)
        return is_filled or any(edge.caller is function for edge in self.graph.edges_into(function))

    # ------------------------------------------------------------ options

    def _option_truth(self, test: cst.BaseExpression) -> bool | None:
        if id(test) not in self._option_truths:
            value = self._option_value(test)
            self._option_truths[id(test)] = bool(value.value) if isinstance(value, Constant) else None
        return self._option_truths[id(test)]

    def _option_value(self, node: cst.BaseExpression) -> Known:
        if type(node) is cst.Attribute and type(node.value) in (cst.Name, cst.Attribute):
            return self._list_options().get(node.attr.value, UNKNOWN)
        literal = _literal(node)
        if literal is None and type(node) is cst.Name:
            return self._value_of_setting(node)
        return literal or _combine(node, self._option_value)

    def _value_of_setting(self, node: cst.Name) -> Known:
        """The constant to which a module sets a name once and for all: an option of a script without a command line."""
        scope, bindings = self.graph.resolver.find(node.value, self.nodes.function_of(node))
        value = bindings[0].whole("assign") if len(bindings) == 1 and scope.is_module else None
        if value is None or self._is_guarded(bindings[0], node):
            return UNKNOWN
        is_changed = any(node.value in function.globals for function in scope.module.functions)
        return UNKNOWN if is_changed else _literal(value) or UNKNOWN

    def _list_options(self) -> dict[str, Known]:
        """The values of options of the command line that are not given, by their names."""
        if self._options is None:
            options: dict[str, Known] = {}
            for function in self.graph.reached:
                for call in function.calls:
                    if isinstance(call.func, cst.Attribute) and call.func.attr.value == "add_argument":
                        self._add_option(call, options)
            self._options = options
        return self._options

    def _add_option(self, call: cst.Call, options: dict[str, Known]) -> None:
        names = [text for value in positional(call) if (text := constant_text(value)) is not None]
        long = [text for text in names if text.startswith("--")] or names[:1]
        by_name = keywords(call)
        target = constant_text(by_name.get("dest")) or (long[0].lstrip("-").replace("-", "_") if long else "")
        action = constant_text(by_name.get("action")) or ""
        default = argument(call, None, "default")
        value: Known = UNKNOWN
        if default is not None:
            value = _literal(default) or UNKNOWN
        elif long and long[0].startswith("-") and "required" not in by_name:
            value = UNKNOWN if any(each.star for each in call.args) else Constant(SWITCHES.get(action))
        earlier = options.get(target)
        options[target] = value if earlier in (None, value) else UNKNOWN


def _combine(node: cst.BaseExpression, value: Callable[[cst.BaseExpression], Known]) -> Known:
    """The value of an operation whose parts are known."""
    match node:
        case cst.UnaryOperation(operator=cst.Not()):
            inner = value(node.expression)
            return Constant(not inner.value) if isinstance(inner, Constant) else UNKNOWN
        case cst.BooleanOperation():
            left, right = value(node.left), value(node.right)
            decides = isinstance(node.operator, cst.Or)
            for side in (left, right):
                if isinstance(side, Constant) and bool(side.value) is decides:
                    return Constant(decides)
            return right if isinstance(left, Constant) else UNKNOWN
        case cst.Comparison(comparisons=[cst.ComparisonTarget(operator=operator, comparator=other)]):
            return _compare(operator, value(node.left), value(other))
    return UNKNOWN


def _compare(operator: cst.BaseCompOp, left: Known, right: Known) -> Known:
    is_same = isinstance(operator, cst.Is | cst.Equal)
    if not (is_same or isinstance(operator, cst.IsNot | cst.NotEqual)):
        return UNKNOWN
    if isinstance(left, Constant) and isinstance(right, Constant):
        return Constant((left.value == right.value) is is_same)
    if PRESENT in (left, right) and Constant(None) in (left, right):
        return Constant(not is_same)
    return UNKNOWN


def _literal(node: cst.BaseExpression) -> Constant | None:
    if type(node) is cst.Name and node.value in CONSTANTS:
        return Constant(CONSTANTS[node.value])
    text = constant_text(node)
    value = text if text is not None else constant_number(node)
    return Constant(value) if value is not None else None


def _is_parameter(node: cst.BaseExpression, function: Function) -> bool:
    return dotted_name(node).partition(".")[0] in function.parameters and type(node) is cst.Name


def _leaves(statement: cst.If) -> bool:
    """Whether an `if` without other branches leaves the function."""
    body = statement.body
    return statement.orelse is None and isinstance(body, cst.BaseSuite) and any(map(is_exit, body.body))
