"""The page of the public functions for scripts and notebooks."""

import inspect
from collections.abc import Iterator
from typing import Any

import deviate
from deviate.api import Figure
from scripts.reference.docstrings import paragraphs, signature

HEAD = """\
# In Python

What `import deviate` provides for notebooks and scripts ([how to use them](../how-to/notebook.md)). These names, the
[interfaces for plug-ins](extensions.md) and the [statistics](statistics.md) in `deviate.stats` are public. They have
types (PEP 561): `mypy --strict` checks code that uses them. Everything else is internal and may change with any
version.

Written from the docstrings by `python -m scripts.reference`.
"""


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    public = {f"deviate.{name}": getattr(deviate, name) for name in deviate.__all__} | {"deviate.api.Figure": Figure}
    in_order = sorted(public, key=lambda name: (inspect.isclass(public[name]), "log" in name))
    return "\n".join([HEAD, *(line for name in in_order for line in described(name, public[name]))]).rstrip() + "\n"


def described(name: str, value: Any, level: str = "##", *, is_constructed: bool = False) -> Iterator[str]:
    """Lines on a function, or on a class and its public members.

    Args:
        level: of the heading.
        is_constructed: whether callers make objects of the class.
    """
    yield f"{level} {name}\n"
    if is_constructed or not inspect.isclass(value):
        yield f"```python\n{signature(value, name)}\n```\n"
    yield f"{paragraphs(value.__doc__)}\n"
    if inspect.isclass(value):
        for member, function in vars(value).items():
            if not member.startswith("_") and (inspect.isfunction(function) or hasattr(function, "__get__")):
                yield from _member(member, function, f"{level}#")


def _member(name: str, member: Any, level: str) -> Iterator[str]:
    text = paragraphs(inspect.getdoc(member))
    if inspect.isfunction(member):
        yield f"{level} {signature(member, name)}\n\n{text}\n"
    elif isinstance(member, property) or type(member).__name__ == "cached_property":
        yield f"{level} {name}\n\n{text}\n"
