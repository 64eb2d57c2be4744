"""A window of epochs under the profiler of TensorFlow: what it sees, and that the training does not notice."""

import json
from pathlib import Path

import pytest
from harness import Child, Result
from varied import seeds

TRAIN = """\
import sys
import keras
import numpy as np
import tensorflow as tf
x, y = np.random.default_rng(0).normal(size=(32, 6)).astype("float32"), np.arange(32) % 4
net = keras.Sequential([keras.Input((6,)), keras.layers.Dense(8), keras.layers.Dropout(0.3), keras.layers.Dense(4)])
net.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
class Show(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2 and "own" in sys.argv:
            tf.profiler.experimental.start("own")
    def on_epoch_end(self, epoch, logs=None):
        print(epoch, logs["loss"].hex() if hasattr(logs["loss"], "hex") else float(logs["loss"]).hex())
net.fit(x, y, batch_size=8, epochs=4, verbose=0, callbacks=[Show()])
if "own" in sys.argv:
    tf.profiler.experimental.stop()
print(tf.random.uniform([]).numpy(), [value.hex() for value in net.get_weights()[0].ravel().astype(float)][:3])
"""


def run(folder: Path, *arguments: str, profile: str = "") -> Result:
    asked = {"profile": profile} if profile else {}
    result = Child(folder, TRAIN).run(*arguments, seeds=seeds(), capture=asked)
    assert (result.code, result.of("error")) == (0, []), result.stderr
    return result


def written(result: Result) -> dict:
    [[kind, name, step, framework, file, n]] = result.of("artifact")
    folder = result.work.parents[2] / "artifacts"
    document = json.loads((folder / file).read_text())
    assert (kind, name, step, framework, n) == ("profile", "tensorflow", 1, "tensorflow", len(document["kernels"]))
    assert [path.name for path in folder.iterdir()] == [file], "the trace itself is not kept"
    return document


@pytest.fixture(scope="module")
def profiled(tmp_path_factory, require) -> Result:  # type: ignore[no-untyped-def]
    """One profiled run for all: its second and third epoch."""
    require("tensorflow")
    return run(tmp_path_factory.mktemp("profiled"), profile="1:3")


def test_a_profiled_run_trains_bitwise_as_one_that_is_not(tmp_path: Path, profiled: Result) -> None:
    plain = run(tmp_path)
    assert profiled.stdout == plain.stdout != ""
    assert profiled.of("weights") == plain.of("weights") != []


def test_the_operations_of_the_window_are_counted_and_no_others(profiled: Result) -> None:
    document = written(profiled)
    assert (document["window"], document["device"], document["n_updates"]) == ([1, 3], "cpu", None)
    calls = {name: n for name, n, _ in document["kernels"]}
    assert calls["SparseSoftmaxCrossEntropyWithLogits"] == 2 * 32 // 8
    assert not [name for name in calls if ":" in name or " " in name]
    times = [seconds for _, _, seconds in document["kernels"]]
    assert times == sorted(times, reverse=True)
    assert times[-1] >= 0


def test_a_script_that_profiles_itself_finds_the_profiler_free(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("tensorflow")
    result = run(tmp_path, "own", profile="1:4")
    assert list((result.work / "own").rglob("*.xplane.pb"))
    calls = {name: n for name, n, _ in written(result)["kernels"]}
    assert calls["SparseSoftmaxCrossEntropyWithLogits"] == 32 // 8
