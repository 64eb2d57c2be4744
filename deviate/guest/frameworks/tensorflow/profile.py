"""TensorFlow: profiles a window of steps, and reads the trace file that the profiler writes."""

from __future__ import annotations

import os
import re
import shutil
import sys
from importlib import import_module

from ...adapter_context import AdapterContext
from ...annotations import Any, Callable, Iterable
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
        space = space_of(file.read())
    on_device = read_device(space)
    times = on_device or read_host(space)
    kernels: list[list[Any]] = [[name, calls, seconds] for name, (calls, seconds) in times.items()]
    return {
        "device": "gpu" if on_device else "cpu",
        "measure": ON_DEVICE if on_device else ON_CPU,
        "kernels": kernels,
    }


# ---------------------------------------------------------------- trace files

# `*.xplane.pb`, read by the module that TensorFlow brings along: the self time of each operation.

SPACE = "tensorflow.tsl.profiler.protobuf.xplane_pb2"
PICOSECONDS = 1e12
OPERATION = re.compile(r"[^:\s]+:(\w+)")
"""An operation of a graph, `path/of/its/name:Kind`; what the runtime itself does is named otherwise."""
GPU, STREAM = "/device:GPU", "Stream"
MEMORY = ("Memcpy", "memcpy", "Memset", "memset")


def space_of(data: bytes) -> Any:
    """The planes of a trace. Raises `google.protobuf.message.DecodeError` where it is none."""
    return import_module(SPACE).XSpace.FromString(data)


def read_device(space: Any) -> dict[str, list[float]]:
    """Kernels that ran on a GPU, by name; copies and fills of memory are left out."""
    return _read_plane(space, GPU, STREAM, lambda name: "" if name.startswith(MEMORY) else name)


def read_host(space: Any) -> dict[str, list[float]]:
    """Operations that ran on the CPU, by kind."""

    def kind(name: str) -> str:
        match = OPERATION.fullmatch(name)
        return match.group(1) if match else ""

    return _read_plane(space, "/host:CPU", "", kind)


def _read_plane(space: Any, of_plane: str, of_line: str, known_as: Callable[[str], str]) -> dict[str, list[float]]:
    """Read planes and lines whose names have these prefixes; events with an empty name are left out."""
    times: dict[str, list[float]] = {}
    for plane in space.planes:
        if plane.name.startswith(of_plane):
            labels = {number: known_as(entry.name) for number, entry in plane.event_metadata.items()}
            for line in plane.lines:
                if line.name.startswith(of_line):
                    _add(times, line.events, labels)
    return times


def _add(times: dict[str, list[float]], events: Iterable[Any], labels: dict[int, str]) -> None:
    """Add the events of one thread or stream; the time of nested events is subtracted."""
    spans = [(each.offset_ps, -each.duration_ps, labels.get(each.metadata_id, "")) for each in events]
    around: list[tuple[int, str]] = []
    for begin, minus, name in sorted(span for span in spans if span[2]):
        while around and around[-1][0] <= begin:
            around.pop()
        entry = times.setdefault(name, [0, 0.0])
        entry[0] += 1
        entry[1] -= minus / PICOSECONDS
        if around:
            times[around[-1][1]][1] += minus / PICOSECONDS
        around.append((begin - minus, name))
