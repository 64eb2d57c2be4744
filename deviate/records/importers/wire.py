"""Parses Protocol Buffers messages without their schema, as found in the files of experiment trackers.

Reading the few fields that hold scalars is cheaper than depending on the packages that write them, which are tens of
megabytes and offer no stable function for it. Field numbers never change, as the format guarantees.

Source: https://protobuf.dev/programming-guides/encoding/
"""

import struct

Message = dict[int, list[int | bytes]]
"""Values by the number of their field: whole numbers, or bytes of a value with a length or a fixed size."""


def message(data: bytes) -> Message:
    """The fields of a message, with the values of each in order.

    Raises:
        ValueError: these bytes are no message.
    """
    fields: Message = {}
    at, end = 0, len(data)
    while at < end:
        key, at = varint(data, at)
        value: int | bytes
        match key & 7:
            case 0:
                value, at = varint(data, at)
                fields.setdefault(key >> 3, []).append(value)
                continue
            case 1:
                size = 8
            case 2:
                size, at = varint(data, at)
            case 5:
                size = 4
            case kind:
                raise ValueError(f"unknown kind of field: {kind}")
        if at + size > end:
            raise ValueError("a field ends beyond its message")
        fields.setdefault(key >> 3, []).append(data[at : at + size])
        at += size
    return fields


def varint(data: bytes, at: int) -> tuple[int, int]:
    """Read a variable-length integer; returns it with the position after it.

    Raises:
        ValueError: it does not end.
    """
    value = shift = 0
    for place in range(at, min(at + 10, len(data))):
        value |= (data[place] & 0x7F) << shift
        if data[place] < 0x80:
            return value, place + 1
        shift += 7
    raise ValueError("a number has no end")


def parts(fields: Message, number: int) -> list[bytes]:
    """All values of a length-delimited field: strings, bytes or messages."""
    return [value for value in fields.get(number, ()) if isinstance(value, bytes)]


def part(fields: Message, number: int) -> Message:
    """A nested message; several pieces are merged, and a missing one is empty."""
    return message(b"".join(parts(fields, number)))


def text(fields: Message, number: int) -> str:
    """A string field, empty where it is missing."""
    return b"".join(parts(fields, number)[-1:]).decode("utf-8", "replace")


def whole(fields: Message, number: int) -> int:
    """A signed integer field, 0 where it is missing."""
    value = next((field for field in reversed(fields.get(number, ())) if isinstance(field, int)), 0)
    return value - (1 << 64) if value >> 63 else value


def double(fields: Message, number: int) -> float:
    """A field of type double, 0 where it is missing."""
    value = next(iter(parts(fields, number)[-1:]), bytes(8))
    return float(struct.unpack("<d", value)[0]) if len(value) == 8 else 0.0
