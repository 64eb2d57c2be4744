"""JAX and Flax: what is done to one of two trainings is found at its step, and the trace changes nothing."""

import pytest
from tracing import TOUCHED, Traced, nothing_changed, traced

pytestmark = pytest.mark.requires("flax", "optax")

SCRIPT = """\
import zlib
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx
from flax.training.train_state import TrainState

FACTOR = np.float32(1 + 1e-7)
draw = np.random.default_rng(0)
X = draw.normal(size=(80, 6)).astype("float32")
Y = (X @ draw.normal(size=(6, 3))).argmax(1)


class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Dense(8)(x))
        x = nn.Dropout(0.2, deterministic=not train)(x)
        return nn.Dense(3)(x)


@jax.jit
def train_step(state, batch, key, factor):
    def loss_of(params):
        logits = state.apply_fn({"params": params}, batch["x"], True, rngs={"dropout": key})
        return optax.softmax_cross_entropy_with_integer_labels(logits, batch["y"]).mean()

    loss, grads = jax.value_and_grad(loss_of)(state.params)
    grads = jax.tree.map(lambda g: factor * g, grads)
    return state.apply_gradients(grads=grads), loss


def digest(tree):
    return zlib.crc32(b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)))


model = Net()
params = jax.jit(lambda: model.init(jax.random.PRNGKey(0), X[:2], False)["params"])()
start = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adam(1e-2))
for variant in ("linen", "again", "data", "order", "weights", "gradient", "draw", "key"):
    key = jax.random.PRNGKey(0)
    np.random.seed(0)
    state = start
    for step in range(5):
        key, sub = jax.random.split(key)
        x, y, factor = X[16 * step :][:16].copy(), Y[16 * step :][:16].copy(), np.float32(1)
        if step == 3:
            if variant == "data":
                x[2, 2] *= FACTOR
            elif variant == "order":
                x[[0, 1]], y[[0, 1]] = x[[1, 0]], y[[1, 0]]
            elif variant == "weights":
                state = state.replace(params=jax.tree.map(lambda w: np.asarray(w) * FACTOR, state.params))
            elif variant == "gradient":
                factor = FACTOR
            elif variant == "draw":
                np.random.random()
            elif variant == "key":
                key, sub = jax.random.split(key)
        state, loss = train_step(state, {"x": x, "y": y}, sub, factor)
    print(variant, digest(state.params))


def loss_of(weights, x, y):
    return jnp.mean((x @ weights["w"] + weights["b"] - y) ** 2)

@jax.jit
def augment(x, factor):
    return 2 * x * factor

slope = jax.jit(jax.value_and_grad(loss_of))
tx = optax.adam(1e-2)
change = jax.jit(tx.update)

@jax.jit
def by_hand(weights, x, y):
    loss, grads = jax.value_and_grad(loss_of)(weights, x, y)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, grads), loss

for variant in ("optax", "by hand"):
    for is_other in (False, True):
        weights = {"w": jnp.ones(6), "b": jnp.zeros(())}
        opt = tx.init(weights)
        for step in range(5):
            x, y = X[16 * step :][:16], Y[16 * step :][:16]
            factor = FACTOR if is_other and step == 3 else np.float32(1)
            if variant == "optax":
                x = augment(x, factor)
                loss, grads = slope(weights, x, y)
                updates, opt = change(grads, opt)
                weights = optax.apply_updates(weights, updates)
            else:
                weights, loss = by_hand(weights, x * factor, y)
        print(variant, digest(weights))


@nnx.jit
def nnx_step(net, optimizer, x, y):
    def loss_of(net):
        return optax.softmax_cross_entropy_with_integer_labels(net(x), y).mean()
    loss, grads = nnx.value_and_grad(loss_of)(net)
    optimizer.update(net, grads)
    return loss

class Pair(nnx.Module):
    def __init__(self, rngs):
        self.first = nnx.Linear(6, 3, rngs=rngs)
        self.scale = nnx.Param(jnp.ones(3))

    def __call__(self, x):
        return self.first(x) * self.scale

net = Pair(nnx.Rngs(0))
optimizer = nnx.Optimizer(net, optax.adam(1e-2), wrt=nnx.Param)
initial = jax.tree.map(np.asarray, nnx.state((net, optimizer)))
for is_other in (False, True):
    nnx.update((net, optimizer), initial)
    for step in range(5):
        x = X[16 * step :][:16] * (FACTOR if is_other and step == 3 else np.float32(1))
        nnx_step(net, optimizer, x, Y[16 * step :][:16])
    print("nnx", digest(nnx.state(net)))
np.save("weights.npy", np.asarray(net.first.kernel))
print(np.random.random())
"""
LINEN = ("linen", "again", "data", "order", "weights", "gradient", "draw", "key")
LOOPS = ("optax", "optax, other", "by hand", "by hand, other", "nnx", "nnx, other")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    return traced(tmp_path_factory.mktemp("jax"), SCRIPT, (*LINEN, *LOOPS), JAX_PLATFORMS="cpu")


def test_a_traced_run_is_bitwise_the_run_without_a_trace(runs: Traced) -> None:
    assert nothing_changed(runs)


@pytest.mark.parametrize(
    ("part", "beside", "kind", "name"),
    [
        ("data", "linen", "batch", "input[1].x"),
        ("order", "linen", "batch", "input[1].x"),
        ("weights", "linen", "weights", "params/Dense_0/bias"),
        ("gradient", "linen", "batch", "input[3]"),
        ("draw", "linen", "state", "numpy"),
        ("key", "linen", "state", "jax/input[2]"),
        ("optax, other", "optax", "batch", "input[1]"),
        ("by hand, other", "by hand", "batch", "input[1]"),
        ("nnx, other", "nnx", "batch", "input[2]"),
    ],
)
def test_what_was_done_is_found_at_its_step(runs: Traced, part: str, beside: str, kind: str, name: str | None) -> None:
    found = runs.first(part, beside=beside)
    assert found is not None
    assert found[:2] == (TOUCHED, kind)
    assert name in (None, found[2])


def test_equal_training_is_equal_records(runs: Traced) -> None:
    assert runs.first("again", beside="linen") is None


def test_a_step_tells_states_weights_batch_loss_and_update(runs: Traced) -> None:
    kinds = [kind for step, kind, *_ in runs.records if step == 0]
    assert list(dict.fromkeys(kinds)) == ["state", "weights", "batch", "loss", "update"]
    assert "params/Dense_0/kernel" in runs.names("weights")
    assert {"params/Dense_0/kernel", "opt_state/0/mu/Dense_0/kernel", "step"} <= set(runs.names("update"))


def test_gradients_are_seen_where_a_function_gives_them(runs: Traced) -> None:
    step = 5 * len(LINEN)
    assert runs.names("gradient", step) == ["b", "w"]
    assert runs.names("update", step) == ["b", "w"]


def test_it_is_told_where_the_ladder_ends_and_why(runs: Traced) -> None:
    (end,) = [line for line in runs.lines if line[0] == "ends"]
    assert end[1:3] == ["jax", 2]
    assert "compiled" in end[3]
