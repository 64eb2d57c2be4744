"""TensorFlow and Keras: what varies in one stream changes what it should, and nothing upstream of it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from harness import Child, Result
from varied import Script, hashes, moved, seeds

TRAINING = """\
import hashlib, os, random
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras
from keras import layers

if "seeds" in os.environ.get("SETS", ""):
    keras.utils.set_random_seed(1)
if "modes" in os.environ.get("SETS", ""):
    tf.config.experimental.enable_op_determinism()
    tf.config.experimental.enable_tensor_float_32_execution(True)

def show(name, *arrays):
    print(name, hashlib.sha256(b"".join(np.asarray(array).tobytes() for array in arrays)).hexdigest()[:12])

N, EPOCHS = 24, 2
images = np.linspace(0, 1, N * 16, dtype="float32").reshape(N, 4, 4, 1)
numbers = np.arange(N, dtype="float32")
at, orders, inputs = tf.Variable(0), tf.Variable(tf.zeros(N * EPOCHS)), tf.Variable(tf.zeros((N * EPOCHS, 4, 4, 1)))

def note(x, y):
    places = (at + tf.range(tf.shape(y)[0]))[:, None]
    orders.scatter_nd_update(places, y)
    inputs.scatter_nd_update(places, x)
    at.assign_add(tf.shape(y)[0])

class Scale(layers.Layer):
    def __init__(self):
        super().__init__()
        self.factor = 1 + np.random.rand()
    def build(self, shape):
        self.shift = self.add_weight(shape=(shape[-1],), initializer=lambda shape, dtype: np.random.rand(*shape))
    def call(self, x):
        return self.factor * x + self.shift

class Model(keras.Model):
    def train_step(self, data):
        note(*data)
        return super().train_step(data)

def fit(name, data, *targets, augmented=()):
    image = keras.Input((4, 4, 1))
    x = image
    for layer in augmented:
        x = layer(x)
    x = layers.Dense(8, "relu", kernel_initializer=keras.initializers.HeNormal(seed=3))(layers.Flatten()(x))
    x = Scale()(layers.Dropout(0.25, seed=4)(layers.Dropout(0.25)(x)))
    model = Model(image, layers.Dense(1)(x))
    model.compile(keras.optimizers.SGD(0.01), "mse")
    show(name + "-init", *model.get_weights())
    at.assign(0)
    model.fit(data, *targets, batch_size=None if not targets else 8, epochs=EPOCHS, verbose=0,
              validation_data=(images[:6], numbers[:6]))
    show(name + "-order", orders)
    show(name + "-second", tf.sort(orders[:N]), orders[N:])
    show(name + "-batch", inputs[:8])
    show(name + "-inputs", inputs)
    show(name + "-final", *model.get_weights())

fit("arrays", images, numbers, augmented=[layers.RandomBrightness(0.5, value_range=(0, 1))])

flip = keras.Sequential([layers.RandomFlip(seed=2), layers.RandomTranslation(0.5, 0.5)])
files = tf.data.Dataset.from_tensor_slices((images, numbers)).shuffle(N, seed=5)
files = files.map(lambda x, y: (tf.image.random_brightness(x, 0.5) + tf.random.normal((4, 4, 1)), y), 2).batch(8)
fit("dataset", files.map(lambda x, y: (flip(x, training=True), y)))

class Batches(keras.utils.PyDataset):
    order = np.arange(N)
    def __len__(self):
        return N // 8
    def __getitem__(self, index):
        chosen = self.order[8 * index : 8 * index + 8]
        noise = np.random.rand(8, 4, 4, 1) + random.random()
        return images[chosen] + noise.astype("float32"), numbers[chosen]
    def on_epoch_end(self):
        np.random.shuffle(self.order)
fit("python", Batches())

generator = tf.random.Generator.from_seed(6)
def initial(shape):
    value = tf.random.truncated_normal(shape, stddev=0.5)
    return tf.Variable(0.5 * value)
weights = [initial((16, 8)), tf.Variable(tf.random.normal((8, 4))), tf.Variable(generator.normal((4, 1)))]
show("loop-init", *weights)
divided = tf.random.shuffle(tf.range(N))
show("loop-test", tf.sort(divided[16:]))
data = tf.data.Dataset.range(N).shuffle(N, reshuffle_each_iteration=False)
show("loop-held", sorted(data.take(8).as_numpy_iterator()))
data = data.skip(8).map(lambda i: (tf.gather(images, i), tf.gather(numbers, i))).shuffle(16)
data = data.map(lambda x, y: (tf.image.stateless_random_brightness(x, 0.5, generator.make_seeds()[:, 0]), y)).batch(8)

@tf.function
def step(x, y):
    note(x, y)
    with tf.GradientTape() as tape:
        x = tf.nn.dropout(tf.nn.relu(tf.reshape(x, (8, 16)) @ weights[0]), 0.25)
        x = tf.nn.experimental.stateless_dropout(tf.nn.relu(x @ weights[1]), 0.25, seed=(1, 2))
        noise = tf.random.normal((8,)) + generator.normal((8,))
        loss = tf.reduce_mean((tf.squeeze(x @ weights[2]) - y + noise) ** 2)
    for weight, gradient in zip(weights, tape.gradient(loss, weights)):
        weight.assign_sub(0.01 * gradient)

at.assign(0)
for epoch in range(2):
    for x, y in data:
        step(x, y)
show("loop-order", orders[:32])
show("loop-batch", inputs[:8])
show("loop-final", *weights)
print("tf32", tf.config.experimental.tensor_float_32_execution_enabled())
"""
FITS = ("arrays", "dataset", "python")
DOWNSTREAM = {
    "": set(),
    "init": {f"{fit}-{what}" for fit in (*FITS, "loop") for what in ("init", "final")} | {"weights"},
    "shuffle": {f"{fit}-{what}" for fit in FITS for what in ("order", "second", "batch", "inputs", "final")}
    | {"loop-order", "loop-batch", "loop-final", "weights"},
    "augment": {"arrays-final", "loop-batch", "loop-final", "weights"}
    | {f"{fit}-{what}" for fit in ("dataset", "python") for what in ("batch", "inputs", "final")},
    "dropout": {f"{fit}-final" for fit in (*FITS, "loop")} | {"weights"},
    "split": {"loop-test", "loop-held", "loop-order", "loop-batch", "loop-final", "weights"},
    "other": {"loop-final", "weights"},
}
HELD = {"kernels": "deterministic", "autotune": "off", "precision": "full"}
FREE = {"kernels": "default", "autotune": "default", "precision": "default"}


@pytest.fixture(autouse=True)
def _needs_tensorflow(require) -> None:  # type: ignore[no-untyped-def]
    require("tensorflow")


def child(folder: Path) -> Child:
    call = TRAINING[TRAINING.index("model.fit(") :].partition("\n    show")[0]
    end_line = TRAINING[: TRAINING.index(call) + len(call)].count("\n") + 1
    return Script(TRAINING).child(folder).loop(call, end_line, "managed")


def training(folder: Path, varied: dict[str, int] | None, **controls: str) -> Result:
    result = child(folder).run(seeds=varied, controls=controls)
    assert (result.code, result.of("error")) == (0, []), result.stderr
    return result


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Result]]:
    """Runs by the stream that varies in them, in the deterministic mode; where none varies there are two."""
    folder = tmp_path_factory.mktemp("runs")
    planned = [("", 0), ("", 1), *((stream, 1) for stream in DOWNSTREAM if stream)]

    def run(plan: tuple[str, int]) -> Result:
        stream, k = plan
        return training(folder / f"{stream or 'none'}-{k}", seeds(**({stream: k} if stream else {})), **HELD)

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(run, planned))
    table: dict[str, list[Result]] = {}
    for (stream, _), result in zip(planned, results, strict=True):
        table.setdefault(stream, []).append(result)
    return table


def test_a_stream_changes_what_it_should_and_nothing_upstream(runs: dict[str, list[Result]]) -> None:
    assert moved(runs) == DOWNSTREAM


def test_what_is_told_of_a_run(runs: dict[str, list[Result]]) -> None:
    [told, *_] = runs[""]
    assert [event for event in told.of("draws") if event[1]] == [
        ["keras", ["augment", "dropout", "init", "shuffle"]],
        ["numpy", ["augment", "init", "shuffle"]],
        ["random", ["augment"]],
        ["tensorflow", ["augment", "dropout", "init", "other", "shuffle", "split"]],
        ["tensorflow.Generator", ["augment", "init", "other"]],
        ["tensorflow.stateless", ["augment", "dropout"]],
    ]
    assert sorted({(*event[:3], event[4]) for event in told.of("seed")}) == [
        ("keras.Dropout.seed", "4", "train.py", "replaced"),
        ("keras.HeNormal.seed", "3", "train.py", "replaced"),
        ("keras.RandomFlip.seed", "2", "train.py", "replaced"),
        ("tensorflow.data.Dataset.shuffle.seed", "5", "train.py", "replaced"),
        ("tensorflow.random.Generator.from_seed", "6", "train.py", "replaced"),
    ]
    assert [event[0] for event in told.of("weights")] == ["loop"] * 4 + ["exit"]
    assert [event[1] for event in told.of("weights")] == ["keras"] * 3 + ["tensorflow"] * 2
    examples = {
        tuple(event[1:]) for results in runs.values() for result in results for event in result.of("evaluation")
    }
    assert [count for _, count, _ in examples] == [6]
    assert all(result.of("uncontrolled") == [] for results in runs.values() for result in results)


def test_factors_that_are_free_stay_what_they_are_by_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And only what is varied changes in this mode too."""
    monkeypatch.setenv("SETS", "modes")
    names = ("held", "varied")
    held, varied = (
        training(tmp_path / name, seeds(**({"init": 2} if name == "varied" else {})), **FREE) for name in names
    )
    table = moved({"": [held], "init": [varied]})
    assert table["init"] == DOWNSTREAM["init"]
    assert hashes(held)["tf32"] == "True", "what makes it faster is left to the script"
    assert modes(held) == {"False"}
    undone = [event for event in held.of("control") if event[1].startswith("tensorflow")]
    assert undone == [
        ["kernels", "tensorflow.config.experimental.enable_op_determinism", "", "train.py", 11, "overridden"]
    ]
    assert held.of("uncontrolled") == []


def test_held_factors_are_set_and_one_bit_is_flipped(
    tmp_path: Path, runs: dict[str, list[Result]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SETS", "modes")
    [told, *_] = runs[""]
    assert hashes(told)["tf32"] == "False"
    assert modes(told) == {"True"}
    flipped = training(tmp_path, seeds(), **HELD, **{"one-bit": "7"})
    assert [event for event in flipped.of("control") if event[1].startswith("tensorflow")] == [
        ["kernels", "tensorflow.config.experimental.enable_op_determinism", "True", "", 0, "set"],
        ["precision", "tensorflow.config.experimental.enable_tensor_float_32_execution", "False", "", 0, "set"],
        [
            "precision",
            "tensorflow.config.experimental.enable_tensor_float_32_execution",
            "True",
            "train.py",
            12,
            "overridden",
        ],
    ]
    [(framework, name, index, before, after)] = flipped.of("flip")
    assert (framework, len(index)) == ("keras", 2)
    assert name.endswith("kernel")
    assert abs(np.float32(before).view(np.int32) - np.float32(after).view(np.int32)) == 1
    assert moved({"": [told], "bit": [flipped]})["bit"] == {"arrays-final", "weights"}


def test_without_seeds_and_controls_a_run_is_bitwise_the_plain_one(
    tmp_path: Path, plainly: Callable[[Child], Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SETS", "seeds modes")
    watched, plain = training(tmp_path / "watched", None), plainly(child(tmp_path / "plain"))
    assert watched.stdout == plain.stdout
    assert {event[-1] for event in watched.of("seed")} == {"kept"}
    assert len(watched.of("weights")) == 5


def modes(result: Result) -> set[str]:
    """Whether operations were deterministic at the end, in each process."""
    facts = [facts for [facts] in result.of("environment")]
    return {str(each["TensorFlow op determinism"]) for each in facts if "TensorFlow op determinism" in each}
