"""Runs in the user's interpreter: imports frameworks, looks at them, tries what can be tried, and writes down facts.

    python probe.py FOLDER NAME[.QUESTION] …

`FOLDER/NAME[.QUESTION].facts` takes one JSON object per line, as soon as the fact is known, so that a crash or a hang
loses nothing of what was before it. NAME is a module, or `python` for the interpreter and its machine; what is asked of
it stands in `probes/NAME.py`, in the function QUESTION (default: `look`, where there is more to ask than whether the
PLACES that the guest puts itself into are there). Standard library only, from Python 3.8.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import time
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any, Callable, TextIO

HERE = Path(__file__).resolve().parent
PACKAGES = {
    "haiku": ("dm-haiku",),
    "sklearn": ("scikit-learn",),
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tf-nightly", "tensorflow-macos"),
}
"""Modules whose package has a different name."""


class Notes:
    """Writes facts."""

    def __init__(self, file: TextIO) -> None:
        self.file = file

    def record(self, fact: str, value: Any) -> None:
        self._write({"fact": fact, "value": value})

    def begin_step(self, step: str) -> None:
        """Record the next step, as nothing else shows what a process was doing when it died."""
        self._write({"doing": step})

    def attempt(self, fact: str, make: Callable[[], Any]) -> Any:
        """Record the result of `make`, or its error, as a fact."""
        try:
            value = make()
        except Exception as error:
            self._write({"fact": fact, "fault": describe(error)})
            return None
        self.record(fact, value)
        return value

    def record_missing(self, module: Any, names: dict[str, list[str]]) -> None:
        """Record which functions that the guest patches are missing: control -> dotted names."""
        lacking = {
            control: [name for name in dotted if not _is_there(module, name)] for control, dotted in names.items()
        }
        self.record("missing", {control: lacks for control, lacks in lacking.items() if lacks})

    def _write(self, note: dict[str, Any]) -> None:
        self.file.write(json.dumps(note, default=str) + "\n")
        self.file.flush()


def describe(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__


def main(folder: str, *questions: str) -> None:
    if Path(sys.path[0]).resolve() == HERE:  # the script's folder comes first, which must not be deviate's
        del sys.path[0]
    for question in questions:
        with Path(folder, f"{question}.facts").open("w", encoding="utf-8") as file:
            _answer(*question.partition(".")[::2], Notes(file))


def _answer(name: str, question: str, notes: Notes) -> None:
    module = None if name == "python" else _import_module(name, notes)
    probes = _load_probes(name) if name == "python" or module is not None else None
    if probes is not None:
        notes.begin_step("testing it")
        if not question:
            notes.record_missing(module, getattr(probes, "PLACES", {}))
        probe = getattr(probes, question or "look", None)
        if probe is not None:
            probe(module, notes)
    notes.record("is_done", value=True)


def _import_module(name: str, notes: Notes) -> Any:
    notes.record("version", _installed_version(name))
    notes.begin_step("importing it")
    began = time.perf_counter()
    try:
        module = importlib.import_module(name)
    except BaseException as error:  # packages may also call sys.exit
        notes.record("import_fault", describe(error))
        return None
    notes.record("wall_time_s", time.perf_counter() - began)
    notes.record("path", getattr(module, "__file__", None))
    if isinstance(getattr(module, "__version__", None), str):
        notes.record("version", module.__version__)
    return module


def _installed_version(name: str) -> str:
    """The version in the package's metadata, available even if the package cannot be imported."""
    from importlib.metadata import PackageNotFoundError, version

    for package in PACKAGES.get(name, (name,)):
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return ""


def _load_probes(name: str) -> ModuleType | None:
    """The probes of this framework, loaded under another name, as it must not be imported in place of the framework."""
    path = HERE / "probes" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"deviate_probe_{name}", str(path))
    if spec is None or spec.loader is None or not path.exists():
        return None
    module = importlib.util.module_from_spec(spec)
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    spec.loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


def _is_there(owner: Any, dotted: str) -> bool:
    """Whether a dotted name exists; submodules are imported if necessary."""
    for part in dotted.split("."):
        part_value = getattr(owner, part, None)
        if part_value is None and hasattr(owner, "__path__"):
            try:
                part_value = importlib.import_module(f"{owner.__name__}.{part}")
            except Exception:
                return False
        if part_value is None:
            return False
        owner = part_value
    return True


if __name__ == "__main__":
    main(*sys.argv[1:])
