"""Sink `pandas`: rows appended to a table. `df.loc[…] = row` is no call, and `to_csv` is not told what it writes."""

from __future__ import annotations

from typing import Any, Iterator

from .kinds import Record
from .registry import methods, sink


@sink(
    "pandas",
    methods(["pandas.DataFrame()", "pandas.read_csv()"], ["append", "_append"]),
    methods(["df", "*.df", "*_df", "*dataframe"], ["append", "_append"]),
)
def append(other: Any, *rest: Any, **options: Any) -> Iterator[Record]:
    """`DataFrame.append(other, ignore_index, …)`, gone in pandas 2."""
    yield Record(other)
