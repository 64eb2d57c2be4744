"""Scripts whose two runs are equal or are not: what `deviate diverge` says of them without any option.

`want.json` of a case has `equal`; or `line` of train.py (of `file`, if that is given; of several one has to be named),
`words`, a pattern of the cause, and `cure`, one of the cure; and `never`, texts that must not appear.
"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiers import slow_but

CASES = sorted(path.parent for path in Path(__file__).parent.glob("cases/*/want.json"))
NEEDS = ("torch", "sklearn", "gymnasium")


@pytest.mark.parametrize("name", slow_but([path.name for path in CASES], ["listing-of-uuids"]))
def test_two_runs_as_they_stand_are_equal_or_the_line_the_cause_and_its_cure_are_named(
    name: str, tmp_path: Path, deviate_in: Callable[[Path], Callable[..., Any]], require: Callable[[str], None]
) -> None:
    case = Path(__file__).parent / "cases" / name
    script = (case / "train.py").read_text(encoding="utf-8")
    for module in (module for module in NEEDS if module in script):
        require(module)
    shutil.copytree(case, tmp_path, dirs_exist_ok=True)
    want = json.loads((tmp_path / "want.json").read_text(encoding="utf-8"))
    (tmp_path / "want.json").unlink()
    text = deviate_in(tmp_path)("diverge", "train.py").both
    answer = re.search(r"^(Diverged|Equal)", text, re.MULTILINE)
    assert answer is not None, text
    assert (answer[1] == "Equal") is want.get("equal", False), text
    if "line" in want:
        lines = want["line"] if isinstance(want["line"], list) else [want["line"]]
        cause, cure = part(text, "Cause"), part(text, "Cure")
        assert any(re.search(rf"{want.get('file', 'train.py')}:{line}(?!\d)", cause) for line in lines), text
        assert re.search(want["words"], cause), text
        assert re.search(want["cure"], cure), text
        assert "(proved)" in cause
    assert [never for never in want.get("never", []) if never in text] == []


def part(text: str, label: str) -> str:
    """What the answer says behind a label, on all its lines."""
    found = re.search(rf"(?ms)^{label} .*?(?=^[A-Z][a-z]+ )", f"{text}\nEnd ")
    return "" if found is None else found[0]
