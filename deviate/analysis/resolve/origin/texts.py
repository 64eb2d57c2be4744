"""Origins of texts: a duration written out, with units and nothing else, is still a duration; settings likewise."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from deviate.analysis.resolve.identifier_words import words
from deviate.analysis.resolve.index import Function
from deviate.analysis.resolve.origin.kinds import Origin
from deviate.analysis.resolve.templates import format_fields, percent_fields
from deviate.analysis.resolve.tree import constant_text, last_name
from deviate.model.metric_vocabulary import listed

if TYPE_CHECKING:
    from deviate.analysis.resolve.origin.origins import Origins

UNITS = listed("d day days h hr hrs hour hours m min mins minute minutes s sec secs second seconds ms us")
TEXT = Origin("text", "a text")


class Texts:
    """Answers for literals, templates and sums of texts."""

    def __init__(self, origins: "Origins") -> None:
        self.origins = origins

    def of(self, node: cst.CSTNode, function: Function, depth: int) -> Origin | None:
        """The origin of a literal, of a filled `%` template or of texts put together; None for anything else."""
        match node:
            case cst.FormattedString():
                said = [part.value for part in node.parts if isinstance(part, cst.FormattedStringText)]
                shown = [part.expression for part in node.parts if isinstance(part, cst.FormattedStringExpression)]
                return self.showing(shown, " ".join(said), function, depth)
            case cst.BaseString():
                return TEXT
            case cst.BinaryOperation(operator=cst.Modulo(), left=cst.BaseString()):
                values = _items(node.right) if isinstance(node.right, cst.Tuple) else [node.right]
                return self.showing(values, _said(percent_fields(constant_text(node.left) or "")), function, depth)
            case cst.BinaryOperation(operator=cst.Add()) if _is_text(node):
                return self.showing([node.left, node.right], "", function, depth)
        return None

    def formatted(self, template: str, values: Sequence[cst.BaseExpression], function: Function, depth: int) -> Origin:
        """The origin of a filled `str.format` template."""
        return self.showing(values, _said(format_fields(template)), function, depth)

    def showing(self, values: Sequence[cst.BaseExpression], said: str, function: Function, depth: int) -> Origin:
        """The origin of a text that shows some values among some words."""
        said += " ".join(constant_text(value) or "" for value in values)
        if not set(words(said)) <= UNITS:
            return TEXT
        found = [self.origins.of(value, function, depth) for value in values if constant_text(value) is None]
        shown = [origin for origin in found if origin.kind not in ("text", "constant", "cycle")]
        kinds = {origin.kind for origin in shown}
        return shown[0] if kinds == {"duration"} or (kinds and kinds <= {"setting", "rate"}) else TEXT


def _items(node: cst.Tuple) -> list[cst.BaseExpression]:
    return [item.value for item in node.elements if isinstance(item, cst.Element)]


def _said(parts: Sequence[object]) -> str:
    return " ".join(part for part in parts if isinstance(part, str))


def _is_text(node: cst.BaseExpression) -> bool:
    """Whether a sum has a text among its terms."""
    while isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        if _is_text(node.right):
            return True
        node = node.left
    return isinstance(node, cst.BaseString) or (isinstance(node, cst.Call) and last_name(node.func) == "str")
