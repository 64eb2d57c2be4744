"""The adapter of `toylib`, as a package of its own would bring it along: one file that translates."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from sys import _getframe
from typing import Any

from deviate.guest.adapter_context import AdapterContext
from deviate.guest.observations import Observations
from deviate.guest.observers.arrays import Arrays
from deviate.guest.regions import region
from deviate.guest.streams import Bank

MODULES = ("toylib",)


class Tensors(Arrays):
    """Tensors of toylib, which are immutable."""

    def __init__(self, toylib: Any) -> None:
        self.tensor = toylib.Tensor

    def numbers(self, array: Any) -> Any:
        return array.read() if isinstance(array, self.tensor) else array

    def like(self, numbers: Any, array: Any) -> Any:
        return self.tensor(numbers)


class Generator(Bank):
    """The generator of toylib: one state for each stream."""

    def __init__(self, context: AdapterContext, toylib: Any) -> None:
        self.generator = toylib.generator
        super().__init__(context.streams, "toylib")

    def new_state(self, seed: int) -> Any:
        return type(self.generator)(seed).get_state()

    def get_state(self) -> Any:
        return self.generator.get_state()

    def set_state(self, state: Any) -> None:
        self.generator.set_state(state)

    def fingerprint(self, state: Any) -> Any:
        return state[1].tobytes(), state[2]


class Toy(Observations):
    """Tells of the models that are trained."""

    framework = "toylib"

    def __init__(self, toylib: Any, context: AdapterContext) -> None:
        super().__init__(context, Tensors(toylib))
        self.toylib = toylib
        self.models: list[Any] = []
        self.running: list[Any] = []

    def living(self) -> list[Any]:
        return [model for reference in self.models for model in [reference()] if model is not None]

    def weights(self) -> Iterator[tuple[str, Any, bool]]:
        for number, model in enumerate(self.living()):
            for name, value in model.named_weights().items():
                yield "%d.%s" % (number, name), value, True

    def replace(self, name: str, array: Any) -> None:
        number, _, weight = name.partition(".")
        self.living()[int(number)].set_weight(weight, self.arrays.like(array, None))

    def states(self) -> Iterator[tuple[str, Any]]:
        yield "toylib", self.toylib.generator.get_state()[1]

    def train(self, model: Any, x: Any, y: Any) -> None:
        if all(each is not model for each in self.living()):
            self.models.append(weakref.ref(model))
        self.training_begins(model, _getframe(2))

    def differentiated(self, result: Any, model: Any, x: Any, y: Any) -> None:
        number = self.living().index(model)
        named = [("%d.%s" % (number, name), each) for name, each in result[1].items()]
        self.loss(result[0], _getframe(2))
        self.gradients(named, _getframe(2))

    def begin_call(self, model: Any, x: Any) -> None:
        self.running.append(model)

    def call(self, outputs: Any, model: Any, x: Any) -> None:
        self.running.pop()
        is_training = self.toylib.modes["training"]
        again = None if is_training else type(model).__call__.__wrapped__
        self.model_called(
            model,
            [x],
            outputs,
            _getframe(2),
            is_training=is_training,
            again=again and (lambda copy: again(model, copy)),
        )

    def layer(self, outputs: Any, layer: Any, x: Any) -> None:
        if self.toylib.modes["training"]:
            self.module_called(layer.name, outputs, _getframe(2))


def install(toylib: Any, context: AdapterContext) -> None:
    toy = Toy(toylib, context)
    context.seeding.override(toylib, "seed", "toylib.seed", "toylib")
    if context.streams.is_active:
        Generator(context, toylib)
        toylib.Dense.__init__ = region(context.streams, "init", toylib.Dense.__init__)
        toylib.Batches.__init__ = region(context.streams, "shuffle", toylib.Batches.__init__)
    context.observe(toylib, "loss_and_gradients", before=toy.train, after=toy.differentiated)
    context.observe(toylib, "update", after=lambda result, *call: toy.weights_updated(_getframe(2)))
    context.observe(toylib.Model, "__call__", before=toy.begin_call, after=toy.call)
    context.observe(toylib, "accuracy", before=lambda model, x, y: toy.evaluated([x, y], is_labelled=True))
    context.observe(toylib.Dense, "__call__", after=toy.layer)
    context.observe(toylib.Batches, "__next__", after=lambda batch, each: toy.batch_drawn(each, batch))
