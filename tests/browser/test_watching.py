"""What the other tests look for would be found."""

from collections.abc import Callable
from pathlib import Path

import pytest
from browsing import visit
from playwright.sync_api import Browser

POLICY = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"


@pytest.fixture
def page_of(tmp_path: Path) -> Callable[[str], str]:
    """`page_of(markup)` is the address of a page with that in its body."""

    def write(markup: str) -> str:
        path = tmp_path / "page.html"
        path.write_text(f"<!doctype html><html lang=en><title>t</title>{markup}</html>", encoding="utf-8")
        return path.as_uri()

    return write


@pytest.mark.parametrize(
    ("markup", "complaint"),
    [
        ("<p>nothing", ""),
        ("<img src='https://example.org/a.png'>", "request: https://example.org/a.png"),
        ("<img src='b.png'>", "b.png"),
        ("<script>fetch('https://example.org/c')</script>", "request: https://example.org/c"),
        ("<style>@import url(https://example.org/d.css)</style>", "request: https://example.org/d.css"),
        ("<script>console.warn('careful')</script>", "warning: careful"),
        ("<script>missing()</script>", "page error: missing is not defined"),
        (f"{POLICY}<script>document.title = 'x'</script>", "Content Security Policy"),
        (f"{POLICY}<p onclick='x()'>text", "Content Security Policy"),
    ],
)
def test_requests_and_errors_are_written_down(
    browser: Browser, page_of: Callable[[str], str], markup: str, complaint: str
) -> None:
    with visit(browser, page_of(markup)) as visited:
        if "onclick" in markup:
            visited.page.locator("p").click()
        for _ in range(300):
            visited.page.wait_for_timeout(100)
            if complaint in "\n".join(visited.complaints):
                break
        assert bool(visited.complaints) == bool(complaint)
        assert complaint in "\n".join(visited.complaints)


LINE = "<path d='M 10 10 L 300 10' stroke='red'/>"
TEXT = "<text x='10' y='50' fill='black'>one</text><text x='10' y='90' fill='black'>two</text>"


def figure(inside: str) -> str:
    title = "<title>A figure</title><desc>Of lines</desc>"
    frame = "viewBox='0 0 400 200' width='400' height='200'"
    return f"<section id='points'><figure><svg {frame}>{title}{inside}</svg></figure></section>"


@pytest.mark.parametrize(
    ("question", "markup", "flaw"),
    [
        ("tooWide", "<p style='width: 3000px'>wide", "pixels in a window of"),
        ("tooWide", "<div style='overflow: auto'><p style='width: 3000px'>wide</div>", ""),
        ("emptyParts", "<main><section id='a'><h2>Head</h2></section></main>", "a"),
        ("emptyFigures", "<figure><figcaption>What?</figcaption></figure>", "figcaption"),
        ("brokenIds", "<p id='a'>1</p><p id='a'>2</p>", "a"),
        ("brokenIds", "<a href='#gone'>there</a>", "gone"),
        ("deadControls", "<button>Sort</button>", "button"),
        ("faintColours", "<style>:root { --series-0: #eeeeee }</style>", "#eeeeee"),
        ("faintTexts", "<main><section><p style='color: #888'>pale", '"pale" is too faint'),
        ("faintTexts", "<main><section style='background: #222'><p style='color: #aaa'>clear</section><p>rest", ""),
        ("figureFlaws", figure(3 * LINE + TEXT), ""),
        ("figureFlaws", figure(TEXT), "has 0 marks"),
        ("figureFlaws", figure(3 * "<path d='M 10 10 L 300 10' stroke='none' fill='none'/>" + TEXT), "has 0 marks"),
        ("figureFlaws", figure(3 * LINE), "has no text"),
        ("figureFlaws", figure(3 * LINE + TEXT + "<text x='390' y='150'>outside</text>"), '"outside" is cut'),
        ("figureFlaws", figure(3 * LINE + TEXT + "<text x='12' y='52'>One</text>"), '"one" lies on "One"'),
        ("figureFlaws", figure(3 * LINE + TEXT + "<text x='9' y='150' font-size='6'>tiny</text>"), "of 6.0 pixels"),
        ("figureFlaws", figure(3 * LINE + TEXT + "<text x='9' y='150' fill='#ddd'>pale</text>"), '"pale" is too faint'),
    ],
)
def test_flaws_of_a_page_are_found(
    browser: Browser, page_of: Callable[[str], str], question: str, markup: str, flaw: str
) -> None:
    with visit(browser, page_of(f"<body style='background: white'>{markup}")) as visited:
        flaws = visited.ask(question)
        assert bool(flaws) == bool(flaw), flaws
        assert flaw in "\n".join(flaws)
