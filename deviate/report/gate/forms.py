"""The forms of a check: a name, and a function from its view to text."""

from collections.abc import Callable
from dataclasses import dataclass

from deviate.errors import InputError
from deviate.report.gate.view import CheckView


@dataclass(frozen=True, slots=True)
class Screen:
    """Columns of a terminal, and whether it understands control codes."""

    width: int = 120
    is_coloured: bool = False


CheckRenderer = Callable[[CheckView, Screen], str]
CHECK_FORMS: dict[str, CheckRenderer] = {}


def check_form(name: str) -> Callable[[CheckRenderer], CheckRenderer]:
    """Register a function as the form of that name."""

    def register(function: CheckRenderer) -> CheckRenderer:
        CHECK_FORMS[name] = function
        return function

    return register


def render_check(view: CheckView, form: str, *, width: int = 120, is_coloured: bool = False) -> str:
    """A check as text that ends in a newline; width and colour matter to the terminal alone.

    Raises:
        InputError: there is no such form.
    """
    if form not in CHECK_FORMS:
        raise InputError(f"there is no check of the form {form!r}", f"choose one of {', '.join(sorted(CHECK_FORMS))}")
    return CHECK_FORMS[form](view, Screen(width, is_coloured))
