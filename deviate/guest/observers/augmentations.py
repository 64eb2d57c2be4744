"""Test-time augmentations by name: which copies of an image a model is shown beside the image itself.

Source: the code of Summers & Dinneen (2021), whose copies these are: an image flipped left to right; every crop of its
size from the image with a border, the one in the middle included; every crop of seven eighths of its size.
"""

from __future__ import annotations

from ..annotations import TYPE_CHECKING, Sequence

if TYPE_CHECKING:
    Places = Sequence[tuple[int, int]]

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
