"""JAX on several devices and in several processes: as on one device, and each number once."""

from pathlib import Path

import pytest
from harness import Child
from varied import Script, hashes, seeds

from deviate.records.events import read_events
from deviate.records.merge_processes import measure, weights_of_ranks

pytestmark = [pytest.mark.slow, pytest.mark.requires("jax>=0.10", "flax", "optax")]


@pytest.fixture(autouse=True)
def _has_four_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=4")
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")


DRAWS = Script("""\
import hashlib
import jax, jax.numpy as jnp, numpy as np
from flax import nnx
from jax.sharding import Mesh, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("i",))
of_init = jax.nn.initializers.normal()
show = lambda name, array: print(name, hashlib.sha256(np.asarray(array).tobytes()).hexdigest()[:12])

def of_dropout(key, shape):
    return nnx.Dropout(0.5)(jnp.ones(shape), rngs=nnx.Rngs(dropout=key), deterministic=False)

def on_devices(draw, spec):
    return jax.jit(jax.shard_map(lambda keys: draw(keys)[None], mesh=mesh, in_specs=spec, out_specs=P("i")))

key = jax.random.key(3)
keys = jax.random.split(key, 4)
for name, sampler in (("init", of_init), ("other", jax.random.normal), ("dropout", of_dropout)):
    draw = lambda key: sampler(key, (8,))
    of_index = lambda key: draw(jax.random.fold_in(key, jax.lax.axis_index("i")))
    mapped = on_devices(lambda keys: draw(keys[0]), P("i"))(keys)
    for same in (jax.vmap(draw)(keys), jax.pmap(draw)(keys), np.stack([draw(key) for key in keys])):
        assert np.allclose(mapped, same, rtol=1e-5)
    show(name, mapped)
    folded = on_devices(of_index, P())(key)
    assert len({row.tobytes() for row in np.asarray(folded)}) == 4
    show(name + ".folded", folded)
permute = jax.pmap(lambda key: jax.random.permutation(key, 32))
show("split", permute(keys))
for epoch in range(2):
    show("shuffle", permute(keys))
""")


def test_draws_on_devices_follow_the_streams_of_one_device(tmp_path: Path) -> None:
    one, other = seeds(init=7, shuffle=7), seeds(dropout=7, other=7, split=7)
    held, *varied = (hashes(DRAWS.run(tmp_path / str(n), chosen)) for n, chosen in enumerate((seeds(), one, other)))
    changed = [{name for name in held if held[name] != hashes_of_run[name]} for hashes_of_run in varied]
    assert changed == [
        {"init", "init.folded", "shuffle"},
        {"dropout", "dropout.folded", "other", "other.folded", "split"},
    ]


TRAINING = """\
import functools
import jax, jax.numpy as jnp, numpy as np, optax
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

X = np.sin(np.arange(32 * 8, dtype=np.float32)).reshape(32, 8)
start = lambda: {"a": np.full((8, 4), 0.1, np.float32), "b": np.zeros((4, 4), np.float32) + np.eye(4, dtype="f")}
tx = optax.sgd(0.125)

def loss_of(weights, x):
    return (weights["a"] ** 2).sum() + (weights["b"] ** 2).sum() + x.mean()

def step(weights, x, axis=None):
    loss, gradients = jax.value_and_grad(loss_of)(weights, x)
    if axis:
        loss, gradients = lax.pmean((loss, gradients), axis)
        jax.debug.print("all {loss}", loss=loss)
        jax.debug.print("part {sum}", sum=x.sum())
    return optax.apply_updates(weights, tx.update(gradients, tx.init(weights))[0]), {"loss": loss}

mesh = Mesh(np.array(jax.devices()), ("i",))
%s
for epoch in range(3):
    weights, metrics = train(weights, x)
    jax.effects_barrier()
    print("%%.9g" %% metrics["loss"].ravel()[0])
    print("%%.9g" %% jax.device_get(metrics)["loss"].mean(), weights["a"].shape)
"""
WAYS = {
    "one": "x, weights, train = X, start(), jax.jit(step)",
    "sharded": """\
x = jax.device_put(X, NamedSharding(mesh, P("i")))
weights = jax.device_put(start(), NamedSharding(mesh, P(None, "i")))
train = jax.jit(step, donate_argnames="weights")""",
    "pmap": """\
x, weights = X.reshape(4, 8, 8), jax.tree.map(lambda array: np.stack([array] * 4), start())
train = jax.pmap(functools.partial(step, axis="i"), axis_name="i", donate_argnums=0)""",
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Child]:
    folder = tmp_path_factory.mktemp("ways")
    return {name: Child(folder / name, TRAINING % way) for name, way in WAYS.items()}


def test_weights_and_values_of_several_devices_are_those_of_one(trained: dict[str, Child]) -> None:
    """A single bit is flipped on all devices alike, or the copies of `pmap` would part."""
    results = {}
    for name, child in trained.items():
        last = child.text.count("\n")
        child.loop("in «range(3)»:", last).tap('"%.9g" % «metrics["loss"].ravel()[0]»')
        results[name] = child.run(seeds=seeds(), controls={"one-bit": "3"})
        assert (results[name].code, results[name].of("error")) == (0, []), results[name].stderr
        assert len(results[name].values(0)) == 3
    flips = {name: result.of("flip") for name, result in results.items()}
    assert len(flips["one"]) == 1
    assert flips["one"] == flips["sharded"] == flips["pmap"]
    told = [result.of("weights") for result in results.values()]
    assert told[0] == told[1] == told[2]
    assert [event[3] for event in told[0]] == [48, 48]
    printed = [event[4] for event in results["pmap"].of("named")]
    assert printed == results["pmap"].values(0), "what all devices print counts once, and parts of it do not"


TOGETHER = """\
import socket, subprocess, sys

if len(sys.argv) == 2:
    with socket.socket() as server:
        server.bind(("localhost", 0))
        address = "localhost:%d" % server.getsockname()[1]
    words = [sys.executable, __file__, sys.argv[1], address]
    sys.exit(max(process.wait() for process in [subprocess.Popen([*words, str(rank)]) for rank in range(2)]))

import jax, jax.numpy as jnp, numpy as np, optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize(sys.argv[2], 2, int(sys.argv[3]))
mesh = Mesh(np.array(jax.devices()), ("i",))
spec = P("i") if sys.argv[1] == "divided" else P()
a = np.asarray(jax.random.normal(jax.random.key(0), (8, 4)))
place = lambda array, spec: jax.make_array_from_callback(
    array.shape, NamedSharding(mesh, spec), lambda index: array[index])
weights = {"a": place(a, spec), "b": place(a[:4], P())}

@jax.jit
def train(weights):
    loss, gradients = jax.value_and_grad(lambda weights: sum((leaf ** 2).sum() for leaf in weights.values()))(weights)
    return optax.apply_updates(weights, jax.tree.map(lambda slope: -0.125 * slope, gradients)), loss

for epoch in range(2):
    weights, loss = train(weights)
    print("%.9g" % loss)
"""


@pytest.mark.parametrize("kind", ["whole", "divided"])
def test_processes_tell_their_ranks_and_hash_what_they_hold(kind: str, tmp_path: Path) -> None:
    child = Child(tmp_path, TOGETHER).loop("in «range(2)»:", TOGETHER.count("\n")).tap('"%.9g" % «loss»')
    flags = "--xla_force_host_platform_device_count=2"
    result = child.run(kind, seeds=seeds(), environment={"XLA_FLAGS": flags})
    assert (result.code, result.of("error")) == (0, []), result.stderr
    logs = [read_events(path, 0, lambda _: "loss") for path in sorted((tmp_path / "attempt-1").glob("events-*"))]
    first, second = sorted((log for log in logs if log.points), key=lambda log: log.rank or 0)
    assert (first.rank, second.rank) == (0, 1)
    values = list(first.points["loss"].values)
    assert values == list(second.points["loss"].values) == list(measure(logs)["loss"].values)
    weights = weights_of_ranks(logs)
    assert [one.moment for one in weights] == ["loop", "exit"]
    assert {one.n_parameters for one in weights} == {48}
    assert (first.weights == second.weights == list(weights)) == (kind == "whole")
    assert len({one.digest for one in (*first.weights, *second.weights, *weights)}) == (1 if kind == "whole" else 3)


DONATED = """\
import sys
import jax, jax.numpy as jnp
[name] = [name for name in sys.modules if name.startswith("_deviate_guest") and name.endswith(".values")]
values = sys.modules[name]
values._is_on_host = lambda value: False  # as on an accelerator
mesh = jax.sharding.Mesh(jax.devices(), ("i",))
loss = jax.device_put(jnp.float32(3), jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()))
[(_, number)] = values.read(loss)
jax.jit(lambda x: x * 2, donate_argnums=0)(loss)
print(loss.is_deleted(), values.read(loss))
number.settle(print)
"""


def test_a_number_is_read_later_though_its_array_is_donated(tmp_path: Path) -> None:
    assert Child(tmp_path, DONATED).run().stdout.split() == ["True", "[]", "3.0"]
