"""Importer `deviate2021`: files of the DEVIATE release of 2021 (Pham et al., ASE 2021; github.com/lin-tan/DEVIATE).

Logs of runs (`DLVarLog.csv`, `DLVarLogNoLoop.csv`: `Iter, Time` and the metrics) are runs; `Time` is the seconds of the
written iteration alone. A log whose `Iter` never changes counts rows, as that release does. Values have five decimals.

Its analyses and comparisons are summaries over runs: `published_table` gives them with the right names. There `SDev_t`
is the lower bound of the SD's 90 % interval and `SDev_b` the upper one, `SDev` has ddof 1, and p-values are one-sided,
half of the two-sided ones (the default of scipy before 1.7).
"""

import csv
import dataclasses
import io
import math
from pathlib import Path

from deviate.errors import InputError
from deviate.records.importers import Imported, importer
from deviate.records.importers.assemble import assemble
from deviate.records.importers.tables import CellTable, first_row, head, number, read_table, read_text

ANALYSIS = ("max_diff", "max", "min", "SDev", "SDev_t", "SDev_b", "mean")
COMPARISON = ("diff_of_mean", "U_test_p-value", "cohen_d")
RIGHT = {
    "max_diff": "range",
    "SDev": "sd (ddof 1)",
    "SDev_t": "sd 90% low",
    "SDev_b": "sd 90% high",
    "diff_of_mean": "difference of means (1 - 2)",
    "U_test_p-value": "U test p, two-sided",
    "cohen_d": "cohen d, unweighted",
}
P_VALUE = "U_test_p-value"
NOTES = {
    ANALYSIS: "# DEVIATE 2021: SDev_t was the lower bound and SDev_b the upper one: here they are called low and high\n"
    "# SD with ddof 1; chi-square interval at 90%; values have four decimals\n",
    COMPARISON: "# DEVIATE 2021: p-values were one-sided: they are doubled here, at most 1, and uncorrected\n"
    "# cohen d pools both variances unweighted; values have four decimals: p 0.0000 is below 0.0001\n",
}


def _is_summary(path: Path) -> bool:
    """Whether this is an analysis or a comparison of that release."""
    lines = [[cell.strip() for cell in line.split(",")] for line in head(path, 65_536).splitlines()[:2]]
    return len(lines) == 2 and lines[1][0] == "Iter" and tuple(lines[1][1:4]) in {ANALYSIS[:3], COMPARISON}


def _is_log(path: Path) -> bool:
    return first_row(path)[:2] == ["Iter", "Time"]


def _claims(path: Path) -> bool:
    return any(map(_is_log, _logs(path)[:1])) if path.is_dir() else _is_log(path) or _is_summary(path)


def _logs(folder: Path) -> list[Path]:
    """Log files of the runs in the numbered folders of an experiment; training logs where there are any."""
    names = ("DLVarLog.csv", "DLVarLogNoLoop.csv")
    logs = ([log for log in folder.glob(f"*/{name}") if log.parent.name.isdecimal()] for name in names)
    return sorted(next(filter(None, logs), []), key=lambda log: int(log.parent.name))


@importer("deviate2021", claims=_claims, rank=30)
def read_deviate2021(path: Path) -> tuple[Imported, ...]:
    """Read the log of one run, or of all runs of an experiment's folder.

    Raises:
        InputError: the file is a summary over runs: `published_table` is for those.
    """
    if path.is_file() and _is_summary(path):
        raise InputError(f"{path} is a summary over runs of DEVIATE 2021", "import the runs from DLVarLog.csv files")
    logs = _logs(path) if path.is_dir() else [path]
    if not logs:
        raise InputError(
            f"{path} holds no logs of DEVIATE 2021", "name a folder with 0/DLVarLog.csv, 1/DLVarLog.csv, …"
        )
    read = [assemble(_count_rows(read_table(log)), log, "deviate2021")[0] for log in logs]
    runs = tuple(
        dataclasses.replace(run, label=f"run {log.parent.name}" if log.stem.startswith("DLVarLog") else run.label)
        for log, table in zip(logs, read, strict=True)
        for run in table.runs
    )
    notes = (*read[0].notes, "values have five decimals; Time is the duration of the written iteration in seconds")
    name = path.absolute().name if path.is_dir() else path.stem
    return (Imported(name, "deviate2021", tuple(logs), runs, notes=notes),)


def _count_rows(table: CellTable) -> CellTable:
    """Number the rows where `Iter` is constant, which that release writes for scripts without a loop."""
    steps = table.columns["Iter"]
    if len(set(steps)) > 1 or len(steps) < 2:
        return table
    columns = {**table.columns, "Iter": [str(row) for row in range(table.n_rows)]}
    return dataclasses.replace(table, columns=columns, notes=("Iter is constant: rows are counted instead",))


def published_table(path: Path) -> str | None:
    """An analysis or a comparison of that release as CSV with a row per metric and iteration, rightly labelled.

    None for any other file.

    Raises:
        InputError: its columns are not those of the release.
    """
    if not _is_summary(path):
        return None
    first, second, *rows = ([cell.strip() for cell in row] for row in csv.reader(io.StringIO(read_text(path))))
    figures = ANALYSIS if tuple(second[1:4]) == ANALYSIS[:3] else COMPARISON
    width = len(figures)
    metrics = first[1 : len(second) : width]
    if tuple(second[1:]) != figures * len(metrics):
        raise InputError(f"{path}: unknown columns for DEVIATE 2021", "name an unchanged file of the release")
    buffer = io.StringIO(NOTES[figures])
    buffer.seek(0, io.SEEK_END)
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["metric", "iteration", *(RIGHT.get(figure, figure) for figure in figures)])
    for at, metric in enumerate(metrics):
        for row in rows:
            cells = row[1 + at * width : 1 + (at + 1) * width]
            if any(cells):
                writer.writerow([metric, row[0], *map(_right, figures, cells)])
    return buffer.getvalue()


def _right(figure: str, cell: str) -> str:
    value = number(cell)
    if figure != P_VALUE:
        return "" if figure in ANALYSIS and value is not None and math.isnan(value) else cell
    if value is None or math.isnan(value):
        return "none: all values equal"
    return f"{min(1.0, 2 * value):.4f}" if value else "< 0.0001"
