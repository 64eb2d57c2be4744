"""TensorFlow: profiles a window of steps, and reads the trace file that the profiler writes."""

from __future__ import annotations

import os
import re
import shutil
import sys

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable, Iterator
from ...observers.capture import FOLDER
from ...profiling import ProfiledWindow

FRAMEWORK = "tensorflow"
ON_DEVICE = "self time of kernels on the device, copies and fills of memory left out"
ON_CPU = "self time of operations on the CPU by kind, each on the thread that ran it"
TRACE = ".xplane.pb"


def install_profile(tensorflow: Any, context: AdapterContext) -> None:
    """Profile the window that the run requests."""
    folder = os.path.join(context.capture.folder, FOLDER, "trace-%x" % os.getpid())
    TensorFlowProfiler(tensorflow, context, folder).window.patch()


class TensorFlowProfiler:
    """The TensorFlow profiler, of which a process has one, from the start to the end of a window."""

    def __init__(self, tensorflow: Any, context: AdapterContext, folder: str) -> None:
        self.tensorflow, self.context, self.folder = tensorflow, context, folder
        self.window = ProfiledWindow(context, FRAMEWORK, self.begin, self.end)

    def begin(self) -> None:
        api: Any = self.tensorflow.profiler.experimental
        api.start(self.folder)
        for module in (api, sys.modules.get("tensorflow.python.profiler.profiler_v2")):
            # The script may start the profiler itself, which ends the window.
            self.context.observe(module, "start", before=lambda *args, **kwargs: self.window.close())

    def end(self) -> dict[str, Any]:
        self.tensorflow.profiler.experimental.stop()
        try:
            return _read(self.folder)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)


def _read(folder: str) -> dict[str, Any]:
    """The trace file below a folder. Raises OSError if there is none."""
    traces = [
        os.path.join(place, file) for place, _, files in os.walk(folder) for file in files if file.endswith(TRACE)
    ]
    if not traces:
        raise OSError("the profiler left no trace")
    with open(traces[0], "rb") as file:
        data = file.read()
    on_device = read_device(data)
    times = on_device or read_host(data)
    kernels: list[list[Any]] = [[name, calls, seconds] for name, (calls, seconds) in times.items()]
    return {
        "device": "gpu" if on_device else "cpu",
        "measure": ON_DEVICE if on_device else ON_CPU,
        "kernels": kernels,
    }


# ---------------------------------------------------------------- trace files

# `*.xplane.pb`, read without protobuf: the self time of each operation.
# Source: tensorflow/tsl/profiler/protobuf/xplane.proto for the numbers of the fields; the encoding of Protocol Buffers.

VARINT, EIGHT_BYTES, BYTES, FOUR_BYTES = 0, 1, 2, 5
PLANES, NAME, LINES, EVENT_NAMES = 1, 2, 3, 4
EVENTS, EVENT_NAME_ID, OFFSET, DURATION = 4, 1, 2, 3
KEY, VALUE = 1, 2
PICOSECONDS = 1e12
OPERATION = re.compile(r"[^:\s]+:(\w+)")
"""An operation of a graph, `path/of/its/name:Kind`; what the runtime itself does is named otherwise."""
GPU, STREAM = "/device:GPU", "Stream"
MEMORY = ("Memcpy", "memcpy", "Memset", "memset")


def read_device(data: bytes) -> dict[str, list[float]]:
    """Kernels that ran on a GPU, by name; copies and fills of memory are left out."""
    return _read_plane(data, GPU, STREAM, lambda name: "" if name.startswith(MEMORY) else name)


def read_host(data: bytes) -> dict[str, list[float]]:
    """Operations that ran on the CPU, by kind."""

    def kind(name: str) -> str:
        match = OPERATION.fullmatch(name)
        return match.group(1) if match else ""

    return _read_plane(data, "/host:CPU", "", kind)


def _read_plane(data: bytes, plane: str, line: str, known_as: Callable[[str], str]) -> dict[str, list[float]]:
    """Read planes and lines whose names have these prefixes; events with an empty name are left out."""
    times: dict[str, list[float]] = {}
    for number, content in _fields(memoryview(data)):
        if number == PLANES:
            parts = list(_fields(content))
            if _text(parts, NAME).startswith(plane):
                names = dict(_event_name(field) for place, field in parts if place == EVENT_NAMES)
                labels = {number: known_as(name) for number, name in names.items()}
                for place, its in parts:
                    if place == LINES:
                        fields = list(_fields(its))
                        if _text(fields, NAME).startswith(line):
                            _add(times, [field for at, field in fields if at == EVENTS], labels)
    return times


def _add(times: dict[str, list[float]], events: list[memoryview], labels: dict[int, str]) -> None:
    """Add the events of one thread or stream; the time of nested events is subtracted."""
    spans = []
    for content in events:
        event = {number: value for number, value in _fields(content) if isinstance(value, int)}
        name = labels.get(event.get(EVENT_NAME_ID, 0), "")
        if name:
            spans.append((event.get(OFFSET, 0), -event.get(DURATION, 0), name))
    around: list[tuple[int, str]] = []
    for begin, minus, name in sorted(spans):
        while around and around[-1][0] <= begin:
            around.pop()
        entry = times.setdefault(name, [0, 0.0])
        entry[0] += 1
        entry[1] -= minus / PICOSECONDS
        if around:
            times[around[-1][1]][1] += minus / PICOSECONDS
        around.append((begin - minus, name))


def _event_name(entry: memoryview) -> tuple[int, str]:
    """The event name in a map entry, whose key is the id."""
    key, name = 0, ""
    for number, value in _fields(entry):
        if number == KEY and isinstance(value, int):
            key = value
        elif number == VALUE:
            name = _text(list(_fields(value)), NAME)
    return key, name


def _text(fields: list[tuple[int, Any]], number: int) -> str:
    return next((bytes(value).decode("utf-8", "replace") for at, value in fields if at == number), "")


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """Yield number and value of each field: an integer, or bytes for length-delimited fields.

    Raises:
        ValueError: it is no message.
        IndexError: it is cut off.
    """
    at, end = 0, len(message)
    while at < end:
        key, at = _varint(message, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = _varint(message, at)
            yield number, value
        elif kind == BYTES:
            length, at = _varint(message, at)
            yield number, message[at : at + length]
            at += length
        elif kind in (EIGHT_BYTES, FOUR_BYTES):
            at += 8 if kind == EIGHT_BYTES else 4
        else:
            raise ValueError("not a message of Protocol Buffers")


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
