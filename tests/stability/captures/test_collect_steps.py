"""Steps at which runs kept outputs come in the order of their numbers, which is not that of their names."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from artifacts import keep_predictions, keep_weights
from recorded import start

from deviate.records.read import read_experiment
from deviate.stability.captures.collect import captured_of

STEPS = (9, 49, 99, 149, 199)


def test_step_199_is_the_last_though_99_is_the_last_of_the_names(
    experiment: Path, add_run: Callable[..., Path]
) -> None:
    assert max(f"pred{step}.txt" for step in STEPS) == "pred99.txt"
    for replicate in range(2):
        attempt = add_run(replicate, start(), process="12-1")
        lines = []
        for step in STEPS:
            outputs = np.full((4, 3), replicate + step, np.float32)
            lines.append(keep_predictions(attempt, "test", {"outputs": outputs, "truth": np.arange(4) % 3}, step=step))
            lines.append(keep_weights(attempt, "step", {"w": np.full(2, float(step))}, step=step))
        with (attempt / "events-12-1.jsonl").open("a") as file:
            file.writelines(lines)
    (read,) = read_experiment(experiment)
    found = captured_of(read)
    (last,) = found.sets
    assert last.outputs is not None
    assert last.outputs[:, 0, 0].tolist() == [199.0, 200.0]
    assert [it.step for it in found.by_step] == list(STEPS)
    assert [it.step for it in found.weights_by_step] == list(STEPS)
    assert [it.layers["w"][0, 0] for it in found.weights_by_step] == list(STEPS)
