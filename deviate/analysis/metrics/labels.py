"""Labels: variables whose constant strings distinguish the values that one statement reports."""

import re

import libcst as cst

from deviate.analysis.metrics.judge import Judge
from deviate.analysis.resolve.abstract_values import Argument
from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Binding, Function, Nodes
from deviate.analysis.resolve.message_items import MessageItem, ReportedValue
from deviate.analysis.resolve.tree import constant_text, index_of, last_name, named_items, walk
from deviate.model.metric_vocabulary import split_identifier, word_set

KEYS = word_set("name names key k metric tag label split")
"""Last words of variables that hold texts."""

SAME_ORDER = ("sorted", "list", "enumerate", "reversed")


def labels_of(values: list[ReportedValue], judge: Judge, graph: CallGraph) -> list[ReportedValue | None]:
    """For each value of a message the plain variable among them whose text says what is reported, if any.

    It holds one of several constant strings or, failing that, a mapping key that is known at run time. What a loop
    holds in it belongs to the values in that loop: a text that grows from loop to loop has labels of all of them.
    """
    names = [value for value in values if isinstance(value.node, cst.Name)]
    labels = [
        value
        for value in names
        if judge.origin(value).kind == "text" and label_texts(value.spelled, value.function, graph)
    ]
    labels += [value for value in names if is_key(value.spelled, value.function, graph)]
    loops = [_loop_of(label, graph) for label in labels]

    def tells(loop: cst.CSTNode | None, value: ReportedValue) -> bool:
        return loop is None or loop in graph.nodes.ancestors(value.node)

    return [
        next((label for label, loop in zip(labels, loops, strict=True) if tells(loop, value)), None)
        or _key_of(value, graph)
        for value in values
    ]


def _key_of(value: ReportedValue, graph: CallGraph) -> ReportedValue | None:
    """The variable by which a value is taken out of a mapping whose keys are known at run time alone: `row[key]`."""
    node: cst.CSTNode | None = value.node
    if isinstance(node, cst.Name):
        bindings = graph.resolver.find(node.value, value.function)[1]
        node = bindings[0].whole("assign") if len(bindings) == 1 else None
    key = index_of(node) if isinstance(node, cst.Subscript) else None
    if not isinstance(key, cst.Name) or not is_key(key.value, value.function, graph):
        return None
    return ReportedValue(key, key, value.function, key.value)


def _loop_of(label: ReportedValue, graph: CallGraph) -> cst.CSTNode | None:
    """The loop or comprehension that holds a text in a label where it is reported; None where no loop does."""
    bindings = graph.resolver.find(label.spelled, label.function)[1]
    loops = [_loop(binding.node, graph.nodes) for binding in bindings if binding.how == "for"]
    return next((parent for parent in graph.nodes.ancestors(label.node) if parent in loops), None)


def _loop(node: cst.CSTNode, nodes: Nodes) -> cst.CSTNode | None:
    """A `for` statement itself, of a `for` in a comprehension all of it."""
    return next((part for part in (node, *nodes.ancestors(node)) if not isinstance(part, cst.CompFor)), None)


def is_key(name: str, function: Function, graph: CallGraph) -> bool:
    """Whether a variable iterates over the keys of a mapping, or is the parameter of a function that takes one item."""
    _, bindings = graph.resolver.find(name, function)
    return bool(bindings) and all(
        (binding.how == "for" and iterated_mapping(binding) is not None) or _indexed(name, binding, graph) is not None
        for binding in bindings
    )


def _indexed(name: str, binding: Binding, graph: CallGraph) -> cst.BaseExpression | None:
    """What a loop over names takes one item of for each: `logs` in `for name in names: show(name, logs[name])`.

    So does a function that takes one item by a parameter. The variable must be a text: by its name, or because a text
    is put before or behind it in the loop. A table of an object that is shown row by row, as in `for key in self.rows:
    print(key, self.rows[key])`, holds what was handed to the object, and is reported there.
    """
    around: cst.CSTNode | None
    is_called_key = bool(KEYS & set(split_identifier(name)[-1:]))
    if binding.how == "parameter" and is_called_key:
        around = graph.nodes.function_of(binding.node).node
    elif binding.how == "for" and not binding.position and isinstance(binding.value, cst.Name | cst.Attribute):
        around = _loop(binding.node, graph.nodes)
    else:
        return None
    if around is None or not _may_index(around, name, graph):
        return None
    parts = list(walk(around))
    is_text = is_called_key or any(_joins_text(part, name) for part in parts)
    taken = (part for part in parts if isinstance(part, cst.Subscript) and _is_name_in(index_of(part), name))
    table = next((part.value for part in taken), None) if is_text else None
    is_own = isinstance(table, cst.Attribute) and binding.value is not None and table.deep_equals(binding.value)
    return None if is_own else table


def _may_index(around: cst.CSTNode, name: str, graph: CallGraph) -> bool:
    """Whether an index with that name stands anywhere in the lines: walking through a long function is dear."""
    source = graph.nodes.source(around)
    return re.search(rf"[\w)\]]\s*\[[^][,:]*\b{name}\b", source.between(source.span(around))) is not None


def _joins_text(node: cst.CSTNode, name: str) -> bool:
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Add):
        return False
    sides = node.left, node.right
    return any(_is_name_in(side, name) and isinstance(side, cst.Name) for side in sides) and any(
        constant_text(side) is not None for side in sides
    )


def _is_name_in(node: cst.CSTNode | None, name: str) -> bool:
    return node is not None and any(isinstance(part, cst.Name) and part.value == name for part in walk(node))


def iterated_mapping(binding: Binding) -> cst.BaseExpression | None:
    """The mapping over whose keys a loop variable iterates."""
    iterable, position = binding.value, binding.position
    while True:
        if isinstance(iterable, cst.Subscript):  # `list(metrics.items())[:-1]`
            iterable = iterable.value
        elif isinstance(iterable, cst.Call) and last_name(iterable.func) in SAME_ORDER and iterable.args:
            position = position[1:] if last_name(iterable.func) == "enumerate" else position
            iterable = iterable.args[0].value
        else:
            break
    if not isinstance(iterable, cst.Call) or not isinstance(iterable.func, cst.Attribute) or iterable.args:
        return None
    method = iterable.func.attr.value
    return (
        iterable.func.value if (method == "items" and position == (0,)) or (method == "keys" and not position) else None
    )


def mapping_of(label: str | None, value: ReportedValue, graph: CallGraph) -> cst.BaseExpression | None:
    """The mapping that a value is taken or computed from, under the key in the label variable."""
    if label is None or not is_key(label, value.function, graph):
        return None
    keys = graph.resolver.find(label, value.function)[1]
    key = _key_of(value, graph)
    names = [
        part.value
        for part in (*walk(value.node), *(walk(key.node) if key is not None else ()))
        if isinstance(part, cst.Name)
    ]
    bound = [binding.node for name in names for binding in graph.resolver.find(name, value.function)[1]]
    sources = (
        iterated_mapping(key) or _indexed(label, key, graph) for key in keys if label in names or key.node in bound
    )
    return next(sources, None)


def graph_tag(name_items: list[MessageItem], node: cst.CSTNode, nodes: Nodes) -> str:
    """The tag of a TensorFlow graph summary: the names of the open scopes and its own name."""
    if not all(isinstance(item, str) for item in name_items):
        return ""
    scopes = [
        text
        for parent in nodes.ancestors(node)
        if isinstance(parent, cst.With)
        for item in parent.items
        if isinstance(item.item, cst.Call) and last_name(item.item.func) in ("name_scope", "variable_scope")
        for text in [constant_text(argument.value) for argument in item.item.args[:1]]
        if text is not None
    ]
    name = "".join(item for item in name_items if isinstance(item, str)).removesuffix(": ")
    return "/".join([*reversed(scopes), re.sub(r"[^-/\w.]", "_", name)]).lstrip("/")


def label_texts(name: str, function: Function, graph: CallGraph, depth: int = 6) -> list[str]:
    """Constant strings that a variable can hold: from the loop over them, or passed to the parameter anywhere."""
    scope, bindings = graph.resolver.find(name, function)
    label_values: list[str] = []
    for binding in bindings:
        if binding.how == "for" and isinstance(binding.value, cst.Tuple | cst.List):
            texts = [
                constant_text(_part(item.value, binding.position))
                for item in binding.value.elements
                if isinstance(item, cst.Element)
            ]
            label_values += [text for text in texts if text is not None]
        elif binding.how == "for" and isinstance(binding.value, cst.Call) and not binding.position[1:]:
            label_values += _dict_keys(binding.value, binding.position, scope, graph)
        elif binding.how == "parameter" and depth:
            for edge in graph.edges_into(scope):
                label_values += _texts_given(edge.argument(name), scope, graph, depth)
    return list(dict.fromkeys(label_values))


def _texts_given(argument: Argument | None, callee: Function, graph: CallGraph, depth: int) -> list[str]:
    if argument is None:
        return []
    node, caller = argument
    text = constant_text(node)
    if text is not None:
        return [text]
    if not isinstance(node, cst.Name) or caller is callee:
        return []
    return label_texts(node.value, caller, graph, depth - 1)


def _part(node: cst.BaseExpression, position: tuple[int, ...]) -> cst.BaseExpression | None:
    for number in position:
        if not isinstance(node, cst.Tuple | cst.List) or number >= len(node.elements):
            return None
        node = node.elements[number].value
    return node


def _dict_keys(call: cst.Call, position: tuple[int, ...], scope: Function, graph: CallGraph) -> list[str]:
    """Keys of a dict display that a loop iterates over with `.items()` or `.keys()`."""
    if (
        not isinstance(call.func, cst.Attribute)
        or call.func.attr.value not in ("items", "keys")
        or position not in ((), (0,))
    ):
        return []
    container: cst.CSTNode | None = call.func.value
    if isinstance(container, cst.Name):
        _, bindings = graph.resolver.find(container.value, scope)
        container = bindings[0].value if len(bindings) == 1 else None
    return [key for key, _ in named_items(container)] if isinstance(container, cst.Dict) else []
