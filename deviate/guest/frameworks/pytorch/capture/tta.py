"""Test-time augmentation in PyTorch: outputs averaged over an image and modified copies of it.

The model is in evaluation mode, gradients are off, and generator states are restored, so that training is not affected.
"""

from __future__ import annotations

from ....adapter_context import AdapterContext
from ....annotations import Any, Iterator
from ....observers.augmentations import Copies
from ....observers.capture import PREDICTIONS
from . import predictions
from .batches import Kinds

IMAGE_DIMENSIONS = 4


class Augmented:
    """The mean output for an image and its copies, as Summers & Dinneen (2021) have it (their strategy "tta")."""

    def __init__(self, torch: Any, context: AdapterContext) -> None:
        self.torch = torch
        self.names = context.capture.augmentations
        self.capture = context.capture
        self.kinds = Kinds(torch)
        predictions.extras.append(self.outputs)

    def outputs(self, module: Any, args: Any, kwargs: Any, output: Any) -> dict[str, Any]:
        """Outputs by name of the augmentation; empty if the input is not a batch of images."""
        images = args[0] if args else None
        scores = self.kinds.output(output, None, module)
        if not self._is_image(images) or scores is None:
            reason = "the model is given no batch of images, of batch, channels, height and width, first of all"
            self.capture.refuse(PREDICTIONS, "+".join(("", *self.names)), reason)
            return {}
        states = list(self._states())
        try:
            with self.torch.no_grad():
                return {name: self._mean(name, module, images, scores, args[1:], kwargs) for name in self.names}
        finally:
            for generator, state in states:
                generator.set_state(state)

    def _is_image(self, value: Any) -> bool:
        return isinstance(value, self.torch.Tensor) and value.dim() == IMAGE_DIMENSIONS and value.is_floating_point()

    def _states(self) -> Iterator[tuple[Any, Any]]:
        """Generator states, as a model may draw in evaluation mode too."""
        yield self.torch.default_generator, self.torch.default_generator.get_state()
        if self.torch.cuda.is_initialized():
            for generator in self.torch.cuda.default_generators:
                yield generator, generator.get_state()

    def _mean(self, name: str, module: Any, images: Any, scores: Any, args: Any, kwargs: Any) -> Any:
        copies = Copies(name, images.shape[2], images.shape[3])
        total = scores.detach().clone()
        for changed in self._augment(images, copies):
            total += self.kinds.output(module(changed, *args, **kwargs), images.shape[0], module)
        return total / (1 + len(copies))

    def _augment(self, images: Any, copies: Copies) -> Iterator[Any]:
        """Yield the copies one at a time to save memory."""
        flips = [images, images.flip(3)] if copies.is_flipped else [images]
        if not copies.places:
            yield flips[-1]
            return
        for flipped in flips:
            bordered = self._add_border(flipped, copies.border)
            for row, column in copies.places:
                yield bordered[:, :, row : row + copies.size[0], column : column + copies.size[1]]

    def _add_border(self, images: Any, border: int) -> Any:
        """Add a border of the darkest value of each channel of each image, as the value of black is unknown."""
        if not border:
            return images
        rows, channels, height, width = images.shape
        darkest = images.amin(dim=(2, 3), keepdim=True)
        bordered = darkest.expand(rows, channels, height + 2 * border, width + 2 * border).clone()
        bordered[:, :, border : border + height, border : border + width] = images
        return bordered
