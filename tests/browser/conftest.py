"""A browser for each file of tests, and reports of each kind as files that it opens."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browsing import start
from kinds import KINDS
from playwright.sync_api import Browser, sync_playwright

from deviate.report.forms.registry import render
from deviate.report.parts.build import build_report

ARTIFACTS = "DEVIATE_TEST_ARTIFACTS"
"""The folder in which pictures of pages, and what the accessibility checks found, are kept."""


@pytest.fixture(scope="module")
def browser(require: Callable[[str], None]) -> Iterator[Browser]:
    """Debian's Chromium: never the one that playwright would download."""
    require("chromium")
    with sync_playwright() as playwright:
        chromium = start(playwright.chromium, shutil.which("chromium") or "")
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def address_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """`address_of(kind)` is where the report of that kind lies; each is made once."""
    folder = tmp_path_factory.mktemp("reports")

    def write(kind: str) -> str:
        path = folder / f"{kind}.html"
        if not path.exists():
            path.write_text(render(build_report(KINDS[kind]()), "html"), encoding="utf-8")
        return path.as_uri()

    return write


@pytest.fixture(scope="session")
def artifacts(pytestconfig: pytest.Config) -> Path:
    """Where a test leaves what a person may want to look at."""
    return Path(os.environ.get(ARTIFACTS) or pytestconfig.rootpath / "test-artifacts") / "browser"
