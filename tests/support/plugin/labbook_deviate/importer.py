"""Importer `labbook`: a line per run, with its score."""

from pathlib import Path

from deviate.model import Series
from deviate.records import Imported, ImportedRun, importer


def _claims(path: Path) -> bool:
    return path.suffix == ".labbook"


@importer("labbook", description="lab books (.labbook)", claims=_claims)
def read(path: Path) -> tuple[Imported, ...]:
    scores = [float(line) for line in path.read_text(encoding="utf-8").split()]
    runs = tuple(ImportedRun(str(index), {"accuracy": Series((None,), (it,))}) for index, it in enumerate(scores))
    return (Imported(name=path.stem, form="labbook", sources=(path,), runs=runs),)
