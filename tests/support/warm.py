"""Starts `python -m deviate` from a process that has imported it: of a short command, most of the time is imports.

Each command still is a process of its own, with its arguments, folder, environment, streams and exit code; it is forked
rather than begun anew. Run as a program, this file is the process that forks: a line of JSON in, an exit code out.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

MODULES = (
    "libcst.native",
    "matplotlib.backends.backend_pdf",
    "matplotlib.backends.backend_svg",
    "rich.live",
    "rich.progress",
    "scipy.integrate",
    "scipy.optimize",
    "scipy.stats",
    "typer._adapters",
    "typer.rich_utils",
)
"""What libraries import when it is needed."""
APART = ("deviate.guest", "deviate.doctor.probes", "deviate.__main__")
"""What other processes import, with its packages, and what runs when it is imported."""


class Done(NamedTuple):
    """What a command left on its way out; a negative code is the number of the signal that ended it."""

    code: int
    out: str
    err: str


class Warm:
    """The process that forks, from this side; begun with the first command."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[str] | None = None
        self.variables = interpreter_variables(os.environ)

    def run(self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Done:
        """A command to its end; from a new interpreter where its variables for that differ from ours."""
        if interpreter_variables(environment) != self.variables:
            command = [sys.executable, "-m", "deviate", *arguments]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            return Done(done.returncode, done.stdout, done.stderr)
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with tempfile.TemporaryDirectory() as streams:
            asked = {"words": arguments, "folder": str(folder), "environment": dict(environment), "streams": streams}
            self.process.stdin.write(json.dumps(asked) + "\n")
            self.process.stdin.flush()
            code = int(self.process.stdout.readline())
            out, err = (Path(streams, name).read_text(encoding="utf-8") for name in ("out", "err"))
        return Done(code, out, err)

    def end(self) -> None:
        """It ends when nobody can ask any more."""
        if self.process is not None:
            self.process.communicate()


def interpreter_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """What an interpreter reads once, when it begins."""
    return {name: value for name, value in environment.items() if name.startswith("PYTHON")}


def serve() -> None:
    """Fork a process for every line; returns in each of these, which is to run the command then."""
    for name in MODULES:
        importlib.import_module(name)
    import deviate

    for room in pkgutil.iter_modules(deviate.__path__, "deviate."):
        if room.name not in APART:
            package = importlib.import_module(room.name)
            for module in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{room.name}."):
                if not module.name.startswith(APART):
                    importlib.import_module(module.name)
    forms, documents = (sys.modules[f"deviate.report.{name}"] for name in ("forms.registry", "document"))
    forms.render(documents.Document(sections=()), "html")  # or each command translates the templates of a page anew
    gc.freeze()  # what all have in common is not copied to be looked through
    asked, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    for line in asked:
        child = os.fork()
        if not child:
            asked.close()
            answers.close()
            become(json.loads(line))
            return
        answers.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        answers.flush()
    sys.exit()


def become(asked: dict) -> None:  # type: ignore[type-arg]
    """Be the process that was asked for, as far as an interpreter's start would have made it."""
    for place, name in ((1, "out"), (2, "err")):
        stream = os.open(Path(asked["streams"], name), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(stream, place)
        os.close(stream)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.path[0] = str(Path.cwd())
    sys.argv[1:] = asked["words"]


def end(code: object) -> None:
    """End as an interpreter does, but take no module apart: of a short command, that is most of the time that is left.

    Args:
        code: of `SystemExit`.
    """
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    if code is not None and not isinstance(code, int):
        sys.stderr.write(f"{code}\n")
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(int(code is not None) if not isinstance(code, int) else code)


if __name__ == "__main__":
    serve()
    try:
        runpy.run_module("deviate", run_name="__main__", alter_sys=True)
    except SystemExit as ending:
        end(ending.code)
