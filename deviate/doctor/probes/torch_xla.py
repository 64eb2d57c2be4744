"""Facts about PyTorch/XLA: its devices, and whether the functions that the guest patches are there."""

from __future__ import annotations

import importlib
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

GENERATOR = [
    "_XLAC._xla_get_rng_seed", "_XLAC._xla_set_rng_seed", "_XLAC._xla_get_default_device", "_XLAC._xla_step_marker",
]  # fmt: skip
PLACES = dict.fromkeys(("init", "shuffle", "augment", "dropout", "split", "other"), GENERATOR)
"""The places that the guest patches for each control. Source: deviate/guest/frameworks/xla."""


def look(torch_xla: Any, notes: Any) -> None:
    runtime = importlib.import_module("torch_xla.runtime")
    notes.record("PJRT_DEVICE", os.environ.get("PJRT_DEVICE", ""))
    notes.attempt("backend", runtime.device_type)  # without starting it
    notes.attempt("build", lambda: "for " + importlib.import_module("torch").__version__)


def devices(torch_xla: Any, notes: Any) -> None:
    """Runs in a process of its own: a TPU that is in use may raise, block or end it."""
    notes.begin_step("starting the devices of XLA, while a TPU serves one process at a time")
    notes.attempt("kinds", lambda: sorted(set(torch_xla._XLAC._xla_real_devices())))
