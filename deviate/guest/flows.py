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
from .project import Project, outwards
from .statements import bound_names, extended_containers, find_statement, names_read, within
from .trained_names import TrainedNames

BY_CALLER = ("<lambda>", "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
"""What these give is used by the frame that calls them."""


class Flows:
    """Answers for frames of the project; each line is analysed once."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.files: dict[str, ast.Module | None] = {}
        self.trained_names: dict[tuple[str, ...], TrainedNames] = {}
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
                    self.answers[key] = self._look(self._source(code), line, names, calls)
                answer = self.answers[key]
                if answer is not None and (answer or code.co_name not in BY_CALLER):
                    return answer
                calls = frozenset()
        return False

    def is_of_project(self, code: CodeType) -> bool:
        return self.project.place(code) is not None

    def _look(self, file: str, line: int, names: frozenset[str], called: frozenset[str]) -> bool | None:
        """Whether a value computed in this line reaches such a call; None if the function returns it."""
        tree = self._tree(file)
        if tree is None:
            return False
        scope, statement = find_statement(tree, line)
        calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
        line_calls = [call for call in calls if line in (call.lineno, call.func.end_lineno)]
        line_calls = list(_calls_of(line_calls, called)) if called else line_calls
        for outer in _calls_of(calls, names):
            if any(call is not outer and call in ast.walk(outer) for call in line_calls):
                return True
        if isinstance(statement, ast.Return):
            return None
        return _follow(scope, statement, names)

    def is_no_data(self, frame: FrameType, *, is_shown_data: bool) -> bool:
        """Whether the value that this frame computes holds first values of weights, or is printed and used for nothing.

        It is followed through `return` to the callers.

        Args:
            is_shown_data: whether what is only printed counts as examples.
        """
        for outer in outwards(frame):
            if not self.is_of_project(outer.f_code):
                continue
            file = self._source(outer.f_code)
            tree = self._tree(file)
            if tree is None:
                return False
            names = self._trained_names(file)
            scope, statement = find_statement(tree, outer.f_lineno)
            if names.is_trained(file, scope, statement):
                return True
            if not _is_returned(scope, statement) and outer.f_code.co_name not in BY_CALLER:
                return not is_shown_data and names.is_shown_only(scope, statement)
        return False

    def has_training(self, frame: FrameType) -> bool:
        """Whether the files of the project that are imported so far train anything."""
        names = self._trained_names(self._source(frame.f_code))
        return any(names.has_training(file) for file in names.trees)

    def training_loops(self, frame: FrameType) -> list[tuple[int, int]]:
        """First and last lines of the loops that train, in the file of this frame."""
        file = self._source(frame.f_code)
        return [] if self._tree(file) is None else self._trained_names(file).training_loops(file)

    def _trained_names(self, file: str) -> TrainedNames:
        paths = [str(getattr(module, "__file__", None)) for module in list(sys.modules.values())]
        files = (file, *(path for path in paths if path.startswith(self.project.work) and path.endswith(".py")))
        trees = {path: tree for path in files for tree in [self._tree(path)] if tree is not None}
        main_loops: dict[str, list[tuple[int, int]]] = {}
        for path in trees:
            name = self.project.file(path)
            main_loops[path] = [(first, last) for other, first, last in self.project.main_loops if other == name]
        key = tuple(sorted(trees))
        if key not in self.trained_names:  # more files may have been imported since
            self.trained_names = {key: TrainedNames(trees, main_loops if self.project.main_loops else {})}
        return self.trained_names[key]

    def _source(self, code: CodeType) -> str:
        return self.project.source(code.co_filename) or code.co_filename

    def _tree(self, file: str) -> ast.Module | None:
        if file not in self.files:
            try:
                self.files[file] = ast.parse("".join(linecache.getlines(file)))
            except (SyntaxError, ValueError):
                self.files[file] = None
        return self.files[file]


def _follow(scope: ast.AST, statement: ast.AST, names: frozenset[str]) -> bool | None:
    """Follow the names that a statement assigns through later statements of its function."""
    bound = set(bound_names(statement))
    is_returned = False
    start = (getattr(statement, "lineno", 0), getattr(statement, "col_offset", 0))
    for node in within(scope):
        if not bound or (node.lineno, node.col_offset) <= start:
            continue
        calls = (child for child in ast.walk(node) if isinstance(child, ast.Call))
        if any(bound.intersection(names_read(call)) for call in _calls_of(calls, names)):
            return True
        if bound.intersection(names_read(node)):
            is_returned = is_returned or isinstance(node, ast.Return)
            bound.update(bound_names(node))
    return None if is_returned else False


def _is_returned(scope: ast.AST, statement: ast.AST) -> bool:
    """Whether a function returns what a statement binds, directly or in what it makes of it."""
    if isinstance(statement, ast.Return):
        return True
    names = {*bound_names(statement), *extended_containers(statement)}
    for node in within(scope):
        if node.lineno > getattr(statement, "lineno", 0) and names & names_read(node):
            if isinstance(node, ast.Return):
                return True
            names.update(bound_names(node))
    return False


def _calls_of(calls: Iterator[ast.Call] | list[ast.Call], names: frozenset[str]) -> Iterator[ast.Call]:
    for call in calls:
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
        if name in names:
            yield call
