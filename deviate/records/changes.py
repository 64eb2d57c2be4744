"""What was put into the user's files, and what of the project was not committed, as the snapshot holds both."""

import io
import os
from collections.abc import Iterator
from pathlib import Path

from deviate.base import redact
from deviate.model import InjectedCode, Revision
from deviate.records.schema import Commit

MOST_CHARACTERS = 20_000
"""Of one file's changes, and of the diff to the commit, that are read: more than a reader of a report goes through."""
MOST_FILES = 200
ORIGINALS, TREE, DIFF = "originals", "tree", "git.diff"


def list_injected(snapshot: Path) -> tuple[InjectedCode, ...]:
    """The changed lines of every instrumented file, by name; a file that is known by several names once.

    Taps keep every line in its place, so that lines are compared one by one. A file that cannot be read is left out:
    no report fails for it.
    """
    codes: list[InjectedCode] = []
    seen: set[Path] = set()
    for original in sorted(_files(snapshot / ORIGINALS))[:MOST_FILES]:
        name = original.relative_to(snapshot / ORIGINALS).as_posix()
        changed = snapshot / TREE / name
        try:
            place = changed.resolve(strict=True)
            if place in seen:
                continue
            seen.add(place)
            code = _compare(name, _lines(original), _lines(changed))
        except (OSError, RuntimeError):
            continue
        codes += [code] if code.n_lines else []
    return tuple(codes)


def revision(snapshot: Path, commit: Commit | None) -> Revision | None:
    """Where the project stood in git, with the beginning of what was not committed."""
    if commit is None:
        return None
    text, is_cut = _beginning(snapshot / DIFF)
    return Revision(
        commit=commit.commit,
        branch=commit.branch,
        is_dirty=commit.is_dirty,
        n_untracked=commit.n_untracked,
        diff=text,
        is_cut=is_cut or commit.is_cut,
        file=f"{snapshot.name}/{DIFF}" if text else "",
    )


def _files(folder: Path) -> Iterator[Path]:
    return (Path(place, name) for place, _, names in os.walk(folder) for name in names)


def _lines(path: Path) -> list[str]:
    text = path.read_bytes().decode("utf-8", errors="replace")
    return [line.rstrip("\r\n") for line in io.StringIO(text, newline="")]


def _compare(name: str, before: list[str], after: list[str]) -> InjectedCode:
    hunks: list[str] = []
    n_lines = n_characters = 0
    for number, (old, new) in enumerate(zip(before, after, strict=False), start=1):
        if old == new:
            continue
        n_lines += 1
        n_characters += len(old) + len(new)
        if n_characters <= MOST_CHARACTERS:
            hunks += [f"@@ {number} @@", f"-{redact(old)}", f"+{redact(new)}"]
    return InjectedCode(
        file=name,
        n_lines=n_lines,
        diff=tuple(hunks),
        is_cut=n_characters > MOST_CHARACTERS,
        original=f"snapshot/{ORIGINALS}/{name}",
        instrumented=f"snapshot/{TREE}/{name}",
    )


def _beginning(path: Path) -> tuple[str, bool]:
    """Whole lines from the beginning of a file, redacted, and whether there are more; nothing where there is none."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_CHARACTERS + 1)
    except OSError:
        return "", False
    is_cut = len(data) > MOST_CHARACTERS
    if is_cut:
        data = data[: data.rfind(b"\n", 0, MOST_CHARACTERS) + 1]
    return redact(data.decode("utf-8", errors="replace")), is_cut
