"""What a figure is drawn on: the page of a report, or the column of a paper.

Layouts count in units, a twelfth of the size of the text, so that one drawing code serves both: a page is a sheet of
440 units, an ICML column one of 351.
"""

import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from deviate.report.format import shorten_middle

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Source: Okabe & Ito (2008), Color universal design; order chosen for contrast on light and dark ground."""

SHORTEST, LONGEST = 4, 160
"""Characters of a name that stay in any case, and beyond which none is ever drawn."""


@dataclass(frozen=True, slots=True)
class Surface:
    """Width in CSS pixels or in points, size and font of the text, colours of ink and ground.

    Attributes:
        grain: decimals of positions; a tenth of a CSS pixel halves the text of a page and nobody sees it.
    """

    width: float
    font_size: float
    families: tuple[str, ...]
    ink: str
    ground: str
    grain: int

    @property
    def unit(self) -> float:
        return self.font_size / 12

    @property
    def n_units(self) -> float:
        """Width in units."""
        return self.width / self.unit

    def text_width(self, text: str) -> float:
        """Width of a text in units; characters that are missing in the font count as wide."""
        narrow = "".join(letter for letter in text if unicodedata.east_asian_width(letter) not in "WF")
        measured, _, _ = text_to_path.get_text_width_height_descent(narrow, self._font(), ismath=False)
        return float(measured) / self.unit + 12 * (len(text) - len(narrow))

    def fit(self, text: str, width: float) -> str:
        """The text, shortened in the middle to fit a width in units."""
        short = shorten_middle(text, LONGEST)
        if self.text_width(short) <= width:
            return short
        low, high = SHORTEST, len(short)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.text_width(shorten_middle(text, middle)) <= width else (low, middle)
        return shorten_middle(text, low)

    def wrap(self, text: str, width: float) -> str:
        """The text in one line of the given width, or in two with the second truncated."""
        if self.text_width(text[:LONGEST]) <= width:
            return self.fit(text, width)
        words = text.split(" ")
        first = next(n for n in range(len(words), 0, -1) if n == 1 or self.text_width(" ".join(words[:n])) <= width)
        lines = (" ".join(words[:first]), " ".join(words[first:]))
        return "\n".join(self.fit(line, width) for line in lines if line)

    def _font(self) -> FontProperties:
        return FontProperties(family=list(self.families), size=self.font_size)


PAGE = Surface(440, 12, ("DejaVu Sans",), ink="#010203", ground="#fdfefc", grain=1)
"""On 350 pixels of a telephone its text is 9.5 pixels high. Ink and ground stand for the colours of the page, which
matplotlib cannot name; its font is measured in DejaVu Sans, which is wider than those of systems."""


def paper(width_in: float) -> Surface:
    """A column of the given width in inches, with text in 8 pt STIX, which matches Computer Modern and Times."""
    return Surface(72 * width_in, 8, ("STIXGeneral", "DejaVu Serif"), ink="#000000", ground="#ffffff", grain=2)


def colour(index: int) -> str:
    return PALETTE[index % len(PALETTE)]


@contextmanager
def style(surface: Surface, salt: str) -> Iterator[None]:
    """Settings of matplotlib while a figure is created and written; they are restored afterwards."""
    settings: Any = {
        "svg.hashsalt": salt,
        "svg.fonttype": "none" if surface is PAGE else "path",
        # Type 3 fonts, the default, are refused by conferences.
        "pdf.fonttype": 42,
        "path.simplify": False,
        "text.parse_math": False,
        "axes.unicode_minus": True,
        "font.family": list(surface.families),
        "font.size": surface.font_size,
        "text.color": surface.ink,
        "axes.labelcolor": surface.ink,
        "axes.edgecolor": surface.ink,
        "xtick.color": surface.ink,
        "ytick.color": surface.ink,
        "axes.linewidth": 0.8 * surface.unit,
        # Only where values agree in so many digits that labels would not fit, such as 1e9 and a little noise.
        "axes.formatter.offset_threshold": 8,
    }
    with mpl.rc_context(settings), warnings.catch_warnings():
        # A name may hold letters that the font for measuring lacks; the reader's browser has them.
        for message in ("Glyph .* missing from", "Matplotlib currently does not support"):  # the second up to 3.10
            warnings.filterwarnings("ignore", message=message, category=UserWarning)
        yield
