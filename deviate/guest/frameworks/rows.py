"""The module `csv`: records what the project writes with its writers, by the names of the columns.

Writers are written in C, so the project gets others in their place, which hand everything on.
"""

from __future__ import annotations

from sys import _getframe

from ..adapter_context import AdapterContext
from ..annotations import Any, Iterable, Iterator, Sequence
from ..project import beyond
from ..stand_ins import stand_in
from ..written import MOST_ROWS, VIEWS, Written, is_header

MODULES = ("csv",)
ROWS = (list, tuple, dict, *VIEWS)


def install(module: Any, context: AdapterContext) -> None:
    original, project = module.writer, context.project
    headers: dict[Any, list[str]] = {}
    written = context.part(Written)

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

    def __init__(self, written: Written, headers: dict[Any, list[str]], file: Any) -> None:
        self.written = written
        self.headers = headers
        self.key = file if isinstance(file, str) else id(self)
        self.header = headers.get(self.key)
        self.has_numbers = False

    def add(self, rows: Sequence[Sequence[Any]]) -> None:
        """Rows were written, by one call."""
        if not self.has_numbers and rows and is_header(rows[0]):
            self.header = self.headers[self.key] = list(rows[0])
            rows = rows[1:]
        self.has_numbers = self.has_numbers or bool(rows)
        if rows and not self.written.is_data(self.key, len(rows)):
            for row in rows:
                known = self.header or ()
                self.written.row([*known[: len(row)], *map(str, range(len(known), len(row)))], row)


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
            table.add([row for row in rows if row is not None])


def _watched(rows: Iterable[Any], seen: list[Any]) -> Iterator[Any]:
    for row in rows:
        kept = list(row) if isinstance(row, ROWS) or hasattr(row, "__next__") else None
        if len(seen) <= MOST_ROWS + 1:  # that there are too many is known by then
            seen.append(kept)
        yield row if isinstance(row, ROWS) or kept is None else kept
