"""Adapter of `labnet`, whose models have a dictionary of NumPy arrays (tested with labnet 1.0)."""

from __future__ import annotations

import weakref
from sys import _getframe
from typing import Any, Iterator

from deviate.guest.adapter_context import AdapterContext
from deviate.guest.observations import Observations
from deviate.guest.observers.arrays import Arrays

MODULES = ("labnet",)


class Labnet(Observations):
    """Reports the models that are trained, and the calls of them."""

    framework = "labnet"

    def __init__(self, context: AdapterContext) -> None:
        super().__init__(context, Arrays())
        self.models: list[weakref.ref[Any]] = []

    def weights(self) -> Iterator[tuple[str, Any, bool]]:
        for number, reference in enumerate(self.models):
            for name, array in getattr(reference(), "parameters", {}).items():
                yield f"{number}.{name}", array, True

    def begin_step(self, model: Any, x: Any, y: Any) -> None:
        if all(reference() is not model for reference in self.models):
            self.models.append(weakref.ref(model))
        self.training_begins(model, _getframe(2))

    def end_step(self, loss: Any, model: Any, x: Any, y: Any) -> None:
        self.loss(loss, _getframe(2))
        self.weights_updated(_getframe(2))

    def end_predict(self, outputs: Any, model: Any, x: Any) -> None:
        self.model_called(model, [x], outputs, _getframe(2), is_training=False)


def install(labnet: Any, context: AdapterContext) -> None:
    """Patch the module that the script has imported."""
    observations = Labnet(context)
    context.seeding.override(labnet, "seed", "labnet.seed", "labnet")
    context.observe(labnet, "train_step", before=observations.begin_step, after=observations.end_step)
    context.observe(labnet.Model, "predict", after=observations.end_predict)
