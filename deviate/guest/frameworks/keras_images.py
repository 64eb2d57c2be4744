"""Test-time augmentation in Keras, with any backend: calls models with copies of the images that they were given."""

from __future__ import annotations

import sys

from ..adapter_context import AdapterContext
from ..annotations import Any, Callable, Mapping
from ..observers.augmentations import Augmentation, Images
from ..observers.rows import NOTHING, arrays_in, first, numbers


class Augmented:
    """Calls models for inference, outside of graphs."""

    def __init__(self, context: AdapterContext) -> None:
        self.context = context
        is_first = sys.modules["keras.src.backend.config"].image_data_format() == "channels_first"
        self.augmentation = Augmentation(context.capture, Images((2, 3) if is_first else (1, 2)))

    def outputs(self, call: Callable[[Any], Any], inputs: Any, outputs: Any) -> Mapping[str, Any]:
        """Mean outputs by name of the augmentation; none for a model with several inputs, or without images.

        Args:
            call: calls the model for inference.
        """
        context = self.context
        arrays = list(arrays_in([inputs]))
        was_inside, context.is_inside, context.is_own_call = context.is_inside, True, True
        try:
            with context.recorder.guarded("augmented outputs of Keras"):
                images = numbers(arrays[0]) if len(arrays) == 1 else None
                results = numbers(first(outputs))
                return self.augmentation.outputs(images, results, lambda copy: numbers(first(call(copy))))
        finally:
            context.is_inside, context.is_own_call = was_inside, False
        return NOTHING
