"""Keras: which files train and in which order they come, generators of images, layers on other backends."""

import ast
from pathlib import Path

import pytest
from varied import Script, hashes, moved, seeds

FILES = """\
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import hashlib
import keras
import numpy as np
import tensorflow as tf
from keras.src.legacy.preprocessing.image import ImageDataGenerator

def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()[:12]

for label in "ab":
    os.makedirs("files/" + label)
    for number in range(6):
        image = np.full((4, 4, 3), 10 * number + (100 if label == "b" else 0))
        keras.utils.save_img("files/%s/%d.png" % (label, number), image, scale=False)

def numbers(data):
    return [int(image[0, 0, 0]) for images, _ in data for image in images.numpy()]

def read(**options):
    return keras.utils.image_dataset_from_directory(
        "files", image_size=(4, 4), batch_size=3, verbose=False, **options)

parts = [read(validation_split=0.25, subset=subset, seed=1) for subset in ("training", "validation")]
train, test = map(numbers, parts)
print("files", str(sorted(test)).replace(" ", ""))
print("together", sorted(train + test) == sorted(numbers(read())))
print("order", digest(train))
print("whole", digest(numbers(read())))
left, right = keras.utils.split_dataset(tf.data.Dataset.range(8), right_size=0.25, shuffle=True, seed=3)
print("right", digest(sorted(right.as_numpy_iterator())))

images, ids = np.linspace(0, 1, 768).reshape(12, 8, 8, 1), np.arange(12.0)
flow = ImageDataGenerator(width_shift_range=0.3, horizontal_flip=True).flow
own = flow(images, ids, batch_size=4)
print("ids", digest(*[own[index][1] for index in range(3)]))
print("images", digest(*[own[index][0] for index in range(3)]))
pair = [flow(images, ids, batch_size=4, seed=2) for _ in range(2)]
taken = [digest(*next(batches)) for _ in range(4) for batches in pair]
print("twins", taken[::2] == taken[1::2])
print("taken", digest(*[np.array(list(text.encode())) for text in taken]))
"""


@pytest.mark.slow
def test_files_are_divided_and_ordered_by_streams_of_their_own(tmp_path: Path, require) -> None:  # type: ignore[no-untyped-def]
    require("tensorflow")
    require("PIL")
    script = Script(FILES, "")
    # Cold, for what the guest puts in its place is copied when the rest of Keras is imported.
    held = script.run(tmp_path / "held", seeds(), is_cold=True)
    split = script.run(tmp_path / "split", seeds(split=2), is_cold=True)
    found = hashes(held)
    assert (found["together"], found["twins"]) == ("True", "True")
    assert len(ast.literal_eval(found["files"])) == 3
    assert moved({"": [held], "split": [split]})["split"] == {"files", "order", "right"}
    call = "keras.utils.image_dataset_from_directory.seed"
    assert [event[:5] for event in held.of("seed") if event[0] == call] == [[call, "1", "train.py", 22, "replaced"]] * 2


FIT = """\
import hashlib, os
import keras
import numpy as np

def show(name, arrays):
    print(name, hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:12])

x, y = np.linspace(0, 1, 64, dtype="float32").reshape(16, 4), np.arange(16, dtype="float32")
first = keras.layers.Dense(8, kernel_initializer=keras.initializers.HeNormal(seed=3))
model = keras.Sequential([keras.Input((4,)), first, keras.layers.Dropout(0.3), keras.layers.Dense(1)])
model.compile("sgd", "mse")
show("init", model.get_weights())
model.fit(x, y, batch_size=4, epochs=2, verbose=0, validation_data=(x[:4], y[:4]))
show("final", model.get_weights())
"""


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "stream"), [("jax", "shuffle"), ("torch", "init")])
def test_layers_draw_by_streams_on_other_backends_too(
    tmp_path: Path,
    require,  # type: ignore[no-untyped-def]
    monkeypatch: pytest.MonkeyPatch,
    backend: str,
    stream: str,
) -> None:
    require("keras")
    require(backend)
    monkeypatch.setenv("KERAS_BACKEND", backend)
    script = Script(FIT, "")
    held, varied = script.run(tmp_path / "held", seeds()), script.run(tmp_path / "varied", seeds(**{stream: 2}))
    flipped = script.run(tmp_path / "bit", seeds(), **{"one-bit": "3"})
    assert moved({"": [held], "varied": [varied], "bit": [flipped]}) == {
        "": set(),
        "varied": {"final", "weights"} | ({"init"} if stream == "init" else set()),
        "bit": {"final", "weights"},
    }
    assert len(flipped.of("flip")) == 1
    assert [event[:2] for event in held.of("seed")] == [["keras.HeNormal.seed", "3"]]
    assert ("keras", 4) in {(event[0], event[2]) for event in held.of("evaluation")}
