"""On paper a report has all that it has on a screen, but what only a screen can use."""

import io
import unicodedata
from collections.abc import Callable

import pytest
from browsing import LOOKS, Look, parts_of, visit
from playwright.sync_api import Browser
from pypdf import PdfReader
from tiers import slow_but

ON_SCREENS_ALONE = {"data"}


def words(text: str) -> str:
    """Without spaces, for lines are broken elsewhere on paper, and without ligatures."""
    return "".join(unicodedata.normalize("NFKC", text).split())


@pytest.mark.parametrize("look", [LOOKS[1], Look(has_scripts=False)], ids=str)
@pytest.mark.parametrize(
    "kind", slow_but(["two_with_a_verdict", "noise_study", "failures", "captured"], ["two_with_a_verdict"])
)
def test_all_parts_are_printed_and_folded_ones_too(
    browser: Browser, address_of: Callable[[str], str], kind: str, look: Look
) -> None:
    with visit(browser, address_of(kind), look) as visited:
        page = visited.page
        heads = {part: page.locator(f"#{part} > h2").inner_text() for part in parts_of(page)}
        folded = page.locator("details:not([open]):not(#data) li").evaluate_all("all => all.map(it => it.textContent)")
        printed = page.pdf(format="A4")
        assert visited.complaints == []
    pages = [page.extract_text() for page in PdfReader(io.BytesIO(printed)).pages]
    text = words(" ".join(pages))
    assert [name for part, name in heads.items() if part not in ON_SCREENS_ALONE and words(name) not in text] == []
    assert len(folded) >= 3
    assert [cell for cell in folded if words(cell) not in text] == []
    assert all(len(it) > 20 for it in pages)


def test_paper_is_white_though_the_screen_is_dark(browser: Browser, address_of: Callable[[str], str]) -> None:
    with visit(browser, address_of("two_with_a_verdict"), LOOKS[1]) as visited:
        visited.page.emulate_media(media="print")
        ground, ink = visited.page.evaluate(
            "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
        )
        assert (ground, ink) == ("rgb(255, 255, 255)", "rgb(0, 0, 0)")
        assert visited.flaws(["faintColours"]) == []
        assert not visited.page.locator("nav").is_visible()
