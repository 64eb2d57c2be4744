"""Tables sort, colours and experiments can be chosen, folds open, and the keyboard reaches all of it."""

from collections.abc import Callable

import pytest
from browsing import LOOKS, Look, visit
from kinds import KINDS, LONG
from playwright.sync_api import Browser, Locator, Page
from tiers import slow_but

WITHOUT_SCRIPTS = Look(has_scripts=False)


def values_of(table: Locator, column: int) -> list[float | None]:
    """Unrounded values of a column, None where a cell has none; rows of notes are left out."""
    found: list[float | None] = table.evaluate(
        """(table, column) => [...table.tBodies[0].rows].filter(row => !row.classList.contains("note"))
            .map(row => row.cells[column]?.dataset.value).map(it => it === undefined ? null : Number(it))""",
        column,
    )
    return found


def test_a_click_on_a_head_sorts_by_the_unrounded_value(browser: Browser, address_of: Callable[[str], str]) -> None:
    with visit(browser, address_of("many_candidates")) as visited:
        n_sorted = 0
        tables = visited.page.locator("#many table[data-sortable], #metrics table[data-sortable]")
        for table in (tables.first, tables.last):
            for head in table.locator("thead th:has(button)").all():
                column = head.evaluate("head => head.cellIndex")
                before = values_of(table, column)
                if None in before or len(set(before)) < 3 or not head.is_visible():
                    continue
                head.get_by_role("button").click()
                assert head.get_attribute("aria-sort") == "ascending"
                assert values_of(table, column) == sorted(before, key=lambda it: it or 0)
                head.get_by_role("button").click()
                assert head.get_attribute("aria-sort") == "descending"
                assert values_of(table, column) == sorted(before, key=lambda it: it or 0, reverse=True)
                head.get_by_role("button").click()
                assert head.get_attribute("aria-sort") is None
                assert values_of(table, column) == before
                n_sorted += 1
                if n_sorted == 5:
                    break  # one function sorts by all columns
        assert n_sorted >= 5
        assert visited.complaints == []


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_table_is_sorted_by_keyboard(browser: Browser, address_of: Callable[[str], str], key: str) -> None:
    with visit(browser, address_of("many_candidates")) as visited:
        button = visited.page.locator("#metrics table thead button").nth(1)
        button.focus()
        visited.page.keyboard.press(key)
        head = button.locator("xpath=ancestor::th")
        assert head.get_attribute("aria-sort") == "ascending"
        visited.page.keyboard.press(key)
        assert head.get_attribute("aria-sort") == "descending"
        assert button.evaluate("it => it === document.activeElement")


def test_a_note_stays_below_its_row_and_what_has_no_figure_comes_last(
    browser: Browser, address_of: Callable[[str], str]
) -> None:
    with visit(browser, address_of("noise_study")) as visited:
        table = visited.page.locator("#noise table:has(.note)").first
        notes = "rows => rows.map(it => [it.previousElementSibling.cells[0].innerText, it.innerText.split(':')[0]])"
        head = table.locator("thead th").nth(5)
        column = head.evaluate("head => head.cellIndex")
        for sign in (1, -1):
            head.get_by_role("button").click()
            told = table.locator(".note").evaluate_all(notes)
            assert len(told) >= 2
            assert all(above == about for above, about in told)
            values = values_of(table, column)
            there = [it for it in values if it is not None]
            assert len(there) < len(values)
            assert values[: len(there)] == sorted(there, key=lambda it: sign * it)


def ground_of(page: Page) -> str:
    found: str = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return found


def test_colours_can_be_chosen_and_nothing_is_kept(browser: Browser, address_of: Callable[[str], str]) -> None:
    with visit(browser, address_of("failures"), LOOKS[1]) as visited:
        page, dark = visited.page, ground_of(visited.page)
        page.get_by_role("radio", name="light").check()
        light = ground_of(page)
        assert (dark, light) == ("rgb(20, 23, 27)", "rgb(255, 255, 255)")
        assert visited.flaws(["faintColours", "figureFlaws"]) == []
        page.get_by_role("radio", name="auto").check()
        assert ground_of(page) == dark
        page.emulate_media(color_scheme="light")
        assert ground_of(page) == light
        page.get_by_role("radio", name="dark").check()
        assert ground_of(page) == dark
        assert visited.flaws(["faintColours", "figureFlaws"]) == []
        assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
        assert visited.complaints == []


@pytest.mark.parametrize(
    "kind", slow_but(["two_with_a_verdict", "many_candidates", "noise_study", "failures"], ["many_candidates"])
)
def test_an_experiment_can_be_left_out_of_all_figures(
    browser: Browser, address_of: Callable[[str], str], kind: str
) -> None:
    with visit(browser, address_of(kind)) as visited:
        page = visited.page
        shown = "it => it.filter(mark => mark.checkVisibility() && mark.getBoundingClientRect().height > 0).length"
        n_all = {i: page.locator(f"svg .series-{i}").evaluate_all(shown) for i in (0, 1)}
        boxes = page.locator("input[data-series='1']")
        assert min(n_all.values()) >= 2
        assert boxes.count() >= 2
        boxes.first.uncheck()
        assert page.locator("svg .series-1").evaluate_all(shown) == 0
        assert page.locator("svg .series-0").evaluate_all(shown) == n_all[0]
        assert not any(box.is_checked() for box in boxes.all())
        boxes.last.check()
        assert page.locator("svg .series-1").evaluate_all(shown) == n_all[1]
        assert visited.complaints == []


@pytest.mark.parametrize("look", [Look(), WITHOUT_SCRIPTS], ids=str)
def test_folded_parts_open(browser: Browser, address_of: Callable[[str], str], look: Look) -> None:
    with visit(browser, address_of("two_with_a_verdict"), look) as visited:
        fold = visited.page.locator("#planning")
        heading = fold.locator("h3").first
        assert not heading.is_visible()
        fold.locator("summary").first.focus()
        visited.page.keyboard.press("Enter")
        assert heading.is_visible()


FOCUS = """() => {
    const it = document.activeElement, { left, right, top, bottom } = it.getBoundingClientRect();
    const style = getComputedStyle(it);
    it.dataset.stop = "";
    return {
        name: it.outerHTML.slice(0, 80),
        place: [...document.querySelectorAll("*")].indexOf(it),
        isInWindow: right > 0 && left < innerWidth && bottom > 0 && top < innerHeight,
        isMarked: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1,
    };
}"""


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_the_keyboard_goes_through_the_page_in_order_and_shows_where_it_is(
    browser: Browser, address_of: Callable[[str], str], look: Look
) -> None:
    with visit(browser, address_of("two_with_a_verdict"), look) as visited:
        stops = []
        for _ in range(40):
            visited.page.keyboard.press("Tab")
            stop = visited.page.evaluate(FOCUS)
            if stop["name"].startswith("<body") or any(stop["place"] == other["place"] for other in stops):
                break  # it begins anew: what is folded takes no stop
            stops.append(stop)
        assert len(stops) > 15
        places = [stop["place"] for stop in stops]
        assert places == sorted(set(places))
        assert [stop["name"] for stop in stops if not stop["isInWindow"] or not stop["isMarked"]] == []
        assert "skip" in stops[0]["name"]


def test_the_first_stop_leads_past_the_contents(browser: Browser, address_of: Callable[[str], str]) -> None:
    with visit(browser, address_of("two_with_a_verdict")) as visited:
        visited.page.keyboard.press("Tab")
        visited.page.keyboard.press("Enter")
        visited.page.keyboard.press("Tab")
        assert visited.page.evaluate("document.activeElement.closest('main') !== null")


@pytest.mark.parametrize("kind", slow_but([kind for kind in KINDS if kind not in LONG], ["two_with_a_verdict"]))
def test_without_scripts_all_text_is_there(browser: Browser, address_of: Callable[[str], str], kind: str) -> None:
    """Controls of scripts aside: what else the page says does not depend on them."""
    texts = []
    for look in (Look(), WITHOUT_SCRIPTS):
        with visit(browser, address_of(kind), look) as visited:
            visited.ask("unfold")
            text = visited.page.evaluate(
                """() => {
                    document.querySelectorAll("[data-controls]").forEach(it => it.remove());
                    return document.querySelector("main").innerText.replace(/\\s+/g, " ");
                }"""
            )
            texts.append(text)
    assert texts[0] == texts[1]
    assert len(texts[0]) > 1000
