"""Sub-groups of evaluation sets, read from CSV files and joined to the examples of a captured set."""

import csv
import dataclasses
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from deviate.errors import InputError
from deviate.model.records import Captured, CapturedSet

IDS = ("id", "index")
"""Names of a column of example numbers: positions in the set, from 0."""
FORM = re.compile(r"(?:(?P<set>[A-Za-z0-9_.+-]+)=)?(?P<file>.+?\.[ct]sv)(?::(?P<columns>.+))?", re.IGNORECASE)

Column = npt.NDArray[np.str_]


@dataclass(frozen=True, slots=True)
class Groups:
    """The sub-groups requested by `--groups`.

    Attributes:
        tables: read from files, in order. logged: columns that the script logs, by name.
    """

    tables: tuple["ExampleTable", ...] = ()
    logged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ExampleTable:
    """Columns of one file, a row per example.

    Attributes:
        set_name: whose examples they are, None for every set that has so many.
        ids: number of each row's example, None where rows are in the order of the set.
    """

    file: str
    set_name: str | None
    columns: Mapping[str, Column]
    ids: npt.NDArray[np.int64] | None

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.columns.values())))


def read_groups(texts: Sequence[str]) -> Groups:
    """Read the requested sub-groups.

    Raises:
        InputError: a file cannot be read, has no such column, or ids that are no numbers.
    """
    tables, logged = [], []
    for text in texts:
        match = FORM.fullmatch(text)
        if match is None:
            logged += [name.strip() for name in text.split(",") if name.strip()]
        else:
            column_names = [name.strip() for name in (match["columns"] or "").split(",") if name.strip()]
            tables.append(_table(Path(match["file"]), match["set"], column_names))
    return Groups(tuple(tables), tuple(logged))


def with_groups(captured: Captured, groups: Groups, label: str) -> Captured:
    """Add the columns of files to the examples of sets; sets of steps and averages have no sub-groups.

    Args:
        label: of the experiment, for messages.

    Raises:
        InputError: a file has another number of rows than its set has examples, there is no such set, or the set comes
            in another order in each run.
    """
    for table in groups.tables:
        captured = _with_table(captured, table, label)
    return captured


def refuse_unknown(captured: Sequence[Captured], groups: Groups) -> None:
    """Raise InputError for a column that the script has not logged."""
    names = sorted(
        {
            name
            for experiment_capture in captured
            for captured_set in experiment_capture.sets
            for name in captured_set.columns
        }
    )
    for name in groups.logged:
        if name not in names:
            hint = f"recorded columns: {', '.join(names)}" if names else "no columns are recorded"
            raise InputError(
                f"--groups {name}: no run has logged a column of that name",
                f"{hint}; log it with deviate.log_groups, or name a file: --groups groups.csv:{name}",
            )


def _table(path: Path, set_name: str | None, column_names: Sequence[str]) -> ExampleTable:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ","))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            f"--groups {path}: {error}", "name a CSV file with a header and one row per example"
        ) from error
    rows = [row for row in rows if row]
    head, body = [name.strip() for name in rows[0]] if rows else [], rows[1:]
    if not head or not body:
        raise InputError(f"--groups {path} has no rows", "write a header and one row per example")
    if twice := [name for name, n in Counter(head).items() if n > 1]:
        raise InputError(f"--groups {path} has more than one column {twice[0]!r}", "give each column a name of its own")
    uneven = next((number for number, row in enumerate(body, 2) if len(row) != len(head)), None)
    if uneven is not None:
        raise InputError(
            f"--groups {path}: row {uneven} does not have as many columns as the header", "correct the row"
        )
    for name in column_names:
        if name not in head:
            raise InputError(f"--groups {path} has no column {name!r}", f"it has: {', '.join(head)}")
    columns = {name: np.array([row[at].strip() for row in body]) for at, name in enumerate(head)}
    id_column = next((name for name in head if name.lower() in IDS and name not in column_names), None)
    ids = None if id_column is None else _ids(path, id_column, columns.pop(id_column))
    chosen = {name: columns[name] for name in column_names or columns}
    if not chosen:
        raise InputError(f"--groups {path} has only an id column", "add a column with the group of each example")
    return ExampleTable(str(path), set_name, chosen, ids)


def _ids(path: Path, name: str, column: Column) -> npt.NDArray[np.int64]:
    try:
        ids = column.astype(np.int64)
    except ValueError as error:
        raise InputError(
            f"--groups {path}: column {name} must hold the numbers of examples",
            "number the examples from 0, in the order of the set",
        ) from error
    if len(np.unique(ids)) < len(ids) or ids.min() < 0:
        raise InputError(
            f"--groups {path}: column {name} repeats a number or has one below 0", "give each example one number"
        )
    return ids


def _with_table(captured: Captured, table: ExampleTable, label: str) -> Captured:
    if not captured.sets:
        return captured
    bases = [captured_set for captured_set in captured.sets if "+" not in captured_set.name]
    if table.set_name is not None:
        bases = [base for base in bases if base.name == table.set_name]
        if not bases:
            names = ", ".join(captured_set.name for captured_set in captured.sets)
            raise InputError(f"--groups: {label} has no set {table.set_name!r}", f"it has: {names}")
    fitting = {base.name: columns for base in bases if (columns := _columns(base, table)) is not None}
    if not fitting:
        sizes = ", ".join(f"{base.name} {_size(base)}" for base in bases)
        raise InputError(
            f"--groups {table.file}: its {table.n_rows} rows match no set of {label} (examples: {sizes})",
            "write one row per example, in the order of the set, or add a column id with example numbers from 0",
        )
    if all(base.alignment == "input" for base in bases if base.name in fitting):
        raise InputError(
            f"--groups {table.file}: the order of examples differs between runs of {label}, so the rows of a file "
            "cannot be matched to them",
            "log the groups with the examples: deviate.log_predictions(…, group=…)",
        )
    sets = tuple(
        dataclasses.replace(captured_set, columns={**captured_set.columns, **fitting[captured_set.name]})
        if captured_set.name in fitting and captured_set.alignment == "position"
        else captured_set
        for captured_set in captured.sets
    )
    return dataclasses.replace(captured, sets=sets)


def _size(captured_set: CapturedSet) -> int:
    """Number of examples of the set in the first run, at least up to the last remaining one."""
    if captured_set.n_seen is not None:
        return captured_set.n_seen
    return int(captured_set.positions.max()) + 1 if len(captured_set.positions) else 0


def _columns(captured_set: CapturedSet, table: ExampleTable) -> dict[str, Column] | None:
    """Columns of a table for the examples of a set; None if the table belongs to another set."""
    size = _size(captured_set)
    if table.ids is None:
        if table.n_rows != size:
            return None
        return {name: column[captured_set.positions] for name, column in table.columns.items()}
    if table.ids.max() >= size:
        return None
    place = np.full(size, -1)
    place[table.ids] = np.arange(table.n_rows)
    if (place[captured_set.positions] < 0).any():
        return None
    return {name: column[place[captured_set.positions]] for name, column in table.columns.items()}
