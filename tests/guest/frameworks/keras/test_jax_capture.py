"""Keras on JAX: outputs of evaluations are kept, and nothing changes for it."""

from pathlib import Path

import numpy as np
import pytest
from capturing import Kept, kept
from harness import Child

pytestmark = pytest.mark.slow

SCRIPT = """\
import hashlib
import jax
import keras
import numpy as np

keras.utils.set_random_seed(1)
draw = np.random.default_rng(0)
x = draw.normal(size=(160, 6)).astype("float32")
y = (x @ draw.normal(size=(6, 3))).argmax(1)
x_train, y_train, x_test, y_test = x[:120], y[:120], x[120:], y[120:]
traces = []

def layers():
    dense = [keras.layers.Dense(8, activation="relu"), keras.layers.BatchNormalization(), keras.layers.Dropout(0.2)]
    return [keras.Input((6,)), *dense, keras.layers.Dense(3, activation="softmax")]

class Own(keras.Model):
    def test_step(self, state, data):
        traces.append("test")
        images, labels = data[:2]
        weights, others, metrics = state
        out, others = self.stateless_call(weights, others, 2 * images, training=False)
        metric = self.metrics[1].metrics[0]
        told = metric.stateless_update_state(metrics[-2:], labels, out)
        return {"accuracy": metric.stateless_result(told)}, (weights, others, [*metrics[:-2], *told])

def hashed(model):
    return hashlib.sha256(b"".join(np.asarray(each).tobytes() for each in model.weights)).hexdigest()

model = keras.Sequential(layers())
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
known = model.fit(x_train, y_train, epochs=2, verbose=0, validation_data=(x_test, y_test)).history
print("test", known["val_accuracy"][-1])
x_late, y_late = x[70:], y[70:]
loss, told = model.evaluate(x_late, y_late, batch_size=32, verbose=0)
print("late", told)
x_one, y_one = x[:30], y[:30]
print("one", model.test_on_batch(x_one, y_one)[1])
x_some, y_some = x[:50], y[:50]
print("some", np.mean(model.predict(x_some, verbose=0).argmax(1) == y_some))
x_call, y_call = x[:64], y[:64]
print("call", np.mean(np.asarray(model(x_call, training=False)).argmax(1) == y_call))
right, x_loop, y_loop = keras.metrics.SparseCategoricalAccuracy(), x[20:110].copy(), y[20:110]
model(x_loop[:32], training=True)
for at in range(0, 90, 32):
    right.update_state(y_loop[at : at + 32], model(x_loop[at : at + 32]))
print("loop", float(right.result()))
right.reset_state()
for rows in np.array_split(np.arange(90), 3):
    fancy, labels = x_loop[rows], y_loop[rows]
    right.update_state(labels, model(fancy))
print("fancy", float(right.result()))
twin = keras.models.clone_model(model)
twin.compile("adam", "sparse_categorical_crossentropy")
twin.fit(x_train, y_train, epochs=1, verbose=0)
x_twin, y_twin = x[5:75].copy(), y[5:75]
for name, each in (("twin", model), ("twin_2", twin)):
    print(name, np.mean(np.asarray(each(x_twin)).argmax(1) == y_twin))
given = keras.Input((6,))
keras.Model(given, model(given))

inputs = keras.Input((6,))
own = Own(inputs, keras.layers.Dense(3)(inputs))
own.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
own.fit(x_train, y_train, epochs=1, verbose=0)
x_own, y_own = x[90:], y[90:]
print("own", float(own.evaluate(x_own, y_own, verbose=0, return_dict=True)["accuracy"]))

eager = keras.Sequential(layers())
eager.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"], run_eagerly=True)
eager.fit(x_train[:40], y_train[:40], epochs=1, verbose=0)
x_eager, y_eager = x[80:], y[80:]
print("eager", eager.evaluate(x_eager, y_eager, verbose=0)[1])

model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"], steps_per_execution=2)
x_many, y_many = x[:60], y[:60]
print("many", model.evaluate(x_many, y_many, verbose=0)[1])
print(loss.hex(), [value.hex() for value in known["val_loss"]], traces)
print(hashed(model), hashed(own), hashed(eager), np.asarray(keras.random.uniform(())))
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, require) -> Kept:  # type: ignore[no-untyped-def]
    require("keras")
    require("jax")
    folder = tmp_path_factory.mktemp("keras-jax")
    return kept(
        folder,
        lambda own: Child(own, SCRIPT),
        KERAS_BACKEND="jax",
        JAX_PLATFORMS="cpu",
        JAX_DISABLE_MOST_OPTIMIZATIONS="1",
    )


def test_nothing_changes_for_what_is_kept(run: Kept) -> None:
    assert run.on.stdout == run.off.stdout, "losses, weights, traces, and what generators draw next"
    assert run.on.of("weights") == run.off.of("weights")


SETS = [
    ("test", 40),
    ("late", 90),
    ("one", 30),
    ("some", 50),
    ("call", 64),
    ("loop", 90),
    ("fancy", 90),
    ("twin", 70),
    ("twin_2", 70),
    ("own", 70),
    ("eager", 80),
]


@pytest.mark.parametrize(("name", "n"), SETS)
def test_the_accuracy_of_what_is_kept_is_that_which_is_printed(run: Kept, name: str, n: int) -> None:
    assert run.arrays(name)["outputs"].shape == (n, 3)
    assert np.float32(run.accuracy(name)) == np.float32(run.printed(name))


def test_examples_are_known_by_their_inputs(run: Kept) -> None:
    late, test, eager = (run.arrays(name)["keys"] for name in ("late", "test", "eager"))
    assert np.array_equal(late[-40:], test)
    assert np.array_equal(late[10:], eager)


def test_several_steps_in_one_execution_are_told(run: Kept) -> None:
    assert "several steps in one execution give the outputs of the last one alone" in [
        event[2] for event in run.on.of("not captured")
    ]
    names = {name for kind, name, *_ in run.on.of("artifact") if kind == "predictions"}
    assert names == {name for name, _ in SETS}


NNX = """\
import keras
import numpy as np
keras.utils.set_random_seed(1)
x, y = np.ones((40, 3), "float32"), np.zeros(40)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, y, verbose=0)
print(model.evaluate(x, y, verbose=0))
"""


def test_steps_of_nnx_are_left_alone_and_told(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("keras")
    require("flax")
    variables = {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu", "KERAS_NNX_ENABLED": "true"}
    result = Child(tmp_path, NNX).run(capture={"predictions": "on"}, environment=variables)
    assert (result.code, result.of("error")) == (0, []), result.stderr
    assert [event[2] for event in result.of("not captured")] == [
        "evaluate of Keras gives no outputs with this backend or setting"
    ]
