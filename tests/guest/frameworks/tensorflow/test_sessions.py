"""TensorFlow's first interface: graphs and sessions have their streams, and epochs that set a seed draw the same."""

import ast
from pathlib import Path

import pytest
from varied import Script, moved, seeds

GRAPH = """\
import hashlib, os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()

def show(name, *arrays):
    print(name, hashlib.sha256(b"".join(np.asarray(array).tobytes() for array in arrays)).hexdigest()[:12])

tf.set_random_seed(3)
x = np.linspace(0, 1, 80, dtype="float32").reshape(20, 4)
numbers = np.arange(20, dtype="float32")[:, None]
data = tf.data.Dataset.from_tensor_slices((x, numbers)).shuffle(20, seed=4)
data = data.map(lambda x, y: (x + 0.01 * tf.random_normal((4,)), y)).batch(5).repeat()
x, y = tf.data.make_one_shot_iterator(data).get_next()

def weight(shape):
    initial = tf.truncated_normal(shape, stddev=0.1)
    return tf.Variable(initial)

first = weight((4, 8))
bias = tf.get_variable("bias", (8,), initializer=tf.random_uniform_initializer(seed=2))
last = tf.get_variable("last", (8, 1), use_resource=False)
hidden = tf.nn.dropout(tf.nn.relu(x @ first + bias), rate=0.3)
loss = tf.reduce_mean((hidden @ last - y + tf.random_uniform(())) ** 2)
train = tf.train.AdamOptimizer(0.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    show("init", *session.run([first, bias, last]))
    tf.get_default_graph().finalize()
    seen = []
    for step in range(6):
        seen.append(session.run([x, y, train]))
    show("order", *[numbers for _, numbers, _ in seen])
    show("batch", seen[0][0])
    show("final", *session.run([first, bias, last]))
"""
SCRIPT = Script(GRAPH, "range(6)")


@pytest.fixture(autouse=True)
def _needs_tensorflow(require) -> None:  # type: ignore[no-untyped-def]
    require("tensorflow")


def test_streams_of_a_graph_vary_alone_and_the_order_of_a_session_is_told(tmp_path: Path) -> None:
    runs = {
        stream: [SCRIPT.run(tmp_path / (stream or "none"), seeds(**({stream: 2} if stream else {})))]
        for stream in ("", "init", "shuffle", "dropout")
    }
    assert moved(runs) == {
        "": set(),
        "init": {"init", "final"},
        "shuffle": {"order", "batch", "final"},
        "dropout": {"final"},
    }
    [told] = runs[""]
    assert [event[:5] for event in told.of("seed")] == [
        ["tensorflow.compat.v1.set_random_seed", "3", "train.py", 10, "replaced"],
        ["tensorflow.data.Dataset.shuffle.seed", "4", "train.py", 13, "replaced"],
        ["tensorflow.get_variable.seed", "2", "train.py", 22, "replaced"],
    ]
    assert told.of("uncontrolled") == [["tf.compat.v1.Session: order of operations", "train.py", 27]]
    assert ["tensorflow", ["augment", "dropout", "init", "shuffle", "split"]] in told.of("draws")


EPOCHS = """\
import os, random
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import keras

w = tf.Variable(tf.random.normal((3, 2)))
start = w.numpy()
for seed in [5, 6, 5]:
    keras.utils.set_random_seed(seed)
    initial = keras.initializers.HeNormal()((2,)).numpy().tolist()
    drawn = (random.random(), np.random.rand(), float(tf.random.uniform(())), keras.random.normal(()).numpy().item())
    print((*drawn, tf.nn.dropout(tf.ones(30), 0.5).numpy().tolist(), initial))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    w.assign_sub(0.1 * tape.gradient(loss, w))
tf.random.set_seed(1)
data = tf.data.Dataset.range(8).map(lambda i: tf.random.uniform(()), num_parallel_calls=4)
noise = lambda x: np.float64(x + np.random.rand())
data = data.map(lambda x: tf.numpy_function(noise, [x], tf.float64), num_parallel_calls=4)
sum(1 for _ in data)
"""


def test_epochs_that_set_the_same_seed_draw_the_same_and_races_are_told(tmp_path: Path) -> None:
    script = Script(EPOCHS, "[5, 6, 5]")
    held = script.run(tmp_path / "held", seeds(), **{"one-bit": "2"})
    varied = script.run(tmp_path / "varied", seeds(init=2))
    first, second, third = (ast.literal_eval(line) for line in held.stdout.splitlines())
    assert first == third
    assert not set(map(str, first)) & set(map(str, second))
    others = [ast.literal_eval(line) for line in varied.stdout.splitlines()]
    assert [line[:-1] for line in others] == [first[:-1], second[:-1], third[:-1]]
    assert [line[-1] for line in others] != [first[-1], second[-1], third[-1]]
    assert [event[:5] for event in held.of("seed")] == [
        *(["keras.utils.set_random_seed", seed, "train.py", 10, "replaced"] for seed in "565"),
        ["tensorflow.random.set_seed", "1", "train.py", 17, "replaced"],
    ]
    [(framework, name, index, *_)] = held.of("flip")
    assert (framework, name, len(index)) == ("tensorflow", "Variable:0", 2)
    assert held.of("uncontrolled") == [
        ["random numbers in parallel threads of tf.data", "train.py", 18],
        ["draws of Python in parallel threads of tf.data", "train.py", 20],
    ]
