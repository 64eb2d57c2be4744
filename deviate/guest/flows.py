"""Follows the value of a call through the source text of the project, to the call that receives it directly or by name.

A draw that becomes a variable of the model is an initialisation; a dataset that is split after shuffling was shuffled
for the split. The call itself does not show this.
"""

from __future__ import annotations

import ast
import linecache
import sys
from types import CodeType, FrameType

from .annotations import Iterator
from .project import GuestProject, outwards

SOLVING = frozenset(("lstsq", "solve", "inv", "pinv", "svd", "eigh", "polyfit", "curve_fit", "minimize"))
"""Functions that fit at once, without a loop."""
KEEPING = frozenset(("append", "extend", "insert", "add", "update"))
"""Methods by which a container keeps what it is given."""
BY_CALLER = ("<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""What these give is used by the frame that calls them."""


class Flows:
    """Answers for frames of the project; each line is analysed once."""

    def __init__(self, project: GuestProject) -> None:
        self.project = project
        self.files: dict[str, ast.Module | None] = {}
        self.answers: dict[tuple[str, str, int, frozenset[str], frozenset[str]], bool | None] = {}

    def reach(
        self,
        frame: FrameType | None,
        names: frozenset[str],
        calls: frozenset[str] = frozenset(),
    ) -> bool:
        """Whether the value that this frame is computing is passed to a call of one of these names.

        It is followed through the names of its function, and through `return` to the callers.

        Args:
            frame: frames of libraries are passed over.
            names: last parts of the names of functions, as `Variable` of `tf.Variable`.
            calls: names of the call that computes the value, where they are known: a line may have several calls.
        """
        for outer in outwards(frame):
            code, line = outer.f_code, outer.f_lineno
            if self.is_of_project(code):
                key = (code.co_filename, code.co_name, line, names, calls)
                if key not in self.answers:
                    self.answers[key] = self._look(code, line, names, calls)
                answer = self.answers[key]
                if answer is not None and (answer or code.co_name not in BY_CALLER):
                    return answer
                calls = frozenset()
        return False

    def is_of_project(self, code: CodeType) -> bool:
        return self.project.place(code) is not None

    def bound_names(self, frame: FrameType) -> list[str]:
        """Names that the statement binds or extends which this frame executes: attributes with dots."""
        tree = self._tree(frame.f_code)
        if tree is None or frame.f_code.co_name in BY_CALLER:
            return []
        _, statement = _find(tree, frame.f_lineno)
        return [*_bound_names(statement), *_extended_containers(statement)]

    def fits(self) -> bool:
        """Whether a file of the project that is imported so far has a loop that may train, or fits without one."""
        for module in list(sys.modules.values()):
            path = str(getattr(module, "__file__", None))
            tree = self._tree_of(path) if self.project.file(path) is not None else None
            for node in () if tree is None else ast.walk(tree):
                is_loop = isinstance(node, ast.While) or (isinstance(node, ast.For) and isinstance(node.iter, ast.Call))
                if is_loop or getattr(node, "attr", None) in SOLVING:
                    return True
        return False

    def _look(self, code: CodeType, line: int, names: frozenset[str], called: frozenset[str]) -> bool | None:
        """Whether a value computed in this line reaches such a call; None if the function returns it."""
        tree = self._tree(code)
        if tree is None:
            return False
        scope, statement = _find(tree, line)
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
        line_calls = [call for call in calls if line in (call.lineno, call.func.end_lineno)]
        line_calls = list(_calls_of(line_calls, called)) if called else line_calls
        for outer in _calls_of(calls, names):
            if any(call is not outer and call in ast.walk(outer) for call in line_calls):
                return True
        if isinstance(statement, ast.Return):
            return None
        return _follow(scope, statement, names)

    def _tree(self, code: CodeType) -> ast.Module | None:
        return self._tree_of(self.project.source(code.co_filename) or code.co_filename)

    def _tree_of(self, file: str) -> ast.Module | None:
        if file not in self.files:
            try:
                self.files[file] = ast.parse("".join(linecache.getlines(file)))
            except (SyntaxError, ValueError):
                self.files[file] = None
        return self.files[file]


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _find(tree: ast.Module, line: int) -> tuple[ast.AST, ast.AST]:
    """The innermost function (or module) around a line, and the innermost statement."""
    scope: ast.AST = tree
    statement: ast.AST = tree
    while True:
        inside = (node for node in _inner(statement) if node.lineno <= line <= (node.end_lineno or 0))
        inner = next(inside, None)
        if inner is None:
            return scope, statement
        scope, statement = inner if isinstance(inner, _FUNCTIONS) else scope, inner


def _inner(node: ast.AST) -> Iterator[ast.stmt]:
    """The direct child statements of a statement."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif not isinstance(child, ast.expr):  # exception handlers, match cases
            yield from _inner(child)


def _follow(scope: ast.AST, statement: ast.AST, names: frozenset[str]) -> bool | None:
    """Follow the names that a statement assigns through later statements of its function."""
    bound_names = set(_bound_names(statement))
    is_returned = False
    start = (getattr(statement, "lineno", 0), getattr(statement, "col_offset", 0))
    for node in _within(scope):
        if not bound_names or (node.lineno, node.col_offset) <= start:
            continue
        calls = (child for child in ast.walk(node) if isinstance(child, ast.Call))
        if any(bound_names.intersection(_names_read(call)) for call in _calls_of(calls, names)):
            return True
        if bound_names.intersection(_names_read(node)):
            is_returned = is_returned or isinstance(node, ast.Return)
            bound_names.update(_bound_names(node))
    return None if is_returned else False


def _within(scope: ast.AST) -> Iterator[ast.stmt]:
    """Statements of a function in order, without those of nested functions and classes."""
    for node in _inner(scope):
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            yield node
            yield from _within(node)


def _calls_of(calls: Iterator[ast.Call] | list[ast.Call], names: frozenset[str]) -> Iterator[ast.Call]:
    for call in calls:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
        if name in names:
            yield call


def _bound_names(statement: ast.AST) -> Iterator[str]:
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
            yield _dotted_name(target)


def _extended_containers(statement: ast.AST) -> Iterator[str]:
    """The container that a statement appends to."""
    call = getattr(statement, "value", None) if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in KEEPING:
        owner = call.func.value
        if isinstance(owner, ast.Name):
            yield owner.id
        elif isinstance(owner, ast.Attribute):
            yield _dotted_name(owner)


def _names_read(node: ast.AST) -> set[str]:
    """Names that an expression or statement reads, including nested statements."""
    reads = {child.id for child in ast.walk(node) if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load)}
    return reads | {_dotted_name(child) for child in ast.walk(node) if isinstance(child, ast.Attribute)}


def _dotted_name(node: ast.Attribute) -> str:
    return "%s.%s" % (getattr(node.value, "id", "?"), node.attr)
