"""How long a level will take, from what the updates of the first level took."""

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest
from traced import a_trace

from deviate.diverge.forecast import estimate_pair_s, proposed_limit
from deviate.diverge.levels import Window
from deviate.diverge.requests import Pair
from deviate.model.records import Run

N = 1000
SIDE = (replace(a_trace([], n_steps=N), seconds=tuple(10.0 + 2 * step for step in range(N))),)
RUN = cast(Run, SimpleNamespace(wall_time_s=2100.0))
PAIR = Pair(("it",), (RUN, RUN), (SIDE, SIDE))
"""Each run: 10 s to the end of the first update, 2 s for each further one, 92 s after the last."""


@pytest.mark.parametrize(
    ("window", "factor", "start", "expected"),
    [
        (Window(0, 11), 1.0, 0, 10 + 20),
        (Window(900, 910), 3.0, 0, 10 + 2 * 899 + 3 * 20),
        (Window(900, 910), 3.0, 880, 10 + 2 * 20 + 3 * 20),
        (Window(900, 910), None, 900, 10 + 20),
        (Window(900, None), 2.0, 0, 10 + 2 * 899 + 2 * 200 + 92),
        (Window(990, 2000), 2.0, 990, 10 + 2 * 20),
    ],
)
def test_updates_before_the_window_cost_what_they_cost_on_the_first_level(
    window: Window, factor: float | None, start: int, expected: float
) -> None:
    assert estimate_pair_s(PAIR, window, factor, is_parallel=False, start=start) == 2 * expected
    assert estimate_pair_s(PAIR, window, factor, is_parallel=True, start=start) == expected


def test_a_proposed_limit_allows_the_estimate_and_a_quarter_more() -> None:
    for estimate in (5, 70, 1000, 9700, 10800, 100_000):
        text = proposed_limit(estimate)
        seconds = int(text[:-1]) * (3600 if text.endswith("h") else 60)
        assert 1.25 * estimate <= seconds <= max(60, 1.25 * 1.25 * estimate + 60)


def test_without_updates_nothing_is_estimated() -> None:
    assert estimate_pair_s(Pair(("it",), (RUN, RUN), ((), ())), Window(), 1.0, is_parallel=False) is None
