"""The page of what is public in Python: the functions for notebooks and scripts, and what extensions import."""

import importlib
import inspect
import typing
from collections.abc import Iterator
from typing import Any

import deviate
from deviate.api import Figure
from scripts.reference.docstrings import cell, paragraphs, signature

HEAD = """\
# In Python

What `import deviate` provides for notebooks and scripts ([how to use them](../how-to/notebook.md)). These names, those
for [extensions](#for-extensions) and the [statistics](statistics.md) in `deviate.stats` are public. deviate is typed
(PEP 561): `mypy --strict` checks scripts that use them. Everything else is internal and may change with any version.

Written from the docstrings by `python -m scripts.reference`.
"""
EXTENSIONS = {
    "deviate.sinks": (
        *("sink", "Scalar", "Record", "Row", "Summary", "Table", "Message", "Template", "FormatTemplate"),
        *("methods", "by_keyword", "given"),
    ),
    "deviate.guest.adapter_context": ("AdapterContext",),
    "deviate.guest.observations": ("Observations",),
    "deviate.guest.observers.arrays": ("Arrays",),
    "deviate.guest.streams": ("Bank",),
    "deviate.records": ("importer", "Imported", "ImportedRun"),
    "deviate.replay": ("executor", "Executor", "LocalExecutor", "Order", "Outcome", "RunUpdate"),
    "deviate.stats": ("statistic", "Statistic"),
    "deviate.report": ("document_form", "Document", "Report", "build_report", "render"),
    "deviate.model": (
        *("Experiment", "Run", "Series", "SelectedMetric", "Direction", "Settings", "Spec", "Findings"),
        *("Estimate", "Interval", "Test", "Unavailable"),
    ),
    "deviate.errors": ("DeviateError", "InputError", "RecordError", "RunError", "ToolError", "PluginWarning"),
}
"""Names that extensions and scripts may import, by the module that they are imported from."""
EXTENSIONS_HEAD = """\
## For extensions

[Packages that extend deviate](../how-to/extend.md) import these names, and so do scripts that look into results. They
may change between versions; the changelog says so.

| import from | name | what it is |
|---|---|---|
"""


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    values = {f"deviate.{name}": getattr(deviate, name) for name in deviate.__all__} | {"deviate.api.Figure": Figure}
    in_order = sorted(values, key=lambda name: (inspect.isclass(values[name]), "log" in name))
    lines = [line for name in in_order for line in _described(name, values[name])]
    return "\n".join([HEAD, *lines, f"{EXTENSIONS_HEAD}{''.join(_rows())}"]).rstrip() + "\n"


def _described(name: str, value: Any) -> Iterator[str]:
    yield f"## {name}\n"
    if not inspect.isclass(value):
        yield f"```python\n{signature(value, name)}\n```\n"
    yield f"{paragraphs(value.__doc__)}\n"
    if inspect.isclass(value):
        for member, function in vars(value).items():
            if not member.startswith("_") and (inspect.isfunction(function) or hasattr(function, "__get__")):
                yield from _member(member, function)


def _member(name: str, member: Any) -> Iterator[str]:
    text = paragraphs(inspect.getdoc(member))
    if inspect.isfunction(member):
        yield f"### {signature(member, name)}\n\n{text}\n"
    elif isinstance(member, property) or type(member).__name__ == "cached_property":
        yield f"### {name}\n\n{text}\n"


def _rows() -> Iterator[str]:
    for module, names in EXTENSIONS.items():
        for name in names:
            yield f"| `{module}` | `{name}` | {cell(_first_line(getattr(importlib.import_module(module), name)))} |\n"


def _first_line(value: Any) -> str:
    """The first line of a docstring; of a name for several types, what they are."""
    members = typing.get_args(value)
    if members:
        return f"One of {', '.join(getattr(it, '__name__', None) or repr(it) for it in members)}."
    return inspect.cleandoc(value.__doc__).splitlines()[0]
