"""The register of renderers: a name, and a function from a view to text."""

from collections.abc import Callable
from dataclasses import dataclass

from deviate.errors import InputError
from deviate.report.view import View


@dataclass(frozen=True, slots=True)
class Surface:
    """What the text is for: columns of a terminal, and whether it understands control codes; packages of a document."""

    width: int = 120
    is_coloured: bool = False
    has_siunitx: bool = False


Renderer = Callable[[View, Surface], str]
RENDERERS: dict[str, Renderer] = {}


def renderer(name: str) -> Callable[[Renderer], Renderer]:
    """Register a function as the renderer of that name."""

    def register(function: Renderer) -> Renderer:
        RENDERERS[name] = function
        return function

    return register


def render(view: View, form: str, *, width: int = 120, is_coloured: bool = False, has_siunitx: bool = False) -> str:
    """The report as text that ends in a newline; width and colour matter to the terminal alone, siunitx to LaTeX.

    Raises:
        InputError: there is no such form.
    """
    if form not in RENDERERS:
        raise InputError(f"there is no report of the form {form!r}", f"choose one of {', '.join(sorted(RENDERERS))}")
    return RENDERERS[form](view, Surface(width, is_coloured, has_siunitx))
