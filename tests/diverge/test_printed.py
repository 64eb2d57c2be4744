"""Printed numbers are compared one by one, also with those of a run that was ended early."""

from pathlib import Path

import pytest

from deviate.diverge.printed import compare_printed
from deviate.records.layout import log_files

WHOLE = "trees 2 test_loss 2.59\ntrees 4 test_loss 1.05\ntrees 8 test_loss 0.56\n"


@pytest.mark.parametrize(
    ("other", "n_compared", "values"),
    [
        ("trees 2 test_loss 2.59\ntrees 4 test_loss 1.05\n", 4, None),
        ("trees 2 test_loss 2.39\n", 1, (2.59, 2.39)),
        ("trees 2 test_loss 2.59\ntrees 4 test_loss 0.45\n", 3, (1.05, 0.45)),
        ("something else 3\n", 0, None),
    ],
)
def test_what_a_run_that_ended_early_printed_is_compared_line_by_line(
    other: str, n_compared: int, values: tuple[float, float] | None, tmp_path: Path
) -> None:
    for name, text in (("first", WHOLE), ("second", other)):
        path, _ = log_files(tmp_path / name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found, difference = compare_printed(tmp_path / "first", tmp_path / "second")
    assert found == n_compared
    assert (None if difference is None else difference.values) == values
