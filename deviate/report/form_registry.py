"""Registers of forms: names, and functions from a view to text. Reports, checks and sheets have one each."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from deviate.errors import InputError

T = TypeVar("T")
COLUMN_IN = 3.25
"""Width of a column of a paper in inches. Source: ICML 2025 style; NeurIPS has one column of 5.5."""


@dataclass(frozen=True, slots=True)
class Medium:
    """What the text is for: columns of a terminal, and whether it understands control codes; packages of a document."""

    width: int = 120
    is_coloured: bool = False
    has_siunitx: bool = False


class Forms(Generic[T]):
    """The forms of one kind of view.

    Attributes:
        what: what the view is, for messages.
        modules: by name of the form, where its function registers itself; imported when the form is wanted.
        functions: by name, those of modules that were imported; each gives text that ends in a newline.
    """

    def __init__(self, what: str, modules: Mapping[str, str]) -> None:
        self.what, self.modules = what, modules
        self.functions: dict[str, Callable[[T, Medium], str]] = {}

    def form(self, name: str) -> Callable[[Callable[[T, Medium], str]], Callable[[T, Medium], str]]:
        """Register a function as the form of that name."""

        def register(function: Callable[[T, Medium], str]) -> Callable[[T, Medium], str]:
            self.functions[name] = function
            return function

        return register

    def render(
        self, view: T, form: str, *, width: int = 120, is_coloured: bool = False, has_siunitx: bool = False
    ) -> str:
        """The view as text that ends in a newline; width and colour matter to the terminal alone, siunitx to LaTeX.

        Raises:
            InputError: there is no such form.
        """
        if form not in self.modules:
            known = ", ".join(sorted(self.modules))
            raise InputError(f"there is no {self.what} of the form {form!r}", f"choose one of {known}")
        importlib.import_module(self.modules[form])
        return self.functions[form](view, Medium(width, is_coloured, has_siunitx))
