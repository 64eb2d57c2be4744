"""The sections of CHANGELOG.md, and the fragments in changelog.d/ that the next one is assembled from."""

import re
import subprocess
import sys
from pathlib import Path

FILE = "CHANGELOG.md"
FOLDER = "changelog.d"
TEMPLATE = "template.md"
HEADING = re.compile(r"^## \[(?P<version>\d[^\]]*)\] - (?P<date>\d{4}-\d\d-\d\d)$", re.MULTILINE)


def released_versions(root: Path) -> list[str]:
    """Versions with a section, the newest first."""
    return [match["version"] for match in HEADING.finditer(_text(root))]


def release_date(root: Path, version: str) -> str | None:
    return next((match["date"] for match in HEADING.finditer(_text(root)) if match["version"] == version), None)


def section_of(root: Path, version: str) -> str:
    """What changed in a version, without its heading; empty if it has no section."""
    text = _text(root)
    headings = list(HEADING.finditer(text))
    for heading, end in zip(headings, [*(match.start() for match in headings[1:]), len(text)], strict=True):
        if heading["version"] == version:
            return text[heading.end() : end].strip() + "\n"
    return ""


def fragments(root: Path) -> list[Path]:
    """Files of changes that no version has yet."""
    return sorted(path for path in (root / FOLDER).glob("*") if path.name != TEMPLATE and path.name[0] != ".")


def assemble(root: Path, version: str) -> None:
    """Moves the fragments to a new section of CHANGELOG.md.

    Raises:
        ValueError: if towncrier refuses, for example a fragment with another name.
    """
    command = [sys.executable, "-m", "towncrier", "build", "--yes", "--version", version, "--name", "deviate"]
    process = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if process.returncode:
        raise ValueError(f"towncrier could not assemble {FILE}: {(process.stderr or process.stdout).strip()}")
    # A template of towncrier ends with blank lines, and the sections before it follow.
    path = root / FILE
    path.write_text(re.sub(r"\n{3,}", "\n\n", _text(root)).rstrip("\n") + "\n", encoding="utf-8")


def _text(root: Path) -> str:
    return (root / FILE).read_text(encoding="utf-8")
