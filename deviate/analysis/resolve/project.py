"""Modules of a project: maps module names to files, which are parsed on demand."""

import os
import posixpath
from collections.abc import Callable, Iterator
from pathlib import Path

import libcst as cst

from deviate.analysis.resolve.index import Module, Nodes
from deviate.analysis.resolve.source import SourceFile, read_source
from deviate.analysis.resolve.tree import constant_text, dotted_name, index_of, keywords, last_name, positional
from deviate.errors import InputError
from deviate.model.metric_vocabulary import word_set

# ---------------------------------------------------------------- changes of `sys.path` in the source
# Folders computed from constants and `__file__`.

SAME = ("abspath", "realpath", "normpath", "expanduser", "str", "Path", "PurePath", "resolve", "absolute", "fspath")
DEEPEST = 10


def path_changes(module: Module) -> Iterator[tuple[str, str]]:
    """Folders of the project that a module puts on the path: (`insert` or `append`, folder relative to the root)."""
    for function in module.scopes:
        for call in function.calls:
            base, _, how = dotted_name(call.func).rpartition(".")
            if base != "sys.path" or how not in ("insert", "append", "extend"):
                continue
            for value in positional(call)[int(how == "insert") :]:
                parts = [item.value for item in value.elements] if isinstance(value, cst.List | cst.Tuple) else [value]
                yield from ((how, folder) for part in parts for folder in _folders(part, module))


def _folders(node: cst.BaseExpression, module: Module) -> Iterator[str]:
    path = _path(node, module, DEEPEST)
    if path is None or path.startswith(("/", "~")):
        return
    here = posixpath.dirname(module.file)  # or relative to the working folder: the root, or that of the script
    for candidate in [path[2:], posixpath.join(here, path[2:])] if path.startswith("?") else [path]:
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
            value = bindings[0].whole("assign") if len(bindings) == 1 else None
            return _path(value, module, depth - 1) if value is not None else None
        case cst.Attribute(attr=cst.Name(value="parent")):
            return _parent(_path(node.value, module, depth - 1))
        case cst.Subscript(value=cst.Attribute(attr=cst.Name(value="parents"), value=inner)):
            path, number = _path(inner, module, depth - 1), index_of(node)
            for _ in range(1 + int(number.value) if isinstance(number, cst.Integer) else 0):
                path = _parent(path)
            return path if isinstance(number, cst.Integer) else None
        case cst.BinaryOperation(operator=cst.Divide() | cst.Add()):
            return _join([_path(part, module, depth - 1) for part in (node.left, node.right)])
        case cst.Call():
            return _path_of_call(node, module, depth - 1)
    return None


def _path_of_call(call: cst.Call, module: Module, depth: int) -> str | None:
    name = last_name(call.func)
    is_method = isinstance(call.func, cst.Attribute) and dotted_name(call.func.value) not in ("os", "os.path", "path")
    holder = [call.func.value] if is_method and isinstance(call.func, cst.Attribute) else []
    arguments = [*positional(call), *keywords(call).values()]
    if name in ("getcwd", "cwd"):
        return "?/"
    if name == "dirname" and arguments:
        return _parent(_path(arguments[0], module, depth))
    if name in ("join", "joinpath"):
        return _join([_path(part, module, depth) for part in [*holder, *arguments]])
    value = next(iter(arguments or holder), None)
    return _path(value, module, depth) if name in SAME and value is not None else None


def _parent(path: str | None) -> str | None:
    return None if path is None else posixpath.join(path, "..") if path.endswith("..") else posixpath.dirname(path)


def _join(parts: list[str | None]) -> str | None:
    """The joined path; only the first part may contain its base."""
    first, *rest = parts
    if first is None or any(part is None for part in rest):
        return None
    return posixpath.join(first, *(part.removeprefix("?/").lstrip("/") for part in rest if part is not None))


# ---------------------------------------------------------------- modules

FRAMEWORKS = word_set(
    "torch torchvision torchaudio torchmetrics tensorflow tf_keras keras jax jaxlib flax optax haiku numpy scipy "
    "pandas sklearn matplotlib transformers accelerate lightning pytorch_lightning tensorboard "
    "tensorboardX wandb mlflow tqdm absl clu hydra omegaconf click typer fire ray deepspeed"
)
"""Packages known by name: their sources are not followed, even if the project contains them."""

MOST_FILES = 400
MOST_CHARACTERS = 2_000_000
"""Limit of code that is followed: about ten seconds of work."""


class Project:
    """Modules of the project that can be reached from a script.

    Attributes:
        entry: the module of the script.
        nodes: relations of the nodes of all its trees. notices: for the user, on code that could not be followed.
    """

    def __init__(self, source: SourceFile, root: Path) -> None:
        self.root = root
        self.nodes = Nodes()
        self.modules: dict[str, Module] = {}
        self.notices: list[str] = []
        self._known: dict[str, bool] = {}
        self._resolved: dict[tuple[str, object], tuple[str, str] | None] = {}
        self._n_characters = 0
        self._broken: set[str] = set()
        folder = posixpath.dirname(source.file)
        self.path = list(dict.fromkeys([folder, "", "src"]))
        self.entry = self.add(source)

    def files(self) -> tuple[str, ...]:
        """Files that were read, the script first."""
        return tuple(self.modules)

    def resolve(self, name: str, importer: Module) -> tuple[str, str] | None:
        """The file that an absolute or relative dotted name leads to, and the rest of the name.

        For a package without `__init__.py`, the folder with a trailing slash.
        """
        folder = posixpath.dirname(importer.file)
        key = (name, folder if name.startswith(".") else tuple(self.path))
        if key not in self._resolved:
            self._resolved[key] = self._resolve(name, folder)
        return self._resolved[key]

    def _resolve(self, name: str, folder: str) -> tuple[str, str] | None:
        stem = name.lstrip(".")
        level = len(name) - len(stem)
        parts = stem.split(".") if stem else []
        if level:
            base = folder
            for _ in range(level - 1):
                base = posixpath.dirname(base)
            bases = [base]
        else:
            bases = self.path
        for base in bases:
            place = self._longest(base, parts, is_relative=bool(level))
            if place is not None:
                return place
        if not level and len(parts) > 1 and self._package(""):  # the root is a package that imports itself by name
            return self._longest("", parts[1:], is_relative=False)
        return None

    def load(self, file: str) -> Module | None:
        """The module of a file; None if it cannot be read or parsed, with one notice."""
        if file in self.modules:
            return self.modules[file]
        if file.endswith("/") or file in self._broken:
            return None
        if len(self.modules) >= MOST_FILES or self._n_characters > MOST_CHARACTERS:
            self._broken.add(file)
            self._notice("the project is larger than what is followed; files behind the first ones were not read")
            return None
        try:
            return self.add(read_source(self.root / file, file))
        except InputError as error:
            reason = error.message
        except RecursionError:
            reason = f"{file}: nested too deeply to be read"
        self._broken.add(file)
        self._notice(f"not followed: {reason}")
        return None

    def within(self, file: str, name: str) -> str | None:
        """The file of a submodule of a package, given by the package's file or folder."""
        if not file.endswith(("/", "/__init__.py")) and file != "__init__.py":
            return None
        place = self._longest(posixpath.dirname(file), [name], is_relative=True)
        return place[0] if place is not None and not place[1] else None

    # ------------------------------------------------------------ inside

    def _notice(self, text: str) -> None:
        if text not in self.notices:
            self.notices.append(text)

    def add(self, source: SourceFile) -> Module:
        """Add a file."""
        module = Module(source, self.nodes)
        self.modules[source.file] = module
        self._n_characters += len(source.text)
        if source.notice:
            self._notice(source.notice)
        for place, folder in path_changes(module):
            if folder not in self.path:
                self.path.insert(0 if place == "insert" else len(self.path), folder)
        return module

    def _longest(self, base: str, parts: list[str], *, is_relative: bool) -> tuple[str, str] | None:
        """The deepest file below a folder that the parts of a name lead to, and the parts behind it."""
        place: tuple[str, str] | None = None
        path = base
        if not parts and is_relative:
            return (self._package(base) or f"{base}/", "")
        for number, part in enumerate(parts):
            path = f"{path}/{part}" if path else part
            rest = ".".join(parts[number + 1 :])
            file = self._file(path)
            if number == 0 and not is_relative and part in FRAMEWORKS and file != f"{path}.py":
                return None
            if file is not None:
                place = (file, rest)
            elif not self._exists(path, os.path.isdir):
                break
            elif not rest:
                place = (f"{path}/", "")
        return place

    def _file(self, path: str) -> str | None:
        return self._package(path) or (f"{path}.py" if self._exists(f"{path}.py", os.path.isfile) else None)

    def _package(self, folder: str) -> str | None:
        name = f"{folder}/__init__.py" if folder else "__init__.py"
        return name if self._exists(name, os.path.isfile) else None

    def _exists(self, name: str, test: Callable[[Path], bool]) -> bool:
        if name not in self._known:
            self._known[name] = test(self.root / name)
        return self._known[name]
