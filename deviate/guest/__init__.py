"""The guest: records and controls a run from inside the user's own Python process.

`start` reads what the run requests, and installs every part.
"""

from __future__ import annotations

import atexit
import builtins
import json
import os
import sys

from . import checkpoint_guard, imports, source, taps
from .adapter_context import AdapterContext
from .annotations import Any
from .observers.capture import Capture
from .observers.trace import TraceWriter
from .project import Editable, GuestProject
from .recorder import UNSEEN, Recorder
from .seeds import Seeding, wraps_like
from .streams import Streams
from .write_guard import WriteGuard

_context: AdapterContext | None = None


def start() -> None:
    """Start recording this process, once; does nothing without DEVIATE_RUN_DIR."""
    global _context
    folder = os.environ.get("DEVIATE_RUN_DIR")
    if _context is not None or not folder:
        return
    manifest = _read_json(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "manifest.json"))
    spec = _read_json(os.environ["DEVIATE_SPEC"])
    work = os.environ["DEVIATE_WORK"]
    project = GuestProject(work, manifest)
    recorder = Recorder(folder, _facts(), project)
    taps.install(recorder, builtins)
    recorder.open()
    checkpoints = checkpoint_guard.watch(work, recorder, project, has_main=bool(recorder.main_ids - {UNSEEN}))
    guard = WriteGuard(work, manifest["root"], folder, recorder, checkpoints)
    taps.checkpoints = checkpoints
    streams = Streams(dict(spec.get("seeds") or {}), recorder, frozenset(spec.get("varied") or ()))
    if hasattr(os, "register_at_fork"):  # before all that draws in the child
        os.register_at_fork(after_in_child=streams.after_fork)
    seeding = Seeding(streams, recorder, project)
    wanted = dict(spec.get("capture") or {})
    capture = Capture(wanted, folder, recorder)
    trace = TraceWriter(wanted, folder, recorder, project)
    if manifest.get("patterns"):
        from . import printed_text

        printed_text.watch(manifest["patterns"].items(), recorder)
    _context = AdapterContext(
        recorder, streams, seeding, project, guard, dict(spec.get("controls") or {}), capture, trace
    )
    _context.weights = spec.get("weights")
    if "inputs" in manifest:
        from . import input_taps

        input_taps.install(_context, manifest["inputs"]["watched"], builtins)
    recorder.at_close.append(streams.report)
    if checkpoints is not None:
        recorder.at_close.append(checkpoints.tell_unused)
    Editable(manifest["root"], work).begin()
    source.show_originals(project)
    imports.watch(source, _context)
    _watch_json(_context)
    guard.begin()
    atexit.register(recorder.close)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=recorder.before_fork, after_in_child=recorder.after_fork)
        os.register_at_fork(after_in_child=guard.after_fork)


def _watch_json(context: AdapterContext) -> None:
    """Record what the project writes with `json.dump`; the module is there by now, so no import of it is seen."""
    original = json.dump

    def dump(*args: Any, **kwargs: Any) -> None:
        original(*args, **kwargs)
        with context.recorder.guarded("json.dump"):
            frame = sys._getframe(1)
            if context.project.place(frame.f_code) is not None:
                from .written import WriteRecorder  # few programs write any

                context.part(WriteRecorder).json(args[0] if args else kwargs["obj"], frame)

    json.dump = wraps_like(dump, original)


def _read_json(path: str) -> Any:
    with open(path, "rb") as file:
        return json.loads(file.read().decode("utf-8"))


def _facts() -> dict[str, object]:
    """Facts that identify a process. Arguments are not included, as they may contain a secret."""
    return {
        "python": ".".join(map(str, sys.version_info[:3])),
        "implementation": sys.implementation.name,
        "executable": sys.executable,
        "platform": sys.platform,
    }


__all__ = ["start"]
