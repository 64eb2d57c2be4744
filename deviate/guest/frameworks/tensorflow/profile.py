"""TensorFlow: profiles a window of steps, and reads the trace file that the profiler writes."""

from __future__ import annotations

import os
import shutil
import sys

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...observers.capture import FOLDER
from ...profiling import Window
from ...seeds import wraps_like
from ...xplane import read_device, read_host

FRAMEWORK = "tensorflow"
ON_DEVICE = "self time of kernels on the device, copies and fills of memory left out"
ON_CPU = "self time of operations on the CPU by kind, each on the thread that ran it"
TRACE = ".xplane.pb"


def install_profile(tensorflow: Any, context: AdapterContext) -> None:
    """Profile the window that the run requests."""
    profiler = Profiler(tensorflow, os.path.join(context.capture.folder, FOLDER, "trace-%x" % os.getpid()))
    profiler.window = Window(context, FRAMEWORK, profiler.begin, profiler.end)
    profiler.window.patch()


class Profiler:
    """The TensorFlow profiler, of which a process has one, from the start to the end of a window."""

    def __init__(self, tensorflow: Any, folder: str) -> None:
        self.tensorflow, self.folder = tensorflow, folder
        self.window: Any = None
        self.replaced: list[tuple[Any, Any]] = []

    def begin(self) -> None:
        api: Any = self.tensorflow.profiler.experimental
        api.start(self.folder)
        places: list[Any] = [api, sys.modules.get("tensorflow.python.profiler.profiler_v2")]
        for module in places:
            if module is not None:
                self.replaced.append((module, module.start))
                module.start = self._giving_way(module.start)

    def end(self) -> dict[str, Any]:
        for module, original in self.replaced:
            module.start = original
        self.tensorflow.profiler.experimental.stop()
        try:
            return _read(self.folder)
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _giving_way(self, original: Any) -> Any:
        """End profiling when the script starts the profiler itself."""

        def start(*args: Any, **kwargs: Any) -> Any:
            self.window.close()
            return original(*args, **kwargs)

        return wraps_like(start, original)


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
