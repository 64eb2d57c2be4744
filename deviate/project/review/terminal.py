"""The terminal as the user interface of a review."""

import os
import sys

from rich.console import Console, RenderableType

from deviate.errors import InputError


class Terminal:
    """Writes to standard output and reads from standard input.

    Raises:
        InputError: one of them is no terminal.
    """

    def __init__(self) -> None:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise InputError(
                "--review asks questions, and this is no terminal", "Use --save, and edit deviate.toml by hand."
            )
        self.console = Console(highlight=False, no_color="NO_COLOR" in os.environ)

    def show(self, content: RenderableType) -> None:
        self.console.print(content)

    def ask(self, question: str) -> str:
        try:
            return self.console.input(question, markup=False)
        except UnicodeDecodeError:
            return "?"
