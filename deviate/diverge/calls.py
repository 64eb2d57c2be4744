"""The calls of the user's source, by the line on which they stand; each file is parsed once."""

import ast
from collections.abc import Iterator

from deviate.diverge.source import Texts
from deviate.sources.catalogue import SOURCES, Source
from deviate.sources.cures import has_constant
from deviate.sources.seeds import MAKERS


class Calls:
    """Calls of the files of a snapshot."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self._files: dict[str, list[ast.Call]] = {}
        self._statements: dict[str, list[ast.stmt]] = {}

    def of_file(self, file: str) -> list[ast.Call]:
        """All calls of a file, the outer before the inner; none if it cannot be parsed."""
        if file not in self._files:
            try:
                tree = ast.parse("\n".join(self.texts.lines(file)))
            except SyntaxError:
                tree = ast.Module([], [])
            self._statements[file] = tree.body
            self._files[file] = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        return self._files[file]

    def at(self, file: str, line: int, *names: str) -> Iterator[ast.Call]:
        """Calls whose callee ends on a line, the outer before the inner.

        Args:
            names: last parts of the names of the callees; any if empty.
        """
        for call in self.of_file(file):
            if call.func.end_lineno == line and (not names or last_name(call) in names):
                yield call

    def begin_of(self, file: str, line: int) -> int:
        """The first line of the statement of the module that a line belongs to."""
        self.of_file(file)
        return max((one.lineno for one in self._statements[file] if one.lineno <= line), default=line)

    def makes_generator(self, file: str, line: int) -> bool:
        """Whether a line makes a generator of random numbers."""
        return any(self.at(file, line, *MAKERS))

    def is_seeded(self, file: str, line: int) -> bool:
        """Whether a line asks the system for numbers only to make a generator with a seed, which does not use them."""
        at = list(self.at(file, line))
        has_seed = any(last_name(call) in MAKERS and has_constant(call) for call in at)
        return has_seed and not any(system_cure(call) for call in at)


def system_cure(call: ast.Call) -> tuple[Source, str] | None:
    """The source by which a call asks the system for numbers, and what stands in its place; None for other calls."""
    observers = [source for source in SOURCES.values() if "entropy" in source.observed]
    cures = ((source, source.cure_of(ast.unparse(call))) for source in observers)
    return next(((source, code) for source, code in cures if code), None)


def last_name(call: ast.Call) -> str:
    """The last part of the name of the callee."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
