"""JAX: inputs of calls that may turn out to have trained do not fill the memory; a set is kept whole or not at all."""

from pathlib import Path

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
def evaluate(state, size, n):
    return np.mean([slopes_and_score(state, images(number, size))[1] for number in range(n)])

net = Net()
params = net.init(jax.random.key(0), images(0, 4))["params"]
state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.sgd(0.1))
for step in range(3):
    state = apply(state, slopes_and_score(state, images(step, 1 << 22))[0])
print(evaluate(state, 1 << 22, 8))
state = apply(state, slopes_and_score(state, images(9, 4))[0])
def small(): return evaluate(state, 1 << 22, 3)
print(small())
"""


def test_a_set_is_kept_whole_or_not_at_all(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    for name in ("jax", "flax", "optax"):
        require(name)
    result = Child(tmp_path, SCRIPT).run(capture={"predictions": "on"}, environment={"JAX_PLATFORMS": "cpu"})
    assert (result.code, result.of("error")) == (0, []), (result.stderr, result.of("error"))
    ((_, _, reason),) = result.of("not captured")
    assert "too many to wait for" in reason
    assert [n for *_, n in result.of("artifact")] == [6]
