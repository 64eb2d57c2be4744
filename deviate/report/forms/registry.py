"""The registry of forms: a function from a document to text by name."""

from collections.abc import Callable

from deviate.errors import InputError
from deviate.registry import Registry
from deviate.report.document import Check, Document
from deviate.report.medium import Medium

Form = Callable[[Document, Medium], str]

FORMS: "Registry[Form]" = Registry("deviate.report.forms", "deviate.forms")
"""By name; each gives text that ends in a newline."""
RENDERERS = ("csv", "html", "json", "latex", "markdown", "terminal")
CHECK_FORMS = ("github", "json", "junit", "markdown", "terminal")
OF_CHECKS_ALONE = frozenset(CHECK_FORMS) - frozenset(RENDERERS)


def document_form(name: str) -> Callable[[Form], Form]:
    """Register the decorated function of a document and a medium, which returns text, as the form of that name."""

    def register(function: Form) -> Form:
        FORMS.add(name, function, function.__module__)
        return function

    return register


def render(
    document: Document,
    form: str,
    *,
    width: int = 120,
    is_coloured: bool = False,
    has_siunitx: bool = False,
    is_full: bool = False,
) -> str:
    """The document as text that ends in a newline.

    Width and colour matter to the terminal alone, `has_siunitx` to LaTeX, `is_full` to the page.

    Raises:
        InputError: there is no such form.
    """
    is_check = isinstance(document, Check)
    if form not in CHECK_FORMS if is_check else form in OF_CHECKS_ALONE or form not in FORMS:
        kind, names = ("check", CHECK_FORMS) if is_check else ("report", sorted(set(FORMS) - OF_CHECKS_ALONE))
        raise InputError(f"there is no {kind} of the form {form!r}", f"choose one of {', '.join(names)}")
    return FORMS[form](document, Medium(width, is_coloured, has_siunitx, is_full))
