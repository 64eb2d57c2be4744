"""Writes the pages of docs/reference/ that come from the code: `python -m scripts.reference`, from the root.

With `--check` nothing is written: pages that are not as the code has them are named, and the exit code is 1.
"""

import sys
from collections.abc import Callable
from pathlib import Path

from scripts.reference import api, cli, configuration, devices, extensions, files, observers, sinks, sources, statistics

FOLDER = Path(__file__).parents[2] / "docs/reference"
PAGES: dict[str, Callable[[], str]] = {
    "api.md": api.page,
    "cli.md": cli.page,
    "configuration.md": configuration.page,
    "devices.md": devices.page,
    "extensions.md": extensions.page,
    "files.md": files.page,
    "observers.md": observers.page,
    "sinks.md": sinks.page,
    "sources.md": sources.page,
    "statistics.md": statistics.page,
}


def main(arguments: list[str]) -> int:
    """Exit code 1 where a page differs that was only to be checked."""
    stale = []
    for name, page in PAGES.items():
        path, text = FOLDER / name, page()
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    for name in stale:
        print(f"docs/reference/{name} is not what the code says; write it anew: python -m scripts.reference")  # noqa: T201
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
