"""The last section of the page of devices, from the list of checks that need a device; the rest is written by hand."""

import tomllib
from pathlib import Path

from scripts.reference.docstrings import cell

ROOT = Path(__file__).parents[2]
TITLE = "## What needs a device"
HEAD = f"""{TITLE}

No accelerator takes part in the tests: these statements hold only where `scripts/on-accelerator` has shown them. It
needs a clone of the repository and a machine with the device, carries out the checks that fit, and writes its results
to `docs/results/`. The list is `scripts/accelerator_checks.toml`.

| check | needs | what is shown, and how | why a stand-in does not show it |
|---|---|---|---|
"""


def page() -> str:
    """The whole page as Markdown, ending in a newline."""
    written = (ROOT / "docs/reference/devices.md").read_text(encoding="utf-8").partition(TITLE)[0]
    checks = tomllib.loads((ROOT / "scripts/accelerator_checks.toml").read_text(encoding="utf-8"))["check"]
    rows = [
        f"| `{check['name']}` | {', '.join(check['needs'])} | {cell(check['title'])}. {cell(check['shows'])} "
        f"| {cell(check['why'])} |\n"
        for check in checks
    ]
    return "".join([written, HEAD, *rows])
