"""A reader who does not scroll has read the result: the sentence to paste, the verdict and the plot."""

from collections.abc import Callable

import pytest
from browsing import Look, visit
from playwright.sync_api import Browser
from tiers import slow_but

KINDS = ["two_with_a_verdict", "single_experiment", "many_candidates", "tasks", "noise_study", "failures"]
SCREENS = {1280: 800, 390: 844}


@pytest.mark.parametrize("width", SCREENS)
@pytest.mark.parametrize("kind", slow_but(KINDS, ["two_with_a_verdict"]))
def test_sentence_verdict_and_plot_are_inside_the_first_screen(
    browser: Browser, address_of: Callable[[str], str], kind: str, width: int
) -> None:
    with visit(browser, address_of(kind), Look(width=width)) as visited:
        visited.page.set_viewport_size({"width": width, "height": SCREENS[width]})
        places = {
            name: visited.page.locator(f".first {name}").first.bounding_box()
            for name in (
                "blockquote",
                "figure svg",
                *([".verdict"] if kind not in {"single_experiment", "noise_study"} else []),
            )
        }
    below = {name for name, box in places.items() if box is None or box["y"] + box["height"] > SCREENS[width]}
    beside = {name for name, box in places.items() if box is None or box["x"] + box["width"] > width}
    assert below | beside == set()


def test_a_comparison_opens_short(browser: Browser, address_of: Callable[[str], str]) -> None:
    with visit(browser, address_of("two_with_a_verdict")) as visited:
        visited.page.set_viewport_size({"width": 1280, "height": 800})
        assert visited.page.evaluate("document.documentElement.scrollHeight") <= 6_000
        assert len(visited.page.inner_text("body").split()) <= 1_500
