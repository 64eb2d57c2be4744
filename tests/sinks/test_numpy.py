from pathlib import Path

import numpy as np

from deviate.sinks import Table, find_by_key


def test_rows_stand_second(tmp_path: Path) -> None:
    rows = [[0, 0.5]]
    np.savetxt(tmp_path / "log.txt", rows)
    (table,) = find_by_key("tables.numpy_savetxt").carried([tmp_path / "log.txt", rows], {"fmt": "%.3f"})
    assert isinstance(table, Table)
    assert table.rows is rows
    assert np.loadtxt(tmp_path / "log.txt").tolist() == rows[0]
