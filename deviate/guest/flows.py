"""Follows the value of a call through the source text of the project, to the call that receives it directly or by name.

A draw that becomes a variable of the model is an initialisation; a dataset that is split after shuffling was shuffled
for the split. The call itself does not show this.
"""

from __future__ import annotations

import ast
import linecache
import re
from types import CodeType, FrameType

from .annotations import Iterator
from .project import Project, outwards

DATA = re.compile(r"(?:set|data|frame|series|loader|array|tensor)s?$", re.IGNORECASE)
"""How the names of classes end whose objects hold examples."""
DATA_KEYWORDS = frozenset(("x", "X", "y", "data", "dataset", "validation_data", "eval_set", "train_data", "valid_data"))
"""Keywords for examples and labels, in calls that take settings too."""
KEEPING = frozenset(("append", "extend", "insert", "add", "update"))
"""Methods by which a container keeps what it is given."""
BY_CALLER = ("<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""What these give is used by the frame that calls them."""


class Flows:
    """Answers for frames of the project; each line is analysed once."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.files: dict[str, ast.Module | None] = {}
        self.answers: dict[tuple[str, str, int, frozenset[str], frozenset[str]], bool | None] = {}
        self.codes: dict[int, tuple[CodeType, bool]] = {}

    def reach(
        self,
        frame: FrameType | None,
        names: frozenset[str],
        calls: frozenset[str] = frozenset(),
        *,
        as_data: bool = False,
    ) -> bool:
        """Whether the value that this frame is computing is passed to a call of one of these names.

        It is followed through the names of its function, and through `return` to the callers.

        Args:
            frame: frames of libraries are passed over.
            names: last parts of the names of functions, as `Variable` of `tf.Variable`.
            calls: names of the call that computes the value, where they are known: a line may have several calls.
            as_data: only as examples among the arguments, not through the object whose method is called, and not by
                way of objects that are no data, such as a model with first values of its weights.
        """
        for outer in outwards(frame):
            code, line = outer.f_code, outer.f_lineno
            if self.is_of_project(code):
                key = (code.co_filename, code.co_name, line, names, calls)
                if key not in self.answers:
                    self.answers[key] = self._look(code.co_filename, line, names, calls, as_data)
                answer = self.answers[key]
                if answer is not None and (answer or code.co_name not in BY_CALLER):
                    return answer
                calls = frozenset()
        return False

    def is_of_project(self, code: CodeType) -> bool:
        entry = self.codes.get(id(code))
        if entry is None:  # the reference keeps the id from being used again
            entry = self.codes[id(code)] = (code, self.project.place(code) is not None)
        return entry[1]

    def _look(self, file: str, line: int, names: frozenset[str], called: frozenset[str], as_data: bool) -> bool | None:
        """Whether a value computed in this line reaches such a call; None if the function returns it."""
        tree = self._tree(file)
        if tree is None:
            return False
        scope, statement = _find(tree, line)
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
        line_calls = [call for call in calls if line in (call.lineno, call.func.end_lineno)]
        line_calls = list(_calls_of(line_calls, called)) if called else line_calls
        for outer in _calls_of(calls, names):
            parts = _data_of(outer) if as_data else [outer]
            if any(call is not outer and call in ast.walk(part) for part in parts for call in line_calls):
                return True
        if isinstance(statement, ast.Return):
            return None
        return _follow(scope, statement, names, as_data)

    def _tree(self, file: str) -> ast.Module | None:
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


def _data_of(call: ast.Call) -> list[ast.expr]:
    """Arguments of a call that may be examples."""
    return [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg in DATA_KEYWORDS)]


def _makes_no_data(statement: ast.AST) -> bool:
    """Whether a statement assigns an object of a class that holds no examples, judged by its name."""
    value = getattr(statement, "value", None)
    if not isinstance(value, ast.Call):
        return False
    name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
    return name[:1].isupper() and not DATA.search(name)


def _follow(scope: ast.AST, statement: ast.AST, names: frozenset[str], as_data: bool) -> bool | None:
    """Follow the names that a statement assigns through later statements of its function."""
    bound_names = set(_bound_names(statement))
    if as_data:
        bound_names = set() if _makes_no_data(statement) else bound_names | set(_extended_containers(statement))
    is_returned = False
    start = (getattr(statement, "lineno", 0), getattr(statement, "col_offset", 0))
    for node in _within(scope):
        if not bound_names or (node.lineno, node.col_offset) <= start:
            continue
        calls = (child for child in ast.walk(node) if isinstance(child, ast.Call))
        for call in _calls_of(calls, names):
            if any(bound_names.intersection(_names_read(part)) for part in (_data_of(call) if as_data else [call])):
                return True
        if bound_names.intersection(_names_read(node)):
            is_returned = is_returned or isinstance(node, ast.Return)
            if not as_data:
                bound_names.update(_bound_names(node))
            elif not _makes_no_data(node):
                bound_names.update((*_bound_names(node), *_extended_containers(node)))
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
