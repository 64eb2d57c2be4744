"""Every number in `docs/explanation/looks.md` is the one that the code computes."""

from pathlib import Path

import pytest
from classical import classical_bounds
from scipy import special

from deviate.model.design import Question
from deviate.model.records import Spending
from deviate.stats.design.design import inflation
from deviate.stats.design.group_sequential import spending_bounds

PAGE = Path(__file__).parents[1] / "docs/explanation/looks.md"
NAMES: dict[str, Spending] = {"O'Brien-Fleming": "obrien-fleming", "Pocock": "pocock"}


def rows(head: str) -> list[list[str]]:
    """Cells of the table whose head begins so."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith(head))
    table = lines[start + 2 :]
    end = next(index for index, line in enumerate(table) if not line.startswith("|"))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[:end]]


def test_constants_on_the_page_are_those_of_the_code() -> None:
    table = rows("| K | Pocock, 5 %")
    assert [int(row[0]) for row in table] == list(range(2, 11))
    for k, *cells in table:
        expected = [
            classical_bounds(int(k), alpha, shape)[-1]
            for alpha in (0.05, 0.01)
            for shape in ("pocock", "obrien-fleming")
        ]
        assert [float(cell) for cell in cells] == [pytest.approx(it, abs=0.0005) for it in expected]


def test_critical_p_values_and_costs_on_the_page_are_those_of_the_code() -> None:
    table = rows("| K | spending")
    assert len(table) == 8
    for k, name, critical, most, mean in table:
        n_looks, spending = int(k), NAMES[name]
        bounds = spending_bounds(tuple((i + 1) / n_looks for i in range(n_looks)), 0.05, spending)
        p_values = [2 * float(special.ndtr(-bound)) for bound in bounds]
        assert [float(it) for it in critical.split()] == [pytest.approx(p, rel=0.05) for p in p_values]
        cost = inflation(n_looks, spending, Question())
        assert (float(most), float(mean)) == (pytest.approx(cost[0], abs=0.0006), pytest.approx(cost[1], abs=0.0006))
