"""Flax and Haiku: what varies in one stream changes what it should, and nothing upstream of it."""

from pathlib import Path

import pytest
from harness import Result
from varied import Script, hashes, moved, replicates, seeds


@pytest.fixture(autouse=True)
def _compiles_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    monkeypatch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")


DIGEST = """\
import hashlib
import jax, jax.numpy as jnp, numpy as np, optax

def digest(tree):
    total = hashlib.sha256()
    for leaf in jax.tree.leaves(tree):
        total.update(np.asarray(leaf).tobytes())
    return total.hexdigest()[:12]

x = np.sin(np.arange(32 * 36, dtype=np.float32)).reshape(32, 6, 6, 1)
y = np.arange(32) % 3
"""

LINEN = Script(
    DIGEST
    + """\
import flax.linen as nn
from flax.training.train_state import TrainState

class Net(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        if train:
            x = x + 0.05 * jax.random.normal(self.make_rng("augment"), x.shape)
        self.sow("seen", "batch", x)
        x = nn.relu(nn.Conv(4, (3, 3))(x))
        x = nn.Dropout(0.5, deterministic=not train)(x.reshape(len(x), -1))
        return nn.Dense(3)(x)

key, of_split, of_init = jax.random.split(jax.random.PRNGKey(42), 3)
chosen = np.asarray(jax.random.permutation(of_split, 32))
train, test = chosen[:16], chosen[16:]
print("split", digest(test))
net = Net()
params = jax.jit(net.init, static_argnames="train")(of_init, x[:1], train=False)["params"]
state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.adam(0.01))
print("init", digest(state.params))

@jax.jit
def step(state, x, y, key):
    of_dropout, of_augment = jax.random.split(key)
    def loss_of(params):
        rngs = {"dropout": of_dropout, "augment": of_augment}
        out, seen = state.apply_fn({"params": params}, x, train=True, rngs=rngs, mutable=["seen"])
        return optax.softmax_cross_entropy_with_integer_labels(out, y).mean(), seen
    (loss, seen), slope = jax.value_and_grad(loss_of, has_aux=True)(state.params)
    return state.apply_gradients(grads=slope), loss, seen

@jax.jit
def predict(state, x):
    return state.apply_fn({"params": state.params}, x, train=False)

net.apply({"params": params}, jnp.zeros((5, 6, 6, 1)), train=False)
order = []
for epoch in range(2):
    for batch in np.random.permutation(train).reshape(4, 4):
        order.append(batch)
        key, own = jax.random.split(key)
        state, loss, seen = step(state, x[batch], y[batch], own)
        if len(order) == 1:
            print("batch", digest(seen))
    for part in test.reshape(2, 8):
        predict(state, x[part])
print("order", digest(order))
print("final", digest(state.params))
print("other", digest(jax.random.normal(key, (3,))))
"""
)


def called_with(result: Result) -> list[list]:
    """What a model was called with; arrays that the script calls test data are left out."""
    return [event for event in result.of("evaluation") if event[3] != "names"]


@pytest.mark.slow
def test_streams_of_linen_are_apart(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("flax")
    runs = replicates(tmp_path, LINEN, 1)
    assert moved(runs) == {
        "": set(),
        "init": {"init", "final", "weights"},
        "shuffle": {"order", "batch", "final", "weights"},
        "augment": {"batch", "final", "weights"},
        "dropout": {"final", "weights"},
        "split": {"split", "order", "batch", "final", "weights", "other"},
        "other": set(),
    }
    for results in runs.values():
        for result in results:
            assert result.of("draws") == [
                ["jax", ["augment", "dropout", "init", "split"]],
                ["numpy", ["shuffle"]],
                ["random", []],
            ]
            [[_, digest, n_examples, _]] = called_with(result)
            assert n_examples == 16, "one pass over the test data, and no call before the training"
            assert (digest == called_with(runs[""][0])[0][1]) == (result not in runs["split"])
    told = runs[""][0].of("weights")
    assert [event[0] for event in told] == ["loop", "exit"]
    assert len({event[2] for event in told}) == 1
    assert {event[3] for event in told} == {9 * 4 + 4 + 144 * 3 + 3}


@pytest.mark.slow
def test_seeds_and_numbers_of_a_plain_run_are_untouched(tmp_path: Path, require, plainly) -> None:  # type: ignore[no-untyped-def]
    require("flax")
    script = Script(LINEN.text.replace("np.random.permutation", "np.random.RandomState(0).permutation"))
    as_is, plain = script.run(tmp_path / "as-is", None), plainly(script.child(tmp_path / "plain"))
    assert (as_is.stdout, as_is.stderr) == (plain.stdout, plain.stderr)
    assert len(as_is.stdout.splitlines()) == 6
    assert [event for event in as_is.of("seed") if event[0].startswith("jax")] == [
        ["jax.random.PRNGKey", "42", "train.py", 25, "kept"]
    ]


def test_weights_that_are_there_are_not_told_to_be_drawn(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("flax")
    text = """\
import flax.linen as nn
import jax.numpy as jnp
print(nn.Dense(2).apply({"params": {"kernel": jnp.ones((3, 2)), "bias": jnp.ones(2)}}, jnp.ones((1, 3))))
"""
    result = Script(text).run(tmp_path, seeds())
    assert (result.of("draws")[0], result.of("seed")) == (["jax", []], [])


NNX = Script(
    DIGEST
    + """\
from flax import nnx

class Net(nnx.Module):
    def __init__(self, rngs):
        self.a = nnx.Linear(36, 16, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)
        self.b = nnx.Linear(16, 3, rngs=rngs)

    def __call__(self, x):
        return self.b(self.dropout(nnx.relu(self.a(x))))

x = x.reshape(32, 36)
rngs = nnx.Rngs(RNGS)
chosen = np.asarray(rngs.permutation(32) if "default" in rngs else rngs.noise.permutation(32))
print("split", digest(chosen))
model = Net(rngs)
print("init", digest(nnx.state(model, nnx.Param)))
optimizer = nnx.Optimizer(model, optax.adam(0.01), wrt=nnx.Param)

@nnx.jit
def step(model, optimizer, x, y):
    def loss_of(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()
    loss, slope = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, slope)
    return loss

order = []
for epoch in range(2):
    for batch in np.asarray(rngs.shuffle.permutation(chosen)).reshape(8, 4):
        order.append(batch)
        seen = x[batch] + 0.05 * jax.random.normal(rngs.augment(), (4, 36))
        if len(order) == 1:
            print("batch", digest(seen))
        step(model, optimizer, seen, y[batch])
print("order", digest(order))
print("final", digest(nnx.state(model, nnx.Param)))
print("other", digest(rngs.noise.normal((3,))))
"""
)


@pytest.mark.slow
@pytest.mark.parametrize("rngs", ["0", "params=0, dropout=1, augment=2, shuffle=3, noise=4"])
def test_streams_of_nnx_are_apart(tmp_path: Path, require, rngs: str) -> None:  # type: ignore[no-untyped-def]
    require("flax")
    runs = replicates(tmp_path, Script(NNX.text.replace("RNGS", rngs)), 1)
    assert moved(runs) == {
        "": set(),
        "init": {"init", "final", "weights"},
        "shuffle": {"order", "batch", "final", "weights"},
        "augment": {"batch", "final", "weights"},
        "dropout": {"final", "weights"},
        "split": {"split", "order", "batch", "final", "weights", "other"},
        "other": set(),
    }
    assert [event[0] for event in runs[""][0].of("weights")] == ["loop", "exit"]


HAIKU = Script(
    DIGEST
    + """\
import haiku as hk

def forward(x, is_training):
    x = jax.nn.relu(hk.Linear(16)(x))
    if is_training:
        x = hk.dropout(hk.next_rng_key(), 0.5, x)
    return hk.Linear(3)(x)

x = x.reshape(32, 36)
key = jax.random.PRNGKey(0)
chosen = np.asarray(jax.random.permutation(key, 32))
print("split", digest(chosen))
net = hk.transform(forward)
params = net.init(key, x[:1], True)
print("init", digest(params))
tx = optax.chain(optax.add_noise(0.01, 0.5, 7), optax.adam(0.01))
opt_state = tx.init(params)

@jax.jit
def step(params, opt_state, key, x, y):
    def loss_of(params):
        out = net.apply(params, key, x, True)
        return optax.softmax_cross_entropy_with_integer_labels(out, y).mean()
    loss, slope = jax.value_and_grad(loss_of)(params)
    updates, opt_state = tx.update(slope, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss

order = []
for epoch in range(2):
    key, of_order = jax.random.split(key)
    for batch in np.asarray(jax.random.permutation(of_order, chosen)).reshape(8, 4):
        order.append(batch)
        key, own = jax.random.split(key)
        params, opt_state, loss = step(params, opt_state, own, x[batch], y[batch])
    net.apply(params, None, x, False)
print("order", digest(order))
print("final", digest(params))
"""
)


@pytest.mark.slow
def test_streams_of_haiku_and_noise_of_optax_are_apart(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("haiku")
    runs = replicates(tmp_path, HAIKU, 1)
    assert moved(runs) == {
        "": set(),
        "init": {"init", "final", "weights"},
        "shuffle": {"order", "final", "weights"},
        "augment": set(),
        "dropout": {"final", "weights"},
        "split": {"split", "order", "final", "weights"},
        "other": {"final", "weights"},
    }
    assert runs[""][0].of("draws")[0] == ["jax", ["dropout", "init", "other", "shuffle", "split"]]
    assert [event[2] for event in called_with(runs[""][0])] == [32]


@pytest.mark.slow
def test_one_bit_of_one_weight_is_flipped_and_nothing_else_moves(tmp_path: Path) -> None:
    script = Script(LINEN.text.replace("RNGS", "0"))
    held = hashes(script.run(tmp_path / "held", seeds()))
    flips, finals = [], [held["final"]]
    for level in ("1", "2"):
        result = script.run(tmp_path / level, seeds(), **{"one-bit": level})
        [flip] = result.of("flip")
        assert flip[0] == "jax"
        assert flip[1] in {"Conv_0/kernel", "Dense_0/kernel"}
        assert 0 < abs(flip[3] - flip[4]) < 2e-7
        flips.append(flip[1:3])
        finals.append(hashes(result)["final"])
        assert {name for name in held if hashes(result)[name] != held[name]} <= {"init", "final", "weights"}
        assert result.of("uncontrolled") == []
    assert flips[0] != flips[1]
    assert len(set(finals)) > 1, "not all are absorbed"


WAYS = """\
import flax.linen as nn
import jax, jax.numpy as jnp, numpy as np, optax
from flax.training.train_state import TrainState

x, y = np.ones((8, 4), np.float32), np.zeros(8, np.int32)
net = nn.Dense(3)
params = net.init(jax.random.key(0), x)
copy = jax.tree.map(jnp.copy, params)
state = TrainState.create(apply_fn=net.apply, params=copy, tx=optax.MultiSteps(optax.adam(0.1), 2))

def step(state, batch):
    x, y = batch
    def loss_of(params):
        return optax.softmax_cross_entropy_with_integer_labels(state.apply_fn(params, x), y).mean()
    loss, slope = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=slope), loss

def replicated(tree):
    return jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], tree)

def train(state):
    WAY
    for epoch in range(2):
        state, loss = run(state, (x, y))
        net.apply(params, np.ones((5, 4), np.float32))
    return state

train(state)
"""


@pytest.mark.parametrize(
    "way",
    [
        "run = step",
        "run = jax.jit(step, donate_argnums=0)",
        "run = jax.jit(lambda state, batch: jax.lax.scan(step, state, replicated(batch)))",
        "inner, state = jax.pmap(step), replicated(state); run = lambda state, batch: inner(state, replicated(batch))",
    ],
    ids=["eager", "donated", "scanned", "mapped"],
)
def test_weights_are_reached_however_the_step_is_compiled(tmp_path: Path, require, way: str) -> None:  # type: ignore[no-untyped-def]
    require("flax")
    result = Script(WAYS.replace("WAY", way)).run(tmp_path, seeds(), **{"one-bit": "4"})
    told = result.of("weights")
    assert told[0][0] == "loop"
    assert {event[3] for event in told} == {4 * 3 + 3}
    assert [event[1] for event in result.of("flip")] == ["params/kernel"]
    assert [event[2] for event in called_with(result)] == [5]


def test_a_compiled_function_follows_the_region_in_which_it_is_called(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("flax")
    text = """\
import flax.linen as nn
import jax, jax.numpy as jnp

@jax.jit
def noise(key):
    return jax.random.normal(key, (3,))

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return x * self.param("w", noise) + noise(self.make_rng("default"))

key = jax.random.key(0)
print("before", noise(key))
params = Net().init({"params": key, "default": key}, 1.0)
print("init", params)
print("other", noise(key))
print("forward", Net().apply({"params": {"w": jnp.ones(3)}}, 1.0, rngs={"default": key}))
"""
    runs = replicates(tmp_path, Script(text), 1, ("init", "other", "dropout"))
    assert moved(runs) == {"": set(), "init": {"init"}, "other": {"before", "other"}, "dropout": {"forward"}}
    held = hashes(runs[""][0])
    assert held["before"] == held["other"]
