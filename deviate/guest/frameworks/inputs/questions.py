"""What the project itself asks the system: whether files exist, their sizes and times, variables, numbers of processes.

Times of the last change are compared only of files that are older than the run: copies keep them, and those of folders
and of files that the run has written differ between any two runs. Other times differ always.
"""

from __future__ import annotations

import os
import re
import stat
from sys import _getframe
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...stand_ins import replace, stand_in
from .callers import Callers

MODULES = ("os", "pathlib", "threading")
OF_THE_RUN = frozenset((
    "TMPDIR", "PWD", "OLDPWD", "PYTHONPATH", "MASTER_PORT", "PET_MASTER_PORT", "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "TPU_VISIBLE_CHIPS", "TPU_VISIBLE_DEVICES", "WANDB_NAME",
    "SWANLAB_EXP_NAME",
    "MLFLOW_RUN_NAME", "COMET_START_EXPERIMENT_NAME",
))  # fmt: skip
"""Variables whose values deviate, or the shell, chooses anew for each run."""
SECRET = re.compile(r"(?i)key|token|secret|passw|passphrase|credential|auth|cookie|dsn|_pwd|_pass$|_api$")
BETWEEN = ("os", "_collections_abc", "collections.abc")
"""Modules whose functions look variables up for their callers: `os.getenv`, `environ.get`, `in`."""


def install(module: Any, context: AdapterContext) -> None:
    """Patch the functions of each table, and the look-up of a variable, which all other functions call."""
    callers = context.part(Callers)
    for name in NUMBERS.get(module.__name__, ()):
        _observe_number(module, name, callers)
    for owner, prefix, names, describe in _questions(module):
        for name in names.split():
            _observe_file(owner, name, prefix + name, describe, callers)
    if module.__name__ == "os":
        _observe_variables(type(module.environ), context)


NUMBERS = {"os": ("getpid", "getppid"), "threading": ("get_ident", "get_native_id")}


def _observe_number(module: Any, name: str, callers: Callers) -> None:
    call = "%s.%s()" % (module.__name__, name)

    def record(frame: FrameType, number: int) -> None:
        callers.inputs.record("process-id", call, str(number), callers.inputs.place(frame))

    callers.observe(module, name, record, stand_in)


# ------------------------------------------------------------ files


def _questions(module: Any) -> tuple[tuple[Any, str, str, Any], ...]:
    """Owner, prefix of the call, names, and what gives the value and its text from a result and the path."""
    if module.__name__ == "pathlib":
        return (
            (module.Path, "Path.", "exists is_file is_dir is_symlink", _answer),
            (module.Path, "Path.", "stat lstat", _status),
        )
    if module.__name__ != "os":
        return ()
    return (
        (module.path, "os.path.", "exists lexists isfile isdir islink getsize", _answer),
        (module.path, "os.path.", "getmtime", _time),
        (module, "os.", "stat lstat", _status),
        (module, "os.", "access", _answer),
    )


def _observe_file(owner: Any, name: str, call: str, describe: Any, callers: Callers) -> None:
    def record(frame: FrameType, result: Any, path: Any = None, *args: Any, **kwargs: Any) -> None:
        path = kwargs.get("path", path)
        is_unknown = path is None or isinstance(path, int) or kwargs.get("dir_fd") is not None
        text = None if is_unknown else callers.path(path)
        if text is not None:
            value, shown = ("absent", "") if isinstance(result, OSError) else describe(result, path, callers)
            callers.inputs.record("file-state", "%s(%r)" % (call, text), value, callers.inputs.place(frame), shown)

    callers.observe(owner, name, record, stand_in if owner is os else replace)


def _answer(result: object, path: Any, callers: Callers) -> tuple[str | None, str]:
    return str(result), ""


def _time(seconds: float, path: Any, callers: Callers) -> tuple[str | None, str]:
    return (None, "changed by this run") if _is_of_run(os.stat(path), callers) else (repr(seconds), "")


def _status(result: os.stat_result, path: Any, callers: Callers) -> tuple[str | None, str]:
    """What there is, and the size of a file that the run found: scripts ask for no more, or compare times."""
    if stat.S_ISDIR(result.st_mode):
        return "folder", ""
    return ("file", "") if _is_of_run(result, callers) else ("file of %d bytes" % result.st_size, "")


def _is_of_run(status: os.stat_result, callers: Callers) -> bool:
    return stat.S_ISDIR(status.st_mode) or status.st_mtime >= callers.began


# ------------------------------------------------------------ variables


def _observe_variables(owner: Any, context: AdapterContext) -> None:
    original, callers, inputs = owner.__getitem__, context.part(Callers), context.inputs

    def record(frame: FrameType, key: Any, value: Any) -> None:
        if not inputs.is_active or not isinstance(key, (str, bytes)):
            return
        with context.recorder.guarded("os.environ"):
            name = os.fsdecode(key)
            if name.startswith("DEVIATE_") or name in OF_THE_RUN:
                return
            text = "not set" if value is None else callers.comparable(os.fsdecode(value))
            if value is not None and SECRET.search(name):  # of a secret, only whether it is set
                text = "set"
            inputs.record("environment", "os.environ[%r]" % name, text, inputs.place(frame))

    def __getitem__(self: Any, key: Any) -> Any:  # noqa: N807
        frame: FrameType | None = _getframe(1)
        while frame is not None and frame.f_globals.get("__name__") in BETWEEN:
            frame = frame.f_back
        if frame is None or not callers.is_project(frame):
            return original(self, key)
        try:
            value = original(self, key)
        except KeyError:
            record(frame, key, None)
            raise
        record(frame, key, value)
        return value

    replace(owner, "__getitem__", __getitem__)
