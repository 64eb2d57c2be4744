"""JAX without names: each draw follows the library, region or place that draws, however the code around it compiles."""

from pathlib import Path

import pytest
from harness import Child
from varied import Script, moved, replicates, seeds


@pytest.fixture(autouse=True)
def _needs_jax(require, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    require("jax")
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    monkeypatch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")


SCRIPT = Script("""\
import hashlib
import jax, jax.numpy as jnp, numpy as np
from jax.example_libraries import stax

def digest(tree):
    total = hashlib.sha256()
    for leaf in jax.tree.leaves(tree):
        total.update(np.asarray(leaf).tobytes())
    return total.hexdigest()[:12]

@jax.jit
def shuffled(key, x):
    return jax.random.permutation(key, x)

init_dropout, dropout = stax.Dropout(0.5)

def predict(weights, x, key):
    x = jnp.tanh(x @ weights["a"])
    return dropout((), x, rng=key) @ weights["b"]

@jax.checkpoint
def loss_of(weights, x, y, key):
    return jnp.mean((predict(weights, x, key) - y) ** 2)

@jax.jit
def step(weights, moments, x, y, key):
    loss, slope = jax.value_and_grad(loss_of)(weights, x, y, key)
    moments = jax.tree.map(lambda m, s: 0.9 * m + s, moments, slope)
    return jax.tree.map(lambda w, m: w - 0.1 * m, weights, moments), moments, loss

x = np.sin(np.arange(32 * 8, dtype=np.float32)).reshape(32, 8)
y = np.cos(np.arange(32, dtype=np.float32))[:, None]
key = jax.random.key(0)
chosen = shuffled(key, jnp.arange(32))
print("split", digest(chosen))
of_weights = jax.random.split(key)
glorot = jax.nn.initializers.glorot_normal()
weights = {"a": glorot(of_weights[0], (8, 16)), "b": glorot(of_weights[1], (16, 1))}
moments = jax.tree.map(jnp.zeros_like, weights)
print("init", digest(weights))
order = []
for epoch in range(2):
    key, own = jax.random.split(key)
    for batch in np.asarray(shuffled(own, chosen)).reshape(8, 4):
        order.append(batch)
        key, of_noise, of_step = jax.random.split(key, 3)
        seen = x[batch] + jax.random.normal(of_noise, (4, 8))
        if len(order) == 1:
            print("batch", digest(seen))
        weights, moments, loss = step(weights, moments, seen, y[batch], of_step)
print("order", digest(order))
print("final", digest(weights))
""")


def test_raw_jax_is_divided_by_what_draws(tmp_path: Path) -> None:
    """The same compiled function divides the data and shuffles them; what nothing tells about is `other`."""
    runs = replicates(tmp_path, SCRIPT, 1)
    assert moved(runs) == {
        "": set(),
        "init": {"init", "final", "weights"},
        "shuffle": {"order", "batch", "final", "weights"},
        "augment": set(),
        "dropout": {"final", "weights"},
        "split": {"split", "order", "batch", "final", "weights"},
        "other": {"batch", "final", "weights"},
    }
    [held] = runs[""]
    assert held.of("draws")[0] == ["jax", ["dropout", "init", "other", "shuffle", "split"]]
    assert held.of("seed") == [["jax.random.key", "0", "train.py", 33, "replaced"]]
    assert {event[3] for event in held.of("weights")} == {8 * 16 + 16}


def test_one_bit_is_flipped_where_it_is_clear_what_the_weights_are(tmp_path: Path) -> None:
    held = SCRIPT.run(tmp_path / "held", seeds())
    moments = SCRIPT.run(tmp_path / "moments", seeds(), **{"one-bit": "3"})
    [flip] = moments.of("flip")
    assert flip[1] in {"a", "b"}
    lines = [result.stdout.splitlines() for result in (held, moments)]
    assert lines[0][:4] == lines[1][:4], "the script's own weights are those that it made"
    assert moments.of("uncontrolled") == []
    text = SCRIPT.text.replace("weights, moments, loss = step", "weights, loss = step").replace(
        ", moments, loss", ", loss"
    )
    plain = Script(text).run(tmp_path / "plain", seeds(), **{"one-bit": "3"})
    assert plain.of("flip") == []
    assert plain.of("uncontrolled") == [["no weights could be reached for one-bit", "", 0]]
    assert len(plain.of("weights")) == 2, "that the results come back as weights is known from the second call on"


def test_slopes_are_not_taken_for_weights(tmp_path: Path) -> None:
    text = """\
import jax, jax.numpy as jnp
weights = {"a": jnp.ones((2, 2)), "b": jnp.ones(2)}
slope_of = jax.jit(jax.value_and_grad(lambda w, x: ((x @ w["a"] + w["b"]) ** 2).sum()))
for epoch in range(7):
    loss, slope = slope_of(weights, jnp.ones((3, 2)))
    weights = jax.tree.map(lambda w, s: w - 0.01 * s, weights, slope)
"""
    assert Script(text, "range(7)").run(tmp_path, None).of("weights") == []


ALL_WAYS = """\
import functools
import jax, jax.numpy as jnp, numpy as np

def show(*drawn):
    print(*{str(np.asarray(one).ravel()[:2].tolist()) for one in drawn}, sep="; ")

draw = functools.partial(jax.random.normal, shape=(4,))
for key in (jax.random.PRNGKey(3), jax.random.key(3), jax.random.key(3, impl="rbg")):
    keys = jax.random.split(key, 5)
    show(
        draw(keys[4]), draw(key=keys[4]), jax.jit(draw)(keys[4]), jax.lax.map(draw, keys)[4],
        jax.lax.scan(lambda carry, key: (carry, draw(key)), 0, keys)[1][4],
    )
    show(
        draw(key), jax.grad(lambda w: (w * draw(key)).sum())(jnp.ones(4)),
        jax.grad(jax.checkpoint(lambda w: (w * draw(key)).sum()))(jnp.ones(4)),
        jax.jit(jax.grad(lambda w, key: (w * draw(key)).sum()))(jnp.ones(4), key),
    )
    if "rbg" not in str(key.dtype):
        show(draw(keys[4]), jax.vmap(draw)(keys)[4])
"""


@pytest.mark.slow
def test_a_draw_is_the_same_however_it_is_compiled(tmp_path: Path) -> None:
    runs = [
        Child(tmp_path / str(n), ALL_WAYS).run(seeds=chosen)
        for n, chosen in enumerate((None, seeds(), seeds(init=7, dropout=7), seeds(other=7)))
    ]
    assert all((run.code, run.of("error")) == (0, []) for run in runs), runs[1].stderr
    plain, held, apart, other = [run.stdout.splitlines() for run in runs]
    assert not any(";" in line for line in plain + held + other)
    assert held == apart
    assert all(len(set(lines)) == 3 for lines in zip(plain, held, other, strict=True))


USES = """\
import copy, functools, inspect, pickle
from functools import partial
import jax, jax.numpy as jnp

@jax.jit
def plain(x):
    "Adds one."
    return x + 1

@partial(jax.jit, static_argnames=("n",))
def power(x, *, n=2):
    return x ** n

class Trainer:
    def __init__(self):
        self.w = 3.0
        self.own = jax.jit(self.scaled)
    def scaled(self, x):
        return x * self.w
    @partial(jax.jit, static_argnums=0)
    def method(self, x):
        return x - self.w

x = jnp.arange(3.0)
print(type(plain).__name__, repr(plain)[:12], plain.__name__, plain.__doc__, plain.__module__, inspect.signature(power))
print(plain(x), power(x, n=3), Trainer().own(x), Trainer().method(x), plain.__wrapped__(1), plain._cache_size())
print(isinstance(plain, jax.stages.Wrapped), {plain: 1}[plain], functools.wraps(plain)(lambda x: x).__name__)
print(plain.lower(x).compile()(x), plain.trace(x).jaxpr, plain.eval_shape(x), jax.eval_shape(plain, x))
print(jax.vmap(plain)(x), jax.grad(lambda v: plain(v).sum())(x), jax.jit(plain)(x), jax.make_jaxpr(plain)(x))
print(jax.lax.scan(lambda c, v: (plain(c), power(v)), 0.0, x), jax.checkpoint(plain)(x), copy.copy(plain)(x))
print(jax.jit(jax.value_and_grad(lambda v: (v ** 2).sum()))(x), jax.pmap(lambda v: v + 1)(x[None]))
print(jax.value_and_grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, x))
print(jax.random.key_impl(jax.random.key(0)), jax.random.PRNGKey(7), jax.random.key_data(jax.random.key(7)))
plain.clear_cache()
for call in (lambda: plain(), lambda: jax.random.normal(), lambda: jax.random.normal(3)):
    try:
        call()
    except TypeError as error:
        print(type(error), "key" in str(error))
"""


def test_compiled_functions_are_used_as_ever(tmp_path: Path, plainly) -> None:  # type: ignore[no-untyped-def]
    plain = plainly(Child(tmp_path / "plain", USES))
    for folder, chosen in (("as-is", None), ("keyed", seeds())):
        result = Child(tmp_path / folder, USES).run(seeds=chosen)
        assert (result.stdout, result.stderr, result.of("error")) == (plain.stdout, plain.stderr, [])


@pytest.mark.slow
def test_what_keras_draws_with_jax_follows_the_streams_of_keras(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("keras")
    text = """\
import os
os.environ["KERAS_BACKEND"] = "jax"
import keras, numpy as np
keras.utils.set_random_seed(1)
layer = keras.layers.Dense(3)
layer.build((None, 4))
print(np.asarray(layer.kernel).sum())
print(np.asarray(keras.layers.Dropout(0.5)(np.ones((4, 8)), training=True)).tolist())
"""
    held, other = (Script(text).run(tmp_path / str(n), seeds(other=n, init=n)).stdout.splitlines() for n in (1, 2))
    assert (held[0] == other[0], held[1] == other[1]) == (False, True)
