"""Importer `csv`: tables of scores or measurements, wide or long, and plain lists of numbers.

What the columns are is guessed from their names and told. Cells such as `0.5 ± 0.1` are no runs. Nothing is known of
when and on what the runs ran. Files of `keras.callbacks.CSVLogger` are such tables, also as `training.log`; where
`append=True` added a training that began at epoch 0 again, that is another run.
"""

from pathlib import Path

from deviate.records.importers import Imported, importer
from deviate.records.importers.assemble import assemble
from deviate.records.importers.tables import first_row, read_table

ENDINGS = frozenset({".csv", ".tsv", ".tab", ".txt", ".dat"})


def _claims(path: Path) -> bool:
    return (path.suffix.lower() in ENDINGS and path.is_file()) or first_row(path)[0] == "epoch"


@importer("csv", claims=_claims)
def read_csv(path: Path) -> tuple[Imported, ...]:
    """Read a table. Raises InputError where it holds no scores of runs."""
    return assemble(read_table(path), path, "csv")
