"""Importer `lightning`: what the CSVLogger of Lightning leaves, `version_0/metrics.csv`, with `hparams.yaml` beside it.

A row holds what was logged at one trainer step, so that training and validation stand in different rows; the step is
the step, and the epoch is not used. Each folder `version_N` is a run; nothing says how it ended, and no time is known.
"""

import dataclasses
from pathlib import Path

from deviate.base.redaction import redact_variables
from deviate.errors import InputError
from deviate.records.importers import Imported, importer
from deviate.records.importers.assemble import assemble
from deviate.records.importers.tables import first_row, read_table
from deviate.records.importers.tracked import read_settings

METRICS = "metrics.csv"


def _claims(path: Path) -> bool:
    logs = _logs(path)[:1] if path.is_dir() else [path] if path.name == METRICS else []
    return any({"epoch", "step"} <= set(first_row(log)) for log in logs)


def _logs(folder: Path) -> list[Path]:
    """The log file of a run, or those of all versions below a folder."""
    if (folder / METRICS).is_file():
        return [folder / METRICS]
    logs = [*folder.glob(f"*/{METRICS}"), *folder.glob(f"*/version_*/{METRICS}")]
    # version_10 is after version_9
    return sorted(logs, key=lambda path: (path.parts[:-2], len(path.parent.name), path))


@importer("lightning", claims=_claims, rank=20)
def read_lightning(path: Path) -> tuple[Imported, ...]:
    """Read one run, or all versions below a folder as runs of one experiment. Raises InputError."""
    logs = _logs(path) if path.is_dir() else [path]
    if not logs:
        raise InputError(f"{path} holds no {METRICS}", "name the folder that the CSVLogger wrote to")
    read = [(log, experiment) for log in logs for experiment in assemble(read_table(log), log, "lightning")]
    runs = []
    for log, experiment in read:
        settings, place = _settings(log.parent), log.parent.name
        for run in experiment.runs:
            label = place if len(experiment.runs) == 1 else f"{place} {run.label}"
            runs.append(dataclasses.replace(run, label=label, environment=settings))
    folder = path if path.is_dir() else path.parent
    name = folder.parent.name if folder.name.startswith("version_") else folder.name
    return (Imported(name or "lightning", "lightning", tuple(logs), tuple(runs), notes=read[0][1].notes),)


def _settings(folder: Path) -> dict[str, str]:
    """The settings of `hparams.yaml`, without secrets."""
    path = folder / "hparams.yaml"
    return redact_variables(read_settings(path)) if path.is_file() else {}
