"""The page of the public functions for notebooks and scripts."""

import inspect
from collections.abc import Iterator
from typing import Any

import deviate
from scripts.reference.docstrings import paragraphs, signature

HEAD = """\
# In Python

The functions that `import deviate` provides for notebooks and scripts ([how to use them](../how-to/notebook.md)).
Everything else is internal and may change with any version.

Written from the docstrings by `python -m scripts.reference`.
"""


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    offered = sorted(deviate.NOTEBOOK, key=lambda name: (inspect.isclass(getattr(deviate, name)), name))
    return (
        "\n".join([HEAD, *(line for name in offered for line in _told(name, getattr(deviate, name)))]).rstrip() + "\n"
    )


def _told(name: str, value: Any) -> Iterator[str]:
    yield f"## deviate.{name}\n"
    if not inspect.isclass(value):
        yield f"```python\n{signature(value, f'deviate.{name}')}\n```\n"
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
