"""Patterns of printed text such as `val acc: {value}`, which name a value where no place in the script does."""

import re

from deviate.errors import InputError

EXAMPLE = 'Write match = "val acc: {value}": {value} is the number, {} any other text, {{ and }} are braces.'
NUMBER = r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|(?i:nan|inf(?:inity)?)(?![a-zA-Z]))"
"""What `float` reads; a percent sign or unit behind it is text."""
PARTS = re.compile(r"\{\{|\}\}|\{[^{}]*\}|[{}]|\s+|[^{}\s]+")


def pattern_regex(pattern: str, title: str) -> str:
    """The regular expression of a pattern, for `re.search` in one line; its only group is the number.

    Blanks match any number of blanks, and none before the number. A pattern that begins with a word begins where a word
    does: `acc {value}` is not in `val_acc 0.9`.

    Args:
        title: says for messages where the pattern stands.

    Raises:
        InputError: it has not exactly one {value}, nothing else, or braces that mean nothing.
    """
    n_values = pattern.count("{value}")
    if n_values != 1:
        raise InputError(f"{title}: match = {pattern!r} has {n_values or 'no'} {{value}}", EXAMPLE)
    parts: list[str] = []
    for part in PARTS.findall(pattern.strip()):
        if part == "{value}":
            parts.append(rf"\s*({NUMBER})")
        elif part == "{}":
            parts.append(".*?")
        elif part in ("{{", "}}"):
            parts.append(re.escape(part[0]))
        elif part[0] in "{}":
            raise InputError(f"{title}: match = {pattern!r} has {part}, which means nothing", EXAMPLE)
        else:
            parts.append(r"\s+" if part.isspace() else re.escape(part))
    if not re.search(r"[^\s{}]", pattern.replace("{value}", "")):
        raise InputError(f"{title}: match = {pattern!r} has no text beside {{value}}", EXAMPLE)
    regex = "".join(parts).replace(r"\s+\s*", r"\s*")
    return rf"(?<!\w){regex}" if re.match(r"\w", pattern.strip()) else regex
