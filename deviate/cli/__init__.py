"""The command line: flags into requests, findings into text, errors into exit codes. The only room that prints."""

import gc
import os
import sys
from contextlib import suppress

import deviate


def main() -> None:
    """Entry point: errors of ours become one message and an exit code."""
    # Modules, syntax trees and records live until the command ends. Looking through them for garbage as often as Python
    # does by default takes a twentieth of a command's processor time, imports included.
    gc.set_threshold(50_000, 20, 50)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # its file was closed by whoever started the command
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115  (until the command ends)
    if sys.argv[1:] == ["--version"]:  # which scripts ask for, and which needs no library
        with suppress(OSError):  # a full disk, say: the application tells
            print(f"deviate {deviate.__version__}", flush=True)
            return
    from deviate.cli.app import obey_signals, run_arguments

    obey_signals()
    code = run_arguments(sys.argv[1:])
    gc.freeze()  # or Python looks through all of them once more as it ends
    sys.exit(code)
