"""Estimates the printed width of text in Computer Modern, the default font of LaTeX."""

from collections.abc import Mapping

from deviate.report.format import shorten_middle

WIDTHS: Mapping[str, int] = {
    **dict.fromkeys("ijl.,:;'|!´`[] ", 290),
    **dict.fromkeys("frtIs()-", 392),
    **dict.fromkeys("ceazvxyJSk/*?", 510),
    **dict.fromkeys("bdhnpquogß", 556),
    **dict.fromkeys("LFEPTZ", 660),
    **dict.fromkeys("ABCDGHKNOQRUVXYw", 765),
    **dict.fromkeys("mM%&#+=<>−~^@", 900),
    "W": 1050,
    **dict.fromkeys("±×", 1230),
    "_": 420,
    "…": 640,
    "—": 1000,
}
"""Thousandths of the size of the letters; signs in mathematics with the space around them."""
CODE = 4300
"""A character that is shown as its code."""
SIZES: Mapping[str, float] = {"small": 9.25, "footnotesize": 8.5}
"""Sizes of LaTeX in points beside a text of 10; small letters are a little wider than their size says."""


def width_pt(text: str, size: str) -> float:
    """Width of a text in points, rounded up; accurate to a few points.

    >>> round(width_pt("93.41 ± 0.22", "footnotesize")), round(width_pt("93.41 ± 0.22", "small"))
    (50, 54)
    """
    units = sum(_units(character) for character in text)
    return units / 1000 * SIZES[size]


def fit_text(text: str, room_pt: float, size: str) -> str:
    """Shorten a text in the middle to fit a width.

    >>> fit_text("validation_accuracy_of_class_7", 70, "footnotesize")
    'validation_…lass_7'
    """
    n_characters = len(text)
    while n_characters > 3 and width_pt(shorten_middle(text, n_characters), size) > room_pt:
        n_characters -= 1
    return shorten_middle(text, n_characters)


def _units(character: str) -> int:
    if character in "0123456789":
        return 500
    return WIDTHS.get(character, 560 if ord(character) < 0x250 else CODE)
