"""Files beside the page of a report: writes its data, and removes files of an earlier report."""

from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from deviate import records
from deviate.errors import RecordError
from deviate.report import TableFile, table_names


def write(text: str, target: Path, stdout: TextIO) -> None:
    """Write a rendered report; `-` is standard output. Raises RecordError if the file cannot be written."""
    if str(target) == "-":
        stdout.write(text)
        return
    with records.writing(f"writing {target}", "name another file"):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def write_tables(tables: Sequence[TableFile], folder: Path) -> None:
    """Write tables to the folder of a report; tables of an earlier report that no longer exist are removed.

    Raises:
        RecordError: a file cannot be written.
    """
    for table in tables:
        target = folder / table.name
        try:
            with target.open("w", encoding="utf-8", newline="") as file:
                file.writelines(table.chunks())
        except OSError as error:
            target.unlink(missing_ok=True)
            raise RecordError(
                f"writing {target}: {error.strerror or error}", "free some space, or delete the report's folder"
            ) from error
    for name in set(table_names()) - {table.name for table in tables}:
        (folder / name).unlink(missing_ok=True)
