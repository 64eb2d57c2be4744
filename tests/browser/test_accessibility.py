"""axe-core finds nothing serious in a report of any kind, as it opens and unfolded, whatever its colours and width."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import take_window, visit
from kinds import KINDS
from playwright.sync_api import Browser
from tiers import slow_but

GRAVE = {"serious", "critical"}
ALL_RULES = {"resultTypes": ["violations"]}
COLOURS = ALL_RULES | {"runOnly": ["color-contrast"]}
VISITS: list[tuple[str, Literal["light", "dark"], int, dict[str, Any]]] = [
    ("opens", "dark", 390, ALL_RULES),
    ("unfolded", "light", 1280, ALL_RULES),
    ("unfolded", "dark", 1280, COLOURS),
]
"""Both states, colours and widths. An unfolded page has all that it opens with, and other rules know no colours."""
UNFOLDED = frozenset({"two_with_a_verdict", "noise_study", "failures", "captured", "imported_scores"})
"""Reports with all that can unfold in any. axe-core reads the others as they open only."""

READ = [kind for kind in KINDS if not kind.startswith("hostile")]
"""Texts that are hostile change no element, as tests/report/test_hostile.py shows."""


@pytest.mark.parametrize("kind", slow_but(READ, ["failures"]))
def test_nobody_is_kept_from_reading_a_report(
    browser: Browser, address_of: Callable[[str], str], artifacts: Path, kind: str
) -> None:
    found = {}
    with visit(browser, address_of(kind), is_trusted=True) as visited:
        for state, scheme, width, rules in VISITS if kind in UNFOLDED else VISITS[:1]:
            if state == "unfolded":
                visited.ask("unfold")
            take_window(visited.page, scheme, width)
            found[f"{state}-{scheme}-{width}"] = Axe().run(visited.page, options=rules).response["violations"]
    artifacts.mkdir(parents=True, exist_ok=True)
    (artifacts / f"{kind}-axe.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    grave = [
        f"{look}: {it['id']} ({len(it['nodes'])}): {it['nodes'][0]['html'][:200]}"
        for look, violations in found.items()
        for it in violations
        if it["impact"] in GRAVE
    ]
    assert grave == []
