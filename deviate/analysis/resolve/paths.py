"""Changes of `sys.path` in the source: folders computed from constants and `__file__`."""

import posixpath
from collections.abc import Iterator

import libcst as cst

from deviate.analysis.resolve.index import Function, Module
from deviate.analysis.resolve.tree import constant_text, dotted_name, keywords, positional

SAME = ("abspath", "realpath", "normpath", "expanduser", "str", "Path", "PurePath", "resolve", "absolute", "fspath")
DEEPEST = 10


def path_changes(module: Module) -> Iterator[tuple[str, str]]:
    """Folders of the project that a module puts on the path: (`insert` or `append`, folder relative to the root)."""
    adders = {}
    for function in module.scopes:
        for how, value in _additions(function):
            if isinstance(value, cst.Name) and value.value in function.parameters:  # `def add_path(path): …`
                adders[function.name] = how, function.parameters.index(value.value)
            for folder in _folders(value, module):
                yield how, folder
    for call in module.top.calls:
        how, place = adders.get(dotted_name(call.func), ("", 0))
        arguments = positional(call)
        for folder in _folders(arguments[place], module) if how and place < len(arguments) else ():
            yield how, folder


def _additions(function: Function) -> Iterator[tuple[str, cst.BaseExpression]]:
    """The changes of `sys.path` by the calls of a function."""
    for call in function.calls:
        how = dotted_name(call.func).removeprefix("sys.path.")
        arguments = positional(call)
        if how not in ("insert", "append", "extend") or how == dotted_name(call.func) or not arguments:
            continue
        for value in arguments[1:] if how == "insert" else arguments:
            parts = [item.value for item in value.elements] if isinstance(value, cst.List | cst.Tuple) else [value]
            yield from ((how, part) for part in parts)


def _folders(node: cst.BaseExpression, module: Module) -> Iterator[str]:
    path = _path(node, module, DEEPEST)
    if path is None or path.startswith(("/", "~")):
        return
    if path.startswith("?"):  # relative to the working folder: the root, or the folder of the script
        candidates = [path[2:], posixpath.join(posixpath.dirname(module.file), path[2:])]
    else:
        candidates = [path]
    for candidate in candidates:
        folder = posixpath.normpath(candidate) if candidate else ""
        if not folder.startswith(".."):
            yield "" if folder == "." else folder


def _path(node: cst.BaseExpression, module: Module, depth: int) -> str | None:
    """A path relative to the root; `?/…` if relative to the working folder; None if unknown."""
    if depth == 0:
        return None
    text = constant_text(node)
    if text is not None:
        return text if text.startswith(("/", "~")) else f"?/{text}"
    match node:
        case cst.Name(value="__file__"):
            return module.file
        case cst.Name():
            bindings = module.top.bindings.get(node.value, [])
            value = bindings[0].value if len(bindings) == 1 and bindings[0].how == "assign" else None
            return _path(value, module, depth - 1) if isinstance(value, cst.BaseExpression) else None
        case cst.Attribute(attr=cst.Name(value="parent")):
            return _parent(_path(node.value, module, depth - 1))
        case cst.Subscript(value=cst.Attribute(attr=cst.Name(value="parents")) as parents):
            return _ancestor(node, _path(parents.value, module, depth - 1))
        case cst.BinaryOperation(operator=cst.Divide() | cst.Add()):
            return _join([_path(part, module, depth - 1) for part in (node.left, node.right)])
        case cst.Call():
            return _path_of_call(node, module, depth)
    return None


def _path_of_call(call: cst.Call, module: Module, depth: int) -> str | None:
    name = dotted_name(call.func).split(".")[-1]
    arguments = [*positional(call), *keywords(call).values()]
    if name in ("getcwd", "cwd"):
        return "?/"
    if name == "dirname" and arguments:
        return _parent(_path(arguments[0], module, depth - 1))
    if name in ("join", "joinpath"):
        holder = [call.func.value] if name == "joinpath" and isinstance(call.func, cst.Attribute) else []
        parts = [*holder, *arguments]
        return _join([_path(part, module, depth - 1) for part in parts])
    if name in SAME and arguments:
        return _path(arguments[0], module, depth - 1)
    if name in SAME and isinstance(call.func, cst.Attribute):
        return _path(call.func.value, module, depth - 1)
    return None


def _parent(path: str | None) -> str | None:
    return None if path is None else posixpath.join(path, "..") if path.endswith("..") else posixpath.dirname(path)


def _ancestor(node: cst.Subscript, path: str | None) -> str | None:
    piece = node.slice[0].slice if len(node.slice) == 1 else None
    if path is None or not isinstance(piece, cst.Index) or not isinstance(piece.value, cst.Integer):
        return None
    for _ in range(1 + int(piece.value.value)):
        path = _parent(path)
    return path


def _join(parts: list[str | None]) -> str | None:
    """The joined path; only the first part may contain its base."""
    if not parts or any(part is None for part in parts):
        return None
    first, *rest = [part for part in parts if part is not None]
    return posixpath.join(first, *(part.removeprefix("?/").lstrip("/") for part in rest))
