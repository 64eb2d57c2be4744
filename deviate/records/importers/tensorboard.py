"""Importer `tensorboard`: folders of event files, as SummaryWriter, tf.summary and the callbacks of Keras leave them.

A folder with event files is a run, and a folder of such folders an experiment. What belongs to the run of the folder
above: `train`, `validation` and the like (Keras), whose metrics keep that in front of their names, such as
`validation/epoch_loss`; what `add_scalars(main, …)` makes (`main/name`); and sessions of `add_hparams`. Steps are those
that the script gave. Values are of single precision, as TensorBoard keeps them. How a run ended is not on record: a run
counts as completed, unless its last file breaks off within a record.

Files of one folder are one run that was started again: what a later one has replaces, metric by metric, what the
earlier ones had from its first step on; a declared start (`purge_step`) does so in all metrics, as in TensorBoard.

The package `tensorboard` has the messages of the format, and needs no TensorFlow for them. The framing is read here:
the loader of the package does not tell a record that breaks off from one that is damaged, and imports TensorFlow where
that is installed, which takes seconds.
Source: https://www.tensorflow.org/tutorials/load_data/tfrecord
"""

import os
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from deviate.errors import InputError
from deviate.records.importers import Imported, importer
from deviate.records.importers.tracked import (
    TrackedProject,
    TrackedRun,
    as_params,
    calling,
    note_on,
    read_settings,
    trained,
)
from deviate.series.words import DATA_WORDS

MARK = "tfevents"
MOST_LOOKED_AT = 2_000
"""Maximum number of folders that are searched for event files before the path counts as another format."""
SCALARS = "scalars"
"""Plugin of tensors that TensorBoard draws as curves; others are images, texts, histograms."""
SESSION = "_hparams_/session_start_info"
HEAD = struct.Struct("<QI")
TENSORS = {1: "<f", 2: "<d"}
"""Form in `struct` by the number of a tensor type that writers of scalars use."""
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
    """What the event files of a folder hold, or all of a run. It is lost if the last record of its last file is torn.

    Attributes:
        ended: seconds since the epoch of the last event, 0 where there is none; `started` is that of the first.
        is_session: it belongs to the plugin for hyperparameters.
    """

    ended: float = 0.0
    is_session: bool = False

    def include(self, part: "EventLog") -> None:
        """Take over what the run as a whole has from a folder of its event files."""
        self.started = min(filter(None, (self.started, part.started)), default=0.0)
        self.ended = max(self.ended, part.ended)
        self.wall_time_s = max(0.0, self.ended - self.started)
        self.n_replaced += part.n_replaced
        self.params |= part.params
        self.status = "lost" if part.status == "lost" else self.status


def _claims(path: Path) -> bool:
    if path.is_file():
        return MARK in path.name
    return any(_event_files(path, MOST_LOOKED_AT))


@importer("tensorboard", claims=_claims, rank=10)
def read_tensorboard(path: Path) -> tuple[Imported, ...]:
    """Read the runs below a folder, or the run of one file, as one experiment.

    Raises:
        InputError: there are no scalars, a file is damaged, or the package `tensorboard` is not installed.
    """
    project = read_tensorboard_project(str(path))
    if not project.runs:
        raise InputError(f"the event files in {path} hold no scalars", "name another folder")
    return (project.as_experiment(path),)


def read_tensorboard_project(place: str) -> TrackedProject:
    """Read the runs below a folder; where a run has no settings, its folder is one, without seed and number of the run.

    Raises:
        InputError: there is no such folder, it has no event files, one is damaged, or the package `tensorboard` is not
            installed.
    """
    path = Path(place)
    root = path.parent if path.is_file() else path
    listed = [(root, [path])] if path.is_file() else list(_event_files(path))
    if not listed:
        raise InputError(f"there are no TensorBoard event files in {path}", "name the folder that runs were logged to")
    logs = {folder: _read_files(files) for folder, files in listed}
    runs: dict[Path, EventLog] = {}
    for folder, log in logs.items():
        home = _home(folder, root, logs)
        label = path.resolve().name if home == root else home.relative_to(root).as_posix()
        run = runs.setdefault(home, EventLog(label))
        run.include(log)
        for tag, points in log.trails.items():  # a session has only a final value of a curve
            run.trails.setdefault(_name(tag, folder, home, log), points)
    for home, run in runs.items():
        run.is_aggregate = any(home.glob(AGGREGATE))
        run.params = {**_settings(home), **run.params}
        if not run.params:
            if seed := SEED_IN_NAME.search(run.label):
                run.params["seed"] = seed[1]
            run.labels["folder"] = INDEX_IN_NAME.sub("<run>", SEED_IN_NAME.sub("<seed>", run.label))
    kept, notes = trained(run for run in runs.values() if run.trails)
    if len(kept) > 1:
        notes.append(f"{len(kept)} runs: each folder with event files is one; train, validation and so on are parts")
    notes += note_on((run.label for run in runs.values() if not run.trails), "no scalars in the event files, left out")
    return TrackedProject(f"tensorboard:{path}", root.resolve().name, "tensorboard", "hparam.", kept, notes=notes)


def _event_files(folder: Path, most: int | None = None) -> Iterator[tuple[Path, list[Path]]]:
    """Event files by folder; their names sort in order of time."""
    for place, inner, names in islice(os.walk(folder), most):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        files = sorted(name for name in names if MARK in name and not name.endswith(".profile-empty"))
        if files:
            yield Path(place), [Path(place, name) for name in files]


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


def _settings(home: Path) -> dict[str, str]:
    """The settings in the first file of settings."""
    path = next((home / name for name in FILES if (home / name).is_file()), None)
    return {} if path is None else read_settings(path)


def _read_files(paths: Sequence[Path]) -> EventLog:
    """Read the event files of one folder in order of time.

    Raises:
        InputError: one is no event file, or is damaged before its last record.
    """
    log = EventLog("")
    for path in paths:
        plugins: dict[str, str] = {}
        with path.open("rb") as file, calling("tensorboard", f"reading {path}", CURE):
            from google.protobuf.message import DecodeError
            from tensorboard.compat.proto.event_pb2 import Event
            from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c

            for offset, record, checksum in _records(file, log, masked_crc32c):
                try:
                    is_used = _take(log, Event.FromString(record), plugins)
                    # The checksum of pictures and graphs is not worth the time: 120 ns a byte.
                    is_whole = not is_used or masked_crc32c(record) == checksum
                except DecodeError:
                    is_whole = False
                if not is_whole:
                    raise ValueError(f"it is damaged at byte {offset}")
    return log


def _records(file: IO[bytes], log: EventLog, masked_crc32c: Any) -> Iterator[tuple[int, bytes, int]]:
    """Yield the position, the bytes and the expected checksum of each complete record."""
    offset = 0
    log.status = "completed"
    while head := file.read(HEAD.size):
        log.status = "lost"  # until the record proves to be whole
        if len(head) < HEAD.size:
            return
        length, checksum = HEAD.unpack(head)
        if checksum != masked_crc32c(head[:8]):
            if offset and not any(head) and not any(file.read()):  # a disk that was never told the rest
                return
            raise ValueError(f"it is damaged at byte {offset}" if offset else "it is not a TensorBoard event file")
        body = file.read(length + 4)
        if len(body) < length + 4:
            return
        log.status = "completed"
        yield offset, body[:length], int.from_bytes(body[length:], "little")
        offset += HEAD.size + length + 4


def _take(log: EventLog, event: Any, plugins: dict[str, str]) -> bool:
    """Add the scalars of an event to the log; returns whether it had any.

    Args:
        plugins: of the tags that the file had before.
    """
    log.started = log.started or event.wall_time
    log.ended = max(log.ended, event.wall_time)
    if event.session_log.status == event.session_log.START:
        for tag in log.trails:
            log.cut(tag, event.step)
    n_values = 0
    for value in event.summary.value:
        if value.tag not in plugins:  # only the first value of a tag in a file names its plugin
            plugins[value.tag] = value.metadata.plugin_data.plugin_name
            if value.tag in log.trails:
                log.cut(value.tag, event.step)
        if value.tag == SESSION:
            log.is_session = True
            log.params |= _hparams(value.metadata.plugin_data.content)
        number = _number(value, plugins[value.tag])
        if number is not None:
            log.log(value.tag, event.step, number, event.wall_time)
            n_values += 1
    return n_values > 0


def _hparams(content: bytes) -> dict[str, str]:
    """The settings of a session; the format knows no integers."""
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    hparams = HParamsPluginData.FromString(content).session_start_info.hparams
    values = {name: getattr(value, value.WhichOneof("kind") or "null_value") for name, value in sorted(hparams.items())}
    return as_params(
        {name: int(it) if isinstance(it, float) and it.is_integer() else it for name, it in values.items()}
    )


def _number(value: Any, plugin: str) -> float | None:
    """The scalar of a summary without loss of precision; None for any other kind of value."""
    if value.HasField("simple_value"):
        return float(value.simple_value)
    tensor = value.tensor
    if plugin != SCALARS or tensor.dtype not in TENSORS:
        return None
    if tensor.tensor_content:
        return float(struct.unpack(TENSORS[tensor.dtype], tensor.tensor_content)[0])
    return float(next(iter(tensor.float_val or tensor.double_val), 0.0))  # a zero may be left out
