"""Templates filled: the items of `%` and `str.format` templates and of f-strings, with their arguments."""

from dataclasses import replace
from typing import TYPE_CHECKING

import libcst as cst

from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.templates import Field, format_fields, percent_fields
from deviate.analysis.resolve.tree import constant_text, dotted, keywords, positional
from deviate.analysis.resolve.values import Item, Scene, Value

if TYPE_CHECKING:
    from deviate.analysis.metrics.messages import Taker


def formatted(taker: "Taker", node: cst.FormattedString, function: Function, scene: Scene) -> list[Item]:
    """Items of an f-string."""
    items: list[Item] = []
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            items.append(part.value.replace("{{", "{").replace("}}", "}").replace("\\n", "\n").replace("\\t", "\t"))
            continue
        if not isinstance(part, cst.FormattedStringExpression):
            continue
        spec = _spec_text(part.format_spec)
        if part.equal is not None:
            spelled = taker.nodes.code(part.expression)
            items.append(spelled + "=")
            items.append(Value(part.expression, part.expression, function, spelled, spec, "f-string", "shown"))
        else:
            items += styled(taker.take(part.expression, function, scene), "f-string", spec)
    return items


def percent(
    taker: "Taker",
    text: str,
    arguments: list[cst.BaseExpression],
    mapping: dict[str, cst.BaseExpression] | None,
    function: Function,
    scene: Scene,
) -> list[Item]:
    """Items of a `%` template; `mapping` where the right side is a dict display."""
    parts = percent_fields(text)
    places = [place for place, part in enumerate(parts) if isinstance(part, Field) and isinstance(part.argument, int)]
    if len(arguments) == 1 and len(places) > 1:
        texts = [[part for part in side if isinstance(part, str)] for side in _around(parts, places)]
        return [*texts[0], _whole(taker, arguments[0], function), *texts[1]]
    items: list[Item] = []
    for part in parts:
        if isinstance(part, str):
            items.append(part)
        elif isinstance(part.argument, int) and part.argument < len(arguments):
            items += styled(taker.take(arguments[part.argument], function, scene), "% template", part.spec)
        elif mapping is not None and part.argument in mapping:
            items += styled(taker.take(mapping[str(part.argument)], function, scene), "% template", part.spec)
        elif isinstance(part.argument, str) and arguments:
            items.append(_inside(taker, arguments[0], part, function))
    return items


def mapped(taker: "Taker", text: str, mapping: cst.BaseExpression, function: Function) -> list[Item]:
    """Items of `template.format_map(mapping)`."""
    return [
        part if isinstance(part, str) else _inside(taker, mapping, part, function, "str.format")
        for part in format_fields(text)
    ]


def format_call(
    taker: "Taker",
    text: str,
    callee: cst.BaseExpression,
    arguments: tuple[list[cst.BaseExpression], dict[str, cst.BaseExpression], dict[str, cst.BaseExpression]],
    function: Function,
    scene: Scene,
) -> list[Item]:
    """Items of a `str.format` template.

    Args:
        callee: what is called, for values that only the template itself takes out of its arguments.
        arguments: positional, named, and starred ones by their stars.
    """
    given, named, stars = arguments
    items: list[Item] = []
    for part in format_fields(text):
        if isinstance(part, str):
            items.append(part)
            continue
        is_counted = isinstance(part.argument, int)
        argument: cst.BaseExpression | None
        if isinstance(part.argument, int):
            argument = given[part.argument] if part.argument < len(given) else None
        else:
            argument = named.get(part.argument)
        name = f"{part.argument}{part.path}"
        if argument is None:
            container = stars.get("*" if is_counted else "**")
            if container is None:
                continue
            spelled = f"{taker.nodes.code(container)}[{part.argument!r}]{part.path}"
            path = part.path
        elif part.path:
            container, spelled, path = argument, attributed(taker.nodes.code(argument), argument, part.path), part.path
        else:
            items += styled(taker.take(argument, function, scene), "str.format", part.spec)
            continue
        items.append(
            Value(callee, container, function, spelled, part.spec, "str.format", "format", (name,), path or f".{name}")
        )
    return items


def starred(call: cst.Call) -> dict[str, cst.BaseExpression]:
    return {argument.star: argument.value for argument in call.args if argument.star}


def styled(items: list[Item], style: str, spec: str) -> list[Item]:
    """Give a lone value the style and spec of what shows it, unless something inside was more telling."""
    return [
        replace(item, style=style, spec=spec or item.spec)
        if isinstance(item, Value) and (len(items) == 1 and (item.style == "plain argument" or not item.spec))
        else item
        for item in items
    ]


def text_keys(node: cst.BaseExpression) -> dict[str, cst.BaseExpression] | None:
    """The items of a dict display or `dict(a=…)` with constant keys; None for anything else."""
    if isinstance(node, cst.Dict):
        found = {constant_text(item.key): item.value for item in node.elements if isinstance(item, cst.DictElement)}
        return {key: value for key, value in found.items() if key is not None}
    if isinstance(node, cst.Call) and dotted(node.func) == "dict" and not positional(node):
        return keywords(node)
    return None


def attributed(code: str, argument: cst.BaseExpression, path: str) -> str:
    """An argument with what a template takes of it, spelled as Python would."""
    simple = isinstance(argument, cst.Name | cst.Attribute | cst.Call | cst.Subscript)
    inside = [piece.split("]")[0] for piece in path.split("[")[1:]]
    if not all(piece.isdigit() or piece[:1] in "'\"" for piece in inside) and "'" not in path:
        path = path.replace("[", "['").replace("]", "']")
    return (code if simple else f"({code})") + path


def _spec_text(spec: object) -> str:
    if not isinstance(spec, tuple | list):
        return ""
    return "".join(part.value if isinstance(part, cst.FormattedStringText) else "{}" for part in spec)


def _around(parts: list[str | Field], places: list[int]) -> tuple[list[str | Field], list[str | Field]]:
    return parts[: places[0]], parts[places[-1] + 1 :]


def _whole(taker: "Taker", node: cst.BaseExpression, function: Function) -> Value:
    """One value that fills several fields: recorded item by item, or as the duration that a call takes to pieces."""
    if isinstance(node, cst.Call) and dotted(node.func) in ("tuple", "list") and len(node.args) == 1:
        node = node.args[0].value
    spelled = taker.nodes.code(node)
    if isinstance(node, cst.Call) and len(node.args) == 1:
        given = node.args[0].value
        if taker.origins.of(given, function).kind == "duration":
            return Value(given, given, function, spelled, style="% template")
    return Value(node, node, function, spelled, style="% template")


def _inside(
    taker: "Taker", container: cst.BaseExpression, part: Field, function: Function, style: str = "% template"
) -> Value:
    """A value that a template takes out of a mapping by itself: no expression of the file stands for it."""
    is_scope = isinstance(container, cst.Call) and dotted(container.func) in ("locals", "vars", "globals")
    key = str(part.argument)
    spelled = key if is_scope else attributed(taker.nodes.code(container), container, f"[{key!r}]")
    source = cst.Name(key) if is_scope else container
    path = "" if is_scope else f".{key}"
    return Value(container, source, function, spelled, part.spec, style, "mapping", (key,), path)
