"""Runs programs inside one process: as they are, with the guest's taps, or with the identities of the bootstrap.

    python tap_worker.py GUEST_FOLDER WORK_FOLDER

Each line of standard input is a JSON object with `text` and, for the guest, `manifest`; each answer is one line.
"""

import builtins
import contextlib
import io
import json
import os
import shutil
import sys
import threading
import traceback
import types
import warnings
from pathlib import Path
from typing import Any

GUEST, WORK = (Path(name).absolute() for name in (*sys.argv[1:3], "", "")[:2])
FILE = str(WORK / "train.py")


def main() -> None:
    sys.path.insert(0, str(GUEST))
    os.chdir(WORK)
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        asked = json.loads(line)
        sys.__stdout__.write(json.dumps(answer(asked["text"], asked.get("manifest"))) + "\n")
        sys.__stdout__.flush()


def answer(text: str, manifest: object) -> dict[str, object]:
    """What the program printed, how it ended, and, with a manifest, what was recorded."""
    recorder = begin(manifest) if manifest else None
    seen: list[object] = []

    def see(site: int, value: object, steps: object) -> object:
        seen.append([site, plain(value), steps])
        return value

    out, raised, n_guests = io.StringIO(), None, 0
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(text, FILE, "exec", dont_inherit=True), {"__name__": "__main__", "__seen__": see})
        except Exception as error:  # noqa: BLE001  (whatever a program raises)
            frames = traceback.extract_tb(error.__traceback__)
            raised = [type(error).__name__, str(error), [(it.name, it.lineno) for it in frames if it.filename == FILE]]
            n_guests = sum(it.filename.startswith(str(GUEST)) for it in frames)
    events = end(recorder) if recorder else []
    for name in [name for name in vars(builtins) if name.startswith("__deviate")]:
        delattr(builtins, name)
    return {"stdout": out.getvalue(), "raised": raised, "guests": n_guests, "events": events, "seen": seen}


def begin(manifest: Any) -> Any:
    """A recorder of its own for one program, with its taps."""
    from _deviate_guest.runtime import input_taps, project, recorder, taps
    from _deviate_guest.runtime.observers import inputs, trace

    folder = WORK / "events"
    folder.mkdir()
    files = project.GuestProject(str(WORK), manifest)
    made = recorder.Recorder(str(folder), {}, files)
    taps.install(made, builtins)
    traced = trace.TraceWriter({}, str(folder), made, files)
    traced.level = 1  # without what a trace does at the end of the process
    streams = types.SimpleNamespace(thread=threading.get_ident())
    context = types.SimpleNamespace(
        recorder=made, project=files, trace=traced, inputs=inputs.Inputs(traced), controls={}, streams=streams
    )
    input_taps.install(context, manifest.get("watched", {}), builtins)
    return made


def end(recorder: Any) -> list[object]:
    """The events."""
    from _deviate_guest import eventlog

    recorder.close()
    if recorder.fd is not None:
        os.close(recorder.fd)
    folder = Path(recorder.folder)
    lines = [line for path in folder.iterdir() for line in path.read_text(encoding="utf-8").splitlines()]
    events = [[eventlog.fields_of(line)[0], *eventlog.decode(line)] for line in lines]
    shutil.rmtree(folder)
    return events


def plain(value: object) -> object:
    """The number that a tap would read in a value, as text in full precision; None where there is none."""
    if isinstance(value, str) and len(value) <= 40:
        with contextlib.suppress(ValueError):
            return repr(float(value.strip().rstrip("%")))
    return repr(+value) if isinstance(value, (bool, int, float)) else None


if __name__ == "__main__":
    main()
