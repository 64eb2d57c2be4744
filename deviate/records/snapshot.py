"""The snapshot as records and replay need it: its manifest, what was put into files, and what was not committed."""

import contextlib
import dataclasses
import itertools
from pathlib import Path

from deviate.base.digests import file_digest
from deviate.base.redaction import redact
from deviate.errors import RecordError
from deviate.model.records import InjectedCode, Revision
from deviate.records.files import read_json, read_record
from deviate.records.layout import experiments_folder, manifest_file
from deviate.records.schema import Manifest

GUEST_MANIFEST = "guest/_deviate_guest/manifest.json"
"""Settings of the guest, below the snapshot; the file has its own digest."""


def read_manifest(snapshot: Path) -> Manifest:
    """Raises RecordError when the manifest is missing or damaged."""
    return read_record(manifest_file(snapshot), Manifest)


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
    written = {name: digest for name, digest in manifest.digests.items() if name.split("/")[0] in folders}
    damaged = [name for name, digest in written.items() if _digest_of(snapshot / name) != digest]
    if "guest" in folders:
        try:
            read_json(snapshot / GUEST_MANIFEST)
        except RecordError:
            damaged.insert(0, GUEST_MANIFEST)
    return tuple(damaged)


def _digest_of(path: Path) -> str | None:
    """The SHA-256 of a file; None if it cannot be read."""
    try:
        return file_digest(path)
    except OSError:
        return None


MOST_CHARACTERS = 20_000
"""Maximum number of characters that are read of the changes of one file, and of the diff to the commit."""
MOST_FILES = 200
ORIGINALS, TREE, DIFF = "originals", "tree", "git.diff"


def list_injected(snapshot: Path) -> tuple[InjectedCode, ...]:
    """The changed lines of every instrumented file, by name; a file that is known by several names once.

    A file that cannot be read is left out: no report fails for it.
    """
    originals = sorted(path for path in (snapshot / ORIGINALS).rglob("*") if path.is_file())[:MOST_FILES]
    codes: dict[Path, InjectedCode] = {}
    for original in originals:
        name = original.relative_to(snapshot / ORIGINALS).as_posix()
        with contextlib.suppress(OSError, RuntimeError):
            place = (snapshot / TREE / name).resolve(strict=True)
            if place not in codes:
                codes[place] = _compare(name, _lines(original), _lines(place))
    return tuple(code for code in codes.values() if code.n_lines)


def _lines(path: Path) -> list[str]:
    return [line.decode("utf-8", errors="replace") for line in path.read_bytes().splitlines()]


def _compare(name: str, before: list[str], after: list[str]) -> InjectedCode:
    """What was put into a file. Taps keep every line in its place, so that lines are compared one by one."""
    pairs = enumerate(zip(before, after, strict=False), start=1)
    changed = [(number, old, new) for number, (old, new) in pairs if old != new]
    sizes = itertools.accumulate(len(old) + len(new) for _, old, new in changed)
    shown = [line for line, size in zip(changed, sizes, strict=True) if size <= MOST_CHARACTERS]
    return InjectedCode(
        file=name,
        n_lines=len(changed),
        diff=tuple(
            text for number, old, new in shown for text in (f"@@ {number} @@", f"-{redact(old)}", f"+{redact(new)}")
        ),
        is_cut=len(shown) < len(changed),
        original=f"snapshot/{ORIGINALS}/{name}",
        instrumented=f"snapshot/{TREE}/{name}",
    )


def revision(snapshot: Path, git: Revision | None) -> Revision | None:
    """Where the project stood in git, with the beginning of what was not committed, in whole lines."""
    if git is None:
        return None
    text = ""
    with contextlib.suppress(OSError):
        text = (snapshot / DIFF).read_text(encoding="utf-8", errors="replace")
    is_cut = len(text) > MOST_CHARACTERS
    diff = text[: text.rfind("\n", 0, MOST_CHARACTERS) + 1] if is_cut else text
    file = f"{snapshot.name}/{DIFF}" if diff else ""
    return dataclasses.replace(git, diff=redact(diff), is_cut=is_cut or git.is_cut, file=file)
