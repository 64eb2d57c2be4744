"""Event files of TensorBoard: the scalars in them, read without TensorFlow.

Source: framing https://www.tensorflow.org/tutorials/load_data/tfrecord; messages event.proto, summary.proto and
tensor.proto of TensorBoard 2.21, which all releases since 1.0 write.
"""

import functools
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from deviate.errors import InputError
from deviate.records.importers import wire
from deviate.records.importers.tracked import Trail, Trails

SCALARS = "scalars"
"""Plugin that tensors belong to which TensorBoard draws as curves; others are images, texts, histograms."""
SESSION = "_hparams_/session_start_info"
START = 1
HEAD = struct.Struct("<QI")
TENSORS = {1: ("<f", 5), 2: ("<d", 6), 3: ("<i", 7), 9: ("<q", 10), 14: ("<H", 13), 19: ("<e", 13)}
"""Number of a type of tensor to its form in `struct`, and the field of its values; 14 is the upper half of a float."""
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
    """

    trails: Trails = field(default_factory=dict)
    began: float = 0.0
    ended: float = 0.0
    restarts: list[int] = field(default_factory=list)
    is_torn: bool = False
    is_session: bool = False
    n_cut: int = 0

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
                    raise InputError(f"{path} is no event file of TensorBoard", "name the folder of a run")
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
        file.is_session = file.is_session or tag == SESSION
        value = _value(summary, plugins.get(tag, ""))
        if value is not None:
            file.trails.setdefault(tag, Trail()).add(step, value, time)
            is_used = True
    return is_used


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
