"""TensorFlow and Keras: AutoGraph sees no taps, `fit` and graph summaries are recorded, seeds are replaced."""

from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Child, Result

SCRIPT = """\
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import inspect
import numpy as np
import tensorflow as tf

@tf.function
def step(x):
    total = tf.constant(0.0)
    for i in tf.range(3):
        total += tf.reduce_sum(x)
        while total > 100.0:
            total -= 1.0
    return total

@tf.function(autograph=False)
def plain(x):
    y = x + 1.0
    return y

tf.random.set_seed(7)
for epoch in range(2):
    loss = step(tf.ones(3))
    print(f"loss {loss:.4f} {plain(loss):.1f}", tf.random.normal(()).numpy())
print(inspect.getsource(step.python_function))

def run():
    tf.keras.utils.set_random_seed(3)
    model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(2)])
    model.compile(loss="mse", metrics=["mae"])
    history = model.fit(
        np.ones((8, 4)), np.zeros((8, 2)), validation_split=0.5, epochs=2, verbose=0)
    print(history.history, model.get_weights())
run()
"""

GRAPH = """\
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()

x = tf.placeholder(tf.float32, [None, 2])
w = tf.Variable([[0.5], [0.25]])
with tf.name_scope("metrics"):
    loss = tf.reduce_mean((tf.matmul(x, w) - 1.0) ** 2)
    tf.summary.scalar("loss", loss)
tf.summary.histogram("weights", w)
merged = tf.summary.merge_all()
step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    train = tf.summary.FileWriter("logs/train", session.graph)
    test = tf.summary.FileWriter("logs/test")
    for i in range(3):
        summary, value, _ = session.run([merged, loss, step], {x: np.eye(2)})
        train.add_summary(summary, i)
        print(float(value))
        test.add_summary(session.run(merged, {x: np.eye(2)}), i)
    test.add_summary(tf.Summary(value=[tf.Summary.Value(tag="best", simple_value=0.5)]))
    train.close()
    test.close()
for folder in ("train", "test"):
    path = os.path.join("logs", folder, os.listdir(os.path.join("logs", folder))[0])
    for event in tf.train.summary_iterator(path):
        print([(event.step, value.tag, value.simple_value) for value in event.summary.value])
"""


@pytest.fixture(autouse=True)
def _needs_tensorflow(require) -> None:  # type: ignore[no-untyped-def]
    require("tensorflow")


def script(folder: Path) -> Child:
    child = Child(folder, SCRIPT).tap("total += «tf.reduce_sum(x)»").tap("x + 1.0").tap("{«loss»:.4f}")
    child.loop("tf.range(3)", 13, is_main=False).loop("total > 100.0", 13, "while", is_main=False)
    child.loop("in «range(2)»:", 24)
    return child.loop(
        "model.fit(\n        np.ones((8, 4)), np.zeros((8, 2)), validation_split=0.5, epochs=2, verbose=0)",
        32,
        "managed",
    )


def run_of(folder: Path, **options: object) -> Result:
    result = script(folder).run(environment={"TF_ENABLE_ONEDNN_OPTS": "0"}, **options)  # type: ignore[arg-type]
    assert result.code == 0, result.stderr
    return result


def test_graphs_and_fit_are_as_without_taps_and_recorded(tmp_path: Path) -> None:
    on, off = run_of(tmp_path), run_of(tmp_path, is_tapped=False)
    assert on.stdout == off.stdout
    assert on.values(2) == [9.0, 9.0]
    assert on.of("error") == []
    named = [(event[0], event[2]) for event in on.of("named")]
    keys = ("loss", "mae", "val_loss", "val_mae")
    assert named == [(key, [3, epoch]) for epoch in range(2) for key in keys]
    assert dict(on.of("path"))[on.of("named")[0][1]] == [["train.py", 34], ["train.py", 31]]
    history = on.stdout[on.stdout.index("{'loss'") :]
    assert all(repr(event[4]) in history for event in on.of("named"))


def test_a_fit_that_fails_is_over(tmp_path: Path) -> None:
    text = """\
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np
model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
model.compile(loss="mse")
stop = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: 1 / (1 - epoch))
try:
    model.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=3, verbose=0, callbacks=[stop])
except ZeroDivisionError:
    pass
x = 0.5
print(x)
"""
    call = "model.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=3, verbose=0, callbacks=[stop])"
    result = Child(tmp_path, text).tap("print(«x»)").loop(call, 9, "managed").run()
    assert (result.code, result.stdout) == (0, "0.5\n"), result.stderr
    assert [event[2] for event in result.of("named")] == [[0, 0]]
    assert [event[2] for event in result.of("value")] == [[]]


def test_seeds_of_tensorflow_and_keras_are_replaced(tmp_path: Path) -> None:
    seeds = [{"other": 1, "split": 0}, {"other": 1, "split": 0}, {"other": 2, "split": 0}]
    runs = [run_of(tmp_path / str(number), seeds=chosen) for number, chosen in enumerate(seeds)]
    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stdout != runs[2].stdout
    assert [event[:5] for event in runs[0].of("seed")] == [
        ["tensorflow.random.set_seed", "7", "train.py", 21, "replaced"],
        ["keras.utils.set_random_seed", "3", "train.py", 28, "replaced"],
    ]


def test_scalars_of_graph_summaries_are_recorded(tmp_path: Path, plainly: Callable[[Child], Result]) -> None:
    child = Child(tmp_path, GRAPH).loop("range(3)", 23)
    on = child.run()
    assert (on.code, on.of("error")) == (0, []), on.stderr
    losses = [float(line) for line in on.stdout.splitlines()[:3]]
    paths = dict(on.of("path"))
    named = [(event[0], paths[event[1]], event[2], event[4]) for event in on.of("named")]
    train = [("metrics/loss", [["train.py", 21]], [0, step], loss) for step, loss in enumerate(losses)]
    assert named[:-1:2] == train
    assert [event[:3] for event in named[1:-1:2]] == [("metrics/loss", [["train.py", 23]], [0, i]) for i in range(3)]
    assert [event[3] for event in named[1:3:2]] == losses[1:2], "the loss after a step is that before the next"
    assert named[-1] == ("best", [["train.py", 24]], [], 0.5)
    off = plainly(child)
    assert on.stdout == off.stdout
