"""JAX: inputs of calls that may turn out to have trained do not fill the memory; a set is kept whole or not at all."""

from pathlib import Path

import pytest
from harness import Child

SCRIPT = """\
import flax.linen as nn
import jax
import numpy as np
import optax
from flax.training.train_state import TrainState

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(3)(x[:, :2])

@jax.jit
def slopes_and_score(state, images):
    def loss_of(params):
        out = state.apply_fn({"params": params}, images)
        return (out ** 2).mean(), out
    (_, out), slopes = jax.value_and_grad(loss_of, has_aux=True)(state.params)
    return slopes, out.argmax(-1).mean()

apply = jax.jit(lambda state, slopes: state.apply_gradients(grads=slopes))
def images(number, size): return np.full((2, size), number, "float32")
def evaluate(state, n):
    return np.mean([slopes_and_score(state, images(number, 1 << 21))[1] for number in range(n)])

net = Net()
params = net.init(jax.random.key(0), images(0, 4))["params"]
state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.sgd(0.1))
for step in range(3):
    for part in range(8):
        slopes, _ = slopes_and_score(state, images(part, 1 << 21))
    state = apply(state, slopes)
print(evaluate(state, {n}))
"""


@pytest.mark.parametrize(("n", "kept"), [(3, [6]), (8, [])])
def test_a_set_is_kept_whole_or_not_at_all(tmp_path: Path, n: int, kept: list[int], require) -> None:  # type: ignore[no-untyped-def]
    for name in ("jax", "flax", "optax"):
        require(name)
    child = Child(tmp_path, SCRIPT.replace("{n}", str(n)))
    result = child.run(capture={"predictions": "on"}, environment={"JAX_PLATFORMS": "cpu"})
    assert (result.code, result.of("error")) == (0, []), (result.stderr, result.of("error"))
    assert [n for *_, n in result.of("artifact")] == kept
    told = [reason for *_, reason in result.of("not captured")]
    assert ["too many to wait for" in reason for reason in told] == [True] * (not kept)
