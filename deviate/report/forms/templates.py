"""Finds templates, in the installed package or at the top level of a checkout."""

from collections.abc import Callable
from functools import cache, partial
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import jinja2

from deviate.errors import ToolError
from deviate.report.document import Absent, Changes, Code, Excerpt, Facts, Figure, Items, Quote, Remark, Table

PAGE = "report.html.j2"
BLOCKS = (Absent, Changes, Code, Excerpt, Facts, Quote, Figure, Items, Remark, Table)
"""What templates tell apart, each by its name in lower case."""


@cache
def template(name: str = PAGE) -> jinja2.Template:
    """A template with autoescaping that fails on undefined names.

    Raises:
        ToolError: the templates are not where they belong, or one is broken.
    """
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    tests: dict[str, Callable[[object], bool]] = {kind.__name__.lower(): partial(_is_a, kind) for kind in BLOCKS}
    environment.tests |= tests
    try:
        return environment.get_template(name)
    except jinja2.TemplateError as error:
        raise ToolError(f"the report template {name} cannot be used: {error}", "install deviate again") from error


def _is_a(kind: type, value: object) -> bool:
    return isinstance(value, kind)


def source(name: str) -> str:
    """The contents of a file in the template folder, for inclusion in a page.

    Raises:
        ToolError: it is not where it belongs.
    """
    return _read(name)


def _read(name: str) -> str:
    folder = _folder(files("deviate"))
    try:
        return folder.joinpath(name).read_text(encoding="utf-8")
    except OSError as error:
        raise ToolError(
            f"the report template {folder / name} cannot be read: {error.strerror}", "install deviate again"
        ) from error


def _folder(package: Traversable) -> Traversable:
    """`templates/` in the installed package (wheel), else beside the package (checkout, editable install)."""
    candidates = [package / "templates"]
    if isinstance(package, Path):
        candidates.append(package.parent / "templates")
    for folder in candidates:
        if (folder / PAGE).is_file():
            return folder
    looked = " and ".join(str(folder) for folder in candidates)
    raise ToolError(f"the report templates are missing: looked in {looked}", "install deviate again")
