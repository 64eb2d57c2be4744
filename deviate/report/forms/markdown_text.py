"""Escapes text for Markdown."""

import re

from deviate.report.format import clean

ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}
"""An address would notify somebody, which a backslash does not prevent."""
SPECIAL = re.compile(r"[&<>@\\`*|~#$]|\](?=[(\[:])|\[(?=[\^ xX])|(?<![^\W_])_|_(?![^\W_])|://|(?<=www)\.")

FIRST = re.compile(r"^(\d*)([-+=.)])(?=[-+= ]|$)")
"""What would begin a list or draw a line."""


def escape(text: str) -> str:
    r"""Escape text, so that it has no markup and no links and mentions nobody.

    >>> print(escape("test_acc | <b>"), escape("_x_ @me"))
    test_acc \| &lt;b&gt; \_x\_ &#64;me
    """
    escaped = SPECIAL.sub(lambda match: ENTITIES.get(match[0]) or _apart(match[0]), clean(text).strip())
    return FIRST.sub(r"\1\\\2", escaped)


def _apart(special: str) -> str:
    """Escape a match: the colon or dot of an address by its HTML entity, other characters by a backslash."""
    return {"://": "&#58;//", ".": "&#46;"}.get(special, f"\\{special}")
