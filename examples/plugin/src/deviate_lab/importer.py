"""Importer `labbook`: files `.labbook` with a line per run, its accuracy."""

from pathlib import Path

from deviate.errors import InputError
from deviate.model.records import Series
from deviate.records.importers import Imported, ImportedRun, importer


def is_lab_book(path: Path) -> bool:
    return path.suffix == ".labbook"


@importer("labbook", claims=is_lab_book)
def read_lab_book(path: Path) -> tuple[Imported, ...]:
    """One experiment per file."""
    try:
        scores = [float(line) for line in path.read_text(encoding="utf-8").split()]
    except ValueError as error:
        raise InputError(f"{path} is no lab book: {error}", "write one number per line") from error
    runs = tuple(ImportedRun(str(index), {"accuracy": Series((None,), (score,))}) for index, score in enumerate(scores))
    return (Imported(name=path.stem, form="labbook", sources=(path,), runs=runs),)
