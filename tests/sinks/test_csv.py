import csv
import io
from collections.abc import Callable

from deviate.sinks import Record, Row, find_by_key


def test_a_row_holds_what_the_line_holds() -> None:
    text = io.StringIO()
    values = [1, 0.5]
    csv.writer(text).writerow(values)
    (row,) = find_by_key("tables.csv_writer_writerow").carried([values], {})
    assert isinstance(row, Row)
    assert text.getvalue() == ",".join(str(value) for value in row.values) + "\r\n"


def test_a_dictwriter_takes_names_by_place_or_keyword() -> None:
    named, writer = {"loss": 0.5}, csv.DictWriter(io.StringIO(), ["loss"])
    writer.writerow(rowdict=named)
    for positional, keywords in (([named], {}), ([], {"rowdict": named})):
        (record,) = find_by_key("tables.csv_DictWriter_writerow").carried(positional, keywords)
        assert isinstance(record, Record)
        assert record.mapping is named


def test_the_writer_tells_which(report: Callable[..., object]) -> None:
    assert report("csv.writer().writerow", "row") == [("Row", "row")]
    assert report("csv.DictWriter().writerow", "row") == [("Record", "row", None)]
    assert report("?self.writer.writerow", "row") == [("Row", "row")]
