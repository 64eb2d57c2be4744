"""Keras: what evaluations put out is kept, of its methods and of loops of the script's, and nothing changes for it."""

import numpy as np
import pytest
from capturing import Kept, kept
from harness import Child

SCRIPT = """\
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import hashlib
import random
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(1)
draw = np.random.default_rng(0)
x = draw.normal(size=(160, 6)).astype("float32")
y = (x @ draw.normal(size=(6, 3))).argmax(1)
x_train, y_train, x_test, y_test = x[:120], y[:120], x[120:], y[120:]

def network():
    layers = [keras.Input((6,)), keras.layers.Dense(8, activation="relu"), keras.layers.BatchNormalization()]
    return keras.Sequential([*layers, keras.layers.Dropout(0.2), keras.layers.Dense(3, activation="softmax")])

model = network()
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
known = model.fit(x_train, y_train, epochs=2, verbose=0, validation_data=(x_test, y_test)).history
print("fit", known["val_accuracy"][-1])
print("loss", float(known["val_loss"][-1]).hex())
sure_ds = tf.data.Dataset.from_tensor_slices((x[:50], y[:50])).shuffle(50).batch(16)
print("sure", model.evaluate(sure_ds, verbose=0)[1])
x_late, y_late = x[70:], y[70:]
print("late", np.mean(model.predict(x_late, batch_size=32, verbose=0).argmax(1) == y_late))

class Two(keras.Model):
    def __init__(self):
        super().__init__()
        self.inner = network()
        self.accuracy = keras.metrics.SparseCategoricalAccuracy(name="right")
    def call(self, inputs, training=False):
        return {"seen": inputs["a"], "logits": self.inner(inputs["a"] + inputs["b"], training=training)}
    def test_step(self, data):
        given, labels = data
        self.accuracy.update_state(labels, self(given)["logits"])
        return {"right": self.accuracy.result()}

two = Two()
two.compile(run_eagerly=True)
two_sets = {"easy": ({"a": x[:30], "b": x[:30]}, y[:30]), "hard": ({"a": x[9:70], "b": x[9:70]}, y[9:70])}
for name, (inputs, labels) in two_sets.items():
    print(name, two.evaluate(inputs, labels, verbose=0))
two.compile(steps_per_execution=2)
x_many = x[:40]
two.evaluate({"a": x_many, "b": x_many}, y[:40], verbose=0)

loss_of = keras.losses.SparseCategoricalCrossentropy()
optimizer = keras.optimizers.Adam()
right, right_in_graph = keras.metrics.SparseCategoricalAccuracy(), keras.metrics.SparseCategoricalAccuracy()

@tf.function
def train_step(given, labels):
    with tf.GradientTape() as tape:
        loss = loss_of(labels, model(given, training=True))
    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_weights), model.trainable_weights))

@tf.function
def test_step(given, labels):
    right_in_graph.update_state(labels, model(2 * given, training=False))

train_ds = tf.data.Dataset.from_tensor_slices((x_train, y_train)).shuffle(120).batch(40)
val_dataset = tf.data.Dataset.from_tensor_slices((x_test, y_test)).batch(16)
hold_ds = tf.data.Dataset.from_tensor_slices((x[:25], y[:25])).batch(10)
for epoch in range(2):
    for given, labels in train_ds:
        train_step(given, labels)
    right.reset_state(), right_in_graph.reset_state()
    for given, labels in val_dataset:
        test_step(given, labels)
    for given, labels in hold_ds:
        right.update_state(labels, model(given, training=False))
    print("val", float(right_in_graph.result()))
    print("hold", float(right.result()))
print(hashlib.sha256(b"".join(each.numpy().tobytes() for each in model.weights)).hexdigest())
print(random.random(), np.random.rand(), float(tf.random.uniform(())), keras.random.uniform(()).numpy())
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, require) -> Kept:  # type: ignore[no-untyped-def]
    require("tensorflow")
    last = SCRIPT[: SCRIPT.index('    print("hold", float')].count("\n") + 1
    folder = tmp_path_factory.mktemp("keras")
    return kept(folder, lambda own: Child(own, SCRIPT).loop("in «range(2)»:", last), TF_ENABLE_ONEDNN_OPTS="0")


def test_nothing_changes_for_what_is_kept(run: Kept) -> None:
    assert run.on.stdout == run.off.stdout, "losses, hashes of weights, and what generators draw next"
    assert run.on.of("weights") == run.off.of("weights")


@pytest.mark.parametrize(
    ("name", "n"), [("sure", 50), ("late", 90), ("easy", 30), ("hard", 61), ("val", 40), ("hold", 25)]
)
def test_the_accuracy_of_what_is_kept_is_that_which_is_printed(run: Kept, name: str, n: int) -> None:
    assert run.arrays(name)["outputs"].shape == (n, 3)
    assert run.arrays(name)["outputs"].dtype == np.float32
    assert np.float32(run.accuracy(name)) == np.float32(run.printed(name))


def test_the_validation_of_fit_is_the_set_that_it_is_given(run: Kept) -> None:
    assert np.float32(run.accuracy("test")) == np.float32(run.printed("fit"))
    assert dict(run.artifacts("predictions"))["val"] == 1, "the step of the script's own main loop"


def test_examples_are_known_in_whatever_order_they_come(run: Kept) -> None:
    late, test = (run.arrays(name) for name in ("late", "test"))
    assert list(late["keys"][-40:]) == list(test["keys"])
    assert np.array_equal(late["truth"][-40:], test["truth"])
    shuffled = run.arrays("sure")
    assert len(set(shuffled["keys"])) == 50
    places = {key: place for place, key in enumerate(late["keys"])}
    assert not places.keys() & set(shuffled["keys"])


def test_what_cannot_be_had_is_told(run: Kept) -> None:
    told = [event[2] for event in run.on.of("not captured")]
    assert "several steps in one execution give the outputs of the last one alone" in told


def test_weights_of_the_model_are_kept_with_its_averages(run: Kept) -> None:
    names = [name.rpartition(".")[2] for name in run.arrays("loop", "weights")]
    kinds = [name.rpartition("/")[2] for name in names]
    assert kinds == ["kernel", "bias", "gamma", "beta", "moving_mean", "moving_variance", "kernel", "bias"]


ON_TORCH = """\
import keras
import numpy as np
import torch

keras.utils.set_random_seed(1)
draw = np.random.default_rng(0)
x = draw.normal(size=(160, 6)).astype("float32")
y = (x @ draw.normal(size=(6, 3))).argmax(1)
x_train, y_train, x_test, y_test = x[:120], y[:120], x[120:], y[120:]
layers = [keras.Input((6,)), keras.layers.Dense(8, activation="relu"), keras.layers.BatchNormalization()]
model = keras.Sequential([*layers, keras.layers.Dropout(0.2), keras.layers.Dense(3, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
known = model.fit(x_train, y_train, epochs=2, verbose=0, validation_data=(x_test, y_test)).history
print("test", known["val_accuracy"][-1])
late_loader = torch.utils.data.DataLoader(list(zip(x[70:], y[70:])), batch_size=32)
print("late", model.evaluate(late_loader, verbose=0)[1])
x_some, y_some = x[:50], y[:50]
print("some", np.mean(model.predict(x_some, verbose=0).argmax(1) == y_some))
x_own, y_own = torch.tensor(x[20:]), torch.tensor(y[20:])
with torch.no_grad():
    print("own", float((model(x_own, training=False).argmax(1) == y_own).double().mean()))
print(float(known["val_loss"][-1]).hex(), float(torch.rand(())))
"""


@pytest.fixture(scope="module")
def on_torch(tmp_path_factory: pytest.TempPathFactory, require) -> Kept:  # type: ignore[no-untyped-def]
    require("keras")
    require("torch")
    return kept(tmp_path_factory.mktemp("keras-torch"), lambda own: Child(own, ON_TORCH), KERAS_BACKEND="torch")


@pytest.mark.slow
def test_with_pytorch_nothing_changes_either(on_torch: Kept) -> None:
    assert on_torch.on.stdout == on_torch.off.stdout
    assert on_torch.on.of("weights") == on_torch.off.of("weights")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n"), [("test", 40), ("late", 90), ("some", 50), ("own", 140)])
def test_with_pytorch_the_accuracy_is_that_which_is_printed(on_torch: Kept, name: str, n: int) -> None:
    assert on_torch.arrays(name)["outputs"].shape == (n, 3)
    assert np.float32(on_torch.accuracy(name)) == np.float32(on_torch.printed(name))


@pytest.mark.slow
def test_with_pytorch_each_set_and_each_weight_is_kept_once(on_torch: Kept) -> None:
    frameworks = {(kind, name, framework) for kind, name, _, framework, *_ in on_torch.on.of("artifact")}
    of_trainer = {("predictions", name, "keras") for name in ("test", "late", "some")}
    assert frameworks == {*of_trainer, ("predictions", "own", "torch"), ("weights", "loop", "keras")}
