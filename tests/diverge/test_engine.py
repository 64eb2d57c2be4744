"""The ladder and the guest agree about where costs are measured."""

from deviate.diverge.engine import PROBED
from deviate.guest.observers.trace import Levels


def test_costs_of_the_second_rung_are_measured_where_the_ladder_expects_it() -> None:
    first_rung = Levels({"trace": "1", "trace-next": "2"})
    assert [step for step in range(100) if first_rung.is_dropped(step)] == [it for it in range(100) if it in PROBED]
