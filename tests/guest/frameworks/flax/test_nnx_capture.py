"""Flax's nnx: what its models put out in evaluations is kept, under `nnx.jit` too, and nothing changes for it."""

from pathlib import Path

import pytest
from capturing import CAPTURE, Kept, kept
from harness import Child

pytestmark = pytest.mark.requires("flax>=0.12.8")  # `nnx.jit(graph=False)` in the script
SCRIPT = """\
import hashlib
from functools import partial
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

draw = np.random.default_rng(0)
x = draw.normal(size=(120, 6)).astype("float32")
y = (x @ draw.normal(size=(6, 3))).argmax(1)
train_ds = {"image": x[:80], "label": y[:80]}
test_ds = {"image": x[80:], "label": y[80:]}
traces = []

class Block(nnx.Module):
    def __init__(self, n_in, n_out, rngs):
        self.linear = nnx.Linear(n_in, n_out, rngs=rngs)
        self.norm = nnx.BatchNorm(n_out, rngs=rngs)
        self.dropout = nnx.Dropout(0.3)

    def __call__(self, x, rngs=None):
        return self.dropout(nnx.relu(self.norm(self.linear(x))), rngs=rngs)

class Net(nnx.Module):
    def __init__(self, rngs):
        self.block = Block(6, 8, rngs)
        self.out = nnx.Linear(8, 3, rngs=rngs)
        self.cut = nnx.Linear(8, 3, rngs=rngs)

    def __call__(self, x, rngs=None):
        return self.out(self.block(x, rngs))

    def other(self, x):
        return self.cut(self.block(x))

model, rngs = Net(nnx.Rngs(0)), nnx.Rngs(1)
optimizer = nnx.Optimizer(model, optax.adam(0.05), wrt=nnx.Param)
metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))

def loss_of(model, rngs, batch):
    out = model(batch["image"], rngs)
    return optax.softmax_cross_entropy_with_integer_labels(out, batch["label"]).mean(), out

@nnx.jit
def train_step(model, optimizer, metrics, rngs, batch):
    traces.append("train")
    (loss, out), slopes = nnx.value_and_grad(loss_of, has_aux=True)(model, rngs, batch)
    metrics.update(loss=loss, logits=out, labels=batch["label"])
    optimizer.update(model, slopes)

@nnx.jit
def eval_step(model, metrics, batch):
    traces.append("eval")
    loss, out = loss_of(model, None, batch)
    metrics.update(loss=loss, logits=out, labels=batch["label"])

def evaluate(data, size=16):
    metrics.reset()
    for start in range(0, len(data["label"]), size):
        eval_step(model, metrics, {name: all_[start : start + size] for name, all_ in data.items()})
    return {name: float(value) for name, value in metrics.compute().items()}

for epoch in range(2):
    model.train()
    for start in range(0, 80, 20):
        batch = {name: all_[start : start + 20] for name, all_ in train_ds.items()}
        train_step(model, optimizer, metrics, rngs, batch)
    model.eval()
    print("train", evaluate(train_ds)["accuracy"])
    told = evaluate(test_ds)
    print("test", told["accuracy"])
    print("loss", told["loss"].hex())

x_eager, y_eager = x[50:], y[50:]
print("eager", np.mean(np.asarray(model(x_eager)).argmax(-1) == y_eager))

x_noisy, y_noisy = x[20:], y[20:]
level = nnx.jit(lambda model, x, y, scale: abs(model(x * scale)).mean(), static_argnames="scale")
print("plain", level(model, x_noisy, y_noisy, scale=1.0))
model.set_attributes(nnx.BatchNorm, use_running_average=False)
print("noisy", level(model, x_noisy, y_noisy, scale=1.0))
model.eval()

x_tree, y_tree = x[10:], y[10:]
tree_score = nnx.jit(lambda model, x, y: (model(x).argmax(-1) == y).mean(), graph=False)
print("tree", tree_score(model, x_tree, y_tree))

@jax.jit
def merged_step(graph, state, x, y):
    return (nnx.merge(graph, state)(x).argmax(-1) == y).mean()

x_merged, y_merged = x[60:], y[60:]
print("merged", merged_step(*nnx.split(model), x_merged, y_merged))

@jax.jit
def merged_train(graph, state, batch):
    model, optimizer, rngs = nnx.merge(graph, state)
    slopes = nnx.grad(lambda model: loss_of(model, rngs, batch)[0])(model)
    optimizer.update(model, slopes)
    return nnx.state((model, optimizer, rngs)), model(batch["image"]).sum()

graph, state = nnx.split((model, optimizer, rngs))
for start in range(0, 80, 20):
    state, _ = merged_train(graph, state, {"image": x[start : start + 20], "label": y[start : start + 20]})
nnx.update((model, optimizer, rngs), state)

slopes_of = nnx.jit(nnx.grad(lambda model, batch: loss_of(model, None, batch)[0]))
for start in range(0, 80, 20):
    optimizer.update(model, slopes_of(model, {"image": x[start : start + 20], "label": y[start : start + 20]}))
print("parts", nnx.jit(lambda model, x: model.other(x).sum())(model, x[:7]))
print("draws", float(rngs.dropout.count[...]), jax.random.uniform(rngs.dropout()))
print("traces", traces)
for leaf in jax.tree.leaves((nnx.state(model), nnx.state(optimizer))):
    print(hashlib.sha256(np.asarray(leaf).tobytes()).hexdigest())
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, require) -> Kept:  # type: ignore[no-untyped-def]
    for name in ("jax", "flax", "optax"):
        require(name)
    folder = tmp_path_factory.mktemp("nnx")
    last = SCRIPT[: SCRIPT.index('    print("loss"')].count("\n") + 1
    fast = {"JAX_PLATFORMS": "cpu", "JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}
    return kept(folder, lambda own: Child(own, SCRIPT).loop("in «range(2)»:", last), **fast)


def test_nothing_changes_for_what_is_kept(run: Kept) -> None:
    assert run.on.stdout == run.off.stdout, "weights, draws and the number of traces are printed"
    assert run.on.of("weights") == run.off.of("weights")


def test_outputs_inside_of_a_compiled_evaluation_are_kept_with_its_labels(run: Kept) -> None:
    for name, n in (("train", 80), ("test", 40)):
        assert run.arrays(name)["outputs"].shape == (n, 3)
        assert run.accuracy(name) == pytest.approx(run.printed(name), rel=1e-6)
    assert dict(run.artifacts("predictions"))["test"] == 1, "the step of the main loop"


def test_examples_are_known_by_what_the_model_saw(run: Kept) -> None:
    train, test, eager = (set(run.arrays(name)["keys"]) for name in ("train", "test", "eager"))
    assert (len(train), len(test)) == (80, 40)
    assert not train & test
    assert test < eager


@pytest.mark.parametrize(("name", "n"), [("eager", 70), ("tree", 110), ("merged", 60)])
def test_other_ways_to_evaluate_are_kept_as_well(run: Kept, name: str, n: int) -> None:
    assert run.arrays(name)["outputs"].shape == (n, 3)
    assert run.accuracy(name) == pytest.approx(run.printed(name), rel=1e-6)


def test_the_mode_of_a_model_at_each_call_counts(run: Kept) -> None:
    assert run.printed("noisy") != run.printed("plain"), "statistics of the batch"
    for name, told in (("noisy", "plain"), ("noisy_2", "noisy")):
        arrays = run.arrays(name)
        assert abs(arrays["outputs"]).mean() == pytest.approx(run.printed(told), rel=1e-6)
        assert arrays["truth"].shape == (100,)


def test_neither_training_nor_parts_of_a_model_are_taken_for_evaluations(run: Kept) -> None:
    names = {name for name, _ in run.artifacts("predictions")}
    assert names == {"train", "test", "eager", "noisy", "noisy_2", "tree", "merged"}


UNSEEN = """\
import jax
import jax.numpy as jnp
import optax
from flax import nnx

model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
x = jnp.ones((4, 2))
optimizer.update(model, nnx.grad(lambda model: model(x).sum())(model))
score = lambda model: jax.lax.map(lambda row: model(row), x).argmax(-1)
print(nnx.jit(score)(model))
"""


def test_that_calls_within_a_compiled_loop_stay_unseen_is_told(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    for name in ("flax", "optax"):
        require(name)
    result = Child(tmp_path, UNSEEN).run(capture=CAPTURE, environment={"JAX_PLATFORMS": "cpu"})
    assert result.code == 0, result.stderr
    reason = "no model of nnx was called in a way that can be seen; deviate.log_predictions keeps what it puts out"
    assert result.of("not captured") == [["predictions", "evaluation", reason]]
    assert [event[:2] for event in result.of("artifact")] == [["weights", "exit"]]
