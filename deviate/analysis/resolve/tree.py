"""Fast helpers for libcst nodes: children, dotted names, constants and call arguments."""

import ast
import dataclasses
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import attrgetter
from typing import Any

import libcst as cst

LAYOUT = ("whitespace", "comma", "lpar", "rpar", "semicolon", "leading_lines", "header", "footer", "lines_after")
MARKS = ("dot", "equal", "colon", "first_colon", "second_colon", "lbracket", "rbracket", "lbrace", "rbrace")
"""Fields for punctuation, which is the same in every node."""

PASSIVE = (cst.BaseParenthesizableWhitespace, cst.TrailingWhitespace, cst.EmptyLine, cst.Comma, cst.Semicolon)
LEAVES = frozenset(
    {cst.Name, cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString, cst.FormattedStringText}
    | {cst.Pass, cst.Break, cst.Continue, cst.Ellipsis}
)
"""Classes of nodes without children."""


class _Fields(dict[type, Callable[[cst.CSTNode], tuple[Any, ...]]]):
    """Getters that read all meaningful fields of a node class at once."""

    def __missing__(self, kind: type[cst.CSTNode]) -> Callable[[cst.CSTNode], tuple[Any, ...]]:
        names = (field.name for field in dataclasses.fields(kind))
        visited = [name for name in names if not name.startswith(LAYOUT) and name not in (*MARKS, "annotation")]
        visited += ["__class__"] * (2 - len(visited))  # attrgetter returns a tuple only for two or more names
        self[kind] = attrgetter(*visited)
        return self[kind]


class _Meaning(dict[type, bool]):
    """Caches whether nodes of a class are meaningful, as instance checks of libcst are slow."""

    def __missing__(self, kind: type) -> bool:
        self[kind] = issubclass(kind, cst.CSTNode) and not issubclass(kind, PASSIVE)
        return self[kind]


_FIELDS = _Fields()
_MEANING = _Meaning()


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The meaningful children of a node: no layout, punctuation or annotations."""
    kind = type(node)
    nodes: list[cst.CSTNode] = []
    if kind in LEAVES:
        return nodes
    for value in _FIELDS[kind](node):
        if type(value) in (list, tuple):
            nodes += [item for item in value if _MEANING[type(item)]]
        elif _MEANING[type(value)]:
            nodes.append(value)
    return nodes


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and everything below it, parents before children."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        if type(current) not in LEAVES:
            waiting += children(current)[::-1]


def dotted_name(node: cst.CSTNode) -> str:
    """`a.b.c` for names and attributes, with `()` for calls and `[]` for items on the way; "" for anything else."""
    # types are compared directly, here and below: instance checks against libcst's abstract classes are slow
    if type(node) is cst.Name:
        return node.value
    if type(node) is cst.Attribute:
        base = dotted_name(node.value)
        return f"{base}.{node.attr.value}" if base else f"?.{node.attr.value}"
    if type(node) is cst.Call:
        base = dotted_name(node.func)
        return f"{base}()" if base else ""
    if type(node) is cst.Subscript:
        base = dotted_name(node.value)
        return f"{base}[]" if base else ""
    return ""


def last_name(node: cst.CSTNode) -> str:
    """The last identifier of a name or attribute: `nll_loss` for `F.nll_loss`; "" for anything else."""
    if type(node) is cst.Name:
        return node.value
    if type(node) is cst.Attribute:
        return node.attr.value
    return ""


def constant_text(node: cst.CSTNode | None) -> str | None:
    """The value of a string literal, adjacent literals joined; None for anything else and for bytes."""
    if type(node) is cst.SimpleString:
        return _value(node.value)
    if type(node) is cst.ConcatenatedString:
        left_text, right_text = constant_text(node.left), constant_text(node.right)
        return None if left_text is None or right_text is None else left_text + right_text
    return None


@lru_cache(maxsize=4096)
def _value(literal: str) -> str | None:
    with warnings.catch_warnings(action="ignore"):  # "\\d": a problem of the script, which Python reports when it runs
        value = ast.literal_eval(literal)
    return value if isinstance(value, str) else None


def constant_number(node: cst.CSTNode) -> float | None:
    """The value of a number literal, signs included; None for anything else."""
    if isinstance(node, cst.Integer | cst.Float):
        return float(node.evaluated_value)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus | cst.Plus):
        value = constant_number(node.expression)
        return None if value is None else -value if isinstance(node.operator, cst.Minus) else value
    return None


def positional(call: cst.Call) -> list[cst.BaseExpression]:
    """Positional arguments up to the first starred one."""
    values = []
    for argument in call.args:
        if argument.star:
            break
        if argument.keyword is None:
            values.append(argument.value)
    return values


def keywords(call: cst.Call) -> dict[str, cst.BaseExpression]:
    """Named arguments."""
    return {argument.keyword.value: argument.value for argument in call.args if argument.keyword is not None}


def argument(call: cst.Call, place: int | None, *names: str) -> cst.BaseExpression | None:
    """An argument by position (None: by name only) or by any of its names, which go first."""
    by_name, arguments = keywords(call), positional(call)
    value = next((by_name[name] for name in names if name in by_name), None)
    return value if value is not None or place is None or place >= len(arguments) else arguments[place]


def identifiers(node: cst.CSTNode) -> Iterator[str]:
    """Names, attributes and constant keys in an expression, in reading order."""
    for part in walk(node):
        if isinstance(part, cst.Name):
            yield part.value
        elif isinstance(part, cst.SimpleString):
            text = constant_text(part)
            if text is not None:
                yield text


def element(node: cst.BaseExpression, index: int) -> cst.BaseExpression | None:
    """Item `index` of a tuple or list display; None when it has stars or is too short."""
    if (type(node) is not cst.Tuple and type(node) is not cst.List) or any(
        type(item) is cst.StarredElement for item in node.elements
    ):
        return None
    return node.elements[index].value if index < len(node.elements) else None


def imported_names(statement: cst.Import | cst.ImportFrom) -> Iterator[tuple[str, str | None]]:
    """The full or relative name of each imported object, and the name it is bound to; None for a star import."""
    if isinstance(statement, cst.Import):
        for alias in statement.names:
            name = dotted_name(alias.name)
            yield name, dotted_name(alias.asname.name) if alias.asname else name.split(".")[0]
        return
    base = "." * len(statement.relative) + (dotted_name(statement.module) if statement.module else "")
    if isinstance(statement.names, cst.ImportStar):
        yield base, None
        return
    prefix = base if base.endswith(".") else f"{base}."
    for alias in statement.names:
        name = dotted_name(alias.name)
        yield f"{prefix}{name}", dotted_name(alias.asname.name) if alias.asname else name


def named_items(node: cst.Dict) -> list[tuple[str, cst.BaseExpression]]:
    """The items of a dict display whose keys are constant texts."""
    items = [(constant_text(item.key), item.value) for item in node.elements if isinstance(item, cst.DictElement)]
    return [(key, value) for key, value in items if key is not None]


def constant_key(node: cst.Subscript) -> str | None:
    """The text in `base["text"]`; None for any other key."""
    return constant_text(index_of(node))


def index_of(node: cst.Subscript) -> cst.BaseExpression | None:
    """The expression in `base[expression]`; None for slices, and where there are several."""
    piece = node.slice[0].slice if len(node.slice) == 1 else None
    return piece.value if isinstance(piece, cst.Index) else None


def name_of_container(node: cst.BaseExpression) -> str:
    """The last name of a container, or the constant key under which it is an item: `runs` for `kinds["runs"]`."""
    if type(node) is cst.Subscript:
        return constant_key(node) or ""
    return last_name(node)
