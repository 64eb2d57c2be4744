"""A page is no longer than it has to be: its height and words, with all that is folded away and the hover texts."""

from collections.abc import Callable

import pytest
from browsing import Look, visit
from playwright.sync_api import Browser
from tiers import slow_but

SCREEN = 900
BOUNDS = {
    "eight_metrics": (12 * SCREEN, 3_500),
    "two_with_a_verdict": (7 * SCREEN, 2_500),
    "single_experiment": (7 * SCREEN, 1_700),
    "noise_study": (10 * SCREEN, 3_100),
    "failures": (11 * SCREEN, 3_300),
    "tasks": (12 * SCREEN, 5_400),
    "many_candidates": (15 * SCREEN, 8_600),
}
"""Pixels and words at most of a page of each kind; those of two experiments and eight metrics are a promise."""
UNFOLD = "for (const fold of document.querySelectorAll('details')) fold.open = true"
HOVER = """() => [
  ...[...document.querySelectorAll("body [title]")].map((it) => it.title),
  ...[...document.querySelectorAll("svg title")].map((it) => it.textContent),
].join(" ")"""
TOO_WIDE = """() => {
  const scrolls = (it) => it && (/auto|scroll/.test(getComputedStyle(it).overflowX) || scrolls(it.parentElement));
  return [...document.querySelectorAll("body *")]
    .filter((it) => it.getBoundingClientRect().right > innerWidth + 0.5 && !scrolls(it.parentElement)
      && !it.closest("svg, .unseen, .skip"))
    .map((it) => it.outerHTML.slice(0, 80));
}"""


@pytest.mark.parametrize("kind", slow_but(BOUNDS, ["eight_metrics"]))
def test_an_unfolded_page_has_few_screens_and_words(
    browser: Browser, address_of: Callable[[str], str], kind: str
) -> None:
    pixels, words = BOUNDS[kind]
    with visit(browser, address_of(kind), Look(width=1200, has_scripts=False)) as visited:
        visited.page.evaluate(UNFOLD)
        assert visited.page.evaluate("document.documentElement.scrollHeight") <= pixels
        n_shown, n_hover = (len(it.split()) for it in (visited.page.inner_text("body"), visited.page.evaluate(HOVER)))
        assert n_hover > 0
        assert n_shown + n_hover <= words


@pytest.mark.parametrize("kind", slow_but(BOUNDS, ["eight_metrics"]))
def test_on_a_phone_nothing_is_wider_than_the_screen_but_what_scrolls_by_itself(
    browser: Browser, address_of: Callable[[str], str], kind: str
) -> None:
    with visit(browser, address_of(kind), Look(width=390, has_scripts=False)) as visited:
        visited.page.evaluate(UNFOLD)
        assert visited.page.evaluate("document.documentElement.scrollWidth") <= 390
        assert visited.page.evaluate(TOO_WIDE) == []
