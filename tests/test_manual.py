"""The manual as MkDocs builds it: every page is reached, no link is broken, and nothing comes from another address."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import ROOT

ELSEWHERE = re.compile(
    r"""<(?:script|img|iframe|source)[^>]+src=["']?(?:https?:)?//|<link[^>]+href=["']?(?:https?:)?//"""
)
ELSEWHERE_IN_STYLES = re.compile(r"""(?:url\(|@import )\s*["']?(?:https?:)?//""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manual, built with warnings as errors."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_no_page_asks_anything_of_another_address(site: Path) -> None:
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    assert len(pages) > 40
    assert not [path for path, text in pages.items() if ELSEWHERE.search(text) or ELSEWHERE_IN_STYLES.search(text)]
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert styles
    assert not [text for text in styles if ELSEWHERE_IN_STYLES.search(text)]


def test_every_page_of_the_manual_has_its_own_title(site: Path) -> None:
    titles = [re.search("<title>(.*?)</title>", path.read_text(encoding="utf-8")) for path in site.rglob("index.html")]
    found = [title[1] for title in titles if title]
    assert len(found) == len(titles)
    assert sorted(set(found)) == sorted(found)
