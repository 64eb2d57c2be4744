"""Test-time augmentation over models of several frameworks: a linear model tells what the mean outputs must be."""

from pathlib import Path

import numpy as np
import pytest
from harness import Child

DATA = """\
import numpy as np
draw = np.random.default_rng(0)
x = draw.normal(size=(40, 6, 6, 1)).astype("float32")
y = (x.mean((1, 2, 3)) > 0).astype("int32")
x_train, y_train, x_test, y_test = x[:24], y[:24], x[24:], y[24:]
np.save("x_test.npy", x_test)
"""
KERAS = """\
import keras
keras.utils.set_random_seed(1)
model = keras.Sequential([keras.Input((6, 6, 1)), keras.layers.Flatten(), keras.layers.Dense(2)])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("sgd", loss, metrics=["accuracy"])
for epoch in range(2):
    model.fit(x_train, y_train, batch_size=8, epochs=1, verbose=0)
"""
KEPT = """\
np.save("kernel.npy", np.asarray(kernel))
np.save("bias.npy", np.asarray(bias))
"""
OF_KERAS = "kernel, bias = (keras.ops.convert_to_numpy(each) for each in model.layers[-1].weights)\n" + KEPT
JAX = """\
import jax, jax.numpy as jnp, optax
def loss_of(params, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(logits_of(params, x), y).mean()
optimizer = optax.sgd(0.1)
state = optimizer.init(params)
@jax.jit
def train(params, state, x, y):
    loss, gradients = jax.value_and_grad(loss_of)(params, x, y)
    updates, state = optimizer.update(gradients, state)
    return optax.apply_updates(params, updates), state, loss
for epoch in range(2):
    for start in range(0, 24, 8):
        params, state, loss = train(params, state, x_train[start : start + 8], y_train[start : start + 8])
"""
LINEN = """\
import jax
import flax.linen as nn
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(2, name="head")(x.reshape(len(x), -1))
net = Net()
params = net.init(jax.random.key(0), x_train[:1])
def logits_of(params, x):
    return net.apply(params, x)
"""
OF_LINEN = "kernel, bias = (params['params']['head'][name] for name in ('kernel', 'bias'))\n" + KEPT
NNX = """\
import jax, jax.numpy as jnp, optax
from flax import nnx
class Net(nnx.Module):
    def __init__(self, rngs):
        self.head = nnx.Linear(36, 2, rngs=rngs)
    def __call__(self, x):
        return self.head(x.reshape(len(x), -1))
model = Net(nnx.Rngs(0))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)
@nnx.jit
def train(model, optimizer, x, y):
    def loss_of(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(x), y).mean()
    loss, gradients = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, gradients)
    return loss
for epoch in range(2):
    for start in range(0, 24, 8):
        loss = train(model, optimizer, x_train[start : start + 8], y_train[start : start + 8])
"""
OF_NNX = "kernel, bias = model.head.kernel.get_value(), model.head.bias.get_value()\n" + KEPT
CASES = {
    "keras, evaluate": (KERAS + "model.evaluate(x_test, y_test, batch_size=5, verbose=0)\n" + OF_KERAS, "tensorflow"),
    "keras, call": (KERAS + "logits = model(x_test, training=False)\n" + OF_KERAS, "tensorflow"),
    "keras on jax": (KERAS + "model.evaluate(x_test, y_test, batch_size=5, verbose=0)\n" + OF_KERAS, "jax"),
    "keras on torch": (KERAS + "model.evaluate(x_test, y_test, batch_size=5, verbose=0)\n" + OF_KERAS, "torch"),
    "linen, compiled": (LINEN + JAX + "logits = jax.jit(logits_of)(params, x_test)\n" + OF_LINEN, ""),
    "nnx, compiled": (NNX + "logits = nnx.jit(lambda model, x: model(x))(model, x_test)\n" + OF_NNX, ""),
}


@pytest.mark.slow
@pytest.mark.requires("keras", "tensorflow", "jax", "flax", "optax", "torch")
@pytest.mark.parametrize("case", CASES)
def test_outputs_are_the_mean_over_the_image_and_its_copies(case: str, tmp_path: Path) -> None:
    script, backend = CASES[case]
    child = Child(tmp_path, DATA + script)
    environment = {"KERAS_BACKEND": backend} if backend else {}
    result = child.run(capture={"predictions": "on", "tta": "flip,flip_crop_mnist"}, environment=environment)  # type: ignore[arg-type]
    assert (result.code, result.of("error")) == (0, []), (result.stderr, result.of("error"))
    artifacts = {name: file for kind, name, _, _, file, _ in result.of("artifact") if kind == "predictions"}
    plain = "evaluation" if case == "keras, call" else "test"  # Keras hands on a copy that has no name
    assert set(artifacts) == {plain, f"{plain}+flip", f"{plain}+flip_crop_mnist"}, result.of("not captured")
    images, kernel, bias = (np.load(result.work / f"{name}.npy") for name in ("x_test", "kernel", "bias"))
    flipped = images[:, :, ::-1]

    def crops(batch: np.ndarray) -> list[np.ndarray]:
        darkest = batch.min((1, 2), keepdims=True)
        wide = np.broadcast_to(darkest, (len(batch), 8, 8, 1)).copy()
        wide[:, 1:7, 1:7] = batch
        return [wide[:, row : row + 6, column : column + 6] for row in range(3) for column in range(3)]

    copies = {plain: [images], f"{plain}+flip": [images, flipped]}
    copies[f"{plain}+flip_crop_mnist"] = [images, *crops(images), *crops(flipped)]
    for name, batches in copies.items():
        with np.load(tmp_path / "attempt-1" / "artifacts" / artifacts[name]) as kept:
            expected = np.mean(batches, 0).reshape(len(images), -1) @ kernel + bias
            assert kept["outputs"] == pytest.approx(expected, abs=2e-5), name
            assert len(np.unique(kept["keys"])) == len(images)
