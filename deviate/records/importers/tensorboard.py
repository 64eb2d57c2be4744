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
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from deviate.errors import InputError
from deviate.records.importers import Imported, importer, wire
from deviate.records.importers.tracked import (
    Project,
    TrackedRun,
    Trail,
    go_on,
    imported_runs,
    note_on,
    split_aggregates,
)
from deviate.records.importers.wandb import flatten, settings
from deviate.series.words import DATA_WORDS

MARK = "tfevents"
MOST_LOOKED_AT = 2_000
"""Maximum number of folders that are searched for event files before the path counts as another format."""
SCALARS = "scalars"
"""Plugin of tensors that TensorBoard draws as curves; others are images, texts, histograms."""
SESSION = "_hparams_/session_start_info"
START = 1
HEAD = struct.Struct("<QI")
TENSORS = {1: ("<f", 5), 2: ("<d", 6)}
"""Form in `struct`, and field of the values, by the number of a tensor type that writers of scalars use."""
FILES = (
    *("hparams.yaml", "config.yaml", "config.yml", "args.yaml", ".hydra/config.yaml"),
    *("config.json", "args.json", "params.json", "hparams.json"),
)
"""Files in which Lightning, Hydra, Ray and many scripts keep the settings of a run."""
AGGREGATE = "*tfevents*.deviate"
"""Event files that `deviate report --to tensorboard` writes."""
SEED_IN_NAME = re.compile(r"(?i)(?<![a-z])(?:seed|rs|s)[_=-]?(\d+)(?!\d)")
INDEX_IN_NAME = re.compile(r"(?i)(?<![a-z])(?:version|run|rep|replicate|trial)[_=-]?\d+(?!\d)")
CURE = "restore it, or move it out of the folder to go on without it"


@dataclass(slots=True)
class EventLog(TrackedRun):
    """What event files hold: one, those of a folder, or all of a run. It is lost if its last record is torn.

    Attributes:
        ended: seconds since the epoch of the last event, 0 where there is none; `started` is that of the first.
        restarts: the steps from which on this file replaces what files before it have.
        is_session: it belongs to the plugin for hyperparameters.
        n_cut: values that a restart replaced.
    """

    ended: float = 0.0
    restarts: list[int] = field(default_factory=list)
    is_session: bool = False
    n_cut: int = 0

    def restart(self, step: int) -> None:
        """Remove values of all metrics at `step` or later, because training restarts there."""
        self.restarts.append(step)
        self.n_cut += sum(trail.cut(step) for trail in self.trails.values())

    def include(self, other: "EventLog") -> None:
        """Take over everything of another log but its values and its status."""
        self.started = min(filter(None, (self.started, other.started)), default=0.0)
        self.ended = max(self.ended, other.ended)
        self.wall_time_s = max(0.0, self.ended - self.started)
        self.is_session = self.is_session or other.is_session
        self.n_cut += other.n_cut
        self.params |= other.params


def _claims(path: Path) -> bool:
    if path.is_file():
        return MARK in path.name
    return any(_event_files(path, MOST_LOOKED_AT))


@importer("tensorboard", description="TensorBoard: event files, or folders of them", claims=_claims, rank=10)
def read_tensorboard(path: Path) -> tuple[Imported, ...]:
    """Read the runs below a folder, or the run of one file, as one experiment.

    Raises:
        InputError: there are no scalars, or a file is damaged.
    """
    logs = list(runs_below(path).values())
    runs = [log for log in logs if log.trails]
    if not runs:
        raise InputError(f"the event files in {path} hold no scalars", "name another folder")
    imported, of_steps = imported_runs(runs, [run.started for run in runs], "hparam.")
    empty = note_on((log.label for log in logs if not log.trails), "no scalars in the event files, left out")
    root = path.parent if path.is_file() else path
    return (Imported(root.resolve().name, "tensorboard", (path,), imported, notes=(*_notes(runs), *of_steps, *empty)),)


def _notes(runs: Sequence[EventLog]) -> Iterator[str]:
    """Notes that readers of the numbers need."""
    if len(runs) > 1:
        yield f"each folder with event files is a run, {len(runs)} in all; train, validation and so on are parts"
    torn = (run.label for run in runs if run.status == "lost")
    yield from note_on(torn, "the last record is incomplete, so the run was killed or is still running: counts as lost")
    n_cut = sum(run.n_cut for run in runs)
    yield from note_on(
        (run.label for run in runs if run.n_cut),
        f"started again, so {n_cut} values of earlier event files are replaced by later ones; if each file is a "
        "separate run, name the files",
    )


def runs_below(path: Path) -> dict[Path, EventLog]:
    """The runs below a folder, or the run of one file, by their folders.

    Raises:
        InputError: there are no event files, or one is damaged.
    """
    root = path.parent if path.is_file() else path
    listed = [(root, [path])] if path.is_file() else list(_event_files(path))
    if not listed:
        raise InputError(f"there are no TensorBoard event files in {path}", "name the folder that runs were logged to")
    logs = {folder: _join_files(files) for folder, files in listed}
    runs: dict[Path, EventLog] = {}
    for folder, log in logs.items():
        home = _home(folder, root, logs)
        label = path.resolve().name if home == root else home.relative_to(root).as_posix()
        run = runs.setdefault(home, EventLog(label))
        run.include(log)
        run.status = "lost" if log.status == "lost" else run.status
        for tag, trail in log.trails.items():  # a session has only a final value of a curve
            run.trails.setdefault(_name(tag, folder, home, log), trail)
    return runs


def _event_files(folder: Path, most: int | None = None) -> Iterator[tuple[Path, list[Path]]]:
    """Event files by folder; their names sort in order of time."""
    for place, inner, names in islice(os.walk(folder), most):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        files = sorted(name for name in names if MARK in name and not name.endswith(".profile-empty"))
        if files:
            yield Path(place), [Path(place, name) for name in files]


def _join_files(files: Sequence[Path]) -> EventLog:
    """Combine the event files of one folder in order of time."""
    whole = EventLog("")
    for path in files:
        later = _read_events(path)
        for step in later.restarts:
            whole.restart(step)
        whole.n_cut += go_on(whole.trails, later.trails)
        whole.include(later)
        whole.status = later.status
    return whole


def _home(folder: Path, root: Path, logs: Mapping[Path, EventLog]) -> Path:
    """The folder of the run that a folder of event files belongs to."""
    while folder != root:
        above = next((parent for parent in folder.parents if parent in logs and parent.is_relative_to(root)), None)
        if folder.name.lower() in DATA_WORDS:
            folder = folder.parent
        elif folder in logs and above and (logs[folder].is_session or _main_tag(folder, above, logs[folder])):
            folder = above
        else:
            break
    return folder


def _main_tag(folder: Path, home: Path, log: EventLog) -> str:
    """The main tag passed to `add_scalars`, which writes a folder `main_name` for it; empty for other folders."""
    tags = list(log.trails)
    inner = folder.relative_to(home).as_posix()
    return tags[0] if len(tags) == 1 and inner.startswith(tags[0].replace("/", "_") + "_") else ""


def _name(tag: str, folder: Path, home: Path, log: EventLog) -> str:
    if folder == home or log.is_session:
        return tag
    inner = folder.relative_to(home).as_posix()
    return f"{tag}/{inner[len(tag) + 1 :]}" if _main_tag(folder, home, log) else f"{inner}/{tag}"


def read_tensorboard_folder(place: str) -> Project:
    """Read the runs below a folder; where a run has no settings, its folder is one, without seed and number of the run.

    Raises:
        InputError: there is no such folder, it has no event files, or one is damaged.
    """
    root = Path(place)
    if not root.is_dir():
        raise InputError(f"reading tensorboard:{place}: there is no such folder", "name the folder that runs lie in")
    unread: list[str] = []
    logs = {home: log for home, log in runs_below(root).items() if log.trails}
    for home, log in logs.items():
        log.params = {**_settings(home, unread), **log.params}
        if not log.params:
            if seed := SEED_IN_NAME.search(log.label):
                log.params["seed"] = seed[1]
            log.labels["folder"] = INDEX_IN_NAME.sub("<run>", SEED_IN_NAME.sub("<seed>", log.label))
    aggregates = {log.id for home, log in logs.items() if any(home.glob(AGGREGATE))}
    runs, notes = split_aggregates(list(logs.values()), lambda run: run.id in aggregates)
    notes += tuple(note_on(unread, "settings that cannot be read"))
    return Project(f"tensorboard:{place}", root.resolve().name, "tensorboard", "hparam.", runs, notes=notes)


def _settings(home: Path, unread: list[str]) -> dict[str, str]:
    """The settings in the first file of settings."""
    path = next((home / name for name in FILES if (home / name).is_file()), None)
    if path is None:
        return {}
    try:
        text = path.read_text(encoding="utf-8")
        values = json.loads(text) if path.suffix == ".json" else _yaml(text)
    except (OSError, ValueError) as error:
        unread.append(f"{path} ({error})")
        return {}
    items = values.items() if isinstance(values, dict) else ()
    return dict(settings(item for name, value in items for item in flatten(str(name), value)))


def _yaml(text: str) -> object:
    """Parse YAML, where PyYAML is installed, as it is wherever Lightning or Hydra is. Raises ValueError."""
    try:
        import yaml
    except ImportError as error:
        raise ValueError("PyYAML is not installed here") from error
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error).splitlines()[0]) from error


def _read_events(path: Path) -> EventLog:
    """Read an event file: plain scalars of TensorFlow 1 and PyTorch, and tensors of the scalars plugin.

    Raises:
        InputError: it is no event file, or is damaged before its last record.
    """
    log = EventLog(path.name)
    plugins: dict[str, str] = {}
    for offset, record, checksum in _records(path, log):
        try:
            is_used = _take(log, wire.message(record), plugins)
        except ValueError as error:
            raise InputError(f"{path} is damaged at byte {offset}: {error}", CURE) from error
        # Pictures and graphs are not worth the time: 60 ns a byte.
        if is_used and _mask_checksum(record) != checksum:
            raise InputError(f"{path} is damaged at byte {offset}: its checksum is wrong", CURE)
    return log


def _records(path: Path, log: EventLog) -> Iterator[tuple[int, bytes, int]]:
    """Yield the position, the bytes and the expected checksum of each complete record."""
    offset = 0
    with path.open("rb") as file:
        while head := file.read(HEAD.size):
            log.status = "lost"  # until the record proves to be whole
            if len(head) < HEAD.size:
                return
            length, checksum = HEAD.unpack(head)
            if checksum != _mask_checksum(head[:8]):
                if offset and not any(head) and not any(file.read()):  # a disk that was never told the rest
                    return
                problem = f"is damaged at byte {offset}" if offset else "is not a TensorBoard event file"
                raise InputError(f"{path} {problem}", CURE)
            body = file.read(length + 4)
            if len(body) < length + 4:
                return
            log.status = "completed"
            yield offset, body[:length], int.from_bytes(body[length:], "little")
            offset += HEAD.size + length + 4


def _take(log: EventLog, event: wire.Message, plugins: dict[str, str]) -> bool:
    """Add the scalars of an event to the log; returns whether it had any."""
    time, step = wire.double(event, 1), wire.whole(event, 2)
    log.started = log.started or time
    log.ended = max(log.ended, time)
    if 7 in event and wire.whole(wire.part(event, 7), 1) == START:
        log.restart(step)
        return True
    is_used = False
    for raw in wire.parts(wire.part(event, 5), 1) if 5 in event else ():
        summary = wire.message(raw)
        tag = wire.text(summary, 1)
        if 9 in summary:  # only the first value of a tag names its plugin
            plugins.setdefault(tag, wire.text(wire.part(wire.part(summary, 9), 1), 1))
        if tag == SESSION:
            log.is_session = True
            log.params |= dict(_hparams(summary))
        value = _value(summary, plugins.get(tag, ""))
        if value is not None:
            log.trails.setdefault(tag, Trail()).add(step, value, time)
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
    size = struct.calcsize(form)
    raw = b"".join(wire.parts(tensor, 4) or wire.parts(tensor, number)) or bytes(size)  # a zero may be left out
    return float(struct.unpack(form, raw[:size])[0])


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
