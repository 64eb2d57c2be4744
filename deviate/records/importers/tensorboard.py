"""Importer `tensorboard`: folders of event files, as SummaryWriter, tf.summary and the callbacks of Keras leave them.

A folder with event files is a run, and a folder of such folders an experiment. What belongs to the run of the folder
above: `train`, `validation` and the like (Keras), whose metrics keep that in front of their names, such as
`validation/epoch_loss`; what `add_scalars(main, …)` makes (`main/name`); and sessions of `add_hparams`. Steps are those
that the script gave. Values are of single precision, as TensorBoard keeps them. How a run ended is not on record: a run
counts as completed, unless its last file breaks off within a record.

Files of one folder are one run that was started again: what a later one has replaces, metric by metric, what the
earlier ones had from its first step on; a declared start (`purge_step`) does so in all metrics, as in TensorBoard.

Event files are read without TensorFlow.
Source: framing https://www.tensorflow.org/tutorials/load_data/tfrecord; messages event.proto, summary.proto and
tensor.proto of TensorBoard 2.21, which all releases since 1.0 write.
"""

import functools
import json
import os
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from deviate.errors import InputError
from deviate.model import Series, Status
from deviate.records.importers import Imported, ImportedRun, importer, wire
from deviate.records.importers.tracked import Trail, Trails, as_series, go_on, list_names, note_on

MARK = "tfevents"
PARTS = frozenset({"train", "training", "validation", "val", "valid", "eval", "evaluation", "test"})
MOST_LOOKED_AT = 2_000
"""Maximum number of folders that are searched for event files before the path counts as another format."""
SCALARS = "scalars"
"""Plugin of tensors that TensorBoard draws as curves; others are images, texts, histograms."""
SESSION = "_hparams_/session_start_info"
START = 1
HEAD = struct.Struct("<QI")
TENSORS = {1: ("<f", 5), 2: ("<d", 6), 3: ("<i", 7), 9: ("<q", 10), 14: ("<H", 13), 19: ("<e", 13)}
"""Form in `struct`, and field of the values, by the number of a tensor type; 14 is the upper half of a float."""
BRAIN_FLOAT = 14
CURE = "restore it, or move it out of the folder to go on without it"


@dataclass(slots=True)
class EventFile:
    """The scalars of one event file, or of several consecutive ones.

    Attributes:
        began, ended: seconds since the epoch of the first and the last event; 0 where there is none.
        restarts: the steps from which on this file replaces what files before it have.
        is_torn: the last record is not whole.
        is_session: it belongs to the plugin for hyperparameters.
        n_cut: values that a restart replaced.
        params: the settings that `add_hparams` wrote, as texts; what is no text is JSON.
    """

    trails: Trails = field(default_factory=dict)
    began: float = 0.0
    ended: float = 0.0
    restarts: list[int] = field(default_factory=list)
    is_torn: bool = False
    is_session: bool = False
    n_cut: int = 0
    params: dict[str, str] = field(default_factory=dict)

    def restart(self, step: int) -> None:
        """Remove values of all metrics at `step` or later, because training restarts there."""
        self.restarts.append(step)
        self.n_cut += sum(trail.cut(step) for trail in self.trails.values())


def read_events(path: Path) -> EventFile:
    """Read an event file: plain scalars of TensorFlow 1 and PyTorch, and tensors of the scalars plugin.

    Raises:
        InputError: it cannot be read, is no event file, or is damaged before its last record.
    """
    file = EventFile()
    plugins: dict[str, str] = {}
    for offset, record, checksum in _records(path, file):
        try:
            is_used = _take(file, wire.message(record), plugins)
        except ValueError as error:
            raise InputError(f"{path} is damaged at byte {offset}: {error}", CURE) from error
        # Pictures and graphs are not worth the time: 60 ns a byte.
        if is_used and _mask_checksum(record) != checksum:
            raise InputError(f"{path} is damaged at byte {offset}: its checksum is wrong", CURE)
    return file


def _records(path: Path, events: EventFile) -> Iterator[tuple[int, bytes, int]]:
    """Yield the position, the bytes and the expected checksum of each complete record."""
    offset = 0
    try:
        with path.open("rb") as file:
            while head := file.read(HEAD.size):
                if len(head) < HEAD.size:
                    events.is_torn = True
                    break
                length, checksum = HEAD.unpack(head)
                if checksum != _mask_checksum(head[:8]):
                    if offset and not any(head) and not any(file.read()):  # a disk that was never told the rest
                        events.is_torn = True
                        break
                    if offset:
                        raise InputError(f"{path} is damaged at byte {offset}", CURE)
                    raise InputError(f"{path} is not a TensorBoard event file", "name the folder of a run")
                body = file.read(length + 4)
                if len(body) < length + 4:
                    events.is_torn = True
                    break
                yield offset, body[:length], int.from_bytes(body[length:], "little")
                offset += HEAD.size + length + 4
    except OSError as error:
        raise InputError(f"reading {path}: {error.strerror or error}") from error


def _take(file: EventFile, event: wire.Message, plugins: dict[str, str]) -> bool:
    """Add the scalars of an event to the file; returns whether it had any."""
    time, step = wire.double(event, 1), wire.whole(event, 2)
    file.began = file.began or time
    file.ended = max(file.ended, time)
    if 7 in event and wire.whole(wire.part(event, 7), 1) == START:
        file.restart(step)
        return True
    is_used = False
    for raw in wire.parts(wire.part(event, 5), 1) if 5 in event else ():
        summary = wire.message(raw)
        tag = wire.text(summary, 1)
        if 9 in summary:  # only the first value of a tag names its plugin
            plugins.setdefault(tag, wire.text(wire.part(wire.part(summary, 9), 1), 1))
        if tag == SESSION:
            file.is_session = True
            file.params |= dict(_hparams(summary))
        value = _value(summary, plugins.get(tag, ""))
        if value is not None:
            file.trails.setdefault(tag, Trail()).add(step, value, time)
            is_used = True
    return is_used


def _hparams(summary: wire.Message) -> Iterator[tuple[str, str]]:
    """The settings of a session.

    Source: plugins/hparams/plugin_data.proto of TensorBoard 2.21; struct.proto of Protocol Buffers for the values.
    """
    content = wire.part(wire.part(wire.part(summary, 9), 1), 2)
    for raw in wire.parts(wire.part(content, 3), 1):
        entry = wire.message(raw)
        value = wire.part(entry, 2)
        if 3 in value:
            yield wire.text(entry, 1), wire.text(value, 3)
        elif 4 in value:
            yield wire.text(entry, 1), json.dumps(bool(wire.whole(value, 4)))
        elif 2 in value:
            number = wire.double(value, 2)
            yield wire.text(entry, 1), json.dumps(int(number) if number.is_integer() else number)


def _value(summary: wire.Message, plugin: str) -> float | None:
    """The scalar of a summary without loss of precision; None for any other kind of value."""
    if 2 in summary:
        return float(struct.unpack("<f", wire.parts(summary, 2)[-1])[0])
    if 8 not in summary or plugin != SCALARS:
        return None
    tensor = wire.part(summary, 8)
    if wire.whole(tensor, 1) not in TENSORS:
        return None
    form, number = TENSORS[wire.whole(tensor, 1)]
    raw = b"".join(wire.parts(tensor, 4)) or _listed_value(tensor, number, form)
    value = struct.unpack(form, raw[: struct.calcsize(form)])[0]
    if wire.whole(tensor, 1) == BRAIN_FLOAT:
        value = struct.unpack("<f", struct.pack("<I", value << 16))[0]
    return float(value)


def _listed_value(tensor: wire.Message, number: int, form: str) -> bytes:
    """The value of a tensor that is stored as a list instead of raw bytes; zeros may be omitted."""
    size = struct.calcsize(form)
    listed = tensor.get(number, [])
    packed = listed[0] if listed else bytes(size)
    if form in {"<f", "<d"}:
        return packed if isinstance(packed, bytes) else bytes(size)
    value = wire.varint(packed, 0)[0] if isinstance(packed, bytes) and packed else packed or 0
    return (value & ((1 << 8 * size) - 1)).to_bytes(size, "little") if isinstance(value, int) else packed


@functools.cache
def _table() -> tuple[int, ...]:
    """CRC-32C by byte (Castagnoli's polynomial), which the standard library does not have."""
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ 0x82F63B78 * (crc & 1)
        table.append(crc)
    return tuple(table)


def _mask_checksum(data: bytes) -> int:
    """The masked CRC of a record. Masking is part of the format, because records may contain CRCs themselves."""
    table = _table()
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[crc & 0xFF ^ byte] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return (crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF


def _claims(path: Path) -> bool:
    if path.is_file():
        return MARK in path.name
    return any(_event_files(path, MOST_LOOKED_AT))


@dataclass(slots=True)
class LoggedRun:
    """A run with its event files, in order."""

    trails: Trails = field(default_factory=dict)
    folders: list[EventFile] = field(default_factory=list)

    @property
    def began(self) -> float:
        return min((folder.began for folder in self.folders if folder.began), default=0.0)

    @property
    def ended(self) -> float:
        return max(folder.ended for folder in self.folders)

    @property
    def status(self) -> Status:
        return "lost" if any(folder.is_torn for folder in self.folders) else "completed"


@importer("tensorboard", description="TensorBoard: event files, or folders of them", claims=_claims, rank=10)
def read_tensorboard(path: Path) -> tuple[Imported, ...]:
    """Read the runs below a folder, or the run of one file, as one experiment.

    Raises:
        InputError: there are no scalars, or a file is damaged.
    """
    root = path.parent if path.is_file() else path
    runs = runs_below(path)
    empty = [_label(home, root, path) for home, run in runs.items() if not run.trails]
    runs = {home: run for home, run in runs.items() if run.trails}
    if not runs:
        raise InputError(f"the event files in {path} hold no scalars", "name another folder")
    series, notes = as_series([run.trails for run in runs.values()], [run.began for run in runs.values()])
    labels = {home: _label(home, root, path) for home in runs}
    imported = tuple(
        ImportedRun(
            labels[home],
            its,
            run.status,
            run.began,
            max(0.0, run.ended - run.began),
        )
        for (home, run), its in zip(runs.items(), series, strict=True)
    )
    run_notes = _notes({labels[home]: run for home, run in runs.items()}, imported)
    all_notes = (*run_notes, *notes, *note_on(empty, "no scalars in the event files, left out"))
    return (Imported(root.resolve().name, "tensorboard", (path,), imported, notes=all_notes),)


def runs_below(path: Path) -> dict[Path, LoggedRun]:
    """The runs below a folder, or the run of one file, by their folders.

    Raises:
        InputError: there are no event files, or one is damaged.
    """
    root = path.parent if path.is_file() else path
    listed = [(root, [path])] if path.is_file() else list(_event_files(path))
    if not listed:
        raise InputError(f"there are no TensorBoard event files in {path}", "name the folder that runs were logged to")
    folders = {folder: _join_files(files) for folder, files in listed}
    runs: dict[Path, LoggedRun] = {}
    for folder, events in folders.items():
        home = root if path.is_file() else _home(folder, root, folders)
        run = runs.setdefault(home, LoggedRun())
        run.folders.append(events)
        for tag, trail in events.trails.items():
            name = _name(tag, folder, home, events)
            if name not in run.trails:
                run.trails[name] = trail
            elif not events.is_session:  # these record only a final value at no step for a curve
                run.trails[f"{folder.relative_to(home).as_posix()}/{tag}"] = trail
    return runs


def _event_files(folder: Path, most: int | None = None) -> Iterator[tuple[Path, list[Path]]]:
    """Event files by folder; their names sort in order of time."""
    for place, inner, names in islice(os.walk(folder), most):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        files = sorted(name for name in names if MARK in name and not name.endswith(".profile-empty"))
        if files:
            yield Path(place), [Path(place, name) for name in files]


def _join_files(files: list[Path]) -> EventFile:
    """Combine the event files of one folder in order of time."""
    whole = read_events(files[0])
    for path in files[1:]:
        later = read_events(path)
        for step in later.restarts:
            whole.restart(step)
        whole.n_cut += later.n_cut + go_on(whole.trails, later.trails)
        whole.began = min(filter(None, (whole.began, later.began)), default=0.0)
        whole.ended = max(whole.ended, later.ended)
        whole.is_torn = later.is_torn
        whole.is_session = whole.is_session or later.is_session
    return whole


def _home(folder: Path, root: Path, folders: Mapping[Path, EventFile]) -> Path:
    """The folder of the run that a folder of event files belongs to."""
    while folder != root:
        above = [parent for parent in folder.parents if parent in folders and parent.is_relative_to(root)]
        if folder.name.lower() in PARTS:
            folder = folder.parent
        elif (
            folder in folders and above and (folders[folder].is_session or _main_tag(folder, above[0], folders[folder]))
        ):
            folder = above[0]
        else:
            break
    return folder


def _main_tag(folder: Path, home: Path, file: EventFile) -> str:
    """The main tag passed to `add_scalars`, which writes a folder `main_name` for it; empty for other folders."""
    tags = list(file.trails)
    inner = folder.relative_to(home).as_posix()
    return tags[0] if len(tags) == 1 and inner.startswith(tags[0].replace("/", "_") + "_") else ""


def _name(tag: str, folder: Path, home: Path, file: EventFile) -> str:
    if folder == home or file.is_session:
        return tag
    inner = folder.relative_to(home).as_posix()
    if _main_tag(folder, home, file):
        return f"{tag}/{inner[len(tag) + 1 :]}"
    return f"{inner}/{tag}"


def _label(home: Path, root: Path, path: Path) -> str:
    if path.is_file():
        return path.name
    return root.resolve().name if home == root else home.relative_to(root).as_posix()


def _notes(runs: Mapping[str, LoggedRun], imported: tuple[ImportedRun, ...]) -> Iterator[str]:
    """Notes that readers of the numbers need."""
    if len(runs) > 1:
        yield f"each folder with event files is a run, {len(runs)} in all; train, validation and so on are parts"
    torn = (run.label for run in imported if run.status == "lost")
    yield from note_on(torn, "the last record is incomplete, so the run was killed or is still running: counts as lost")
    cut = {label: sum(folder.n_cut for folder in run.folders) for label, run in runs.items()}
    cut = {label: n_cut for label, n_cut in cut.items() if n_cut}
    if cut:
        yield (
            f"{list_names(cut)}: started again, so {sum(cut.values())} values of earlier event files are replaced by "
            "later ones; if each file is a separate run, name the files"
        )
    ends = sorted({_last_step(run.series) for run in imported if run.status == "completed"})
    if len(ends) > 1:
        yield (
            f"the last steps of the runs are {ends[0]} to {ends[-1]}; TensorBoard does not record how a run ended, "
            "so all count as completed"
        )


def _last_step(series: Mapping[str, Series]) -> int:
    return max((one.steps[-1] or 0 for one in series.values() if len(one.steps)), default=0)
