"""Environment variables that the project reads, without those that deviate sets for each run."""

from __future__ import annotations

import os
import re
from sys import _getframe
from types import FrameType

from ...adapter_context import AdapterContext
from ...annotations import Any
from ...stand_ins import replace
from .callers import Callers

MODULES = ("os",)
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
MOST_BETWEEN = 4


def install(module: Any, context: AdapterContext) -> None:
    """Patch the look-up of a variable, which all other functions call."""
    owner = type(module.environ)
    original = owner.__getitem__
    reads = EnvironmentReads(context)

    def __getitem__(self: Any, key: Any) -> Any:  # noqa: N807
        frame = _getframe(1)
        for _ in range(MOST_BETWEEN):
            if frame is None or frame.f_globals.get("__name__") not in BETWEEN:
                break
            frame = frame.f_back  # type: ignore[assignment]
        if frame is None or not reads.callers.is_project(frame):
            return original(self, key)
        try:
            value = original(self, key)
        except KeyError:
            reads.record(frame, key, None)
            raise
        reads.record(frame, key, value)
        return value

    replace(owner, "__getitem__", __getitem__)


class EnvironmentReads:
    """Records the values."""

    def __init__(self, context: AdapterContext) -> None:
        self.inputs = context.inputs
        self.recorder = context.recorder
        self.callers = context.part(Callers)

    def record(self, frame: FrameType, key: Any, value: Any) -> None:
        if not self.inputs.is_active or not isinstance(key, (str, bytes)):
            return
        with self.recorder.guarded("os.environ"):
            name = os.fsdecode(key)
            if name.startswith("DEVIATE_") or name in OF_THE_RUN:
                return
            if value is None:
                text = "not set"
            elif SECRET.search(name):  # of a secret, only whether it is set
                text = "set"
            else:
                text = self.callers.comparable(os.fsdecode(value))
            self.inputs.record("environment", "os.environ[%r]" % name, text, self.inputs.place(frame))
