"""JAX: what models and functions give in compiled evaluations is kept, and nothing changes for it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from capturing import Kept, kept
from harness import Child

SCRIPT = """\
import hashlib
from functools import partial
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training.train_state import TrainState

draw = np.random.default_rng(0)
x = draw.normal(size=(120, 6)).astype("float32")
y = (x @ draw.normal(size=(6, 3))).argmax(1)
train_ds = {"image": x[:80], "label": y[:80]}
test_ds = {"image": x[80:], "label": y[80:]}
traces = []

class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train=False):
        x = nn.Dropout(0.2, deterministic=not train)(nn.relu(nn.Dense(8)(x)))
        return nn.Dense(3)(x)

net = Net()
params = net.init(jax.random.PRNGKey(0), x[:1])["params"]
state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(0.05))

@jax.jit
def step(state, batch, key):
    def loss_of(params):
        out = state.apply_fn({"params": params}, batch["image"], train=True, rngs={"dropout": key})
        return optax.softmax_cross_entropy_with_integer_labels(out, batch["label"]).mean()
    return state.apply_gradients(grads=jax.grad(loss_of)(state.params))

@partial(jax.jit, static_argnames="scale")
def eval_step(params, batch, scale):
    traces.append(scale)
    out = net.apply({"params": params}, batch["image"] * scale)
    return {"right": (out.argmax(-1) == batch["label"]).sum(), "norm": jnp.linalg.norm(out)}

def evaluate(params, data, size=16):
    right = 0
    for start in range(0, len(data["label"]), size):
        told = eval_step(params, {name: all_[start : start + size] for name, all_ in data.items()}, scale=2.0)
        right += int(told["right"])
    return right / len(data["label"]), float(told["norm"]).hex()

for epoch in range(2):
    for start in range(0, 80, 20):
        batch = {name: all_[start : start + 20] for name, all_ in train_ds.items()}
        state = step(state, batch, jax.random.PRNGKey(start + epoch))
    print("train", evaluate(state.params, train_ds)[0])
    (right, norm) = evaluate(state.params, test_ds)
    print("test", right)
    print("norm", norm)

@jax.jit
def slopes_and_score(state, images, labels):
    def loss_of(params):
        out = state.apply_fn({"params": params}, images)
        return optax.softmax_cross_entropy_with_integer_labels(out, labels).mean(), out
    (_, out), slopes = jax.value_and_grad(loss_of, has_aux=True)(state.params)
    return slopes, (out.argmax(-1) == labels).mean()

apply = jax.jit(lambda state, slopes: state.apply_gradients(grads=slopes))
for start in range(0, 80, 20):
    state = apply(state, slopes_and_score(state, x[start : start + 20], y[start : start + 20])[0])
x_both, y_both = x[30:90], y[30:90]
print("both", slopes_and_score(state, x_both, y_both)[1])

X_hold, y_hold = x[60:], y[60:]
print("hold", np.mean(np.asarray(net.apply({"params": state.params}, X_hold)).argmax(-1) == y_hold))
print("traces", len(traces))

mlp = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([8, 3])(x)))
weights = mlp.init(jax.random.PRNGKey(1), x[:1])

@jax.jit
def update(weights, x, y):
    loss_of = lambda weights: optax.softmax_cross_entropy_with_integer_labels(mlp.apply(weights, x), y).mean()
    return jax.tree.map(lambda weight, slope: weight - slope, weights, jax.grad(loss_of)(weights))

for _ in range(6):
    weights = update(weights, x, y)
accuracy = jax.jit(lambda weights, x, y, key: (mlp.apply(weights, x).argmax(-1) == y).mean())
x_haiku, y_haiku = x[:50], y[:50]
print("haiku", accuracy(weights, x_haiku, y_haiku, jax.random.key(2)))

plain = {"w": jnp.zeros((6, 3)), "b": jnp.zeros(3)}
predict = lambda plain, x: x @ plain["w"] + plain["b"]

@jax.jit
def learn(plain, x, y):
    loss_of = lambda plain: optax.softmax_cross_entropy_with_integer_labels(predict(plain, x), y).mean()
    return jax.tree.map(lambda weight, slope: weight - slope, plain, jax.grad(loss_of)(plain))

for _ in range(6):
    plain = learn(plain, x, y)
x_plain, y_plain = x[:70], y[:70]
print("plain", np.mean(np.asarray(jax.jit(predict)(plain, x_plain)).argmax(-1) == y_plain))
jax.jit(lambda plain, x: predict(plain, x).sum())(plain, x[:9])
for tree in (state.params, weights, plain):
    print(hashlib.sha256(b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree))).hexdigest())
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, require) -> Kept:  # type: ignore[no-untyped-def]
    for name in ("jax", "flax", "haiku", "optax"):
        require(name)
    folder = tmp_path_factory.mktemp("jax")
    last = SCRIPT[: SCRIPT.index('    print("norm"')].count("\n") + 1
    return kept(folder, lambda own: Child(own, SCRIPT).loop("in «range(2)»:", last), JAX_PLATFORMS="cpu")


def test_nothing_changes_for_what_is_kept(run: Kept) -> None:
    assert run.on.stdout == run.off.stdout, "the number of traces is printed, too"
    assert run.on.of("weights") == run.off.of("weights")


def test_outputs_inside_of_a_compiled_evaluation_are_kept(run: Kept) -> None:
    for name, n in (("train", 80), ("test", 40)):
        assert run.arrays(name)["outputs"].shape == (n, 3)
        assert run.accuracy(name) == run.printed(name)
    assert dict(run.artifacts("predictions"))["test"] == 1, "the step of the main loop"


def test_keys_are_those_of_what_the_model_saw(run: Kept) -> None:
    train, test, hold = (set(run.arrays(name)["keys"]) for name in ("train", "test", "hold"))
    assert (len(train), len(test)) == (80, 40)
    assert not train & test
    assert not test & hold, "the compiled evaluation doubles the images"


def test_calls_outside_of_compiled_functions_are_kept_with_the_labels_beside(run: Kept) -> None:
    assert run.accuracy("hold") == run.printed("hold")


def test_what_computes_slopes_and_leaves_the_weights_as_they_are_is_an_evaluation(run: Kept) -> None:
    assert run.arrays("both")["outputs"].shape == (60, 3)
    assert run.accuracy("both") == pytest.approx(run.printed("both"), rel=1e-6)
    kept = [name for name, _ in run.artifacts("predictions")]
    assert sorted(kept) == ["both", "haiku", "hold", "plain", "test", "train"], "no batch of the training"


def test_haiku_is_seen_as_flax_is(run: Kept) -> None:
    assert run.accuracy("haiku") == pytest.approx(run.printed("haiku"), rel=1e-6)


def test_functions_of_the_weights_give_what_they_give(run: Kept) -> None:
    assert run.accuracy("plain") == run.printed("plain")
    reason = "a compiled function of the weights gives no row for each example"
    assert [event[2] for event in run.on.of("not captured")] == [reason]


def test_weights_are_those_that_the_proof_names(run: Kept) -> None:
    arrays = run.arrays("loop", "weights")
    assert {name: array.shape for name, array in arrays.items()} == {
        "Dense_0/bias": (8,),
        "Dense_0/kernel": (6, 8),
        "Dense_1/bias": (3,),
        "Dense_1/kernel": (8, 3),
    }
    assert all(array.dtype == np.float32 for array in arrays.values())


MAPPED = """\
import jax
import jax.numpy as jnp
import numpy as np

draw = np.random.default_rng(0)
x = draw.normal(size=(90, 4)).astype("float32")
y = x[:, :3].argmax(1)
x_train, y_train, x_test, y_test = x[:60], y[:60], x[60:], y[60:]

def predict_one(params, example):
    return jnp.tanh(example @ params["w0"]) @ params["w1"]

predict = jax.vmap(predict_one, in_axes=(None, 0))
params = {"w0": jnp.array(draw.normal(size=(4, 8))), "w1": jnp.array(draw.normal(size=(8, 3)))}

def loss_of(params, x, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(predict(params, x)), y[:, None], 1).mean()

def update(params, x, y):
    return jax.tree.map(lambda weight, grad: weight - 0.5 * grad, params, jax.grad(loss_of)(params, x, y))

if "%s" == "compiled":
    update = jax.jit(update)
for epoch in range(3):
    params = update(params, x_train, y_train)
print("train", float((predict(params, x_train).argmax(-1) == y_train).mean()))
print("test", float((predict(params, x_test).argmax(-1) == y_test).mean()))
"""


@pytest.mark.parametrize("training", ["compiled", pytest.param("eager", marks=pytest.mark.slow)])
def test_a_mapped_function_that_nobody_compiles_is_kept(
    training: str, tmp_path: Path, require: Callable[[str], None]
) -> None:
    require("jax")
    script = MAPPED % training
    last = script[: script.index('print("train"')].count("\n")
    run = kept(tmp_path, lambda own: Child(own, script).loop("in «range(3)»:", last), JAX_PLATFORMS="cpu")
    assert run.on.stdout == run.off.stdout
    assert sorted(name for name, _ in run.artifacts("predictions")) == ["test", "train"]
    for name, n in (("train", 60), ("test", 30)):
        assert run.arrays(name)["outputs"].shape == (n, 3)
        assert run.accuracy(name) == pytest.approx(run.printed(name), rel=1e-6)
