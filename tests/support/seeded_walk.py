"""Walks the public names of a library, and prints those that take a seed, or lie in a module that draws.

    python seeded_walk.py LIBRARY

A function or class that has several names is printed under the shortest one.
"""

import importlib
import inspect
import pkgutil
import re
import sys
import warnings
from collections.abc import Iterator
from types import ModuleType

SEEDS = re.compile(r"seed|random_state|^rngs?$|^generator$|^bit_generator$|^prng_key$|^np_random$|^entropy$")
"""Names of parameters that seeds are given by."""
TEXT = re.compile(r"\b(seed|random_state|rng|generator)\s*=")
"""The same in the text of a function in C, which may have no signature."""
DESCRIBED = re.compile(r"^\s*(seed|random_state|rng) : ", re.MULTILINE)
"""The same in the description of a function that takes what its signature does not tell."""
DRAWING = ("random", "numpy.random", "jax.random", "tensorflow.random", "keras.random", "torch.random")
"""Modules all of whose functions draw or seed."""
LEFT_OUT = re.compile(
    r"\.(tests?|testing|conftest|externals|compat|raw_ops|f2py|distutils|experimental_connect_to_\w+|ao|onnx|fx|"
    r"_api|libs|python|src|legacy|array_api_\w+|typing|ctypeslib|plugins|nativert|package|profiler|masked|onnx|utils\.(cpp|hip\w*|bench\w*|bottle\w*|tensor\w*|model\w*))\b|\._"
)
"""Modules that are not for those who train: tests, copies of an API, tools."""
EXTRA = {
    "scipy": ["scipy.stats.sampling", "scipy.linalg.interpolative", "scipy.stats.contingency", "scipy.cluster.vq"],
    "torch": ["torch.distributions", "torch.quasirandom", "torch.utils.data", "torch.nn.utils.parametrizations"],
    "jax": ["jax.random", "jax.nn.initializers"],
    "gymnasium": ["gymnasium.vector", "gymnasium.spaces", "gymnasium.utils.seeding", "gymnasium.wrappers"],
}
"""Modules that are public and may have to be imported by name."""


class Walk:
    """The names of one library, by what they stand for."""

    def __init__(self, library: str) -> None:
        self.library = library
        self.modules: set[str] = set()
        self.names: dict[int, str] = {}
        self.kept: list[object] = []
        """What has been met, so that no id is used again."""

    def module(self, module: ModuleType, path: str) -> None:
        if module.__name__ in self.modules or LEFT_OUT.search(path):
            return
        self.modules.add(module.__name__)
        public = [name for name in dir(module) if not name.startswith("_")]
        given = getattr(module, "__all__", None)
        listed = given if isinstance(given, list | tuple) and given else public
        for name in [*listed, *(name for name in public if name not in listed)]:
            try:
                value = getattr(module, name)
            except Exception:  # noqa: BLE001  (a name that stands for something which is not installed)
                continue
            if name not in listed and getattr(value, "__name__", "") != f"{module.__name__}.{name}":
                continue
            where = f"{path}.{name}"
            if inspect.ismodule(value):
                if value.__name__ == f"{module.__name__}.{name}" or "._api." in value.__name__:
                    self.module(value, where)
            elif self.is_own(value):
                self.value(value, where, is_drawing=path in DRAWING)

    def is_own(self, value: object) -> bool:
        module = getattr(value, "__module__", None) or getattr(type(value), "__module__", "")
        return str(module).partition(".")[0] in (self.library, self.library.replace("jax", "jaxlib"))

    def value(self, value: object, path: str, *, is_drawing: bool) -> None:
        if inspect.isclass(value):
            maker = value.__init__ if value.__init__ is not object.__init__ else value.__new__  # type: ignore[misc]
            if is_drawing or takes_seed(value):
                self.add(maker if is_function(maker) else value, path)
            for name, method in methods(value):
                if takes_seed(method):
                    self.add(method, f"{path}.{name}")
        elif callable(value) and is_function(value):
            if is_drawing or takes_seed(value):
                self.add(value, path)
        elif not is_drawing:
            self.value(type(value), path, is_drawing=False)

    def add(self, value: object, path: str) -> None:
        self.kept.append(value)
        key = id(inspect.unwrap(value)) if callable(value) else id(value)
        known = self.names.get(key)
        if known is None or (path.count("."), len(path), path) < (known.count("."), len(known), known):
            self.names[key] = path


def is_function(value: object) -> bool:
    return inspect.isroutine(value) or hasattr(value, "__wrapped__") or type(value).__name__ == "PjitFunction"


def methods(kind: type) -> Iterator[tuple[str, object]]:
    for name in dir(kind):
        if not name.startswith("_"):
            value = inspect.getattr_static(kind, name)
            value = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if inspect.isroutine(value):
                yield name, value


def takes_seed(value: object) -> bool:
    text = str(getattr(value, "__doc__", None) or "")
    try:
        parameters = inspect.signature(value).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return bool(TEXT.search(text[:2000]))
    is_open = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    return any(SEEDS.search(name) for name in parameters) or (is_open and bool(DESCRIBED.search(text)))


def main(library: str) -> None:
    warnings.simplefilter("ignore")
    walk = Walk(library)
    walk.module(importlib.import_module(library), library)
    for name in EXTRA.get(library, ()):
        walk.module(importlib.import_module(name), name)
    if library == "sklearn":
        for found in pkgutil.iter_modules(importlib.import_module("sklearn").__path__):
            if found.ispkg and not LEFT_OUT.search(f"sklearn.{found.name}"):
                walk.module(importlib.import_module(f"sklearn.{found.name}"), f"sklearn.{found.name}")
    sys.stdout.write("".join(f"{name}\n" for name in sorted(set(walk.names.values()))))


if __name__ == "__main__":
    main(sys.argv[1])
