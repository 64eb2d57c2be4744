"""Test-time augmentation in PyTorch: outputs averaged over an image and modified copies of it.

The model is in evaluation mode, gradients are off, and generator states are restored, so that training is not affected.
"""

from __future__ import annotations

from ....adapter_context import AdapterContext
from ....annotations import Any, Iterator
from ....observers.augmentations import mean_outputs
from ....observers.capture import PREDICTIONS
from ..images import TensorImages
from . import predictions
from .batches import Kinds


class Augmented:
    """The mean output for an image and its copies, as Summers & Dinneen (2021) have it (their strategy "tta")."""

    def __init__(self, torch: Any, context: AdapterContext) -> None:
        self.torch = torch
        self.names = context.capture.augmentations
        self.capture = context.capture
        self.kinds = Kinds(torch)
        self.images = TensorImages()
        predictions.extras.append(self.outputs)

    def outputs(self, module: Any, args: Any, kwargs: Any, output: Any) -> dict[str, Any]:
        """Outputs by name of the augmentation; empty if the input is not a batch of images."""
        images = args[0] if args else None
        scores = self.kinds.output(output, None, module)
        if not isinstance(images, self.torch.Tensor) or not self.images.is_batch(images) or scores is None:
            reason = "the model is given no batch of images, of batch, channels, height and width, first of all"
            self.capture.refuse(PREDICTIONS, "+".join(("", *self.names)), reason)
            return {}

        def call(copy: Any) -> Any:
            return self.kinds.output(module(copy, *args[1:], **kwargs), images.shape[0], module)

        states = list(self._states())
        try:
            with self.torch.no_grad():
                return mean_outputs(self.images, self.names, images, scores.detach(), call)
        finally:
            for generator, state in states:
                generator.set_state(state)

    def _states(self) -> Iterator[tuple[Any, Any]]:
        """Generator states, as a model may draw in evaluation mode too."""
        yield self.torch.default_generator, self.torch.default_generator.get_state()
        if self.torch.cuda.is_initialized():
            for generator in self.torch.cuda.default_generators:
                yield generator, generator.get_state()
