"""Tables that the project writes with `csv` or pandas: records them by the names of their columns.

Writers of `csv` are written in C, so the project gets others in their place, which hand everything on. A table of
pandas is read when its method is looked up: no frame of ours may stand between a method that warns and its caller.
"""

from __future__ import annotations

from functools import lru_cache
from sys import _getframe
from types import FrameType

from ..adapter_context import AdapterContext
from ..annotations import Any, Iterable, Iterator, Sequence
from ..project import beyond
from ..stand_ins import stand_in
from ..written import MOST_ROWS, VIEWS, WriteRecorder, is_header

MODULES = ("csv", "pandas.core.frame")
ROWS = (list, tuple, dict, *VIEWS)
METHODS = ("to_csv", "to_excel", "to_html", "to_json", "to_latex", "to_markdown", "to_string")
"""Methods of a table that write all of it."""


def install(module: Any, context: AdapterContext) -> None:
    if module.__name__ == "csv":
        _watch_writers(module, context)
        return
    for name in METHODS:
        setattr(module.DataFrame, name, _Method(getattr(module.DataFrame, name), context))


class _Method:
    """A method of tables; where the project looks it up, it is about to write the table."""

    def __init__(self, original: Any, context: AdapterContext) -> None:
        self.original = original
        self.context = context

    def __get__(self, table: Any, owner: Any = None) -> Any:
        if table is not None:
            with self.context.recorder.guarded("table of pandas"):
                frame = _getframe(1)
                if self.context.project.place(frame.f_code) is not None:
                    self.context.part(WriteRecorder).table(table, frame)
        return self.original.__get__(table, owner)


def _watch_writers(module: Any, context: AdapterContext) -> None:
    original, project = module.writer, context.project
    headers: dict[Any, list[str]] = {}
    written = context.part(WriteRecorder)

    def writer(*args: Any, **kwargs: Any) -> Any:
        inner = original(*args, **kwargs)
        with context.recorder.guarded("csv.writer"):
            frame = _getframe(1)
            names = frame.f_locals.get("fieldnames") if frame.f_globals.get("__name__") == "csv" else None
            owner = beyond(("csv",), frame)
            if owner is not None and project.place(owner.f_code) is not None:
                table = _Table(written, headers, getattr(args[0], "name", None) if args else None)
                if isinstance(names, ROWS):
                    table.header = [str(name) for name in names]
                return Writer(inner, table)
        return inner

    stand_in(module, "writer", writer)


class _Table:
    """What is written to one file."""

    def __init__(self, written: WriteRecorder, headers: dict[Any, list[str]], file: Any) -> None:
        self.written = written
        self.headers = headers
        self.key = file if isinstance(file, str) else id(self)
        self.header = headers.get(self.key)
        self.has_numbers = False

    def add(self, rows: Sequence[Sequence[Any]], frame: FrameType) -> None:
        """Rows were written, by one call from this frame."""
        if not self.has_numbers and rows and is_header(rows[0]):
            self.header = self.headers[self.key] = list(rows[0])
            rows = rows[1:]
        self.has_numbers = self.has_numbers or bool(rows)
        if rows and not self.written.is_data(self.key, len(rows)):
            known = _names_in_source(frame.f_code.co_filename, frame.f_lineno) if self.header is None else self.header
            for row in rows:
                names = [*known, *[""] * len(row)][: len(row)]
                self.written.row([name or str(place) for place, name in enumerate(names)], row)


class Writer:
    """A writer in the place of another one."""

    __inner: Any
    __table: _Table

    def __init__(self, inner: Any, table: _Table) -> None:
        vars(self).update(_Writer__inner=inner, _Writer__table=table)

    @property  # type: ignore[misc]  # as mocks have it
    def __class__(self) -> Any:
        return type(self.__inner)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__inner, name, value)

    def __repr__(self) -> str:
        return repr(self.__inner)

    def writerow(self, row: Any) -> Any:
        """The generators of `DictWriter` are used up by whoever reads them first."""
        seen = list(row) if isinstance(row, ROWS) or hasattr(row, "__next__") else None
        result = self.__inner.writerow(row if isinstance(row, ROWS) or seen is None else seen)
        self.__note([seen])
        return result

    def writerows(self, rows: Any) -> Any:
        seen: list[Any] = []
        is_read = isinstance(rows, (list, tuple)) or hasattr(rows, "__next__")
        result = self.__inner.writerows(_watched(rows, seen) if is_read else rows)
        self.__note(seen)
        return result

    def __note(self, rows: list[Any]) -> None:
        table = self.__table
        with table.written.recorder.guarded("csv.writerow"):
            table.add([row for row in rows if row is not None], _getframe(2))


@lru_cache(maxsize=None)
def _names_in_source(file: str, line: int) -> list[str]:
    """Names in the row of the call at a line: the last resort for a table without a header."""
    import ast
    import linecache  # few tables have none

    def word(node: Any) -> str:
        if isinstance(node, ast.JoinedStr):
            inner = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
            return word(inner[0]) if len(inner) == 1 else ""
        if isinstance(node, ast.Call):  # `round(loss, 4)`, `loss.item()`
            return word(node.args[0] if node.args else getattr(node.func, "value", None))
        return str(getattr(node, "id", getattr(node, "attr", "")))

    nodes: Iterator[Any] = ast.walk(ast.parse("".join(linecache.getlines(file))))
    for node in nodes:
        is_call = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "writerow" and node.args
        if is_call and node.lineno <= line <= node.end_lineno and isinstance(node.args[0], (ast.List, ast.Tuple)):
            return [word(cell) for cell in node.args[0].elts]
    return []


def _watched(rows: Iterable[Any], seen: list[Any]) -> Iterator[Any]:
    for row in rows:
        kept = list(row) if isinstance(row, ROWS) or hasattr(row, "__next__") else None
        if len(seen) <= MOST_ROWS + 1:  # that there are too many is known by then
            seen.append(kept)
        yield row if isinstance(row, ROWS) or kept is None else kept
