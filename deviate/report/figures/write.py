"""A drawing becomes text that a page can hold, or a file for a paper: the same bytes each time."""

import html
import io
import re
import unicodedata
from collections.abc import Callable

from matplotlib.figure import Figure
from matplotlib.text import Text

from deviate.report.figures.surface import PAGE, PALETTE, Surface, paper, style

Draw = Callable[[Surface], Figure]
"""Makes the figure on a surface; it is called within the style of that."""

NO_DATE = dict.fromkeys(("Date", "Creator", "Format", "Type"))


def page_svg(draw: Draw, key: str, title: str, description: str) -> str:
    """The figure as an `<svg>` element for a page; `key` is unique on the page.

    Ids begin with it or are hashes that it salts. Colours are CSS variables with a fallback, ink is `currentColor`, and
    what belongs to one experiment has the class `series-K`, where K is its place in the report.
    """
    body = _svg(draw, PAGE, key)
    body = re.sub(r"font(-family)?: ([^;\"]*?)'DejaVu Sans'[^;\"]*", _page_font, body)
    body = body.replace(PAGE.ink, "currentColor").replace(PAGE.ground, "var(--ground, #ffffff)")
    for index, fixed in enumerate(PALETTE):
        body = body.replace(fixed, f"var(--series-{index}, {fixed})")
    return _element(body, key, title, description)


def paper_svg(draw: Draw, key: str, title: str, description: str, width_in: float) -> str:
    """The figure as an SVG file, `width_in` inches wide, with letters as outlines.

    Text would ask for a font that most machines lack, and a figure for slides or a word processor should look the same
    on all of them; the PDF has the letters.
    """
    element = _element(_svg(draw, paper(width_in), key), key, title, description, "pt")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{element}\n'


def paper_pdf(draw: Draw, key: str, title: str, description: str, width_in: float) -> bytes:
    """The figure as a PDF of one page, `width_in` inches wide, with its fonts (TrueType) embedded."""
    surface, buffer = paper(width_in), io.BytesIO()
    about = {"Title": title, "Subject": description, "CreationDate": None, "Creator": None, "Producer": None}
    with style(surface, key):
        figure = draw(surface)
        for it in figure.findobj(Text):
            it.set_text(_visible(it.get_text()))
        figure.savefig(buffer, format="pdf", metadata=about)
    return buffer.getvalue()


def _visible(text: str) -> str:
    """Without joiners and marks of direction: on some of them matplotlib 3.11's PDF ends in an IndexError."""
    return "".join(it for it in text if unicodedata.category(it) != "Cf")


def paper_png(draw: Draw, key: str, width_in: float, dots_per_inch: int = 300) -> bytes:
    """The figure as a picture on white ground, for programs that take no PDF."""
    surface, buffer = paper(width_in), io.BytesIO()
    with style(surface, key):
        figure = draw(surface)
        figure.savefig(buffer, format="png", dpi=dots_per_inch, facecolor="white", metadata={"Software": None})
    return buffer.getvalue()


def _svg(draw: Draw, surface: Surface, key: str) -> str:
    """The whole `<svg>` as matplotlib writes it, without what changes from day to day or is not unique on a page."""
    buffer = io.StringIO()
    with style(surface, key):
        draw(surface).savefig(buffer, format="svg", metadata=NO_DATE)
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", buffer.getvalue(), flags=re.DOTALL)
    text = re.sub(r'<g id="(series-\d+)"', r'<g class="\1"', text)
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    text = re.sub(r"<defs>\s*</defs>", "", text)
    text = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", text)
    return re.sub(r"\s*\n\s*", " ", text).replace("xlink:href", "href")


def _element(text: str, key: str, title: str, description: str, unit: str = "") -> str:
    """With a root of our own, which names the figure for those who cannot see it."""
    found = re.search(r'<svg[^>]*?viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*>', text)
    if found is None:
        raise AssertionError("matplotlib wrote an SVG without a viewBox")
    width, height = found[1], found[2]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}{unit}" height="{height}{unit}" '
        f'role="img" aria-labelledby="{key}-title {key}-desc" stroke-linejoin="round">'
        f'<title id="{key}-title">{html.escape(title)}</title><desc id="{key}-desc">{html.escape(description)}</desc>'
        f"{text[found.end() :].strip()}"
    )


def _page_font(match: re.Match[str]) -> str:
    """Text takes the font of the page; size and weight stay."""
    if match[1]:
        return "font-family: inherit"
    size = re.search(r"[\d.]+px", match[2])
    weight = "bold " if re.search(r"bold|[6-9]00", match[2]) else ""
    return f"font: {weight}{size[0] if size else PAGE.font_size} system-ui, sans-serif"
