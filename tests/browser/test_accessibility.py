"""axe-core finds nothing serious in a report of any kind, whatever its colours and width."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import take_window, visit
from kinds import KINDS, LONG
from playwright.sync_api import Browser
from tiers import slow_but

GRAVE = {"serious", "critical"}
LOOKS: list[tuple[Literal["light", "dark"], int]] = [("dark", 390), ("light", 1280)]
"""Both colours, for contrast, and both widths, for what scrolls. Of long reports, which take long, only the first."""


@pytest.mark.parametrize("kind", slow_but(KINDS, ["two_with_a_verdict"]))
def test_nobody_is_kept_from_reading_a_report(
    browser: Browser, address_of: Callable[[str], str], artifacts: Path, kind: str
) -> None:
    found = {}
    with visit(browser, address_of(kind), is_trusted=True) as visited:
        for scheme, width in LOOKS[:1] if kind in LONG else LOOKS:
            take_window(visited.page, scheme, width)
            found[f"{scheme}-{width}"] = Axe().run(visited.page).response["violations"]
    artifacts.mkdir(parents=True, exist_ok=True)
    (artifacts / f"{kind}-axe.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    grave = [
        f"{look}: {it['id']} ({len(it['nodes'])}): {it['nodes'][0]['html'][:200]}"
        for look, violations in found.items()
        for it in violations
        if it["impact"] in GRAVE
    ]
    assert grave == []
