"""Statements in the source text of a project: where a line stands, and which names a statement binds and reads."""

from __future__ import annotations

import ast

from .annotations import Iterator

KEEPING = frozenset(("append", "extend", "insert", "add", "update"))
"""Methods by which a container keeps what it is given."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def find_statement(tree: ast.Module, line: int) -> tuple[ast.AST, ast.AST]:
    """The innermost function (or module) around a line, and the innermost statement."""
    scope: ast.AST = tree
    statement: ast.AST = tree
    while True:
        inside = (node for node in inner_statements(statement) if node.lineno <= line <= (node.end_lineno or 0))
        inner = next(inside, None)
        if inner is None:
            return scope, statement
        scope, statement = inner if isinstance(inner, FUNCTIONS) else scope, inner


def inner_statements(node: ast.AST) -> Iterator[ast.stmt]:
    """The direct child statements of a statement."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif not isinstance(child, ast.expr):  # exception handlers, match cases
            yield from inner_statements(child)


def within(scope: ast.AST) -> Iterator[ast.stmt]:
    """Statements of a function in order, without those of nested functions and classes."""
    for node in inner_statements(scope):
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node
            yield from within(node)


def bound_names(statement: ast.AST) -> Iterator[str]:
    """Names assigned by a statement: attributes with dots, containers for their items."""
    targets = [*getattr(statement, "targets", ()), getattr(statement, "target", None)]
    while targets:
        target = targets.pop()
        if isinstance(target, (ast.Tuple, ast.List)):
            targets += target.elts
        elif isinstance(target, (ast.Subscript, ast.Starred)):
            targets.append(target.value)
        elif isinstance(target, ast.Name):
            yield target.id
        elif isinstance(target, ast.Attribute):
            yield dotted_name(target)


def extended_containers(statement: ast.AST) -> Iterator[str]:
    """The container that a statement appends to."""
    call = getattr(statement, "value", None) if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in KEEPING:
        owner = call.func.value
        if isinstance(owner, ast.Name):
            yield owner.id
        elif isinstance(owner, ast.Attribute):
            yield dotted_name(owner)


def names_read(node: ast.AST) -> set[str]:
    """Names that an expression or statement reads, including nested statements."""
    reads = {child.id for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load)}
    return reads | {dotted_name(child) for child in ast.walk(node) if isinstance(child, ast.Attribute)}


def dotted_name(node: ast.Attribute) -> str:
    return "%s.%s" % (getattr(node.value, "id", "?"), node.attr)
