"""Cures: what stands at a place of the script without the source of difference, in the script's own words."""

import ast
from collections.abc import Callable

Cure = Callable[[ast.expr], str]
"""From the expression that was found to that in its place; empty where this form has none."""


def cured_line(cure: Cure, code: str) -> str:
    """The expression in the place of another one; empty if there is none."""
    try:
        return cure(ast.parse(code, mode="eval").body)
    except SyntaxError:  # part of a statement
        return ""


def instead(other: str | Cure = "", /, **by_name: str | Cure) -> Cure:
    """Another expression, by the last name of the function that is called.

    Args:
        other: for functions that are not named, and what is no call.
        by_name: templates with `{code}`, `{callee}`, `{owner}` (the object whose method it is), `{arguments}`, and
            `{first}` and `{rest}` of these; or cures.
    """

    def cure(node: ast.expr) -> str:
        call = node if isinstance(node, ast.Call) else None
        callee = ast.unparse(call.func) if call else ""
        arguments = [*map(ast.unparse, call.args), *map(ast.unparse, call.keywords)] if call else []
        chosen = by_name.get(callee.rpartition(".")[2], other)
        if callable(chosen):
            return chosen(node)
        if "{first}" in chosen and not arguments:
            return ""
        return chosen.format(
            code=ast.unparse(node),
            callee=callee,
            owner=callee.rpartition(".")[0],
            first=arguments[0] if arguments else "",
            rest=", ".join(("", *arguments[1:])),
            arguments=", ".join(arguments),
        )

    return cure


def with_arguments(**values: object) -> Cure:
    """The call with other values of some arguments."""

    def cure(node: ast.expr) -> str:
        if not isinstance(node, ast.Call):
            return ""
        kept = [keyword for keyword in node.keywords if keyword.arg not in values]
        new = [ast.keyword(name, ast.parse(str(value), mode="eval").body) for name, value in values.items()]
        return ast.unparse(ast.Call(node.func, node.args, [*kept, *new]))

    return cure


def has_constant(node: ast.expr) -> bool:
    """Whether an expression is a call with an argument that is the same in all runs, such as a seed."""
    values = [*node.args, *(keyword.value for keyword in node.keywords)] if isinstance(node, ast.Call) else []
    values = [value for value in values if not (isinstance(value, ast.Constant) and value.value is None)]
    return any(not any(isinstance(part, ast.Name | ast.Call) for part in ast.walk(value)) for value in values)
