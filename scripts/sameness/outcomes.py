"""What a command left: exit code, streams and files, each as lines that are compared.

Most files are compared byte by byte. Of a page only what a reader or a program takes from it counts: its words, the
words of figures and how many elements draw them, descriptions, and data. Of pictures it is the size.
"""

import difflib
import hashlib
import json
import os
import re
import shutil
import stat
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

SILENT = frozenset({"style", "script"})
"""Elements whose contents nobody reads."""
SPOKEN = ("alt", "aria-label", "title", "href", "datetime", "value", "placeholder")
"""Attributes that are read aloud, shown or followed."""
VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
SIDE = re.compile(r"environments/(?:old|new)\b")
FRAME = re.compile(r'(?m)^(\s+File "[^"\n]*", line )\d+(, in )')
"""Code that moved has other line numbers; that a traceback has other functions is a difference."""
TOKEN = re.compile(r"(?m)^(::(?:stop-commands::)?)[0-9a-f]{32}\b")
"""A word that nobody can guess, between which GitHub reads no commands."""
Stamp = tuple[bool, int, int, int]
"""Whether it is a folder; of a file when it was written, how large it is, and its number."""
FOLDER: Stamp = (True, 0, 0, 0)
SPAN = re.compile(
    r"\$?\b\d+(?:\.\d+)?\$?(?: ?(?:ms|s|min|h)\b)|\b\d+:\d\d\b|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC|(?<=seconds)[\w-]*,.*"
    r'|(?<="wall_time_s": )[\d.e-]+'
)
"""Times in words, and in tables whose rows say that they are of seconds."""
PROCESS = re.compile(r"\b(events|trace|kept)-[0-9a-f]+\b(?:-[0-9a-f]{6,})?")
"""Of the names of files, what tells the process that wrote them."""
SCORES = (".csv", ".tex")
STREAMS = ("exit code", "stdout", "stderr")


@dataclass(frozen=True)
class Outcome:
    """What one command left.

    Attributes:
        parts: lines by what they are of: exit code, stdout, stderr, and each file that was written or removed.
        raw: the bytes of the same, for people to look at.
    """

    parts: dict[str, list[str]]
    raw: dict[str, bytes] = field(repr=False)

    @property
    def n_files(self) -> int:
        return len(self.parts) - len(STREAMS)


class Shown(HTMLParser):
    """The lines of a page or a figure: words, spoken attributes, data, and counts of what draws each figure."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._open: list[str] = []
        self._drawn: Counter[str] = Counter()
        self._is_data = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self._is_data = tag == "script" and attributes.get("type") == "application/json"
        self.lines += [f"[{tag} {name}] {attributes[name]}" for name in SPOKEN if attributes.get(name)]
        if "svg" in {*self._open, tag}:
            self._drawn[tag] += 1
        elif tag in {"h1", "h2", "h3", "h4", "table", "tr", "details", "button", "input"}:
            self.lines.append(f"<{tag}>")
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        self._is_data = False
        if tag in self._open:
            while self._open.pop() != tag:
                pass
        if tag == "svg" and "svg" not in self._open:
            self.lines.append("[svg] " + ", ".join(f"{n} {name}" for name, n in sorted(self._drawn.items())))
            self._drawn.clear()

    def handle_data(self, data: str) -> None:
        is_silent = bool(SILENT & set(self._open)) and not self._is_data
        if not is_silent:
            lines = data.splitlines() if self._is_data else [" ".join(data.split())]
            self.lines += [line for line in lines if line]


def masked(text: str) -> str:
    """Without what two equal programs at two places print differently."""
    return FRAME.sub(r"\1N\2", TOKEN.sub(r"\1TOKEN", SIDE.sub("environments/SIDE", text)))


def lines_of(name: str, data: bytes) -> list[str]:
    """The lines of a file that are compared."""
    suffix = Path(name).suffix.lower()
    if suffix == ".png":
        return ["{} × {} pixels".format(*struct.unpack(">II", data[16:24]))]
    if suffix == ".pdf":
        return [box.decode() for box in re.findall(rb"/MediaBox\s*\[[^\]]*\]", data)]
    try:
        text = masked(data.decode())
    except UnicodeDecodeError:
        return [f"{len(data)} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}"]
    if suffix in {".html", ".svg"}:
        return Shown(text).lines
    # Where the last line ends without a line break, this is a line too.
    return text.split("\n")


class Folder:
    """A copy of a project: what changes in it, from one look to the next, and how it becomes as it was.

    Records have thousands of files, so that one copy is mended again and again instead of being made anew.
    """

    def __init__(self, origin: Path, path: Path) -> None:
        self.origin = origin
        self.path = path
        shutil.copytree(origin, path, symlinks=True)
        self.stamps = self.whole = self._stamps()

    def _stamps(self) -> dict[str, Stamp]:
        stamps: dict[str, Stamp] = {}
        for root, folders, files in os.walk(self.path):
            for name in (*files, *folders):
                path = f"{root}/{name}"
                status = os.lstat(path)
                is_folder = stat.S_ISDIR(status.st_mode)
                stamp = (0, 0, 0) if is_folder else (status.st_mtime_ns, status.st_size, status.st_ino)
                stamps[os.path.relpath(path, self.path)] = (is_folder, *stamp)
        return stamps

    def changes(self) -> dict[str, bytes | None]:
        """Files written since the last look, by path; None for one that was removed."""
        before, self.stamps = self.stamps, self._stamps()
        names = _changed(before, self.stamps)
        return {
            name: _content(self.path / name) if name in self.stamps else None
            for name in names
            if not self.stamps.get(name, before.get(name, FOLDER))[0]
        }

    def mend(self) -> None:
        """Bring back the files that were changed or removed, and remove those that came."""
        stamps = self._stamps()
        changed = _changed(self.whole, stamps)
        for name in reversed(changed):  # what is in a folder before the folder
            if name in stamps:
                path = self.path / name
                path.rmdir() if stamps[name][0] else path.unlink()
        for name in changed:
            if name in self.whole:
                origin, path = self.origin / name, self.path / name
                path.mkdir() if self.whole[name][0] else shutil.copy2(origin, path, follow_symlinks=False)
        self.stamps = self.whole = self._stamps()


def _changed(before: dict[str, Stamp], after: dict[str, Stamp]) -> list[str]:
    """Names that are not in both with the same stamp, a folder before what is in it."""
    return sorted(name for name in before | after if before.get(name) != after.get(name))


def _content(path: Path) -> bytes:
    return f"link to {path.readlink()}".encode() if path.is_symlink() else path.read_bytes()


GUEST_CODE = "/snapshot/guest/"
"""Code of the package itself, which is what the two versions differ in, is no outcome."""


def outcome(code: str, out: bytes, err: bytes, changes: dict[str, bytes | None]) -> Outcome:
    """Make lines of all that a command left."""
    parts = {"exit code": [code], "stdout": lines_of("stdout", out), "stderr": lines_of("stderr", err)}
    raw = {"exit code": code.encode(), "stdout": out, "stderr": err}
    for name, data in changes.items():
        if GUEST_CODE in name and name.endswith(".py"):
            continue
        content = _without_guest_code(data) if data and name.endswith("/snapshot/manifest.json") else data
        parts[name] = ["(removed)"] if content is None else lines_of(name, content)
        raw[name] = data or b""
    return Outcome(parts, raw)


def _without_guest_code(manifest: bytes) -> bytes:
    """A manifest without the digests of the package's own files, and without its own, which follows from them."""
    document = json.loads(manifest)
    document.pop("digest", None)
    digests = document.get("digests", {})
    document["digests"] = {name: digest for name, digest in digests.items() if not name.startswith("guest/")}
    return json.dumps(document).encode()


def timeless(left: Outcome) -> Outcome:
    """Of a command that ran scripts, what does not depend on the clock and on numbers of processes.

    Streams without times, all that the plan and the snapshot say, scores, and of other files that they were written.
    """
    parts = {}
    for name, lines in left.parts.items():
        place = PROCESS.sub(r"\1-N", name)
        if name in STREAMS:
            parts[name] = _without_times(lines)
        elif "__pycache__" not in name:
            if name.endswith(SCORES):
                parts[place] = _without_times(lines)
            else:
                is_kept = name.endswith("spec.json") or "/snapshot/tree/" in name
                parts[place] = lines if is_kept else ["(written)"]
    return Outcome(parts, left.raw)


def _without_times(lines: list[str]) -> list[str]:
    return [SPAN.sub("TIME", line) for line in lines]


def differences(old: Outcome, new: Outcome) -> Iterator[tuple[str, list[str]]]:
    """What differs, and the lines of a unified diff of it."""
    for name in sorted(old.parts | new.parts, key=lambda part: (part not in STREAMS, part)):
        if name not in new.parts:
            yield name, ["-(written or removed by the old side alone)"]
        elif name not in old.parts:
            yield name, ["+(written or removed by the new side alone)"]
        elif old.parts[name] != new.parts[name]:
            diff = difflib.unified_diff(old.parts[name], new.parts[name], "old", "new", n=1, lineterm="")
            yield name, list(diff)[2:]
