"""Importer `dl_variance`: files of the artifact of Pham et al. (ASE 2020; github.com/lin-tan/dl-variance).

`analysis_raw.csv` has a row per run and selection criterion: accuracy, `convergent` (seconds until then) and
`convergent_epoch`. Each set of library, versions, network, seed kind and criterion is an experiment.
`analysis_result.csv` holds summaries over runs, whose `std_dev_…` do not state their ddof.
"""

import dataclasses
from pathlib import Path

from deviate.errors import InputError
from deviate.records.importers import Imported, importer
from deviate.records.importers.assemble import Roles, assemble
from deviate.records.importers.tables import first_row, read_table

SET = ("backend", "backend_version", "cuda_version", "cudnn_version", "network", "random_seed", "stopping_type")
SUMMARY = {"max_accuracy_diff", "std_dev_accuracy", "mean_accuracy"}
METRICS = ("accuracy", "convergent", "convergent_epoch")
SEEDS = {"1": "fixed-seed", "-1": "random-seed"}


def _claims(path: Path) -> bool:
    names = set(first_row(path))
    return {"network", "stopping_type"} <= names and ({"try", "accuracy"} <= names or names >= SUMMARY)


@importer("dl_variance", claims=_claims, rank=30)
def read_dl_variance(path: Path) -> tuple[Imported, ...]:
    """Read the runs of every set. Raises InputError for the summaries."""
    table = read_table(path)
    if "try" not in table.columns:
        raise InputError(f"{path} holds summaries, which do not state their ddof", "import analysis_raw.csv")
    columns = dict(table.columns)
    columns["random_seed"] = [SEEDS.get(cell, cell) for cell in columns.get("random_seed", [""] * table.n_rows)]
    roles = Roles(
        values=tuple(name for name in METRICS if name in columns),
        experiment=tuple(name for name in SET if name in columns),
        run="try",
    )
    return assemble(dataclasses.replace(table, columns=columns), path, "dl_variance", roles=roles)
