"""One bit in the middle of training: up to the step that was asked for, a run is bitwise the run without it."""

from pathlib import Path

import pytest
from varied import Script, seeds

TORCH = """\
import torch
torch.manual_seed(0)
net = torch.nn.Linear(6, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 6), torch.randint(4, (32,))
for epoch in range(5):
    print(epoch, [value.hex() for value in net.weight.flatten().tolist()])
    for start in range(0, 32, 8):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x[start:start + 8]), y[start:start + 8]).backward()
        optimizer.step()
print("end")
"""
KERAS = """\
import numpy as np
import keras
x, y = np.random.default_rng(0).normal(size=(32, 6)).astype("float32"), np.arange(32) % 4
net = keras.Sequential([keras.Input((6,)), keras.layers.Dense(4)])
net.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
class Show(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(epoch + 1, [value.hex() for value in net.get_weights()[0].ravel().astype(float)])
net.fit(x, y, batch_size=8, epochs=4, verbose=0, callbacks=[Show()])
print("end")
"""
JAX = """\
import jax, jax.numpy as jnp
weights = {"w": jax.random.normal(jax.random.key(0), (6, 4)), "b": jnp.zeros(4)}
moments = jax.tree.map(jnp.zeros_like, weights)
x, y = jax.random.normal(jax.random.key(1), (32, 6)), jnp.arange(32) % 4
def loss(weights, x, y):
    scores = jax.nn.log_softmax(x @ weights["w"] + weights["b"])
    return -scores[jnp.arange(len(y)), y].mean()
@jax.jit
def step(weights, moments, x, y):
    value, slopes = jax.value_and_grad(loss)(weights, x, y)
    moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, slopes)
    return jax.tree.map(lambda w, m: w - 0.1 * m, weights, moments), moments, value
for epoch in range(5):
    print(epoch, [float(value).hex() for value in weights["w"].ravel()])
    for start in range(0, 32, 8):
        weights, moments, value = step(weights, moments, x[start:start + 8], y[start:start + 8])
print("end")
"""


@pytest.mark.parametrize(("framework", "text"), [("torch", TORCH), ("keras", KERAS), ("jax", JAX)])
def test_runs_part_at_the_step_whose_beginning_flips_the_bit(  # type: ignore[no-untyped-def]
    tmp_path: Path, require, framework: str, text: str
) -> None:
    require(framework)
    script = Script(text, main_loop="" if framework == "keras" else "range(5)")
    held = script.run(tmp_path / "held", seeds())
    flipped = script.run(tmp_path / "bit", seeds(), **{"one-bit": "7", "one-bit-step": "2"})
    assert [event[0] for event in flipped.events if event[0] in {"step", "flip"}].index("flip") == 3
    [before, after] = [dict(line.split(" ", 1) for line in it.stdout.splitlines()[:-1]) for it in (held, flipped)]
    assert {epoch for epoch in before if before[epoch] == after[epoch]} == {"0", "1", "2"} & set(before)
    assert len(before) > 3


def test_a_step_that_is_never_reached_is_told(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("torch")
    result = Script(TORCH, main_loop="range(5)").run(tmp_path, seeds(), **{"one-bit": "7", "one-bit-step": "9"})
    assert result.of("flip") == []
    told = "step 9 of the main loop, before which one-bit was to come"
    assert result.of("uncontrolled") == [[told, "", 0]]
