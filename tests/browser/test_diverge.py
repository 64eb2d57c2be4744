"""The page of where two runs part: wide and narrow, light and dark, with scripts and without."""

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import LOOKS, Look, keep_picture, parts_of, visit
from hostile import NASTY
from partings import CASES, spoken
from playwright.sync_api import Browser

from deviate.diverge.report.document import diverge_document
from deviate.report.forms.registry import render

PAGES = {
    "backward": CASES["backward"],
    "nothing": CASES["nothing"],
    "recorded": CASES["recorded"],
    "hostile": lambda: spoken([*NASTY.values()]),
}
GRAVE = {"serious", "critical"}
QUESTIONS = ["tooWide", "emptyParts", "emptyFigures", "brokenIds", "faintColours", "figureFlaws"]
VISITS = [
    *(("backward", look) for look in LOOKS),
    *((page, look) for page in ("nothing", "hostile") for look in LOOKS[::3]),
]


@pytest.fixture(scope="module")
def page_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """`page_of(case)` is where its page lies."""
    folder = tmp_path_factory.mktemp("diverge")
    for case, make in PAGES.items():
        (folder / f"{case}.html").write_text(render(diverge_document(make()), "html"), encoding="utf-8")
    return lambda case: (folder / f"{case}.html").as_uri()


@pytest.mark.parametrize(("case", "look"), VISITS, ids=str)
def test_the_page_is_quiet_fits_and_begins_with_the_answer(
    browser: Browser, page_of: Callable[[str], str], artifacts: Path, case: str, look: Look
) -> None:
    with visit(browser, page_of(case), look) as visited:
        keep_picture(visited.page, artifacts / f"diverge-{case}-{look}.jpg")
        first = visited.page.locator("main > :first-child")
        assert first.get_attribute("class") in {"verdict bad", "verdict neutral"}
        assert first.bounding_box()["y"] < 500  # type: ignore[index]  # it is shown
        assert parts_of(visited.page)[-3:] == ["limits", "provenance", "data"]
        flaws = [*visited.flaws(QUESTIONS), *(() if look.has_scripts else visited.flaws(["deadControls"]))]
        assert [*flaws, *visited.complaints] == []


@pytest.mark.parametrize(("case", "scheme", "width"), [("backward", "light", 1280), ("backward", "dark", 390),
                                                       ("nothing", "dark", 1280)])  # fmt: skip
def test_nobody_is_kept_from_reading_the_page(
    browser: Browser, page_of: Callable[[str], str], case: str, scheme: str, width: int
) -> None:
    look = Look("dark" if scheme == "dark" else "light", width)
    with visit(browser, page_of(case), look, is_trusted=True) as visited:
        violations = Axe().run(visited.page).response["violations"]
    assert [f"{it['id']}: {it['nodes'][0]['html'][:200]}" for it in violations if it["impact"] in GRAVE] == []


def test_commands_can_be_copied(browser: Browser, page_of: Callable[[str], str]) -> None:
    with visit(browser, page_of("recorded")) as visited:
        button = visited.page.locator(".verdict pre + div button")
        assert button.count() == 1
        button.click()
        assert visited.page.evaluate("getSelection().toString().trim()").startswith("deviate diverge train.py")
