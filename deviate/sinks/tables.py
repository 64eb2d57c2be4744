"""Rows and tables that are written or printed, and objects that are written as JSON."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Message, Record, Row, Scalar, Table
from .registry import Carried, by_keyword, declaring, methods, sink

reports = declaring(__name__)

# `csv`: rows written with the standard library's `csv`.
#
# They have no taps: the guest stands between the script and its writers.


# A sequence; a mapping where the writer, whose type could not be known, is a DictWriter.
reports("row", Row, "csv", "csv.writer().writerow", "*.writerow")


# A mapping.
reports("rowdict", Record, "csv", "csv.DictWriter().writerow", "*dictwriter.writerow *dict_writer.writerow")


# `json`: objects written to a file as JSON. `json.dumps` gives text, which is reported where it goes.
#
# `json.dump` has no tap: the guest reads what it is given, with all that is nested in it.


reports("obj -fp *", Record, "json", "json.dump")


reports("obj -fp *", Record, "file", "simplejson.dump ujson.dump")


reports("obj", Record, "file", "jsonlines.open().write jsonlines.*Writer().write")


# `logger`: home-made loggers that write one row per call.


# A sequence, in the order of columns that were named before.
reports("values", Row, "logger", "", "*logger.append")


# `numpy`: rows written as text.


reports("-fname X *", Table, "numpy", "numpy.savetxt")


# `pandas`: rows of a table: appended, assigned, or put together before the table is made of them.
#
# They have no taps: the guest reads the table when it is written.


# `DataFrame.append(other, ignore_index, …)`, gone in pandas 2.
reports(
    "other *",
    Record,
    "pandas",
    methods(["pandas.DataFrame()", "pandas.read_csv()"], ["append", "_append"]),
    methods(["df", "*.df", "*_df", "*dataframe"], ["append", "_append"]),
)


reports(
    "-key row", Row, "pandas", "pandas.DataFrame().loc[]= pandas.read_csv().loc[]=", "df.loc[]= *.df.loc[]= *_df.loc[]="
)


# `DataFrame(rows)`: what it writes to a file later is what it is made of.
reports("data| *", Table, "pandas", "pandas.DataFrame pandas.DataFrame.from_records pandas.json_normalize")


# `table`: rows added to tables that are printed: prettytable, texttable, rich, terminaltables and the like.


# One sequence.
reports("row *", Row, "table", "prettytable.PrettyTable().add_row texttable.Texttable().add_row")


@sink("table", ["rich.table.Table().add_row"])
def add_cells(*cells: Any, **options: Any) -> Iterator[Message]:
    """Every argument is a cell."""
    for cell in cells:
        yield Message(cell)


@sink("table", (), ["*table.add_row", "tbl.add_row"])
def add_any(first: Any, *rest: Any, **options: Any) -> Iterator[Carried]:
    """A table of unknown type: one argument is the row, several are its cells."""
    if not rest:
        yield Row(first)
    for cell in (first, *rest) if rest else ():
        yield Message(cell)


# `tabular`: loggers of reinforcement learning, which gather values under keys and dump a table.
#
# Those of baselines, rllab, garage and spinningup, whose files projects copy, and of stable_baselines3 2.9.


KEYED = ("logkv", "logkv_mean", "record_tabular", "log_tabular", "record_mean")
LOGGERS = (
    "baselines.logger",
    "stable_baselines.logger",
    "stable_baselines3.*logger",
    "stable_baselines3.*.configure()",
    "garage.tabular",
    "dowel.tabular",
)


# Key and value first; a key alone asks for what was stored under it.
reports(
    "key| val|value *",
    Scalar,
    "tabular",
    methods(LOGGERS, [*KEYED, "record"]),
    [*methods(["*"], KEYED), "*logger.record", "logkv", "record_tabular", "log_tabular"],
)


# A mapping.
reports("d", Record, "tabular", methods(LOGGERS, ["logkvs"]), "*logger.logkvs")


@sink("tabular", (), ["*logger.store"])
def store(**values: Any) -> Iterator[Carried]:
    """Every value under its own keyword."""
    yield from by_keyword(values)
