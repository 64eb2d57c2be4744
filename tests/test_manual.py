"""The manual as MkDocs builds it: every page is reached, no link is broken, and nothing comes from another address."""

import re
from pathlib import Path

ELSEWHERE = re.compile(
    r"""<(?:script|img|iframe|source)[^>]+src=["']?(?:https?:)?//|<link[^>]+href=["']?(?:https?:)?//"""
)
ELSEWHERE_IN_STYLES = re.compile(r"""(?:url\(|@import )\s*["']?(?:https?:)?//""")


def test_no_page_asks_anything_of_another_address(manual: Path) -> None:
    pages = {path: path.read_text(encoding="utf-8") for path in manual.rglob("*.html")}
    assert len(pages) > 40
    assert not [path for path, text in pages.items() if ELSEWHERE.search(text) or ELSEWHERE_IN_STYLES.search(text)]
    styles = [path.read_text(encoding="utf-8") for path in manual.rglob("*.css")]
    assert styles
    assert not [text for text in styles if ELSEWHERE_IN_STYLES.search(text)]


def test_every_page_of_the_manual_has_its_own_title(manual: Path) -> None:
    titles = [
        re.search("<title>(.*?)</title>", path.read_text(encoding="utf-8")) for path in manual.rglob("index.html")
    ]
    found = [title[1] for title in titles if title]
    assert len(found) == len(titles)
    assert sorted(set(found)) == sorted(found)
