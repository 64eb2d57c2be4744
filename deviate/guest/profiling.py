"""The window of main-loop steps in which a run is profiled; frameworks supply the profiler and its results.

Profiling changes no values and draws no random numbers, but takes time, so profiled runs are not timed.
"""

from __future__ import annotations

import json
import os
from time import perf_counter

from .adapter_context import AdapterContext
from .annotations import Any, Callable
from .observers.capture import FOLDER

SCHEMA = 1
PROFILE = "profile"
MOST_UPDATES = 100
"""Updates of the weights after which a window ends in any case: a main-loop step can be an epoch of many thousands.
Source: Zhuang et al. (2022) profile 100 steps."""


class ProfiledWindow:
    """The profiling window of one framework in this process, opened once.

    Args:
        begin: starts the profiler.
        end: stops it, and gives `device` ("cpu", or the accelerator's kind), `measure` (what the times are, in words)
            and `kernels`: name, calls and seconds of each.

    Attributes:
        n_updates: of the weights within the window; None where the framework does not tell.
    """

    def __init__(
        self, context: AdapterContext, framework: str, begin: Callable[[], object], end: Callable[[], dict[str, Any]]
    ) -> None:
        self.capture, self.recorder = context.capture, context.recorder
        self.framework, self.begin, self.end = framework, begin, end
        first, _, last = self.capture.profile.partition(":")
        self.start, self.stop = int(first), int(last)
        self.state = "waiting"
        self.step = self.start
        self.n_updates: int | None = None
        self.opened = 0.0

    def patch(self) -> None:
        self.recorder.at_main_step.append(self._main_step)
        self.recorder.at_main_end.append(self.close)
        self.recorder.at_close.append(self._finish)

    def update(self) -> None:
        """The weights have been updated."""
        if self.state == "open" and self.capture.is_script_thread():
            self.n_updates = 1 + (self.n_updates or 0)
            if self.n_updates >= MOST_UPDATES:
                self.close()

    def close(self) -> None:
        """End the window and write the profile."""
        if self.state != "open" or not self.capture.is_script_thread():
            return
        self.state = "done"
        took = perf_counter() - self.opened
        before = perf_counter()
        try:
            seen = self.end()
        except Exception as error:
            self._refuse("the profiler of %s failed: %s: %s" % (self.framework, type(error).__name__, error))
            return
        document = {
            "schema": SCHEMA,
            "framework": self.framework,
            "window": [self.start, self.step + 1],
            "n_updates": self.n_updates,
            "wall_s": took,
            "reading_s": perf_counter() - before,
            **seen,
        }
        document["kernels"].sort(key=lambda kernel: (-kernel[2], kernel[0]))  # longest first
        self._write(document)

    def _main_step(self, step: int) -> None:
        if not self.capture.is_script_thread():
            return
        if self.state == "waiting" and self.start <= step < self.stop:
            self.state = "done"  # unless the profiler cannot be started
            try:
                self.begin()
            except Exception as error:
                self._refuse("the profiler of %s failed: %s: %s" % (self.framework, type(error).__name__, error))
                return
            self.state = "open"
            self.opened = perf_counter()
        elif self.state == "open" and not self.start <= step < self.stop:
            self.close()
        self.step = step

    def _finish(self) -> None:
        self.close()
        if self.state == "waiting" and self.recorder.has_stepped and self.capture.is_script_thread():
            self._refuse("the main loop came to no step %d" % self.start)

    def _write(self, document: dict[str, Any]) -> None:
        folder = os.path.join(self.capture.folder, FOLDER)
        os.makedirs(folder, exist_ok=True)
        file = "%s-%s-%x.json" % (PROFILE, self.framework, os.getpid())
        with open(os.path.join(folder, file), "w", encoding="utf-8") as stream:
            json.dump(document, stream)
        n = len(document["kernels"])
        self.recorder.event("artifact", PROFILE, self.framework, self.start, self.framework, file, n)

    def _refuse(self, reason: str) -> None:
        self.capture.refuse(PROFILE, self.framework, reason)
