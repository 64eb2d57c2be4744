"""Messages of the level `debug`: whether the project lets them through, unless a user asks for them."""

import re

import libcst as cst

from deviate.analysis.resolve.calls import CallGraph
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import argument, constant_key, constant_text, last_name, positional, walk

MENTION = re.compile(r"\bDEBUG\b|\bNOTSET\b|[\"']debug[\"']|verbosity_debug")
"""What a project says that may turn on messages of the level `debug`, which are off by default."""
LEVELS = ("DEBUG", "NOTSET")
NAMING = (cst.ImportAlias, cst.AssignTarget, cst.DictElement, cst.SubscriptElement)
"""Around a mention that sets no level: imports, definitions, tables of levels and what takes from them."""
OFF = ("False", "None")
DEEPEST = 4


def shows_debug(graph: CallGraph) -> bool:
    """Whether the project sets the level DEBUG anywhere but where an option asks for it that is off by default."""
    trees = [module.source.tree for module in graph.project.modules.values() if MENTION.search(module.source.text)]
    flags = _flags(graph)
    return any(_is_level(node, graph) and not _is_guarded(node, graph, flags) for tree in trees for node in walk(tree))


def _is_level(node: cst.CSTNode, graph: CallGraph) -> bool:
    """Whether a node names the level to set it: not where levels are listed, or options are declared."""
    match node:
        case cst.Name() | cst.Attribute():
            is_named = last_name(node) in LEVELS or last_name(node).endswith("verbosity_debug")
        case cst.SimpleString():
            is_named = (constant_text(node) or "").upper() in LEVELS
        case _:
            return False
    if not is_named:
        return False
    parent = graph.nodes.parents.get(node)
    if isinstance(parent, cst.Index):
        parent = graph.nodes.parents.get(parent)
    if isinstance(parent, cst.Arg):
        call = graph.nodes.parents.get(parent)
        is_option = isinstance(call, cst.Call) and last_name(call.func) == "add_argument"
        return parent.keyword is None or parent.keyword.value == "default" if is_option else True
    is_table = isinstance(parent, cst.Element) or (isinstance(parent, cst.DictElement) and parent.value is not node)
    return not is_table and not (isinstance(parent, NAMING) and not isinstance(parent, cst.DictElement))


def _flags(graph: CallGraph) -> set[str]:
    """Names of the options of the command line that are off unless a user gives them."""
    flags: set[str] = set()
    for module in graph.project.modules.values():
        for scope in module.scopes:
            for call in scope.calls:
                if last_name(call.func) != "add_argument":
                    continue
                action, default = argument(call, None, "action"), argument(call, None, "default")
                if constant_text(action) == "store_true" or (default is not None and _is_nothing(default)):
                    flags |= {(constant_text(value) or "").lstrip("-").replace("-", "_") for value in positional(call)}
    return flags


def _is_guarded(node: cst.CSTNode, graph: CallGraph, flags: set[str]) -> bool:
    """Whether a node runs only where a condition holds that is false by default."""
    function = graph.nodes.function_of(node)
    return any(
        (
            isinstance(parent, cst.If | cst.IfExp)
            and below is parent.body
            and _is_off(parent.test, function, graph, flags)
        )
        for parent, below in graph.nodes.around(node)
    )


def _is_off(
    test: cst.BaseExpression, function: Function, graph: CallGraph, flags: set[str], depth: int = DEEPEST
) -> bool:
    """Whether a condition is false by default: an option that is off, or a parameter for which no call gives more."""
    if depth == 0:
        return False
    match test:
        case cst.Attribute():
            return test.attr.value in flags
        case cst.Subscript():
            return (constant_key(test) or "") in flags
        case cst.Name() if not _is_nothing(test):
            scope, bindings = graph.resolver.find(test.value, function)
            if [binding.how for binding in bindings] != ["parameter"]:
                return False
            handed = [edge.argument(test.value) for edge in graph.edges_into(scope)]
            values = [(bindings[0].value, scope) if one is None else one for one in handed or [None]]
            return all(
                isinstance(value, cst.BaseExpression) and _is_off(value, where, graph, flags, depth - 1)
                for value, where in values
            )
    return _is_nothing(test)


def _is_nothing(node: cst.BaseExpression) -> bool:
    return (isinstance(node, cst.Name) and node.value in OFF) or (isinstance(node, cst.Integer) and node.value == "0")
