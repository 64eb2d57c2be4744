"""Labels: variables whose constant texts tell apart what one statement reports."""

import libcst as cst

from .calls import CallGraph
from .index import Function
from .judge import Judge
from .things import Argument
from .tree import constant_text
from .values import Value


def label_of(values: list[Value], judge: Judge, graph: CallGraph) -> str | None:
    """The plain variable among the values of a message that holds one of some constant texts."""
    for value in values:
        if not isinstance(value.node, cst.Name) or judge.origin(value).kind != "text":
            continue
        if label_texts(value.node.value, value.function, graph):
            return value.node.value
    return None


def label_texts(name: str, function: Function, graph: CallGraph, depth: int = 6) -> list[str]:
    """Constant texts that a variable can hold: of the loop over texts, or handed to the parameter anywhere."""
    scope, bindings = graph.resolver.find(name, function)
    found: list[str] = []
    for binding in bindings:
        if binding.how == "for" and isinstance(binding.value, cst.Tuple | cst.List):
            texts = [
                constant_text(_part(item.value, binding.way))
                for item in binding.value.elements
                if isinstance(item, cst.Element)
            ]
            found += [text for text in texts if text is not None]
        elif binding.how == "for" and isinstance(binding.value, cst.Call) and not binding.way[1:]:
            found += _dict_keys(binding.value, binding.way, scope, graph)
        elif binding.how == "parameter" and depth:
            for edge in graph.edges_into(scope):
                found += _texts_given(edge.argument(name), scope, graph, depth)
    return list(dict.fromkeys(found))


def _texts_given(given: Argument | None, callee: Function, graph: CallGraph, depth: int) -> list[str]:
    if given is None:
        return []
    node, caller = given
    text = constant_text(node)
    if text is not None:
        return [text]
    if not isinstance(node, cst.Name) or caller is callee:
        return []
    return label_texts(node.value, caller, graph, depth - 1)


def _part(node: cst.BaseExpression, way: tuple[int, ...]) -> cst.BaseExpression | None:
    for number in way:
        if not isinstance(node, cst.Tuple | cst.List) or number >= len(node.elements):
            return None
        node = node.elements[number].value
    return node


def _dict_keys(call: cst.Call, way: tuple[int, ...], scope: Function, graph: CallGraph) -> list[str]:
    """Keys of a dict display that a loop goes through with `.items()` or `.keys()`."""
    if (
        not isinstance(call.func, cst.Attribute)
        or call.func.attr.value not in ("items", "keys")
        or way not in ((), (0,))
    ):
        return []
    container: cst.CSTNode | None = call.func.value
    if isinstance(container, cst.Name):
        _, bindings = graph.resolver.find(container.value, scope)
        container = bindings[0].value if len(bindings) == 1 else None
    if not isinstance(container, cst.Dict):
        return []
    keys = [constant_text(item.key) for item in container.elements if isinstance(item, cst.DictElement)]
    return [key for key in keys if key is not None]
