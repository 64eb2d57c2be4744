"""A reader who does not scroll has read the result: the sentence to paste, the verdict and the plot."""

from collections.abc import Callable
from typing import Literal

import pytest
from browsing import take_window, visit
from playwright.sync_api import Browser, Page
from tiers import slow_but

FIRST_SCREENS = ["two_with_a_verdict", "single_experiment", "many_candidates", "tasks", "noise_study", "failures"]
SCREENS = ((1280, 800), (390, 844))
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
UNJUDGED = {"single_experiment", "noise_study"}
"""Kinds of reports that compare nothing and have no verdict."""


@pytest.mark.parametrize("kind", slow_but(FIRST_SCREENS, ["two_with_a_verdict"]))
def test_sentence_verdict_and_plot_can_be_read_on_the_first_screen(
    browser: Browser, address_of: Callable[[str], str], kind: str
) -> None:
    names = ["blockquote", "figure svg", *([] if kind in UNJUDGED else [".verdict"])]
    flaws = []
    with visit(browser, address_of(kind)) as visited:
        for width, height in SCREENS:
            for scheme in SCHEMES:
                take_window(visited.page, scheme, width, height)
                found = [*outside(visited.page, names), *visited.ask("faintTexts")]
                flaws += [f"{scheme}, {width} × {height}: {flaw}" for flaw in found]
    assert flaws == []


def outside(page: Page, names: list[str]) -> list[str]:
    """Which of these boxes are not wholly inside the window."""
    window = page.viewport_size
    assert window is not None
    boxes = {name: page.locator(f".first {name}").first.bounding_box() for name in names}
    return [
        f"{name} is outside: {box}"
        for name, box in boxes.items()
        if box is None
        or min(box["x"], box["y"]) < 0
        or box["x"] + box["width"] > window["width"]
        or box["y"] + box["height"] > window["height"]
    ]


def test_a_comparison_opens_short(browser: Browser, address_of: Callable[[str], str]) -> None:
    with visit(browser, address_of("two_with_a_verdict")) as visited:
        visited.page.set_viewport_size({"width": 1280, "height": 800})
        assert visited.page.evaluate("document.documentElement.scrollHeight") <= 6_000
        assert len(visited.page.inner_text("body").split()) <= 1_500
