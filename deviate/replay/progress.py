"""What event files of a run tell while they are being written: its progress, and whether an old checkpoint began it."""

import contextlib
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from deviate.base import SAFE
from deviate.errors import RecordError, RunError
from deviate.eventlog import BY_NAME, Named, Step, Value, decode, number
from deviate.model import TEXT_SINK, SelectedMetric
from deviate.records import UNKNOWN_MAIN, Manifest, event_files, log_files, read_plan

FIRST_PASS_S = 120.0
"""Seconds of the first pass of the main loop after which a missing value is reported."""
TAIL_BYTES = 16_384
"""Bytes that are read per file and time; the display does not need the events in between."""


VALUES = (b'["value"', b'["named"')


class Progress:
    """Follows one attempt.

    Attributes:
        step: the main-loop step it is in, None before the first.
        value: the last value of the primary metric with its name; of another metric of quality until there is one.
        is_silent: whether no value was recorded in the first pass of the main loop, or in two minutes of it.
        has_shrunk: whether an event file became shorter than it had been: somebody else has written to it.
        stirred: when it last wrote events or output, by the monotonic clock; at first when it began to be followed.
    """

    def __init__(self, attempt: Path, manifest: Manifest, primary: SelectedMetric | None = None) -> None:
        self.step: int | None = None
        self.value = ""
        self.is_silent = False
        self.stirred = time.monotonic()
        self.has_shrunk = False
        self._written = 0
        self._attempt = attempt
        self._main_loops = (manifest.main_loop, UNKNOWN_MAIN)
        self._names = _names(manifest)
        self._primary = () if primary is None else (primary.name, primary.metric.name, primary.metric.expression)
        self._key = None if primary is None else (primary.metric.site, primary.metric.label)
        self._has_primary = False
        self._sites = {metric.site for metric in (*manifest.metrics, *manifest.unreached)}
        self._texts = {metric.expression: metric.name for metric in manifest.metrics if metric.sink == TEXT_SINK}
        self._sizes: dict[Path, int] = {}
        self._stepped: float | None = None
        self._is_judged = False

    def look(self) -> bool:
        """Read what was written since the last call; returns whether step, value or silence have changed."""
        before = self.step, self.value, self.is_silent
        written = sum(path.stat().st_size for path in log_files(self._attempt) if path.exists())
        for path in event_files(self._attempt):
            with contextlib.suppress(OSError):
                size = path.stat().st_size
                written += size
                if size < self._sizes.get(path, 0):
                    self.has_shrunk = True
                    self._sizes[path] = size
                if size != self._sizes.get(path, 0):
                    self._read(path, max(self._sizes.get(path, 0), size - TAIL_BYTES), size)
        if written != self._written:
            self._written, self.stirred = written, time.monotonic()
        self._judge_silence(time.monotonic())
        return before != (self.step, self.value, self.is_silent)

    def _judge_silence(self, now: float) -> None:
        if self._is_judged or self.step is None:
            return
        self._stepped = now if self._stepped is None else self._stepped
        if self.value or self.step > 0 or now - self._stepped > FIRST_PASS_S:
            self._is_judged = True
            self.is_silent = not self.value and not any(map(self._has_value, event_files(self._attempt)))

    def _has_value(self, path: Path) -> bool:
        with contextlib.suppress(OSError), path.open("rb") as file:
            for line in file:
                if line.startswith(VALUES):
                    with contextlib.suppress(ValueError):
                        event = decode(line)
                        if isinstance(event, Named) or (isinstance(event, Value) and event.site in self._sites):
                            return True
        return False

    def _read(self, path: Path, begin: int, end: int) -> None:
        whole, self._sizes[path] = _read_lines(path, begin, end)
        has_step = has_value = has_primary = False
        for line in reversed(whole.split(b"\n")):
            if has_step and has_primary:
                break
            with contextlib.suppress(ValueError, IndexError, TypeError):
                event = decode(line)
                if isinstance(event, Step) and event.loop in self._main_loops and not has_step:
                    self.step, has_step = int(event.step), True
                elif isinstance(event, Value | Named) and not has_primary:
                    name, is_primary = self._name(event), self._is_primary(event)
                    if name is not None and (is_primary or not (has_value or self._has_primary)):
                        self.value, has_value = f"{name} {number(event.value):.6g}", True
                        has_primary = is_primary or self._primary == ()
                        self._has_primary = self._has_primary or is_primary

    def _is_primary(self, event: Value | Named) -> bool:
        """Whether the primary metric was reported, or one of its place that only the call path tells apart."""
        if isinstance(event, Named):
            return self._texts.get(str(event.name), str(event.name)) in self._primary
        return self._key in {(event.site, event.label), (event.site, None)}

    def _name(self, event: Value | Named) -> str | None:
        if isinstance(event, Named):
            return self._texts.get(str(event.name), str(event.name))
        return self._names.get((event.site, event.label)) or self._names.get((event.site, None))


def primary_metric(experiment: Path) -> SelectedMetric | None:
    """The planned primary metric of an experiment; None where none is known."""
    try:
        selection = read_plan(experiment).selection
    except RecordError:  # whoever needs the plan says so
        return None
    name = selection.primary.name if selection.primary else None
    return next((metric for metric in selection.metrics if metric.is_primary or metric.name == name), None)


def _read_lines(path: Path, begin: int, end: int) -> tuple[bytes, int]:
    """The complete lines between two offsets of a file, and the offset behind them."""
    with path.open("rb") as file:
        file.seek(begin)
        whole = file.read(end - begin).rpartition(b"\n")[0]
    return whole, begin + len(whole) + 1 if whole else begin


def _names(manifest: Manifest) -> Mapping[tuple[int, str | None], str]:
    """Names of values by site and label; by expression where only the call path distinguishes them."""
    names: dict[tuple[int, str | None], str] = {}
    for metric in manifest.metrics:
        if metric.site is not None and metric.role == "quality":
            key = metric.site, metric.label
            names[key] = metric.expression if key in names else metric.name
    return names


# ---------------------------------------------------------------- checkpoints of an earlier training
#
# Runs must not start from one: the guest's report of it, and the error.

MARK = b'["checkpoint",'
GIT_S = 10.0


class CheckpointWatch:
    """Follows the event files of one attempt, reading each byte once."""

    def __init__(self, attempt: Path) -> None:
        self._attempt = attempt
        self._read: dict[Path, int] = {}

    def look(self) -> tuple[str, str] | None:
        """The file from which the run started, relative to the project if inside, and the evidence.

        None while nothing was reported. A file tracked by git belongs to the project, regardless of its name.
        """
        for path in event_files(self._attempt):
            with contextlib.suppress(OSError):
                for name, reason in self._describe_file(path):
                    if reason != BY_NAME or not _is_tracked(self._attempt, name):
                        return name, reason
        return None

    def _describe_file(self, path: Path) -> list[tuple[str, str]]:
        begin = self._read.get(path, 0)
        size = path.stat().st_size
        if size <= begin:
            return []
        whole, self._read[path] = _read_lines(path, begin, size)
        sentences = []
        for line in whole.split(b"\n") if MARK in whole else ():
            if line.startswith(MARK):
                with contextlib.suppress(ValueError):
                    name, reason = decode(line)
                    sentences.append((str(name), str(reason)))
        return sentences


def checkpoint_error(name: str, reason: str) -> RunError:
    """The error for runs that start from a file of an earlier training, with remedies."""
    folder = name.rpartition("/")[0]
    fresh = f"{folder}/" if folder else name
    cure = f'let {fresh} start empty in each run: [snapshot] fresh = ["{fresh}"] in deviate.toml; or delete it'
    if name.startswith("/"):
        cure = "let the script write below its working folder, or delete the file before each experiment"
    meant = "if all runs are meant to start there: --env DEVIATE_CONTINUED=1"
    return RunError(f"a run {describe_stop(name, reason)}", f"{cure}; {meant}")


def describe_stop(name: str, reason: str) -> str:
    """The reason why a run was stopped."""
    return f"started from {name}, which an earlier training wrote ({reason})"


def _is_tracked(attempt: Path, name: str) -> bool:
    """Whether git tracks a file of the work copy; False if unknown."""
    roots = [path for path in attempt.glob("work/*/*") if path.is_dir() and not path.is_symlink()]
    for root in roots:
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            command = [*SAFE, "-C", str(root), "ls-files", "--error-unmatch", "--", name]
            if subprocess.run(command, capture_output=True, check=False, timeout=GIT_S).returncode == 0:
                return True
    return False
