"""The register of forms: a function from a document to text for each name."""

import importlib
from collections.abc import Callable

from deviate.errors import InputError
from deviate.report.document import Check, Document
from deviate.report.medium import Medium

RENDERERS = ("csv", "html", "json", "latex", "markdown", "terminal")
CHECK_FORMS = ("github", "json", "junit", "markdown", "terminal")
Form = Callable[[Document, Medium], str]
FORMS: dict[str, Form] = {}
"""By name, those whose modules were imported; each gives text that ends in a newline."""


def document_form(name: str) -> Callable[[Form], Form]:
    """Register a function as the form of that name, in the module of that name."""

    def register(function: Form) -> Form:
        FORMS[name] = function
        return function

    return register


def render(
    document: Document, form: str, *, width: int = 120, is_coloured: bool = False, has_siunitx: bool = False
) -> str:
    """The document as text that ends in a newline; width and colour matter to the terminal alone, siunitx to LaTeX.

    Raises:
        InputError: there is no such form.
    """
    what, names = ("check", CHECK_FORMS) if isinstance(document, Check) else ("report", RENDERERS)
    if form not in names:
        raise InputError(f"there is no {what} of the form {form!r}", f"choose one of {', '.join(sorted(names))}")
    importlib.import_module(f"deviate.report.forms.{form}")
    return FORMS[form](document, Medium(width, is_coloured, has_siunitx))
