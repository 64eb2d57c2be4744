"""Whether `deviate diverge` finds one wrong number in one of two runs: PyTorch, Keras `fit` and Flax.

    python benchmarks/diverge_injections.py [--check] [--only torch,keras,flax] [--case input]

Each case is a script whose second run differs in one thing at update 3, by a factor of 1 + 1e-7 where it is a number.
The table tells what is expected and what was found: update, phase, name of the record, line. With `--check` the exit
code is 1 where one is not right.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

BEGIN = """\
import os
import sys
import numpy as np

what, step = sys.argv[1], 0


def factor(where):
    is_there = os.environ.get("DEVIATE_REPLICATE") == "1" and (what, step) == (where, 3)
    return np.float32(1 + 1e-7) if is_there else np.float32(1)


def chosen(begin, n):
    rows = list(range(begin, begin + n))
    if factor("order") != 1:
        rows[:2] = rows[1::-1]
    return rows


draw = np.random.default_rng(0)
X = draw.normal(size=(64, 6)).astype("float32")
Y = (X @ draw.normal(size=(6, 3))).argmax(1)
"""
TORCH = """\
import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
inputs, labels = torch.from_numpy(X), torch.from_numpy(Y)


class Hidden(nn.Linear):
    def forward(self, x):
        return torch.relu(super().forward(x)) * float(factor("forward"))  # forward


model = nn.Sequential(Hidden(6, 8), nn.Linear(8, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(2):
    for begin in range(0, 64, 16):
        rows = chosen(begin, 16)
        x, y = inputs[rows], labels[rows]  # order
        x = x * float(factor("input"))  # input
        if what == "draw":
            x = x + torch.rand(16 + int(factor("draw") != 1), 6)[-16:]  # draw
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        model[1].weight.grad.mul_(float(factor("gradient")))  # gradient
        optimizer.param_groups[0]["lr"] = 0.1 * float(factor("optimizer"))
        optimizer.step()  # optimizer
        step += 1
    print(f"epoch {epoch} train loss {loss.item():.4f}")
"""
KERAS = """\
import keras
import tensorflow as tf

keras.utils.set_random_seed(0)


class Model(keras.Sequential):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True))
        gradients = [scale * it for it in tape.gradient(loss, self.trainable_weights)]
        self.optimizer.apply(gradients, self.trainable_weights)
        self._loss_tracker.update_state(loss)
        return {"loss": self._loss_tracker.result()}


class Steps(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        scale.assign(factor("gradient"))
        rate = self.model.optimizer.learning_rate
        rate.assign(0.1 * factor("optimizer"))
        kernel = self.model.layers[0].kernel
        if factor("forward") != 1:
            kernel.assign(kernel * factor("forward"))
        if factor("draw") != 1:
            np.random.rand()
        if what == "draw":
            scale.assign(np.random.rand())

    def on_train_batch_end(self, batch, logs=None):
        global step
        step += 1


def batches():
    for number in range(8):
        begin = 16 * (number % 4)
        global step
        before, step = step, number
        rows, scaled = chosen(begin, 16), factor("input")
        step = before
        yield X[rows] * scaled, Y[rows]


np.random.seed(0)
kept = list(batches())
xs, ys = (np.concatenate(it) for it in zip(*kept))
scale = tf.Variable(1.0, trainable=False)
model = Model([keras.Input((6,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(3)])
model.compile(keras.optimizers.SGD(0.1, momentum=0.9), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
history = model.fit(xs, ys, batch_size=16, epochs=1, shuffle=False, verbose=0, callbacks=[Steps()])
print(f"train loss {history.history['loss'][-1]:.4f}")
"""
FLAX = """\
import flax.linen as nn
import jax
import optax
from flax.training.train_state import TrainState


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(nn.relu(nn.Dense(8)(x)))


@jax.jit
def train_step(state, x, y, key):
    x = x + 0.01 * jax.random.normal(key, x.shape)

    def loss_of(params):
        return optax.softmax_cross_entropy_with_integer_labels(state.apply_fn({"params": params}, x), y).mean()

    loss, grads = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=grads), loss


key = jax.random.PRNGKey(0)
net = Net()
state = TrainState.create(apply_fn=net.apply, params=net.init(key, X[:2])["params"], tx=optax.sgd(0.1, momentum=0.9))
for epoch in range(2):
    for begin in range(0, 64, 16):
        key, sub = jax.random.split(key)
        if factor("draw") != 1:
            sub = jax.random.split(sub)[0]
        rows = chosen(begin, 16)
        if factor("optimizer") != 1:
            state = state.replace(params=jax.tree.map(lambda it: it * factor("optimizer"), state.params))
        state, loss = train_step(state, X[rows] * factor("input"), Y[rows], sub)  # step
        step += 1
    print(f"epoch {epoch} train loss {float(loss):.4f}")
"""
SCRIPTS = {"torch": TORCH, "keras": KERAS, "flax": FLAX}


class Case(NamedTuple):
    """What is expected: regular expressions for the name; no line where none is documented."""

    framework: str
    what: str
    step: int
    phases: tuple[str, ...]
    name: str
    line: str = ""


CASES = (
    Case("torch", "input", 3, ("data",), r"aten\.mul\.Tensor", "input"),
    Case("torch", "forward", 3, ("forward",), r"aten\.mul\.Tensor", "forward"),
    Case("torch", "gradient", 3, ("backward",), r"aten\.mul_\..*", "gradient"),
    Case("torch", "optimizer", 3, ("update",), r"aten\..*", "optimizer"),
    Case("torch", "order", 3, ("order",), r"aten\..*", "order"),
    Case("torch", "draw", 3, ("data", "random"), r"aten\.rand\.default", "draw"),
    Case("keras", "input", 3, ("data",), r"input.*"),
    Case("keras", "forward", 3, ("update",), r".*"),
    Case("keras", "gradient", 3, ("update",), r".*"),
    Case("keras", "optimizer", 3, ("update",), r".*"),
    Case("keras", "order", 3, ("order",), r"input.*"),
    Case("keras", "draw", 3, ("random",), r"numpy.*"),
    Case("flax", "input", 3, ("data",), r"input.*"),
    Case("flax", "optimizer", 3, ("loss", "update"), r".*"),
    Case("flax", "order", 3, ("order",), r"input.*"),
    Case("flax", "draw", 3, ("random",), r"jax/.*"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="torch,keras,flax")
    parser.add_argument("--case", default="")
    options = parser.parse_args()
    wrong = 0
    print(f"{'case':<16} {'expected':<34} {'found':<60} right   time")
    for case in CASES:
        if case.framework not in options.only.split(",") or options.case not in ("", case.what):
            continue
        began = time.perf_counter()
        found = difference_of(case)
        is_right = found is not None and fits(case, found)
        wrong += not is_right
        line = marked(case)
        expected = f"{case.step} {'/'.join(case.phases)}{f' line {line}' if line else ''}"
        took = time.perf_counter() - began
        print(f"{case.framework + ' ' + case.what:<16} {expected:<34} {told(found):<60} {is_right!s:<6} {took:4.0f} s")
        sys.stdout.flush()
    print(f"{wrong} wrong" if wrong else "all right")
    return 1 if wrong and options.check else 0


def difference_of(case: Case) -> dict[str, object] | None:
    """The difference on the deepest rung that has one, as `--json` tells it."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        (folder / "train.py").write_text(BEGIN + SCRIPTS[case.framework], encoding="utf-8")
        words = [sys.executable, "-m", "deviate", "diverge", "train.py", "-q", "--json", "out.json", "--", case.what]
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            words, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
        )
        if done.returncode:
            sys.exit(f"{case.framework} {case.what}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        rungs = json.loads((folder / "out.json").read_text(encoding="utf-8"))["rungs"]
    return next((it["difference"] for it in reversed(rungs) if it["difference"] is not None), None)


def fits(case: Case, found: dict[str, object]) -> bool:
    place = found["place"]
    line = place["line"] if isinstance(place, dict) else None
    return (
        found["step"] == case.step
        and found["phase"] in case.phases
        and re.fullmatch(case.name, str(found["name"])) is not None
        and (not case.line or line == marked(case))
    )


def marked(case: Case) -> int | None:
    text = BEGIN + SCRIPTS[case.framework]
    lines = (at for at, it in enumerate(text.splitlines(), 1) if case.line and it.endswith(f"# {case.line}"))
    return next(lines, None)


def told(found: dict[str, object] | None) -> str:
    if found is None:
        return "equal"
    place = found["place"]
    line = f" line {place['line']}" if isinstance(place, dict) else ""
    return f"{found['step']} {found['phase']} {found['kind']} {found['name']}{line}"


if __name__ == "__main__":
    sys.exit(main())
