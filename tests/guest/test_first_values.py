"""The first run tells weights from examples by what training does to names: `# w` marks draws of weights, `# x` others.

Each script has one loop, which is the main loop.
"""

from pathlib import Path

import pytest
from harness import Child

from deviate.model.analysis import Loop, Span

NAMES = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=(50, 2))                                   # x
y = X.sum(1) + rng.normal(size=50)                             # x
X = X - X.mean(0)
W1, b1 = 0.1 * rng.normal(size=(2, 4)), np.zeros(4)            # w
W2 = rng.normal(size=4)                                        # w
scale = rng.uniform()                                          # w
for epoch in range(3):
    order = rng.permutation(50)
    X, y = X[order], y[order]
    hidden = np.tanh(X @ W1 + b1)
    error = hidden @ W2 * scale - y
    W1 -= 0.001 * X.T @ (np.outer(error, W2) * (1 - hidden**2))
    b1 -= 0.001 * error.mean()
    W2 = W2 - 0.001 * hidden.T @ error
    scale -= 0.001 * error.mean()
"""
IN_PLACE_ORDER = """
import random
import numpy as np
rows = np.random.rand(30, 3)                                   # x
pairs = [(random.gauss(0, 1), random.gauss(0, 1)) for _ in range(20)]  # x
w = [random.uniform(-1, 1) for _ in range(2)]                  # w
for epoch in range(3):
    np.random.shuffle(rows)
    random.shuffle(pairs)
    for a, b in pairs:
        w = [v - 0.1 * a * b for v in w]
"""
BATCHES_BY_THE_SAME_NAME = """
import numpy as np
rng = np.random.RandomState(0)
x = rng.randn(40, 2)                                           # x
y = rng.randn(40)                                              # x
examples = [(x[i : i + 10].astype("float32"), y[i : i + 10]) for i in range(0, 40, 10)]
w = rng.randn(2)                                               # w
for epoch in range(2):
    for x, y in examples:
        w = w - 0.1 * x.T @ (x @ w - y)
"""
OBJECTS = """
import random
class Value:
    def __init__(self, data):
        self.data, self.grad = data, 0.0
class Neuron:
    def __init__(self, n):
        self.w = [Value(random.uniform(-1, 1)) for _ in range(n)]  # w
    def parameters(self):
        return self.w
class Noise:
    def __init__(self, n):
        values = [random.gauss(0, 1) for _ in range(n)]        # x
        self.values = values
        self.n_read = 0
points = Noise(9)
neurons = [Neuron(2), Neuron(3)]
for k in range(3):
    points.n_read += 1
    for neuron in neurons:
        for p in neuron.parameters():
            p.data -= 0.1 * points.values[k]
"""
ONE_CONTAINER = """
import numpy as np
state = {
    "examples": np.random.rand(9, 2),                          # x
    "weights": np.random.rand(2),                              # x
}
net = {}
net["W"] = np.random.rand(2)                                   # w
def teacher():
    return np.random.rand(2, 2)                                # x
target = teacher()
for epoch in range(3):
    state["weights"] = state["weights"] - 0.1
    net["W"] -= 0.1 * target.sum()
"""
GLOBAL = """
import numpy as np
def initialize():
    global weights
    weights = np.random.rand(5)                                # w
def train():
    global weights
    for epoch in range(3):
        weights = weights * 0.9
initialize()
train()
"""
TENSORS = """
import torch
features = torch.randn(50, 2)                                  # x
def sgd(params):
    with torch.no_grad():
        for param in params:
            param -= 0.01 * param.grad
            param.grad.zero_()
w = torch.normal(0, 0.01, size=(2, 1), requires_grad=True)     # w
u = torch.randn(2).requires_grad_()                            # w
optimizer = torch.optim.Adam([u], lr=0.1)
for epoch in range(3):
    loss = ((features @ w + u.sum() - 1) ** 2).mean()
    loss.backward()
    sgd([w])
    optimizer.step()
"""
SCRIPTS = {
    "names": NAMES, "order": IN_PLACE_ORDER, "batches": BATCHES_BY_THE_SAME_NAME, "objects": OBJECTS,
    "container": ONE_CONTAINER, "global": GLOBAL, "tensors": TENSORS,
}  # fmt: skip


@pytest.mark.parametrize("name", SCRIPTS)
def test_weights_are_what_training_changes(tmp_path: Path, name: str, require) -> None:  # type: ignore[no-untyped-def]
    text = SCRIPTS[name]
    require("torch" if name == "tensors" else "numpy")
    child = Child(tmp_path, text)
    lines = text.splitlines()
    marked = {number: line[-1] for number, line in enumerate(lines, 1) if line.endswith(("# w", "# x"))}
    begin = next(n for n, line in enumerate(lines, 1) if line.lstrip().startswith(("for epoch", "for k")))
    end = next((n for n in range(begin + 1, len(lines)) if not lines[n].startswith(" ")), len(lines))
    iterable = lines[begin - 1].partition(" in ")[2].rstrip(":")
    column = lines[begin - 1].index(iterable)
    span = Span(begin, column, begin, column + len(iterable))
    child.loops.append(Loop(0, "train.py", begin, end, "for", None, span, is_main=True))
    result = child.run(seeds={"init": 1, "split": 2, "other": 3}, varied=("init", "other"))
    assert (result.code, result.of("error")) == (0, []), result.stderr
    told = {int(place.partition("<")[0].partition(":")[2]) for (place,) in result.of("first value")}
    assert {line: "w" if line in told else "x" for line in marked} == marked
