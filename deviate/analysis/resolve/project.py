"""Modules of a project: maps module names to files, which are parsed on demand."""

import os
import posixpath
from collections.abc import Callable
from pathlib import Path

from deviate.analysis.resolve.index import Module, Nodes
from deviate.analysis.resolve.parsed import ParsedFiles
from deviate.analysis.resolve.paths import path_changes
from deviate.analysis.resolve.source import Source, read_source
from deviate.errors import InputError
from deviate.model.metric_vocabulary import word_set

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

    def __init__(self, source: Source, root: Path) -> None:
        self.root = root
        self.parsed = ParsedFiles(root)
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
            return self.add(read_source(self.root / file, file, self.parsed))
        except InputError as error:
            reason = error.message
        except RecursionError:
            reason = f"{file}: nested too deeply to be read"
        self._broken.add(file)
        self._notice(f"not followed: {reason}")
        return None

    def package_of(self, file: str) -> Module | None:
        """The package that a file is a submodule of; None for what lies in a folder without `__init__.py`."""
        folder = posixpath.dirname(file[: -len("/__init__.py")] if file.endswith("/__init__.py") else file.rstrip("/"))
        package = self._package(folder)
        return self.load(package) if folder and package is not None and package != file else None

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

    def add(self, source: Source) -> Module:
        """Add a file."""
        module = Module(source, self.nodes)
        self.modules[source.file] = module
        self._n_characters += len(source.text)
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
