"""A report of each kind can be read: wide and narrow, light and dark, with scripts and without."""

from collections.abc import Callable
from pathlib import Path

import pytest
from browsing import LOOKS, Look, await_frame, keep_picture, parts_of, visit
from kinds import KINDS
from playwright.sync_api import Browser
from tiers import slow_but

PARTS = ["verdict", "metrics", "limits", "rest"]
"""What every report has, in this order; what there is nothing to tell of has no part."""
MORE = {
    "many_candidates": ["many"],
    "tasks": ["many", "tasks"],
    "failures": ["failures", "outcomes"],
    "noise_study": ["noise"],
    "hostile_many": ["many", "tasks"],
}
VISITS = [(kind, look) for i, kind in enumerate(KINDS) for look in (LOOKS[:2] if i % 2 else LOOKS[2:])]
"""Each report in both colours and widths, every other one with scripts; what scripts change is tested for all."""
QUICK = [("two_with_a_verdict", LOOKS[0]), ("noise_study", LOOKS[1]), ("failures", LOOKS[3])]
"""One visit in most looks; of different parts."""


@pytest.mark.parametrize(("kind", "look"), slow_but(VISITS, QUICK), ids=str)
def test_a_report_is_quiet_fits_and_has_all_its_parts_and_figures(
    browser: Browser, address_of: Callable[[str], str], artifacts: Path, kind: str, look: Look
) -> None:
    with visit(browser, address_of(kind), look) as visited:
        keep_picture(visited.page, artifacts / f"{kind}-{look}.jpg")
        parts = parts_of(visited.page)
        assert [part for part in parts if part in PARTS] == PARTS
        assert set(MORE.get(kind, ())) <= set(parts)
        questions = ["tooWide", "emptyParts", "emptyFigures", "brokenIds", "faintColours"]
        flaws = [*visited.flaws(questions), *(() if look.has_scripts else visited.flaws(["deadControls"]))]
        visited.ask("unfold")
        flaws += [*visited.flaws(["tooWide", "figureFlaws"]), *visited.complaints]
        assert not flaws, "\n".join(flaws)


@pytest.mark.parametrize(
    "kind", ["single_experiment", "two_with_a_verdict", "many_candidates", "noise_study", "failures"]
)
def test_what_was_measured_is_drawn(browser: Browser, address_of: Callable[[str], str], kind: str) -> None:
    with visit(browser, address_of(kind)) as visited:
        assert visited.ask("figures") >= 2


@pytest.mark.parametrize("look", LOOKS[:2], ids=str)
def test_each_link_at_the_top_leads_to_its_part(browser: Browser, address_of: Callable[[str], str], look: Look) -> None:
    with visit(browser, address_of("tasks"), look) as visited:
        page = visited.page
        links = page.locator("nav a")
        reached = []
        for link in links.all():
            link.click()
            await_frame(page)  # it scrolls
            name = page.evaluate("location.hash.slice(1)")
            reached.append(name)
            top, is_end = page.evaluate(
                "id => [document.getElementById(id).getBoundingClientRect().top, "
                "Math.ceil(scrollY + innerHeight) >= document.documentElement.scrollHeight - 1]",
                name,
            )
            assert -1 <= top <= 60 or (is_end and 0 <= top < page.viewport_size["height"]), name
        assert reached == list(parts_of(page))
        assert visited.complaints == []
