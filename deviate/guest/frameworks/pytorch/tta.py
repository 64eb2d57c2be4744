"""Test-time augmentation in PyTorch: outputs averaged over an image and modified copies of it.

The model is in evaluation mode, gradients are off, and generator states are restored, so that training is not affected.
"""

from __future__ import annotations

from ...annotations import Any, Iterator
from ...observers.augmentations import Augmentation, Images
from ...observers.capture import Capture
from .batches import Kinds


class TensorImages(Images):
    """Tensors of shape (batch, channels, height, width); copies are cut on their device."""

    def __init__(self) -> None:
        super().__init__((2, 3))

    def flip(self, images: Any) -> Any:
        return images.flip(3)

    def add_border(self, images: Any, border: int) -> Any:
        rows, channels, height, width = images.shape
        darkest = images.amin(dim=self.axes, keepdim=True)
        bordered = darkest.expand(rows, channels, height + 2 * border, width + 2 * border).clone()
        bordered[:, :, border : border + height, border : border + width] = images
        return bordered


class Augmented:
    """Calls modules with copies of the images that they were given."""

    def __init__(self, torch: Any, capture: Capture, kinds: Kinds) -> None:
        self.torch = torch
        self.augmentation = Augmentation(capture, TensorImages())
        self.kinds = kinds

    def outputs(self, module: Any, args: Any, kwargs: Any, output: Any) -> dict[str, Any]:
        """Outputs by name of the augmentation; empty if the input is not a batch of images."""
        scores = self.kinds.output(output, None, module)
        # The images are the first argument, or with keywords alone, as trainers have it, whichever is a batch of them.
        keyword = "" if args else next((name for name, value in kwargs.items() if self._is_images(value)), "")
        images: Any = kwargs[keyword] if keyword else args[0] if args else None
        if scores is None or not self._is_images(images):
            return self.augmentation.refuse()

        def call(copy: Any) -> Any:
            result = module(**{**kwargs, keyword: copy}) if keyword else module(copy, *args[1:], **kwargs)
            return self.kinds.output(result, images.shape[0], module)

        states = list(self._states())
        try:
            with self.torch.no_grad():
                return self.augmentation.outputs(images, scores.detach(), call)
        finally:
            for generator, state in states:
                generator.set_state(state)

    def _is_images(self, value: Any) -> bool:
        return isinstance(value, self.torch.Tensor) and self.augmentation.images.is_batch(value)

    def _states(self) -> Iterator[tuple[Any, Any]]:
        """Generator states, as a model may draw in evaluation mode too."""
        yield self.torch.default_generator, self.torch.default_generator.get_state()
        if self.torch.cuda.is_initialized():
            for generator in self.torch.cuda.default_generators:
                yield generator, generator.get_state()
