"""A figure as a notebook holds it: it shows itself, light or dark as the notebook is, and is saved for a paper."""

import hashlib
from collections import Counter
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path

from deviate.errors import InputError
from deviate.report.figures.pictures import Picture
from deviate.report.figures.write import page_figure, paper_pdf, paper_png, paper_svg
from deviate.report.medium import COLUMN_IN

SHOWN: Counter[str] = Counter()
"""Number of times that a figure was shown: ids of two outputs of a notebook differ, and repeat when it runs again."""

GROUND = "var(--jp-layout-color0, var(--vscode-editor-background, transparent))"
"""Background of cells in JupyterLab and VS Code; elsewhere it is transparent."""

COLOURS = ("#1f8fd0", "#d9661c", "#0d9a72", "#c46f9d", "#b58200", "#4a93c0")
"""The palette of figures at a medium lightness, because a cell cannot detect whether its notebook is light or dark."""


@dataclass(frozen=True, repr=False)
class Figure:
    """One figure of results.

    Attributes:
        name: as in `Results.figures()`. title: what it shows. description: its numbers in words.
    """

    _picture: Picture

    @property
    def name(self) -> str:
        return self._picture.name

    @property
    def title(self) -> str:
        return self._picture.plot.title

    @property
    def description(self) -> str:
        return self._picture.plot.description

    def to_pdf(self, width_in: float = COLUMN_IN) -> bytes:
        """A PDF of one page, so many inches wide: text in 8 points, fonts embedded; equal bytes each time.

        Raises:
            InputError: the width is not between 2 and 40 inches.
        """
        return paper_pdf(self._picture.plot, _check_width(width_in))

    def to_svg(self, width_in: float = COLUMN_IN) -> str:
        """The same as SVG with letters as outlines, so that it needs no font.

        Raises:
            InputError: the width is not between 2 and 40 inches.
        """
        return paper_svg(self._picture.plot, _check_width(width_in))

    def savefig(self, path: str | PathLike[str], width_in: float = COLUMN_IN) -> None:
        """Write it as its suffix says: `.pdf`, `.svg`, or `.png` in 300 dots per inch on white.

        Raises:
            InputError: another suffix, a width that no figure has, or a file that cannot be written.
        """
        suffix = Path(path).suffix.lower()
        if suffix == ".pdf":
            written = self.to_pdf(width_in)
        elif suffix == ".svg":
            written = self.to_svg(width_in).encode()
        elif suffix == ".png":
            written = paper_png(self._picture.plot, _check_width(width_in))
        else:
            raise InputError(f"a figure cannot be saved as {fspath(path)}", "end the name in .pdf, .svg or .png")
        try:
            Path(path).write_bytes(written)
        except OSError as error:
            raise InputError(
                f"{fspath(path)} cannot be written: {error.strerror}", "name an existing folder"
            ) from error

    def __repr__(self) -> str:
        return f"{self.name}: {self.description}"

    def _repr_svg_(self) -> str:
        """For notebooks that are turned into documents: black on nothing."""
        return self.to_svg()

    def _repr_html_(self) -> str:
        digest = hashlib.sha256(repr(self).encode("utf-8", "replace")).hexdigest()[:10]
        SHOWN[digest] += 1
        svg = page_figure(self._picture.plot, salt=f"d{digest}-{SHOWN[digest]}-")
        shrinking = svg.replace("<svg ", '<svg style="max-width: 100%; height: auto" ', 1)
        colours = "; ".join(f"--series-{index}: {colour}" for index, colour in enumerate(COLOURS))
        return f'<div style="--ground: {GROUND}; {colours}; max-width: 36em; overflow-x: auto">{shrinking}</div>'


def _check_width(width_in: float) -> float:
    if not 2 <= width_in <= 40:
        raise InputError(
            f"the width of a figure must be 2 to 40 inches, not {width_in}", "use 3.25 for a column, for example"
        )
    return width_in
