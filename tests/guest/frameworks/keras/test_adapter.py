"""Keras: callbacks of the user are in the epoch that they are told, and what `evaluate` finds is recorded."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Child, Result

SCRIPT = """\
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import numpy as np

class Loud(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        print(-1.0)
    def on_epoch_begin(self, epoch, logs=None):
        print(epoch / 1)
    def on_epoch_end(self, epoch, logs=None):
        logs["twice"] = 2 * logs["loss"]
        print(epoch + 0.25)
    def on_test_end(self, logs=None):
        print(logs["loss"])
    def on_train_end(self, logs=None):
        print(99.0)

keras.utils.set_random_seed(0)
x, y = np.ones((8, 2)), np.zeros((8, 1))
model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
model.compile(loss="mse", metrics=["mae"])
history = model.fit(x, y, initial_epoch=2, epochs=4, verbose=2, validation_data=(x, y), callbacks=[Loud()])
model.evaluate(x, y, verbose=2)
model.evaluate(x, y, verbose=0, return_dict=True)
print(history.history)
"""
CALL = "model.fit(x, y, initial_epoch=2, epochs=4, verbose=2, validation_data=(x, y), callbacks=[Loud()])"
CLOCK = r"\d+m?s(/step)?"


@pytest.fixture(autouse=True)
def _needs_tensorflow(require, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    require("tensorflow")
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "0")


def test_callbacks_are_in_their_epoch_and_evaluate_is_recorded(
    tmp_path: Path, plainly: Callable[[Child], Result]
) -> None:
    child = Child(tmp_path, SCRIPT).tap("-1.0").tap("epoch / 1").tap("epoch + 0.25").tap('print(«logs["loss"]»)')
    child.tap("99.0").loop(CALL, 24, "managed")
    on = child.run()
    assert (on.code, on.of("error")) == (0, []), on.stderr
    steps = [(event[0], event[2]) for event in on.of("value")]
    epochs = [(site, [0, epoch]) for epoch in (2, 3) for site in (1, 3, 2)]
    assert steps == [(0, []), *epochs, (4, [0, 3])]
    assert [event[:2] for event in on.of("step")] == [[0, 2], [0, 3]]
    named = [(event[0], event[2]) for event in on.of("named")]
    keys = ("loss", "mae", "val_loss", "val_mae", "twice")
    assert named[:-4] == [(key, [0, epoch]) for epoch in (2, 3) for key in keys]
    assert named[-4:] == 2 * [("evaluate_loss", []), ("evaluate_mae", [])]
    assert [event[1] for event in on.of("trained")] == [1]
    history = on.stdout[on.stdout.index("{'loss'") :]
    assert all(repr(event[4]) in history for event in on.of("named")), "the last validation is on the same data"
    off = plainly(child)
    assert re.sub(CLOCK, "#", on.stdout) == re.sub(CLOCK, "#", off.stdout)
