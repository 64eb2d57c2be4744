"""Runs the user's interpreter in child processes, several at a time, and reads the facts that they wrote.

None can block or crash another.
"""

import contextlib
import json
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
"""Maximum number of characters of a child's output."""


@dataclass(frozen=True, slots=True)
class ChildQuestion:
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
    question: ChildQuestion
    process: subprocess.Popen[bytes]
    began: float


def ask(
    questions: Sequence[ChildQuestion],
    folder: Path,
    *,
    jobs: int,
    timeout_s: float,
    on_change: Callable[[Sequence[str], int], None] = lambda _names, _n_left: None,
) -> dict[str, ChildResult]:
    """Run all child processes, `jobs` at a time, each in a process group that is ended with it.

    Args:
        folder: takes what they say, a file for each.
        on_change: called with the names of running children and the number of unfinished ones; empty at the end.

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


def _start(question: ChildQuestion, folder: Path) -> _Child:
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


# ---------------------------------------------------------------- facts that children wrote


@dataclass(frozen=True, slots=True)
class ChildFacts:
    """Facts of one child process.

    Attributes:
        faults: what was tried in vain, with the error.
        doing: what the child was about when it was last heard of.
    """

    values: Mapping[str, object] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)
    doing: str = "starting"

    @property
    def is_whole(self) -> bool:
        return self.values.get("is_done") is True

    def text(self, name: str) -> str:
        value = self.values.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> float | None:
        value = self.values.get(name)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def count(self, name: str) -> int | None:
        value = self.number(name)
        return None if value is None else int(value)

    def is_true(self, name: str) -> bool:
        return self.values.get(name) is True

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.values.get(name)
        return tuple(str(item) for item in value) if isinstance(value, list) else ()

    def table(self, name: str) -> dict[str, object]:
        value = self.values.get(name)
        return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}

    def tables(self, name: str) -> list[dict[str, object]]:
        value = self.values.get(name)
        return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def read_facts(path: Path) -> ChildFacts:
    """All complete lines of a file of facts; empty for a missing file."""
    values, faults, doing = dict[str, object](), dict[str, str](), "starting"
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
    for line in lines:
        try:
            note = json.loads(line)
        except ValueError:
            continue
        if "doing" in note:
            doing = str(note["doing"])
        elif "fault" in note:
            faults[str(note["fact"])] = str(note["fault"])
        else:
            values[str(note["fact"])] = note.get("value")
    return ChildFacts(values, faults, doing)


def describe_death(result: ChildResult, facts: ChildFacts, timeout_s: float) -> str:
    """Why a child ended before it answered, in one line; empty if it answered."""
    if facts.text("import_fault"):
        return f"the import failed: {facts.text('import_fault')}"
    if facts.is_whole:
        return ""
    if result.code is None:
        return f"no answer within {timeout_s:g} s, while {facts.doing}"
    last = [line.strip() for line in result.stderr.splitlines() if line.strip()][-1:]
    last_words = f" ({last[0][:200]})" if last else ""
    if result.code < 0:
        name = signal.Signals(-result.code).name if -result.code in set(signal.Signals) else f"signal {-result.code}"
        return f"{name} ended the process while {facts.doing}{last_words}"
    return f"the process ended with exit code {result.code} while {facts.doing}{last_words}"
