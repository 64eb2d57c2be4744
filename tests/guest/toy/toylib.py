"""A made-up framework: immutable tensors, a model of layers, gradients, an update and a loader."""

import numpy as np

generator = np.random.RandomState(0)
modes = {"training": False}


def seed(number: int) -> None:
    generator.seed(number)


class Tensor:
    def __init__(self, data) -> None:
        self._data = np.array(data, "float32")
        self._data.flags.writeable = False

    dtype = property(lambda self: self._data.dtype)
    shape = property(lambda self: self._data.shape)

    def read(self):
        return self._data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, key) -> "Tensor":
        return Tensor(self._data[key])


class Dense:
    def __init__(self, name: str, n_inputs: int, n_outputs: int) -> None:
        self.name = name
        self.weights = {
            "kernel": Tensor(generator.normal(0, 0.3, (n_inputs, n_outputs))),
            "bias": Tensor(np.zeros(n_outputs)),
        }

    def __call__(self, x: Tensor) -> Tensor:
        return Tensor(x.read() @ self.weights["kernel"].read() + self.weights["bias"].read())


class Model:
    """Two layers over flattened images; the first one's outputs are cut off at zero."""

    def __init__(self, n_inputs: int, n_hidden: int, n_outputs: int) -> None:
        self.layers = [Dense("hidden", n_inputs, n_hidden), Dense("head", n_hidden, n_outputs)]

    def named_weights(self) -> dict:
        return {f"{layer.name}.{name}": value for layer in self.layers for name, value in layer.weights.items()}

    def set_weight(self, name: str, value: Tensor) -> None:
        layer, _, weight = name.partition(".")
        next(each for each in self.layers if each.name == layer).weights[weight] = value

    def __call__(self, x: Tensor) -> Tensor:
        hidden = self.layers[0](Tensor(x.read().reshape(len(x), -1)))
        self.seen = Tensor(x.read().reshape(len(x), -1)), Tensor(np.maximum(hidden.read(), 0))
        return self.layers[1](self.seen[1])


def loss_and_gradients(model: Model, x: Tensor, y) -> tuple:
    """The mean cross entropy of a batch, and its gradients by the names of the weights."""
    modes["training"] = True
    try:
        scores = model(x).read().astype("float64")
    finally:
        modes["training"] = False
    odds = np.exp(scores - scores.max(1, keepdims=True))
    odds /= odds.sum(1, keepdims=True)
    rows = np.arange(len(y))
    loss = -np.log(odds[rows, y]).mean()
    odds[rows, y] -= 1
    odds /= len(y)
    inputs, hidden = (each.read() for each in model.seen)
    back = odds @ model.layers[1].weights["kernel"].read().T * (hidden > 0)
    return Tensor(loss), {
        "hidden.kernel": Tensor(inputs.T @ back),
        "hidden.bias": Tensor(back.sum(0)),
        "head.kernel": Tensor(hidden.T @ odds),
        "head.bias": Tensor(odds.sum(0)),
    }


def update(model: Model, gradients: dict, rate: float) -> None:
    for name, gradient in gradients.items():
        model.set_weight(name, Tensor(model.named_weights()[name].read() - rate * gradient.read()))


def accuracy(model: Model, x: Tensor, y) -> float:
    return float((model(x).read().argmax(1) == y).mean())


class Loader:
    def __init__(self, x: Tensor, y, size: int, *, shuffle: bool = False) -> None:
        self.x, self.y, self.size, self.shuffle = x, y, size, shuffle

    def __iter__(self) -> "Batches":
        return Batches(self)


class Batches:
    def __init__(self, loader: Loader) -> None:
        n = len(loader.x)
        self.loader = loader
        self.order = generator.permutation(n) if loader.shuffle else np.arange(n)
        self.at = 0

    def __iter__(self) -> "Batches":
        return self

    def __next__(self) -> tuple:
        rows = self.order[self.at : self.at + self.loader.size]
        self.at += self.loader.size
        if not len(rows):
            raise StopIteration
        return self.loader.x[rows], self.loader.y[rows]
