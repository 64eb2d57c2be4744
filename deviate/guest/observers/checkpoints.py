"""The checkpoints of a traced process: files with weights that the program writes, and those that it starts from.

Each file is one line of the trace, with a checksum of the weights at that moment, and of the contents without time
stamps. Copies stay beside the trace, as hard links: the write guard separates them before the program writes to a file
again. They are what later runs can start from.
"""

from __future__ import annotations

import os
import threading
from zlib import crc32

from ..annotations import Any, Callable, Iterable, Iterator
from ..checkpoint_guard import may_be_model
from .trace import FOLDER, Trace

KEPT = "checkpoints"
"""Folder of the kept files, one folder per number of updates."""
MOST_WAITING = 1000
"""Files that were written, and are not yet noted."""
MOST_LINES = 10000
LOGS = (".log", ".csv", ".tsv", ".jsonl", ".out", ".err", ".md", ".png", ".svg", ".html", ".pyc")
"""Suffixes of files that grow, or that no program starts from."""
EVENTS_FILE = "events.out.tfevents"
CHANGING = ("serialization_id", "metadata.json")
"""Entries of archives that hold a time stamp or a random number."""
PIECE = 1 << 20


class Checkpoints:
    """Notes checkpoints while losses are traced, and which planted files are read.

    Args:
        wanted: of `Spec.capture`: `trace-checkpoints`, the maximum number of bytes to keep (absent: nothing is noted);
            `trace-planted`, files that were put into the work copy, with line breaks between.

    Attributes:
        digests: give a checksum of the weights, None without weights; each framework adds its own.
    """

    def __init__(self, wanted: dict[str, str], work: str, folder: str, trace: Trace) -> None:
        self.trace = trace
        self.work = os.path.realpath(work) + os.sep
        self.folder = os.path.realpath(folder) + os.sep
        self.kept = os.path.join(folder, FOLDER, KEPT)
        self.most_bytes = int(wanted.get("trace-checkpoints", "0"))
        self.planted = set(filter(None, wanted.get("trace-planted", "").split("\n")))
        self.digests: list[Callable[[], str | None]] = []
        self.waiting: dict[str, int] = {}
        self.weights: tuple[int, str | None] = (-1, None)
        self.sizes: dict[int, int] = {}
        self.n_lines = 0
        self.is_busy = False
        self.main_thread = threading.main_thread().ident
        if self.most_bytes and trace.requested_level:
            trace.at_step_end.append(self.note)

    def before_reading(self, path: Any) -> None:
        """A file is about to be read; a planted one is recorded once."""
        if not self.planted:
            return
        place = os.path.realpath(os.fsdecode(path))
        name = place[len(self.work) :] if place.startswith(self.work) else ""
        if name in self.planted:
            self.planted.discard(name)
            self.trace.file.add("resumed", name)

    def before_writing(self, path: Any, source: Any = None) -> None:
        """A file is about to be written, or another one, `source`, takes its place."""
        if not self.most_bytes or self.is_busy or not self.trace.level or self.trace.pid != os.getpid():
            return
        self.is_busy = True
        try:
            place = os.path.realpath(os.fsdecode(path))
            if source is not None:
                self.waiting.pop(os.path.realpath(os.fsdecode(source)), None)
            if place.startswith(self.folder) and not place.startswith(self.work):
                return
            is_model, is_main = may_be_model(place), threading.get_ident() == self.main_thread
            if is_model and is_main:
                self.trace.recorder.tell(self.trace.at_boundary)
            if len(self.waiting) < MOST_WAITING:
                self.waiting[place] = self.trace.step
            if is_model and self.weights[0] != self.trace.step:  # in another thread the weights change meanwhile
                self.weights = self.trace.step, self._digest() if is_main else None
        except Exception as error:
            self.trace.recorder.fault("checkpoint %r" % (path,), error)
        finally:
            self.is_busy = False

    def _digest(self) -> str | None:
        digests = [digest for digest in [give() for give in self.digests] if digest is not None]
        return "-".join(digests) or None

    def note(self) -> None:
        """Note and keep the checkpoints that were written since the last call: the program has closed them by now."""
        if not self.waiting:
            return
        waiting, self.waiting = self.waiting, {}
        was_busy, self.is_busy = self.is_busy, True
        try:
            files = {file: step for place, step in waiting.items() for file in _files(place)}
            models = [place for place in files if may_be_model(place)]
            folders = {os.path.dirname(place) + os.sep for place in models}
            for step in sorted({files[place] for place in models}):
                chosen = [
                    place for place in files if files[place] == step and (place in models or _is_beside(place, folders))
                ]
                self._note(step, [place for place in chosen if place in models], chosen)
            if not models:  # what belongs to a later checkpoint may have been written before it
                self.waiting.update(waiting)
        finally:
            self.is_busy = was_busy

    def _note(self, step: int, models: list[str], files: list[str]) -> None:
        weights = self.weights[1] if self.weights[0] == step else None
        self._keep(step, [place for place in files if place.startswith(self.work)])
        for place in models:
            if self.n_lines < MOST_LINES:
                self.n_lines += 1
                name = place[len(self.work) :] if place.startswith(self.work) else place
                size = os.path.getsize(place)
                self.trace.file.add("checkpoint", step, name, weights, contents_checksum(place), size)

    def _keep(self, step: int, files: list[str]) -> None:
        """Keep the files of a checkpoint; where they exceed the limit, drop every other checkpoint."""
        size = sum(os.path.getsize(place) for place in files)
        if not files or size > self.most_bytes:
            return
        while sum(self.sizes.values()) + size > self.most_bytes and len(self.sizes) > 1:
            for old in sorted(self.sizes)[-2::-2]:
                del self.sizes[old]
                _remove(os.path.join(self.kept, str(old)))
        if sum(self.sizes.values()) + size > self.most_bytes:
            return
        self.sizes[step] = self.sizes.get(step, 0) + size
        for place in files:
            target = os.path.join(self.kept, str(step), place[len(self.work) :])
            os.makedirs(os.path.dirname(target), exist_ok=True)
            if os.path.lexists(target):
                os.unlink(target)
            try:
                os.link(place, target)
            except OSError:  # a file system without hard links
                import shutil

                shutil.copy2(place, target)


def _remove(folder: str) -> None:
    import shutil  # loads compression modules

    shutil.rmtree(folder, ignore_errors=True)


def _files(place: str) -> Iterator[str]:
    """A file, or those in a folder that was renamed."""
    if os.path.isdir(place):
        for folder, _, names in os.walk(place):
            for name in names:
                yield os.path.join(folder, name)
    elif os.path.isfile(place):
        yield place


def _is_beside(place: str, folders: Iterable[str]) -> bool:
    """Whether a file belongs to checkpoints in these folders.

    It is in one of them, or right above one with a number, such as `latest` beside `step-500/`.
    """
    if place.endswith(LOGS) or EVENTS_FILE in place:
        return False
    above = os.path.dirname(place)
    return any(
        place.startswith(folder) or (folder[-2:-1].isdigit() and os.path.dirname(folder[:-1]) == above)
        for folder in folders
    )


def contents_checksum(path: str) -> int:
    """CRC-32 of a file; of an archive, that of the names and checksums of its entries, without dates and order."""
    import zipfile  # few processes write checkpoints

    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            entries = [
                (info.filename.partition("/")[2] or info.filename, info.file_size, info.CRC)
                for info in archive.infolist()
                if not info.filename.endswith(CHANGING)
            ]
        return crc32(repr(sorted(entries)).encode("utf-8", "backslashreplace"))
    total = 0
    with open(path, "rb") as file:
        for piece in iter(lambda: file.read(PIECE), b""):
            total = crc32(piece, total)
    return total
