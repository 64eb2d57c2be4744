"""Forms by name: and functions from a view to text. Reports, checks and sheets have one each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from deviate.errors import InputError
from deviate.registry import Registry

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

    Args:
        what: what the view is, for messages.
        folder: package of the modules that register their functions here; group: of entry points of other packages.

    Attributes:
        functions: each gives text that ends in a newline.
    """

    def __init__(self, what: str, folder: str, group: str = "") -> None:
        self.what = what
        self.functions: Registry[Callable[[T, Medium], str]] = Registry(folder, group)

    def form(self, name: str) -> Callable[[Callable[[T, Medium], str]], Callable[[T, Medium], str]]:
        """Register a function as the form of that name."""

        def register(function: Callable[[T, Medium], str]) -> Callable[[T, Medium], str]:
            self.functions.add(name, function)
            return function

        return register

    def render(
        self, view: T, form: str, *, width: int = 120, is_coloured: bool = False, has_siunitx: bool = False
    ) -> str:
        """The view as text that ends in a newline; width and colour matter to the terminal alone, siunitx to LaTeX.

        Raises:
            InputError: there is no such form.
        """
        if form not in self.functions:
            raise InputError(
                f"there is no {self.what} of the form {form!r}", f"choose one of {', '.join(self.functions)}"
            )
        return self.functions[form](view, Medium(width, is_coloured, has_siunitx))
