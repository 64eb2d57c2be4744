"""The table of causes, and the page that is written from it."""

import re
import subprocess
import sys
from pathlib import Path

from each import check_each

from deviate.diverge.causes import GROUPS, KnownCause
from deviate.diverge.causes.find import KNOWN_CAUSES
from deviate.diverge.causes.operations import FAMILIES
from deviate.sources.catalogue import SOURCES

ROOT = Path(__file__).parents[2]


def test_the_page_of_the_documentation_is_up_to_date_and_in_the_manual() -> None:
    command = [sys.executable, "-P", "-m", "deviate.diverge.causes.page"]
    written = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    assert (ROOT / "docs/reference/causes.md").read_text(encoding="utf-8") == written
    assert "reference/causes.md" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


def check_cause(known: KnownCause) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", known.id)
    assert known.group in GROUPS
    assert min(map(len, (known.reason, known.signs, known.cure))) > 10
    assert not known.title.endswith(".")
    assert all(it.startswith("https://") or it.endswith(".md") for it in known.source.split(", "))


def test_a_cause_tells_what_it_is_what_points_to_it_what_removes_it_and_where_that_stands() -> None:
    check_each(((known.id, known) for known in KNOWN_CAUSES), check_cause)


def test_no_two_causes_have_one_name() -> None:
    assert len({known.id for known in KNOWN_CAUSES}) == len(KNOWN_CAUSES)


def test_every_hazard_that_a_cause_looks_for_is_one_that_the_analysis_finds() -> None:
    calls = re.compile(r"(?:hazard_places|hazards_named|source_match)\(evidence, \(?([^)*]+)\)")
    asked = {name for family in FAMILIES for name in family.hazards}
    for file in (ROOT / "deviate/diverge/causes").glob("*.py"):
        for call in calls.finditer(file.read_text(encoding="utf-8")):
            asked |= set(re.findall(r'"([a-z-]+)"', call[1]))
    assert len(asked) > 20
    assert asked <= set(SOURCES)
