"""Docstrings of the Google form as Markdown."""

import inspect
import re
from collections.abc import Callable
from typing import Any

SECTION = re.compile(r"^(Args|Attributes|Raises|Returns|Source):\s*(.*)$")
ITEM = re.compile(r"^([\w*, ]+):\s+(.*)$")


def paragraphs(text: str | None) -> str:
    """Prose as it is; what stands below `Args:` and the like as lists."""
    lines: list[str] = []
    in_list = False
    for line in inspect.cleandoc(text or "").splitlines():
        section = SECTION.match(line)
        if section:
            in_list = not section[2]
            lines += ["", f"**{section[1]}**" + (f": {section[2]}" if section[2] else ""), ""][: 3 if in_list else 2]
        elif in_list and line.startswith("    ") and not line.startswith("     "):
            item = ITEM.match(line.strip())
            lines.append(f"- `{item[1]}`: {item[2]}" if item else f"- {line.strip()}")
        elif in_list and line.startswith("     "):
            lines.append(f"  {line.strip()}")
        else:
            in_list = in_list and not line
            lines.append(line)
    return "\n".join(_fenced(lines)).strip()


def _fenced(lines: list[str]) -> list[str]:
    """Examples at a prompt as blocks of code."""
    fenced: list[str] = []
    is_open = False
    for line in lines:
        if line.startswith(">>>") and not is_open:
            fenced += ["", "```pycon"]
            is_open = True
        elif is_open and not line:
            fenced.append("```")
            is_open = False
        fenced.append(line)
    return [*fenced, *(["```"] if is_open else [])]


def signature(function: Callable[..., Any], name: str) -> str:
    """As it is called, with defaults and without types, which the text tells."""
    told = inspect.signature(function)
    bare = [
        it.replace(annotation=inspect.Parameter.empty)
        for it in told.parameters.values()
        if it.name not in {"self", "cls"}
    ]
    return f"{name}{told.replace(parameters=bare, return_annotation=inspect.Signature.empty)}"


def cell(text: str) -> str:
    """Text for one cell of a table."""
    return " ".join(text.split()).replace("|", r"\|").replace("<", "&lt;")
