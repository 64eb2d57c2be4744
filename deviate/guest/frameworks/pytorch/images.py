"""Batches of images in PyTorch, from which copies are cut on their device."""

from __future__ import annotations

from ...annotations import Any
from ...observers.augmentations import Images


class TensorImages(Images):
    """Tensors of shape (batch, channels, height, width)."""

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
