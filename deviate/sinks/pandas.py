"""Sink `pandas`: rows of a table: appended, assigned, or put together before the table is made of them.

They have no taps: the guest reads the table when it is written.
"""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record, Row, Table
from .registry import methods, sink


@sink(
    "pandas",
    methods(["pandas.DataFrame()", "pandas.read_csv()"], ["append", "_append"]),
    methods(["df", "*.df", "*_df", "*dataframe"], ["append", "_append"]),
)
def append(other: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`DataFrame.append(other, ignore_index, …)`, gone in pandas 2."""
    yield Record(other)


@sink("pandas", ["pandas.DataFrame().loc[]=", "pandas.read_csv().loc[]="], ["df.loc[]=", "*.df.loc[]=", "*_df.loc[]="])
def assign(key: Any, row: Any) -> Iterator[Row]:
    """`df.loc[len(df)] = row`."""
    yield Row(row)


@sink("pandas", ["pandas.DataFrame", "pandas.DataFrame.from_records", "pandas.json_normalize"])
def make(data: Any = None, *rest: Any, **options: Any) -> Iterator[Table]:
    """`DataFrame(rows)`: what it writes to a file later is what it is made of."""
    if data is not None:
        yield Table(data)
