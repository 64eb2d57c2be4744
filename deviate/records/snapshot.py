"""The snapshot as records and replay need it: its manifest, what was put into files, and what was not committed."""

import contextlib
import dataclasses
import io
import os
from collections.abc import Iterator
from pathlib import Path

from deviate.base.digests import file_digest
from deviate.base.redaction import redact
from deviate.errors import RecordError
from deviate.model.records import InjectedCode, Revision
from deviate.records.files import read_json, read_record
from deviate.records.layout import experiments_folder
from deviate.records.schema import Manifest

GUEST_MANIFEST = "guest/_deviate_guest/manifest.json"
"""Settings of the guest, below the snapshot; the file has its own digest."""


def read_manifest(snapshot: Path) -> Manifest:
    """Raises RecordError when the manifest is missing or damaged."""
    return read_record(snapshot / "manifest.json", "manifest", Manifest)


def output_names(deviate: Path) -> frozenset[str]:
    """Files of the project, relative to its root, that output of deviate went to when an experiment began.

    They do not affect runs, although they lie beside the script: `deviate run train.py > run.txt`.

    Args:
        deviate: the `.deviate/` folder. A manifest that cannot be read is left out.
    """
    names: set[str] = set()
    for path in experiments_folder(deviate).glob("*/snapshot/manifest.json"):
        with contextlib.suppress(RecordError):
            names.update(read_manifest(path.parent).own_output)
    return frozenset(names)


def damaged_sources(snapshot: Path, manifest: Manifest, *folders: str) -> tuple[str, ...]:
    """Files below some folders of a snapshot that are not what deviate has written there."""
    damaged = []
    guest = snapshot / GUEST_MANIFEST
    if "guest" in folders and not _is_intact(guest):
        damaged.append(GUEST_MANIFEST)
    for name, digest in manifest.digests.items():
        if name.split("/")[0] in folders:
            try:
                is_same = file_digest(snapshot / name) == digest
            except OSError:
                is_same = False
            damaged += [] if is_same else [name]
    return tuple(damaged)


def _is_intact(guest: Path) -> bool:
    try:
        read_json(guest, "manifest")
    except RecordError:
        return False
    return True


MOST_CHARACTERS = 20_000
"""Maximum number of characters that are read of the changes of one file, and of the diff to the commit."""
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


def revision(snapshot: Path, git: Revision | None) -> Revision | None:
    """Where the project stood in git, with the beginning of what was not committed."""
    if git is None:
        return None
    text, is_cut = _beginning(snapshot / DIFF)
    file = f"{snapshot.name}/{DIFF}" if text else ""
    return dataclasses.replace(git, diff=text, is_cut=is_cut or git.is_cut, file=file)


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
