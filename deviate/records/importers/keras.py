"""Importer `keras`: the file of `keras.callbacks.CSVLogger`: a row per epoch, one training per file.

An epoch without a value, as of validation, holds `NA`. Where `append=True` added a training that began at epoch 0
again, that is another run. Nothing says how a run ended, and no time is known.
"""

from pathlib import Path

from deviate.records.importers import Imported, importer
from deviate.records.importers.assemble import assemble
from deviate.records.importers.tables import first_row, read_table


def _claims(path: Path) -> bool:
    first = first_row(path)
    return first[0] == "epoch" and "loss" in first and "step" not in first


@importer("keras", claims=_claims, rank=10)
def read_keras(path: Path) -> tuple[Imported, ...]:
    """Read the trainings in one file. Raises InputError."""
    return assemble(read_table(path), path, "keras")
