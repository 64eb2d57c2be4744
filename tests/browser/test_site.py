"""The manual asks nobody but itself for anything, and nobody is kept from reading it."""

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import PATIENCE_MS
from playwright.sync_api import Browser, Route

OURS = {"exclude": [[".md-search"], [".highlight"]]}
"""All but what is the theme's: the dialog in which one searches has no name, and some colours of code are faint."""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder without a word."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site(manual: Path) -> Iterator[str]:
    """Address of the manual, served here, for its search does not work from files."""
    handler = functools.partial(Quiet, directory=str(manual))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("page_name", ["", "tutorial/"])
def test_a_page_of_the_manual_is_quiet_and_open_to_all(browser: Browser, site: str, page_name: str) -> None:
    complaints: list[str] = []

    def pass_or_stop(route: Route) -> None:
        if route.request.url.startswith(site):
            route.continue_()
        else:
            complaints.append(route.request.url)
            route.abort()

    grave = []
    for scheme, width in (("light", 1280), ("dark", 390)):
        context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.route("**/*", pass_or_stop)
        page.on("pageerror", lambda error: complaints.append(f"page error: {error}"))
        page.goto(site + page_name, wait_until="networkidle")
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            complaints.append(f"wider than {width} pixels")
        found = Axe().run(page, context=OURS).response["violations"]
        grave += [
            f"{scheme}: {it['id']} {it['nodes'][0]['html'][:150]}"
            for it in found
            if it["impact"] in {"serious", "critical"}
        ]
        context.close()
    assert complaints == []
    assert not grave, "\n".join(grave)
