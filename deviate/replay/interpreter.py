"""The Python interpreter of a command, its facts and its packages."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

PYTHON = re.compile(r"(?:python|pypy)(?:\d+(?:\.\d+)*)?")
SHEBANG = re.compile(rb"#!\s*(/\S+)(?:[ \t]+(\S+))?")
LONG_SHEBANG = re.compile(rb"""#!/bin/sh\n'''exec' "?([^"\n]+?)"? "\$0" "\$@\"""")
"""What installers write where a path is too long, or has blanks. Source: distlib, scripts.py."""
CHOOSERS = frozenset(
    ("uv", "uvx", "conda", "mamba", "micromamba", "poetry", "pipenv", "pdm", "hatch", "pixi", "rye", "tox", "nox")
)
CONTAINERS = frozenset(("docker", "podman", "apptainer", "singularity", "enroot", "ssh"))
SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "fish", "make", "just"))
PROBE_S = 60.0
MARK = "deviate-probe:"

PROBE = r"""
import sys
if sys.path[:1] == [""]:
    del sys.path[0]
import json, os, platform
if sys.version_info < (3, 8):
    raise SystemExit("older than Python 3.8")
packages = {}
for folder in sys.path:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        continue
    for name in names:
        stem, kind = os.path.splitext(name)
        at = os.path.join(folder, name)
        if stem.startswith("~") or kind not in (".dist-info", ".egg-info"):
            continue
        name, _, version = stem.partition("-")
        files = ("METADATA",) if kind == ".dist-info" else ("PKG-INFO", "")
        try:
            found = [os.path.join(at, it) if it else at for it in files]
            found = [it for it in found if os.path.isfile(it)][0]
            if kind == ".egg-info":
                with open(found, encoding="utf-8", errors="replace") as file:
                    told = dict(line.rstrip("\n").partition(": ")[::2] for line in file if ": " in line)
                name, version = told["Name"], told["Version"]
        except (OSError, LookupError):
            continue
        packages.setdefault(name.lower().replace("_", "-").replace(".", "-"), version)
print("\n" + sys.argv[1] + json.dumps({
    "path": sys.executable, "version": platform.python_version(),
    "implementation": platform.python_implementation(), "build": " ".join(sys.version.split()), "packages": packages,
}))
"""
"""Distributions are told by the names of their folders, as `importlib.metadata` finds them, without the second that it
takes to read hundreds of files. Modules of the working folder are kept out: one may be called `json`.

Source: the packaging specifications, Recording installed projects."""


def find_interpreter(
    command: Sequence[str], cwd: Path, environment: Mapping[str, str], *, wrap: Sequence[str] = ()
) -> tuple[Path | None, str]:
    """Find the interpreter of a command, or the reason why it is unknown.

    It is the first word that is a Python, or the Python in the shebang line of the first script.
    """
    words = [*wrap, *command]
    program = os.path.basename(words[0]) if words else ""  # noqa: PTH119  a word may be no path
    if wrap or program in CONTAINERS:
        return None, f"`{program}` has an interpreter of its own"
    for index, word in enumerate(words):
        name = os.path.basename(word)  # noqa: PTH119
        if name in CHOOSERS:
            return None, f"`{name}` chooses the interpreter"
        if name in SHELLS:
            return None, f"`{name}` starts the interpreter"
        path = _program(word, cwd, environment)
        if path is None:
            continue
        if PYTHON.fullmatch(name):
            return path, ""
        interpreter = _python_of_script(path, cwd, environment)
        if interpreter is not None:
            return interpreter, ""
        if index == 0 and name not in PREFIXES:
            return None, f"`{name}` is no Python, and not known to start one"
    return None, "no word of the command is a Python, or a script of one"


PREFIXES = frozenset((
    "env", "nice", "ionice", "time", "timeout", "nohup", "stdbuf", "numactl", "taskset", "setsid", "chrt", "xvfb-run",
    "srun", "mpirun", "mpiexec", "nsys", "ncu", "strace", "perf", "catchsegv", "caffeinate", "exec", "sudo",
))  # fmt: skip
"""Programs that start the command which follows."""


def ask(interpreter: Path, cwd: Path, environment: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str] | None]:
    """Facts and packages of an interpreter; `unknown` and None if it does not answer.

    Args:
        environment: the command's variables; ours are left out, so that the guest stays away.
    """
    guest = environment.get("DEVIATE_GUEST")
    variables = {name: value for name, value in environment.items() if not name.startswith("DEVIATE_")}
    variables.pop("TMPDIR", None)  # ended together with the run
    paths = [path for path in variables.pop("PYTHONPATH", "").split(os.pathsep) if path and path != guest]
    if paths:
        variables["PYTHONPATH"] = os.pathsep.join(paths)
    place = Path(os.path.realpath(interpreter.parent), interpreter.name)  # not specific to the copy of one run
    try:
        answered = subprocess.run(
            [place, "-B", "-c", PROBE, MARK], cwd=cwd, env=variables, stdin=subprocess.DEVNULL, capture_output=True,
            check=False, timeout=PROBE_S, start_new_session=True,
        )  # fmt: skip
        line = answered.stdout.rpartition(b"\n" + MARK.encode())[2]
        answer = json.loads(line)
        packages = answer.pop("packages")
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"path": str(place), "unknown": f"it cannot be asked: {error}"}, None
    except (ValueError, LookupError, AttributeError):
        error_lines = answered.stderr.decode("utf-8", "replace").strip().splitlines()
        return {
            "path": str(place),
            "unknown": f"it did not answer: {error_lines[-1] if error_lines else answered.returncode}",
        }, None
    executable = Path(answer["path"] or place)
    answer["path"] = str(Path(os.path.realpath(executable.parent), executable.name))
    return answer, packages


def _program(word: str, cwd: Path, environment: Mapping[str, str]) -> Path | None:
    if word.startswith("-") or "=" in word:
        return None
    if os.sep in word:
        path = cwd / word
        return path if path.is_file() and os.access(path, os.X_OK) else None
    program = shutil.which(word, path=environment.get("PATH", os.defpath))
    return Path(program) if program else None


def _python_of_script(path: Path, cwd: Path, environment: Mapping[str, str]) -> Path | None:
    """The Python in the shebang line of a script."""
    try:
        with path.open("rb") as file:
            head = file.read(1024)
    except OSError:
        return None
    if match := LONG_SHEBANG.match(head):
        program = os.fsdecode(match[1])
    elif match := SHEBANG.match(head):
        program = os.fsdecode(match[1])
        if os.path.basename(program) == "env" and match[2]:  # noqa: PTH119
            program = os.fsdecode(match[2])
    else:
        return None
    is_python = PYTHON.fullmatch(os.path.basename(program))  # noqa: PTH119
    return _program(program, cwd, environment) if is_python else None
