"""The data behind a report as CSV files that lie beside its page: every number unrounded, an empty cell for none.

A float is written with as many digits as tell it from every other one, so that it reads back bit for bit; NaN and
infinities are `nan`, `inf` and `-inf`. Text that a spreadsheet would take for a formula has a quote before it.
"""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from deviate.model.findings import Findings
from deviate.model.records import Experiment
from deviate.registry import wing
from deviate.report.data.rows import Row, comparison_rows, description_rows, score_rows
from deviate.report.document import Absent, Fact, Facts, Section, cell
from deviate.report.format import clean, counted

MOST_VALUES = 5_000_000
"""Measurements that are written: some 300 MB. Beyond that the records themselves are the better source."""
TABLES = ("scores.csv", "descriptions.csv", "comparisons.csv", "curves.csv")
CURVE_COLUMNS = ("metric", "experiment", "variant", "replicate", "step", "value")
WRITTEN_AT_ONCE = 1 << 20

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file to write; `chunks` yields its text in pieces, since curves are too large for memory.

    Attributes:
        description: of its rows.
    """

    name: str
    description: str
    chunks: Callable[[], Iterator[str]]


def data_section(findings: Findings) -> Section:
    """Section that describes the data files beside the page, and says why there is no file of curves."""
    why = _no_curves(n_values(findings))
    facts = Facts(tuple(Fact(file.name, cell(file.description)) for file in table_files(findings)))
    return Section("data", "Data", (facts, *([Absent(why)] if why else [])))


def table_names() -> tuple[str, ...]:
    """Names of all data files that there may be."""
    return (*TABLES, *wing("stability.report.csv_tables").CSV_TABLES)


def table_files(findings: Findings) -> tuple[TableFile, ...]:
    """The data files beside the page."""
    of_descriptions = "a row per experiment and metric: every figure that describes it"
    files = [
        TableFile("scores.csv", "a row per run and metric", lambda: csv_text(score_table(findings))),
        TableFile("descriptions.csv", of_descriptions, lambda: csv_text(_table(description_rows(findings)))),
    ]
    if findings.pairs:
        text = "a row per candidate and metric: every figure that compares"
        files.append(TableFile("comparisons.csv", text, lambda: csv_text(_table(comparison_rows(findings)))))
    if 0 < (n := n_values(findings)) <= MOST_VALUES:
        text = f"a row per measurement, {counted(n, 'value')}"
        files.append(TableFile("curves.csv", text, lambda: _curves(findings)))
    further = wing("stability.report.csv_tables").csv_tables(findings).items()
    further_files = (TableFile(name, one.description, partial(_rows_text, one.rows, findings)) for name, one in further)
    return (*files, *further_files)


def n_values(findings: Findings) -> int:
    """Number of measurements in all runs; 0 if each metric has a single value per run, as scores suffice then."""
    lengths = [
        len(series.values)
        for item in findings.experiments
        for run in item.experiment.runs
        for series in run.series.values()
    ]
    return sum(lengths) if any(length > 1 for length in lengths) else 0


def _no_curves(n: int) -> str:
    if n > MOST_VALUES:
        return (
            f"There is no curves.csv: {n:,} measurements are more than the {MOST_VALUES:,} that are written out. "
            "The records of the runs hold them all."
        )
    return "" if n else "There is no curves.csv: no metric was reported more than once in a run."


def _rows_text(rows: Callable[[Findings], Iterable[Iterable[Value]]], findings: Findings) -> Iterator[str]:
    return csv_text(rows(findings))


def csv_text(rows: Iterable[Iterable[Value]]) -> Iterator[str]:
    """Rows as text in pieces; floats with as many digits as tell them from every other."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for row in rows:
        writer.writerow([repr(float(value)) if isinstance(value, float) else value for value in row])
        if buffer.tell() > WRITTEN_AT_ONCE:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def _table(rows: Sequence[Row]) -> Iterator[Iterable[Value]]:
    yield rows[0] if rows else ()
    yield from ([_plain(value) for _, value in row.values()] for row in rows)


def _plain(value: object) -> Value:
    """A value of the model as a cell; missing values are empty."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if value is None or isinstance(value, int | float) else plain_text(str(value))


def _of_experiment(experiment: Experiment) -> tuple[str, str]:
    return plain_text(experiment.name), plain_text(experiment.variant)


def _curves(findings: Findings) -> Iterator[str]:
    """Yield the measurements, one chunk per run. The `csv` module is not used, as it takes three times as long."""
    yield ",".join(CURVE_COLUMNS) + "\n"
    for item in findings.experiments:
        reported = (name for run in item.experiment.runs for name in run.series)  # restated metrics are there as well
        names = dict.fromkeys((*(metric.name for metric in item.experiment.metrics), *reported))
        plain_names = {name: plain_text(name) for name in names}
        for run in item.experiment.runs:
            parts: list[str] = []
            for name, plain_name in plain_names.items():
                series = run.series.get(name)
                if series is None:
                    continue
                (head,) = csv_text([(plain_name, *_of_experiment(item.experiment), run.replicate)])
                begin = head.rstrip("\n")
                parts += [
                    f"{begin},{'' if step is None else step},{float(value)!r}\n"
                    for step, value in zip(series.steps, series.values, strict=True)
                ]
            yield "".join(parts)


# Scores in long form, a row per run and metric, safe to open in spreadsheets.

COLUMNS = ("experiment", "variant", "replicate", "status", "metric", "score")

FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""With what a formula begins, after blanks that some readers drop."""


def score_table(findings: Findings) -> Iterator[tuple[str | int, ...]]:
    """Yield the column names, then a row per run and metric."""
    yield COLUMNS
    for row in score_rows(findings):
        score = "" if row.score is None else repr(float(row.score))
        names = plain_text(row.experiment), plain_text(row.variant)
        yield (*names, row.replicate, row.status, plain_text(row.metric), score)


def shield_rows(rows: Iterable[Iterable[str | float]]) -> Iterator[list[str | int]]:
    """CSV rows with exact numbers, and text that spreadsheets do not evaluate as formulas."""
    for row in rows:
        yield [_shield(value) for value in row]


def _shield(value: str | float) -> str | int:
    """Protect text from evaluation; text that is a number, such as the value of an argument, is safe."""
    if not isinstance(value, str):
        return value if isinstance(value, int) else repr(float(value))
    try:
        float(value)
    except ValueError:
        return plain_text(value)
    return value


def plain_text(text: str) -> str:
    """Text that no spreadsheet takes for a formula.

    An apostrophe before it is what spreadsheets themselves understand as "this is text". It changes the name for other
    readers, of which few names are worth a warning: who needs them to the letter has them in the JSON.
    Source: OWASP, CSV Injection; wide signs count as the narrow ones where the language has them.
    """
    cleaned = clean(text)
    return f"'{cleaned}" if cleaned.lstrip().startswith(FORMULA) else cleaned
