"""Test-time augmentations by name: which copies of an image a model is shown beside the image itself.

Source: the code of Summers & Dinneen (2021), whose copies these are: an image flipped left to right; every crop of its
size from the image with a border, the one in the middle included; every crop of seven eighths of its size.
"""

from __future__ import annotations

import sys

from ..annotations import TYPE_CHECKING, Any, Callable, Iterator, Sequence
from .capture import PREDICTIONS, Capture

if TYPE_CHECKING:
    Places = Sequence[tuple[int, int]]

NO_IMAGES = "the model is given no batch of images, of batch, %s, first of all"
CROPS = {
    "crop25": (4, 2),
    "crop81": (4, 1),
    "crop_mnist": (1, 1),
}
"""Width of the border, and the distance of one crop from the next, in pixels."""
INNER = "crop_imagenet"
FLIP = "flip"


class Copies:
    """What an augmentation shows.

    Attributes:
        is_flipped: whether each crop is shown as it is and flipped; without crops, flipped alone.
        border: pixels around the image.
        places: row and column of the first pixel of each crop, for an image of this size; empty for no crops.
        size: height and width of a crop.
    """

    def __init__(self, name: str, height: int, width: int) -> None:
        crop = name[len(FLIP) + 1 :] if name.startswith(FLIP + "_") else name
        self.is_flipped = name.startswith(FLIP)
        self.border = 0
        self.size = height, width
        self.places: Places = ()
        if crop in CROPS:
            self.border, stride = CROPS[crop]
            offsets = range(0, 2 * self.border + 1, stride)
            self.places = [(row, column) for row in offsets for column in offsets]
        elif crop == INNER:
            self.size = height * 7 // 8, width * 7 // 8
            rows, columns = ([0, (whole - part) // 2, whole - part] for whole, part in zip((height, width), self.size))
            self.places = [(row, column) for row in rows for column in columns]
        elif name != FLIP:
            raise ValueError("no test-time augmentation is named %r" % name)

    def __len__(self) -> int:
        return (len(self.places) * (1 + self.is_flipped)) or 1


class Images:
    """Cuts copies from batches of images; this class does so with NumPy arrays.

    Attributes:
        axes: those of height and width, of four.
    """

    def __init__(self, axes: tuple[int, int]) -> None:
        self.axes = axes

    def is_batch(self, value: Any) -> bool:
        """Whether a value is a batch of images."""
        return len(getattr(value, "shape", ())) == 4 and "float" in str(value.dtype)

    def flip(self, images: Any) -> Any:
        """Flip left to right."""
        return sys.modules["numpy"].flip(images, self.axes[1])

    def add_border(self, images: Any, border: int) -> Any:
        """Add a border of the darkest value of each channel of each image, as the value of black is unknown."""
        numpy = sys.modules["numpy"]
        shape = [size + 2 * border * (axis in self.axes) for axis, size in enumerate(images.shape)]
        bordered = numpy.broadcast_to(images.min(axis=self.axes, keepdims=True), shape).copy()
        inside = [slice(border, border + images.shape[axis]) for axis in self.axes]
        bordered[self._part(*inside)] = images
        return bordered

    def copies(self, images: Any, name: str) -> Iterator[Any]:
        """Yield the copies of an augmentation, one at a time to save memory."""
        copies = Copies(name, *(images.shape[axis] for axis in self.axes))
        flips = [images, self.flip(images)] if copies.is_flipped else [images]
        if not copies.places:
            yield flips[-1]
            return
        for flipped in flips:
            bordered = self.add_border(flipped, copies.border) if copies.border else flipped
            for row, column in copies.places:
                yield bordered[self._part(slice(row, row + copies.size[0]), slice(column, column + copies.size[1]))]

    def _part(self, rows: slice, columns: slice) -> tuple[slice, ...]:
        part = [slice(None)] * 4
        part[self.axes[0]], part[self.axes[1]] = rows, columns
        return tuple(part)


def mean_outputs(
    images: Images, names: Sequence[str], batch: Any, outputs: Any, call: Callable[[Any], Any]
) -> dict[str, Any]:
    """The mean output for an image and its copies, as Summers & Dinneen (2021) have it (their strategy "tta").

    Args:
        batch: the images that the model was called with. outputs: what it put out; not changed.
        call: calls the model with other images of this form; no gradients are computed, no generator is moved.

    Returns:
        Means by name of the augmentation, each of the shape of `outputs`.
    """
    means: dict[str, Any] = {}
    for name in names:
        total, n_copies = outputs * 1, 0  # a copy, zeros with their signs
        for copy in images.copies(batch, name):
            total += call(copy)
            n_copies += 1
        means[name] = total / (1 + n_copies)
    return means


class Augmentation:
    """Further outputs of evaluations, where this run asks for test-time augmentation.

    Args:
        images: how the framework lays out batches of images.
    """

    def __init__(self, capture: Capture, images: Images) -> None:
        self.capture = capture
        self.images = images
        self.names = capture.augmentations

    def outputs(self, batch: Any, outputs: Any, call: Callable[[Any], Any]) -> dict[str, Any]:
        """Mean outputs by name of the augmentation; empty where the model is given no images.

        Args:
            batch, outputs, call: as for `mean_outputs`.
        """
        if not self.images.is_batch(batch):
            return self.refuse()
        return mean_outputs(self.images, self.names, batch, outputs, call)

    def refuse(self) -> dict[str, Any]:
        """Report once that a model is given no batch of images; the outputs of no augmentation."""
        order = "channels, height and width" if self.images.axes == (2, 3) else "height, width and channels"
        self.capture.refuse(PREDICTIONS, "+".join(("", *self.names)), NO_IMAGES % order)
        return {}
