"""Keras and TensorFlow: what is done to one of two trainings is found at its step, and the trace changes nothing."""

import pytest
from tracing import TOUCHED, Traced, nothing_changed, traced

pytestmark = pytest.mark.requires("keras", "tensorflow")

SCRIPT = """\
import zlib
import keras
import numpy as np
import tensorflow as tf

FACTOR = np.float32(1 + 1e-7)
keras.utils.set_random_seed(1)
draw = np.random.default_rng(0)
X = draw.normal(size=(80, 6)).astype("float32")
Y = (X @ draw.normal(size=(6, 3))).argmax(1)


class Scaled(keras.Sequential):
    def __init__(self):
        norm, drop = keras.layers.BatchNormalization(), keras.layers.Dropout(0.2)
        layers = [keras.layers.Dense(8, activation="relu"), norm, drop, keras.layers.Dense(3)]
        super().__init__([keras.Input((6,)), *layers])
        self.factor = tf.Variable(1.0, trainable=False)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(x, y, self(x, training=True))
        gradients = [self.factor * each for each in tape.gradient(loss, self.trainable_weights)]
        self.optimizer.apply(gradients, self.trainable_weights)
        self._loss_tracker.update_state(loss)
        return {"loss": self._loss_tracker.result()}


class At3(keras.callbacks.Callback):
    def __init__(self, act):
        super().__init__()
        self.act = act

    def on_train_batch_begin(self, batch, logs=None):
        if batch == 3:
            self.act(self.model)

    def on_train_batch_end(self, batch, logs=None):
        self.model.factor.assign(1.0)


def scaled(variable):
    variable.assign(variable * FACTOR)


def order():
    rows = np.arange(80)
    rows[[48, 49]] = 49, 48
    return X[rows], Y[rows]


def data():
    x = X.copy()
    x[50, 2] *= FACTOR
    return x, Y


nothing = lambda model: None
VARIANTS = {
    "fit": (lambda: (X, Y), nothing),
    "again": (lambda: (X, Y), nothing),
    "data": (data, nothing),
    "order": (order, nothing),
    "weights": (lambda: (X, Y), lambda model: scaled(model.layers[0].kernel)),
    "gradient": (lambda: (X, Y), lambda model: model.factor.assign(FACTOR)),
    "optimizer": (lambda: (X, Y), lambda model: scaled(model.optimizer.learning_rate)),
    "draw": (lambda: (X, Y), lambda model: np.random.random()),
}
model = Scaled()
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.optimizer.build(model.trainable_variables)
initial = [(each, each.numpy()) for each in [*model.variables, *model.optimizer.variables]]
for name, (make, act) in VARIANTS.items():
    for variable, value in initial:
        variable.assign(value)
    np.random.seed(1)
    model.fit(*make(), batch_size=16, epochs=1, verbose=0, shuffle=False, callbacks=[At3(act)])
    print(name, zlib.crc32(b"".join(each.numpy().tobytes() for each in model.weights)))


class Scale(keras.layers.Layer):
    factor = np.float32(1)

    def call(self, x):
        return x * self.factor


layers = [keras.layers.Dense(4, activation="tanh"), Scale(name="scale"), keras.layers.Dense(1)]
small = keras.Sequential([keras.Input((6,)), *layers], name="small")
start = small.get_weights()
sgd = keras.optimizers.SGD(0.1)

@tf.function
def compiled(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((small(x, training=True)[:, 0] - y) ** 2)
    sgd.apply_gradients(zip(tape.gradient(loss, small.trainable_weights), small.trainable_weights))
    return loss

def eager(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((small(x)[:, 0] - y) ** 2)
    sgd.apply(tape.gradient(loss, small.trainable_weights), small.trainable_weights)

by_hand = [tf.Variable(tf.ones((6, 1)), name="w")]
@tf.function
def assigned(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(((x @ by_hand[0])[:, 0] - y) ** 2)
    by_hand[0].assign_sub(0.1 * tape.gradient(loss, by_hand)[0])
    return loss

for name, step_of in {"function": compiled, "eager": eager, "assigned": assigned}.items():
    for is_other in (False, True):
        small.set_weights(start)
        sgd.iterations.assign(0)
        by_hand[0].assign(tf.ones((6, 1)))
        for step in range(5):
            x, y = X[16 * step :][:16], Y[16 * step :][:16].astype("float32")
            touched = FACTOR if is_other and step == 3 else np.float32(1)
            layers[1].factor = touched if name == "eager" else np.float32(1)
            step_of(tf.constant(x), tf.constant(y * (np.float32(1) if name == "eager" else touched)))
        print(name, zlib.crc32(b"".join(each.numpy().tobytes() for each in small.weights + by_hand)))
np.save("weights.npy", small.weights[0].numpy())
print(np.random.random(), tf.random.uniform(()).numpy())
"""
FIT = ("fit", "again", "data", "order", "weights", "gradient", "optimizer", "draw")
LOOPS = ("function", "function, other", "eager", "eager, other", "assigned", "assigned, other")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Traced:
    return traced(tmp_path_factory.mktemp("keras"), SCRIPT, (*FIT, *LOOPS), TF_CPP_MIN_LOG_LEVEL="3")


def test_a_traced_run_is_bitwise_the_run_without_a_trace(runs: Traced) -> None:
    assert nothing_changed(runs)


@pytest.mark.parametrize(
    ("part", "beside", "kind", "name"),
    [
        ("data", "fit", "batch", "input"),
        ("order", "fit", "batch", "input"),
        ("weights", "fit", "update", None),
        ("gradient", "fit", "update", "adam/scaled_dense_kernel_momentum"),
        ("optimizer", "fit", "update", "adam/learning_rate"),
        ("draw", "fit", "state", "numpy"),
        ("function, other", "function", "batch", "input[1]"),
        ("eager, other", "eager", "module", "small/scale"),
        ("assigned, other", "assigned", "batch", "input[1]"),
    ],
)
def test_what_was_done_is_found_at_its_step(runs: Traced, part: str, beside: str, kind: str, name: str | None) -> None:
    found = runs.first(part, beside=beside)
    assert found is not None
    assert found[:2] == (TOUCHED, kind)
    assert name in (None, found[2])


def test_the_same_examples_in_another_order_are_the_same_rows(runs: Traced) -> None:
    lines = [line for line in runs.lines if line[:2] == ["batch", "input"]]
    data, order = (lines[5 * FIT.index(part) + TOUCHED][5]["rows"] for part in ("fit", "order"))
    assert data != order
    assert sorted(data) == sorted(order)
    assert len(set(data)) == 16


def test_equal_calls_of_fit_are_equal_records(runs: Traced) -> None:
    assert runs.first("again", beside="fit") is None


def test_a_step_of_fit_tells_states_weights_batch_loss_and_update(runs: Traced) -> None:
    kinds = [kind for step, kind, *_ in runs.records if step == 0]
    assert list(dict.fromkeys(kinds)) == ["state", "weights", "batch", "loss", "update"]
    assert runs.names("batch") == ["input", "target"]
    assert {"numpy", "python", "tf", "keras/seed_generator/seed_generator_state"} == set(runs.names("state"))
    assert "adam/learning_rate" in runs.names("update")
    assert "scaled/batch_normalization/moving_mean" in runs.names("update")


def test_layers_of_an_eager_step_are_recorded(runs: Traced) -> None:
    step = 5 * runs.parts.index("eager")
    assert len([name for name in runs.names("update", step) if name.startswith("small/")]) == 4
    assert runs.names("module", step) == ["small/dense_2", "small/scale", "small/dense_3", "small"]
    places = {line[1]: line[3] for line in runs.lines if line[0] == "place"}
    (line,) = {places[line[4]] for line in runs.lines if line[:2] == ["module", "small"]}
    assert "small(x)" in SCRIPT.splitlines()[line - 1]


def test_it_is_told_where_the_ladder_ends_and_why(runs: Traced) -> None:
    ends = [line for line in runs.lines if line[0] == "ends"]
    assert [line[1:3] for line in ends] == [["keras", 2], ["tensorflow", 2]]
    assert "compiles" in ends[0][3]
