"""Operations and calls in what is shown to a reader: templates, joins, conversions, and functions that make texts."""

from typing import TYPE_CHECKING

import libcst as cst

from deviate.analysis.metrics import filling
from deviate.analysis.metrics.texts import DUMPING, TEXT_METHODS, holds_values
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.tree import constant_text, dotted, keywords, last_name, positional
from deviate.analysis.resolve.values import Item, Scene, Value

if TYPE_CHECKING:
    from deviate.analysis.metrics.messages import Taker

ROUNDING = frozenset(
    {"builtins.round", "builtins.format", "builtins.str", "builtins.repr", "numpy.round", "numpy.around"}
)
CLOCKWORK = ("time.gmtime", "time.localtime", "datetime.timedelta")
"""They take a number of seconds; what they give is text soon after."""


def operation(taker: "Taker", node: cst.BinaryOperation, function: Function, scene: Scene) -> list[Item] | None:
    """Items of `template % values`, of a sum of texts, and of a repeated text."""
    if isinstance(node.operator, cst.Modulo):
        text = taker.texts.template(node.left, function)
        if text is None:
            return None
        values = _values(taker, node.right, function)
        mapping = filling.text_keys(node.right)
        return filling.percent(taker, text, [] if mapping else values, mapping, function, scene)
    if isinstance(node.operator, cst.Add) and taker.texts.is_text(node, function):
        return taker.take(node.left, function, scene) + taker.take(node.right, function, scene)
    if isinstance(node.operator, cst.Multiply) and (constant_text(node.left) or constant_text(node.right)):
        return [constant_text(node.left) or constant_text(node.right) or ""]
    return None


def _values(taker: "Taker", node: cst.BaseExpression, function: Function) -> list[cst.BaseExpression]:
    """The values at the right side of `%`; one whose items are not known stands for all of them."""
    if not isinstance(node, cst.Tuple):
        return [node]
    found: list[cst.BaseExpression] = []
    for item in node.elements:
        known = taker.displays.listed(item.value, function) if isinstance(item, cst.StarredElement) else None
        if known is not None and all(where is function for _, where in known):
            found += [value for value, _ in known if isinstance(value, cst.BaseExpression)]
        else:
            found.append(item.value)
    return found


def call(taker: "Taker", node: cst.Call, function: Function, scene: Scene) -> list[Item] | None:
    """Items of a call whose result is shown."""
    arguments = positional(node)
    if isinstance(node.func, cst.Attribute):
        method, base = node.func.attr.value, node.func.value
        if method in ("format", "format_map"):
            return _format(taker, node, base, function, scene)
        if method == "join" and arguments and taker.texts.is_text(node, function):
            return _join(taker, arguments[0], constant_text(base) or " ", function, scene)
        if method in TEXT_METHODS and taker.texts.is_text(base, function):
            return taker.take(base, function, scene)
    name = taker.resolver.qualified(node.func, function)
    seconds = _seconds(taker, node, function)
    if seconds is not None:
        return [Value(seconds, seconds, function, taker.nodes.code(node), style=f"{last_name(node.func)}()")]
    if arguments and name in ROUNDING:
        short = (name or "").split(".")[-1]
        spec = (constant_text(arguments[1]) or "") if short == "format" and len(arguments) > 1 else ""
        if short in ("round", "around") and len(arguments) > 1 and isinstance(arguments[1], cst.Integer):
            spec = f".{arguments[1].value}f"
        return filling.styled(taker.take(arguments[0], function, scene), f"{short}()", spec)
    if arguments and name in DUMPING:
        rows = taker.table(arguments[0], function, scene) or taker.row(arguments[0], function, scene)
        return taker.joined(rows)
    return _text_of_project(taker, node, function, scene)


def _seconds(taker: "Taker", node: cst.Call, function: Function) -> cst.BaseExpression | None:
    """The number in a call of the standard library that shows a duration: `timedelta(seconds=x)`, `gmtime(x)`."""
    name = taker.resolver.qualified(node.func, function)
    if name == "time.strftime" and len(node.args) == 2 and isinstance(node.args[1].value, cst.Call):
        return _seconds(taker, node.args[1].value, function)
    if name not in CLOCKWORK or len(node.args) != 1:
        return None
    return node.args[0].value


def _format(
    taker: "Taker", node: cst.Call, base: cst.BaseExpression, function: Function, scene: Scene
) -> list[Item] | None:
    given, named = positional(node), keywords(node)
    if last_name(node.func) == "format_map" and given:
        text = taker.texts.template(base, function)
        known = filling.text_keys(given[0])
        if text is None or known is None:
            return None if text is None else filling.mapped(taker, text, given[0], function)
        given, named = [], known
    if dotted(base) == "str" and given:  # str.format("…", x)
        base, given = given[0], given[1:]
    text = taker.texts.template(base, function)
    if text is None:
        return _unseen(taker, node, base, function, scene)
    return filling.format_call(taker, text, node.func, (given, named, filling.starred(node)), function, scene)


def _unseen(
    taker: "Taker", node: cst.Call, base: cst.BaseExpression, function: Function, scene: Scene
) -> list[Item] | None:
    """The arguments of a template that is not known: each may be shown, the named ones under their names."""
    if taker.resolver.functions(node.func, function) or not isinstance(base, cst.Name | cst.Attribute):
        return None
    found: list[Item] = []
    for value in positional(node):
        found += [*taker.take(value, function, scene), " "]
    for name, value in keywords(node).items():
        found += [f" {name}: ", *taker.take(value, function, scene)]
    return found or None


def _join(taker: "Taker", values: cst.BaseExpression, glue: str, function: Function, scene: Scene) -> list[Item] | None:
    if isinstance(values, cst.Call) and dotted(values.func) == "map" and len(values.args) == 2:
        values = values.args[1].value
        if taker.displays.listed(values, function) is None:
            return taker.take(values, function, scene)
    given = taker.given(values.value, function, scene) if isinstance(values, cst.Name) else None
    if isinstance(given, tuple) and isinstance(given[0], cst.BaseExpression):
        values, function = given[0], given[1]
    items = taker.displays.listed(values, function)
    if items is None:
        return None
    found: list[Item] = []
    for value, where in items:
        if isinstance(value, cst.BaseExpression):
            found += [*taker.take(value, where, scene), glue]
    return found


def _text_of_project(taker: "Taker", node: cst.Call, function: Function, scene: Scene) -> list[Item] | None:
    """What a function of the project puts into the text that it returns."""
    for callee in taker.resolver.functions(node.func, function):
        inner = callee.function
        returned = [value for value in inner.returns if taker.texts.is_text(value, inner)]
        if inner.name == "__init__" or not returned:
            continue
        if taker.texts.reads_clock(inner):
            return [taker.plain(node, function)]
        if taker.texts.is_formatter(inner):
            return _formatted(taker, node, function, scene)
        edge = next((edge for edge in taker.graph.edges_into(inner) if edge.node is node), None)
        inside = scene.extended(taker.flows.given(edge)) if edge is not None else scene
        return [item for value in returned for item in taker.take(value, inner, inside)]
    return None


def _formatted(taker: "Taker", node: cst.Call, function: Function, scene: Scene) -> list[Item]:
    """A call of a function that formats its argument: the argument is what can be read, for the result is a text."""
    given = [argument.value for argument in node.args if constant_text(argument.value) is None]
    texts = [value for value in given if taker.texts.is_text(value, function)]
    if texts:
        return [item for value in texts if holds_values(value) for item in taker.take(value, function, scene)]
    spelled = taker.nodes.code(node)
    if not given:
        return [spelled]
    if isinstance(given[0], cst.Name) and taker.given(given[0].value, function, scene) is not None:
        return taker.take(given[0], function, scene)
    return [Value(given[0], given[0], function, spelled, style=f"{last_name(node.func)}()")]
