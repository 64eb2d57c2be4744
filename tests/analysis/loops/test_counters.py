from collections.abc import Callable

import pytest

from deviate.model.analysis import Analysis, LoopCounter

Analyse = Callable[[str], Analysis]


@pytest.mark.parametrize(
    ("header", "reported", "counter"),
    [
        ("for epoch in range(6):", "epoch", LoopCounter("epoch", 0, 1)),
        ("for epoch in range(6):", "epoch + 1", LoopCounter("epoch", 1, 1)),
        ("for epoch in range(1, 7):", "epoch", LoopCounter("epoch", 1, 1)),
        ("for step in tqdm(range(0, 600, 100)):", "step", LoopCounter("step", 0, 100)),
        ("for step, batch in enumerate(loader, 1):", "step", LoopCounter("step", 1, 1)),
        ("for epoch in range(start, 7):", "epoch", None),
        ("for epoch in range(6):", "epoch * 2", None),
        ("for epoch in range(6):", "name", None),
        ("for epoch in epochs:", "epoch", None),
    ],
)
def test_the_counter_is_what_a_script_reports_of_a_range(
    analyse: Analyse, header: str, reported: str, counter: LoopCounter | None
) -> None:
    loop = analyse(f"{header}\n    loss = f(x)\n    loss.backward()\n    print({reported}, 'loss', loss)\n").main_loop
    assert loop is not None
    assert loop.counter == counter
