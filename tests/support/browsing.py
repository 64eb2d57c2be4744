"""Pages in a real browser as a reader has them: from a file, without a network, light or dark, wide or narrow."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, BrowserType, ConsoleMessage, Page, Route

FLAGS = (
    "--no-sandbox",  # not to be had in most containers, and the pages are our own
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)
LOOK = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
PATIENCE_MS = 300_000
"""For whatever is waited for: a stall of a loaded machine is no defect."""
HEIGHT = 900
MOST_HEIGHT = 16_000
"""Pixels of a picture; what lies below is left out of it."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a reader looks at a page; `width` in CSS pixels."""

    scheme: Literal["light", "dark"] = "light"
    width: int = 1280
    has_scripts: bool = True

    def __str__(self) -> str:
        return f"{self.scheme}-{self.width}" + ("" if self.has_scripts else "-no-scripts")


LOOKS = (Look(), Look("dark", 390), Look("dark", 1280, has_scripts=False), Look("light", 390, has_scripts=False))
"""Each of both colours, widths and scripts with each of the others, in half as many looks as there are combinations."""


@dataclass(slots=True)
class Visit:
    """An open page; `complaints` are requests for anything but itself, errors, and warnings of the browser."""

    page: Page
    complaints: list[str] = field(default_factory=list)

    def ask(self, question: str) -> Any:
        """What `browsing.js` answers, with folded parts as they are."""
        return self.page.evaluate(f"{LOOK.strip()}.{question}()")

    def flaws(self, questions: Sequence[str]) -> list[str]:
        return [f"{question}: {flaw}" for question in questions for flaw in self.ask(question)]


def start(kind: BrowserType, executable: str) -> Browser:
    return kind.launch(executable_path=executable, args=FLAGS, timeout=PATIENCE_MS)


@contextmanager
def visit(browser: Browser, address: str, look: Look = Look(), *, is_trusted: bool = False) -> Iterator[Visit]:
    """Open the page in a context of its own, which has no network.

    Args:
        address: whose own files may be read, and nothing else.
        is_trusted: lets the test add scripts where the policy of the page forbids them; what the policy stops is then
            not seen.
    """
    context = browser.new_context(
        color_scheme=look.scheme,
        viewport={"width": look.width, "height": HEIGHT},
        java_script_enabled=look.has_scripts,
        offline=True,
        bypass_csp=is_trusted,
        reduced_motion="reduce",
    )
    context.set_default_timeout(PATIENCE_MS)
    try:
        visited = Visit(context.new_page())
        _listen(visited, address)
        visited.page.goto(address)
        yield visited
    finally:
        context.close()


def take_window(page: Page, scheme: Literal["light", "dark"], width: int, height: int = HEIGHT) -> None:
    """Give an open page other colours and another size, and wait until its own scripts have met the new window.

    A page hears of a new size only with the frame that is drawn next, which on a busy machine comes late.
    """
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function("width => innerWidth === width", arg=width)
    await_frame(page)


def await_frame(page: Page) -> None:
    """Wait until the page was drawn, or for a minute: where nothing is drawn, nobody would say so."""
    page.evaluate(
        "new Promise(done => { setTimeout(done, 60000); requestAnimationFrame(() => requestAnimationFrame(done)) })"
    )


def keep_picture(page: Page, path: Path) -> None:
    """The page in a window as high as it is, but for the end of a very long one."""
    width, height = page.evaluate("[innerWidth, document.documentElement.scrollHeight]")
    path.parent.mkdir(parents=True, exist_ok=True)
    # A picture of a full page would take several times as long, for all of it is drawn before it is cut.
    page.set_viewport_size({"width": width, "height": min(height, MOST_HEIGHT)})
    page.screenshot(path=path, type="jpeg", quality=75)
    page.set_viewport_size({"width": width, "height": HEIGHT})


def folder_of(address: str) -> str:
    return address.rpartition("/")[0] + "/"


def _listen(visited: Visit, address: str) -> None:
    def pass_or_stop(route: Route) -> None:
        if route.request.url.partition("#")[0] == address.partition("#")[0]:
            route.continue_()
        else:
            visited.complaints.append(f"request: {route.request.url}")
            route.abort()

    def note(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            visited.complaints.append(f"{message.type}: {message.text}")

    visited.page.route("**/*", pass_or_stop)
    visited.page.on("console", note)
    visited.page.on("pageerror", lambda error: visited.complaints.append(f"page error: {error}"))


def parts_of(page: Page) -> Sequence[str]:
    """Ids of the parts of a report, in their order."""
    found: Sequence[str] = page.eval_on_selector_all("main > section", "parts => parts.map(it => it.id)")
    return found
