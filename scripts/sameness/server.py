"""Runs commands of one side in forked children: of a short command, most of the time is the import of libraries.

Started by path with the interpreter of that side. Only libraries of others are imported before the fork: each child
imports deviate anew, in the order that its command has, so that an import that moved to the wrong place is found. The
clock of the children stands still, so that both sides record and print the same times.

A line of JSON in: folder, calls (words, and where each writes its streams and its exit code), moment, limit_s. A line
out once all are done.
"""

import contextlib
import gc
import importlib
import importlib.metadata
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

LIBRARIES = (
    "jinja2",
    "libcst",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "numpy",
    "pandas",
    "rich.live",
    "rich.progress",
    "scipy.optimize",
    "scipy.stats",
    "tomlkit",
    "typer",
)


def entry_point() -> Callable[[], object]:
    """What `bin/deviate` calls; where that lies is for the package to say."""
    (point,) = importlib.metadata.entry_points(group="console_scripts", name="deviate")
    function: Callable[[], object] = point.load()
    return function


def call(words: list[str]) -> int:
    """One command in this process; gives its exit code as an interpreter would."""
    sys.argv[:] = [str(Path(sys.prefix) / "bin/deviate"), *words]
    try:
        entry_point()()
    except SystemExit as exit_:
        if isinstance(exit_.code, str):
            print(exit_.code, file=sys.stderr)
            return 1
        return exit_.code or 0
    except BaseException:  # noqa: BLE001 - what an interpreter would print
        traceback.print_exc()
        return 1
    return 0


def become(asked: dict[str, Any]) -> None:
    """Carry out all calls of a request, and end."""
    os.setsid()
    signal.alarm(asked["limit_s"])  # ends this process; the one that forked it sees to what it started
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    os.chdir(asked["folder"])
    if asked["moment"] is not None:
        time.time = lambda: asked["moment"]
    for called in asked["calls"]:
        for place, name in ((1, "out"), (2, "err")):
            stream = os.open(called[name], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(stream, place)
            os.close(stream)
        code = call(called["words"])
        for file in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                file.flush()
        Path(called["code"]).write_text(str(code), encoding="utf-8")


def serve() -> None:
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()  # what all children have in common is not copied to be looked through
    asked, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    for place in (0, 1):
        os.dup2(nothing, place)
    os.close(nothing)
    for line in asked:
        child = os.fork()
        if not child:
            asked.close()
            answers.close()
            try:
                become(json.loads(line))
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        answers.write(f"{os.waitstatus_to_exitcode(status)}\n")
        answers.flush()


if __name__ == "__main__":
    # The folder of this file is no place to import from.
    sys.path.pop(0)
    serve()
