"""Processes that a script starts have ranks by their number; workers of a pool leave no trace."""

import json
from pathlib import Path

import pytest
from harness import Child

pytestmark = [pytest.mark.slow, pytest.mark.requires("sklearn")]
SCRIPT = """\
import multiprocessing
import numpy as np
from sklearn.linear_model import SGDClassifier

def train(number):
    draw = np.random.default_rng(number)
    model = SGDClassifier(random_state=0)
    for step in range(2 + number):
        model.partial_fit(draw.normal(size=(6, 2)), [0, 1, 0, 1, 0, 1], classes=[0, 1])
    return float(model.coef_.sum())

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    children = [context.Process(target=train, args=(number,)) for number in range(2)]
    for child in reversed(children):
        child.start()
    for child in children:
        child.join()
    with context.Pool(1) as pool:
        print(len(pool.map(train, range(2))))
"""


def test_children_of_a_process_are_ranks_and_workers_of_a_pool_are_none(tmp_path: Path) -> None:
    result = Child(tmp_path, SCRIPT).run(capture={"trace": "2"})
    assert (result.code, result.of("error"), result.stdout) == (0, [], "2\n"), result.stderr
    n_steps = {}
    for path in (tmp_path / "attempt-1" / "artifacts").glob("trace-*.jsonl"):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if any(line[0] == "update" for line in lines):
            n_steps[lines[0][2]["rank"]] = lines[-1][1]
    assert n_steps == {0: 2, 1: 3}
