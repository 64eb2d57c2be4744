"""Runs the user's interpreter in child processes, several at a time; none can block or crash another."""

import contextlib
import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

TICK_S = 0.02
LONGEST_TAIL = 4000
"""Characters kept of what a child said."""


@dataclass(frozen=True, slots=True)
class Question:
    """A child process to run.

    Attributes:
        name: unique among those that run together, and fit for a file name.
        environment: variables beside those of this process.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChildResult:
    """The result of a child process.

    Attributes:
        code: exit status, negative for a signal; None when it ran past its time and was ended.
        stdout: the end of its standard output; `stderr`: that of its standard error.
    """

    code: int | None
    stdout: str
    stderr: str
    wall_time_s: float


@dataclass(slots=True)
class _Child:
    question: Question
    process: subprocess.Popen[bytes]
    began: float


def ask(
    questions: Sequence[Question],
    folder: Path,
    *,
    jobs: int,
    timeout_s: float,
    on_change: Callable[[Sequence[str], int], None] = lambda _names, _n_left: None,
) -> dict[str, ChildResult]:
    """Run all child processes, `jobs` at a time, each in a process group that is ended with it.

    Args:
        folder: takes what they say, a file for each.
        on_change: told the names of those that run now, and how many have not ended; of none at the very end.

    Raises:
        OSError: a command cannot be started.
        KeyboardInterrupt: after all of them were ended.
    """
    waiting, running, results = deque(questions), list[_Child](), dict[str, ChildResult]()
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                running.append(_start(waiting.popleft(), folder))
                on_change([child.question.name for child in running], len(questions) - len(results))
            time.sleep(TICK_S)
            for child in list(running):
                is_late = time.monotonic() - child.began > timeout_s
                if is_late or child.process.poll() is not None:
                    running.remove(child)
                    results[child.question.name] = _finish(child, folder)
                    on_change([other.question.name for other in running], len(questions) - len(results))
    finally:
        for child in running:
            _finish(child, folder)
        on_change((), 0)
    return results


def _start(question: Question, folder: Path) -> _Child:
    with (folder / f"{question.name}.out").open("wb") as out, (folder / f"{question.name}.err").open("wb") as err:
        process = subprocess.Popen(
            question.command,
            cwd=folder,  # the current folder may contain a file called json.py
            env={**os.environ, **question.environment},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    return _Child(question, process, time.monotonic())


def _finish(child: _Child, folder: Path) -> ChildResult:
    code = child.process.poll()
    with contextlib.suppress(ProcessLookupError, PermissionError):  # PermissionError: all of them are zombies, on macOS
        os.killpg(child.process.pid, signal.SIGKILL)
    child.process.wait()
    wall_time_s = time.monotonic() - child.began
    stdout, stderr = (
        (folder / f"{child.question.name}.{kind}").read_text(encoding="utf-8", errors="replace")[-LONGEST_TAIL:]
        for kind in ("out", "err")
    )
    return ChildResult(code, stdout, stderr, wall_time_s)
