"""Breaks and aligns text by display width on a terminal, where some characters are two columns wide."""

import io
from collections.abc import Iterable

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from deviate.report.format import ELLIPSIS
from deviate.report.medium import Medium


def console_of(medium: Medium) -> Console:
    """A console that writes to memory, and takes nothing from the environment."""
    return Console(
        file=io.StringIO(),
        width=medium.width,
        color_system="standard" if medium.is_coloured else None,
        force_terminal=medium.is_coloured,
        force_jupyter=False,  # in a notebook rich would show each line itself
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
        _environ={},
    )


def written(console: Console) -> str:
    """What was printed on a console of `console_of`, without blanks at ends of lines."""
    text = console.file.getvalue() if isinstance(console.file, io.StringIO) else ""
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def pad(text: str, n_columns: int) -> str:
    """Pad the text with blanks to a display width; longer text is returned unchanged."""
    return text + " " * (n_columns - cell_len(text))


def cut(text: str, n_columns: int) -> str:
    """Truncate the text to a display width, with a sign where something was cut."""
    return text if cell_len(text) <= n_columns else set_cell_size(text, n_columns - 1).rstrip() + ELLIPSIS


def widest(texts: Iterable[str]) -> int:
    return max(map(cell_len, texts), default=0)


def fill_lines(text: str, width: int) -> list[str]:
    """Words in lines no wider than `width`; a word that is wider is broken."""
    return [line.plain.rstrip() for line in Text(text).wrap(console_of(Medium(width)), width)]
