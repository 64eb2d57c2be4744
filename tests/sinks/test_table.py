from collections.abc import Callable


def test_a_row_is_one_sequence_or_its_cells(report: Callable[..., object]) -> None:
    assert report("prettytable.PrettyTable().add_row", ["row"]) == [("Row", ["row"])]
    assert report("rich.table.Table().add_row", "0", "0.5", style="bold") == [("Message", "0"), ("Message", "0.5")]


def test_a_table_of_unknown_type_takes_either(report: Callable[..., object]) -> None:
    assert report("?table.add_row", ["row"]) == [("Row", ["row"])]
    assert report("?table.add_row", "0", "0.5") == [("Message", "0"), ("Message", "0.5")]
