"""A framework that a user's process imports is attended to, and so is one that a fork server has imported before.

Here the first process of each pair is begun anew whatever the options of the tests are: the other tests of a framework
may take its import for granted.
"""

from pathlib import Path

import pytest
from harness import Child, Result
from tiers import slow_but
from varied import Script, seeds

DATA = """\
import numpy as np
x = np.random.default_rng(0).normal(size=(32, 4)).astype("float32")
y = np.random.permutation(32) % 2
"""
SCRIPTS = {
    "torch": """\
import torch
torch.manual_seed(0)
net, loss = torch.nn.Linear(4, 2), torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
data = torch.utils.data.TensorDataset(torch.tensor(x), torch.tensor(y))
for epoch in range(2):
    for batch, labels in torch.utils.data.DataLoader(data, 8, shuffle=True):
        optimizer.zero_grad()
        loss(net(batch), labels).backward()
        optimizer.step()
net.eval()
acc = (net(torch.tensor(x)).argmax(1) == torch.tensor(y)).float().mean()
""",
    "tensorflow": """\
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
tf.random.set_seed(0)
net = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(2)])
net.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
for epoch in range(2):
    net.fit(x, y, batch_size=8, verbose=0)
acc = net.evaluate(x, y, verbose=0)[1] + 0 * float(tf.random.normal(()))
""",
    "jax": """\
import jax, jax.numpy as jnp
weights = jax.random.normal(jax.random.key(0), (4, 2))
def loss(weights, x, y):
    return -jax.nn.log_softmax(x @ weights)[jnp.arange(len(y)), y].mean()
step = jax.jit(lambda weights, x, y: weights - 0.1 * jax.grad(loss)(weights, x, y))
for epoch in range(2):
    weights = step(weights, x, y)
acc = ((x @ weights).argmax(1) == y).mean()
""",
    "flax": """\
import jax, optax
from flax import nnx
net = nnx.Linear(4, 2, rngs=nnx.Rngs(0))
optimizer = nnx.Optimizer(net, optax.sgd(0.1), wrt=nnx.Param)
@nnx.jit
def step(net, optimizer, x, y):
    loss_of = lambda net: optax.softmax_cross_entropy_with_integer_labels(net(x), y).mean()
    optimizer.update(net, nnx.grad(loss_of)(net))
for epoch in range(2):
    step(net, optimizer, x, y)
acc = (net(x).argmax(1) == y).mean()
""",
    "haiku": """\
import haiku as hk, jax, optax
net = hk.without_apply_rng(hk.transform(lambda x: hk.Linear(2)(x)))
params = net.init(jax.random.PRNGKey(0), x)
@jax.jit
def step(params, x, y):
    loss_of = lambda params: optax.softmax_cross_entropy_with_integer_labels(net.apply(params, x), y).mean()
    return optax.apply_updates(params, jax.tree.map(lambda g: -0.1 * g, jax.grad(loss_of)(params)))
for epoch in range(2):
    params = step(params, x, y)
acc = (net.apply(params, x).argmax(1) == y).mean()
""",
    "sklearn": """\
from sklearn.linear_model import SGDClassifier
net = SGDClassifier(random_state=0)
for epoch in range(2):
    net.partial_fit(x, y, classes=[0, 1])
acc = net.score(x, y)
""",
    "transformers": """\
import torch
from transformers import Trainer, TrainingArguments
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)
    def forward(self, x, labels=None):
        logits = self.layer(x)
        return {"loss": torch.nn.functional.cross_entropy(logits, labels), "logits": logits}
data = [{"x": torch.tensor(row), "labels": int(label)} for row, label in zip(x, y)]
for epoch in range(2):
    arguments = TrainingArguments(
        "out", num_train_epochs=1, report_to=[], use_cpu=True, save_strategy="no", disable_tqdm=True)
    trainer = Trainer(Net(), arguments, train_dataset=data)
    trainer.train()
acc = trainer.state.log_history[-1]["train_loss"]
""",
}  # fmt: skip
NAMES = {"sklearn": "scikit-learn"}
"""Of a framework in the record of the environment, where it is not that of the package."""
TIME = {"trained": 1, "start": 2, "end": 1, "step": 3, "value": 4, "named": 4, "artifact": 5, "loops": 1}
"""Where events begin to tell the time or the process."""


@pytest.mark.parametrize("framework", slow_but(SCRIPTS, ["jax"]))
def test_a_framework_is_attended_to_when_it_is_imported(tmp_path: Path, require, framework: str) -> None:  # type: ignore[no-untyped-def]
    require(framework)
    script = Script(f"{DATA}{SCRIPTS[framework]}print('acc', acc)\n")

    def run(name: str, *, is_cold: bool) -> Result:
        child = script.child(tmp_path / name).tap("print('acc', «acc»)")
        result = child.run(seeds=seeds(), capture={"predictions": "on", "weights": "on"}, is_cold=is_cold)
        assert (result.code, result.of("error")) == (0, []), result.stderr
        return result

    new, forked = run("new", is_cold=True), run("forked", is_cold=False)
    assert NAMES.get(framework, framework) in {name for [facts] in new.of("environment") for name in facts}
    assert new.of("draws"), "the generators are attended to"
    assert len(new.values()) == 1
    assert forked.values() == new.values()
    assert forked.stdout.splitlines()[-1] == new.stdout.splitlines()[-1]
    assert timeless(forked) == timeless(new)


def timeless(result: Result) -> list[list[object]]:
    """The events without what tells the time or the process."""
    return [event[: TIME[event[0]]] if event[0] in TIME else event for event in result.events]


def test_numpy_is_attended_to_where_another_package_imports_it_lazily(tmp_path: Path) -> None:
    text = """\
import importlib.util, sys, types
class Lazy(types.ModuleType):  # as wandb has it: module attributes that are made on demand are not found
    def __getattribute__(self, name):
        load = object.__getattribute__(self, "__dict__").pop("to load", None)
        if load is not None:
            load(self)
            self.__class__ = types.ModuleType
        return object.__getattribute__(self, name)
spec = importlib.util.find_spec("numpy")
module = importlib.util.module_from_spec(spec)
vars(module)["to load"] = spec.loader.exec_module
module.__class__ = Lazy
sys.modules["numpy"] = module
import numpy
print(numpy.__version__, numpy.random.rand())
"""
    first, again = (Child(tmp_path, text).run(seeds=seeds(), is_cold=True) for _ in range(2))
    assert (first.code, first.of("error")) == (0, [])
    assert first.stdout == again.stdout
