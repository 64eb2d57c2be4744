"""One small training for each framework, as its users write it: the rows of the contract of adapters and observers.

Each trains a classifier of 40 images for two epochs of three batches, prints the accuracy on 16 test images after each
epoch, and at last a digest of the weights.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness import Child

N_TEST, N_STEPS = 16, 6
DATA = """\
import zlib
import numpy as np
draw = np.random.default_rng(1)
images = draw.normal(size=(40, SHAPE)).astype("float32")
labels = (images.mean((1, 2, 3)) > 0).astype("int32")
"""
SPLIT = """\
x_train, y_train, x_test, y_test = images[:24], labels[:24], images[24:], labels[24:]
"""
FIRST, LAST = (DATA.replace("SHAPE", shape) for shape in ("1, 6, 6", "6, 6, 1"))
"""Data with the channels before height and width, and after them."""


@dataclass(frozen=True)
class Script:
    """One training.

    Attributes:
        packages: what must be installed.
        main_loop: what its main loop goes over, or the call that is its main loop, as it is written.
        n_weights: numbers that are trained.
        variables: of its environment.
        is_slow: whether its runs belong to the slow tier.
    """

    text: str
    packages: tuple[str, ...]
    main_loop: str = "range(2)"
    n_weights: int = 4 * 9 + 4 + 64 * 2 + 2
    variables: Mapping[str, str] = field(default_factory=dict)
    is_slow: bool = True

    def child(self, folder: Path) -> Child:
        child = Child(folder, self.text)
        if f"in {self.main_loop}:" not in self.text:
            last = self.text[: self.text.index(self.main_loop)].count("\n") + 1
            return child.loop(self.main_loop, last, "managed")
        loops = [node for node in ast.walk(ast.parse(self.text)) if isinstance(node, ast.For)]
        (end_line,) = [loop.end_lineno for loop in loops if ast.unparse(loop.iter) == self.main_loop]
        return child.loop(f"in «{self.main_loop}»:", end_line or 0)


TORCH_DATA = (
    FIRST
    + """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
x, y = torch.tensor(images), torch.tensor(labels).long()
"""
)
TORCH_LOADERS = """\
train_loader = DataLoader(TensorDataset(x[:24], y[:24]), 8, shuffle=True)
test_loader = DataLoader(TensorDataset(x[24:], y[24:]), 5)
"""
TORCH_NET = "nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 2))"
TORCH_DIGEST = """\
print(zlib.crc32(b"".join(each.numpy().tobytes() for each in model.state_dict().values())))
"""

PYTORCH = f"""\
{TORCH_DATA}{TORCH_LOADERS}
model = {TORCH_NET}
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for epoch in range(2):
    model.train()
    for batch, target in train_loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(batch), target).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        n_right = sum((model(batch).argmax(1) == target).sum().item() for batch, target in test_loader)
    print("test", n_right / 16)
{TORCH_DIGEST}"""

LIGHTNING = f"""\
import logging, warnings
import lightning.pytorch as L
{TORCH_DATA}{TORCH_LOADERS}
warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = {TORCH_NET}
    def forward(self, batch):
        return self.net(batch)
    def training_step(self, batch, index):
        return nn.functional.cross_entropy(self(batch[0]), batch[1])
    def validation_step(self, batch, index):
        self.log("right", (self(batch[0]).argmax(1) == batch[1]).float().sum(), reduce_fx="sum")
    def on_validation_epoch_end(self):
        print("test", self.trainer.callback_metrics["right"].item() / 16)
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

trainer = L.Trainer(
    max_epochs=2, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
    enable_checkpointing=False, num_sanity_val_steps=0,
)
model = Net()
trainer.fit(model, train_loader, test_loader)
{TORCH_DIGEST}"""

TRANSFORMERS = f"""\
{TORCH_DATA}
from transformers import Trainer, TrainingArguments

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = {TORCH_NET}
    def forward(self, pixel_values, labels=None):
        logits = self.net(pixel_values)
        return {{"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}}

def accuracy(prediction):
    accuracy = float(np.mean(prediction.predictions.argmax(-1) == prediction.label_ids))
    print("test", accuracy)
    return {{"accuracy": accuracy}}

train_data, test_data = (
    [{{"pixel_values": image, "labels": label}} for image, label in zip(x[rows], y[rows])]
    for rows in (slice(24), slice(24, 40))
)
arguments = TrainingArguments(
    "out", num_train_epochs=2, per_device_train_batch_size=8, per_device_eval_batch_size=5, eval_strategy="epoch",
    report_to=[], use_cpu=True, save_strategy="no", logging_strategy="no", disable_tqdm=True, seed=3,
)
model = Net()
trainer = Trainer(model, arguments, train_dataset=train_data, eval_dataset=test_data, compute_metrics=accuracy)
trainer.train()
{TORCH_DIGEST}"""

KERAS_NET = """\
keras.Sequential([
    keras.Input((6, 6, 1)), keras.layers.Conv2D(4, 3, activation="relu"), keras.layers.Flatten(), keras.layers.Dense(2),
])"""
KERAS_DIGEST = """\
print(zlib.crc32(b"".join(each.tobytes() for each in model.get_weights())))
"""
KERAS = f"""\
{LAST}{SPLIT}
import keras
keras.utils.set_random_seed(0)
model = {KERAS_NET}
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.SGD(0.1), loss, metrics=["accuracy"])
history = model.fit(x_train, y_train, batch_size=8, epochs=2, verbose=0, validation_data=(x_test, y_test))
for accuracy in history.history["val_accuracy"]:
    print("test", accuracy)
{KERAS_DIGEST}"""

TENSORFLOW = f"""\
{LAST}{SPLIT}
import keras
import tensorflow as tf
keras.utils.set_random_seed(0)
train_data = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(24).batch(8)
test_data = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(5)
model = {KERAS_NET}
optimizer = keras.optimizers.SGD(0.1)
loss_of = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

@tf.function
def train_step(batch, target):
    with tf.GradientTape() as tape:
        loss = loss_of(target, model(batch, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

@tf.function
def predict(batch):
    return model(batch, training=False)

for epoch in range(2):
    for batch, target in train_data:
        train_step(batch, target)
    n_right = sum(int((predict(batch).numpy().argmax(1) == target.numpy()).sum()) for batch, target in test_data)
    print("test", n_right / 16)
{KERAS_DIGEST}"""

JAX_DATA = f"""\
{LAST}{SPLIT}
import jax
import jax.numpy as jnp
import optax

def cross_entropy(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
"""
JAX_LOOP = """\
for epoch in range(2):
    for rows in np.random.default_rng(epoch).permutation(24).reshape(3, 8):
        TRAIN
    n_right = 0
    for start in range(0, 16, 4):
        images, labels = x_test[start : start + 4], y_test[start : start + 4]
        n_right += int((PREDICT.argmax(-1) == labels).sum())
    print("test", n_right / 16)
print(zlib.crc32(b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(WEIGHTS))))
"""


def jax_loop(train: str, predict: str, weights: str) -> str:
    """The loop of a script of JAX: a call that trains on `rows`, one that predicts from `images`, the weights."""
    return JAX_LOOP.replace("TRAIN", train).replace("PREDICT", predict).replace("WEIGHTS", weights)


LINEN = f"""\
{JAX_DATA}
import flax.linen as nn
from flax.training.train_state import TrainState

class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(4, (3, 3), padding="VALID")(x))
        return nn.Dense(2)(x.reshape(len(x), -1))

net = Net()
params = net.init(jax.random.key(0), x_train[:1])["params"]
state = TrainState.create(apply_fn=net.apply, params=params, tx=optax.sgd(0.1))

@jax.jit
def train_step(state, batch, target):
    def loss_of(params):
        return cross_entropy(state.apply_fn({{"params": params}}, batch), target)
    loss, gradients = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=gradients), loss

@jax.jit
def predict(state, batch):
    return state.apply_fn({{"params": state.params}}, batch)

""" + jax_loop(
    "state, loss = train_step(state, x_train[rows], y_train[rows])",
    "predict(state, images)",
    "state.params",
)

NNX = f"""\
{JAX_DATA}
from flax import nnx

class Net(nnx.Module):
    def __init__(self, rngs):
        self.conv = nnx.Conv(1, 4, (3, 3), padding="VALID", rngs=rngs)
        self.dense = nnx.Linear(64, 2, rngs=rngs)

    def __call__(self, x):
        return self.dense(nnx.relu(self.conv(x)).reshape(len(x), -1))

model = Net(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)

@nnx.jit
def train_step(model, optimizer, batch, target):
    loss, gradients = nnx.value_and_grad(lambda model: cross_entropy(model(batch), target))(model)
    optimizer.update(model, gradients)
    return loss

@nnx.jit
def predict(model, batch):
    return model(batch)

""" + jax_loop(
    "loss = train_step(model, optimizer, x_train[rows], y_train[rows])",
    "predict(model, images)",
    "nnx.state(model)",
)

OPTAX_LOOP = """
tx = optax.sgd(0.1)
opt_state = tx.init(params)

@jax.jit
def train_step(params, opt_state, batch, target):
    loss, gradients = jax.value_and_grad(lambda params: cross_entropy(apply(params, batch), target))(params)
    updates, opt_state = tx.update(gradients, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss

predict = jax.jit(apply)

""" + jax_loop(
    "params, opt_state, loss = train_step(params, opt_state, x_train[rows], y_train[rows])",
    "predict(params, images)",
    "params",
)

HAIKU = f"""\
{JAX_DATA}
import haiku as hk

def net(x):
    return hk.Linear(2)(hk.Flatten()(jax.nn.relu(hk.Conv2D(4, 3, padding="VALID")(x))))

init, apply = hk.without_apply_rng(hk.transform(net))
params = init(jax.random.key(0), x_train[:1])
{OPTAX_LOOP}"""

JAX = f"""\
{JAX_DATA}
def apply(params, x):
    x = jax.lax.conv_general_dilated(
        x, params["filters"], (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    return jax.nn.relu(x + params["shift"]).reshape(len(x), -1) @ params["kernel"] + params["bias"]

first, second = jax.random.split(jax.random.key(0))
params = {{
    "filters": 0.3 * jax.random.normal(first, (3, 3, 1, 4)), "shift": jnp.zeros(4),
    "kernel": 0.3 * jax.random.normal(second, (64, 2)), "bias": jnp.zeros(2),
}}
{OPTAX_LOOP}"""

SKLEARN = f"""\
{LAST}
images = images.reshape(40, 36)
{SPLIT}
from sklearn.neural_network import MLPClassifier

model = MLPClassifier((4,), solver="sgd", batch_size=8, learning_rate_init=0.1, random_state=0)
for epoch in range(2):
    for start in range(0, 24, 8):
        model.partial_fit(x_train[start : start + 8], y_train[start : start + 8], classes=[0, 1])
    print("test", model.score(x_test, y_test))
print(zlib.crc32(b"".join(each.tobytes() for each in model.coefs_ + model.intercepts_)))
"""

QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow"}
CPU = {"JAX_PLATFORMS": "cpu", "JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}
FIT = "model.fit(x_train, y_train, batch_size=8, epochs=2, verbose=0, validation_data=(x_test, y_test))"
SCRIPTS = {
    "PyTorch": Script(PYTORCH, ("torch",)),
    "Lightning": Script(LIGHTNING, ("torch", "lightning"), "trainer.fit(model, train_loader, test_loader)"),
    "Transformers": Script(TRANSFORMERS, ("torch", "transformers", "accelerate"), "trainer.train()"),
    "Keras on TensorFlow": Script(KERAS, ("keras", "tensorflow"), FIT, variables=QUIET),
    "Keras on JAX": Script(KERAS, ("keras", "jax"), FIT, variables={"KERAS_BACKEND": "jax", **CPU}),
    "Keras on PyTorch": Script(KERAS, ("keras", "torch"), FIT, variables={"KERAS_BACKEND": "torch"}),
    "TensorFlow": Script(TENSORFLOW, ("keras", "tensorflow"), variables=QUIET),
    "Flax linen": Script(LINEN, ("flax", "optax"), variables=CPU),
    "Flax nnx": Script(NNX, ("flax", "optax"), variables=CPU),
    "Haiku": Script(HAIKU, ("haiku", "optax"), variables=CPU),
    "JAX with Optax": Script(JAX, ("jax", "optax"), variables=CPU),
    "scikit-learn": Script(SKLEARN, ("sklearn",), n_weights=36 * 4 + 4 + 4 + 1, is_slow=False),
}
"""By the names that the table in the documentation has for them."""
