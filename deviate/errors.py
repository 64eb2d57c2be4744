"""The errors a user may see: one tree, each with what was being done and what to do next.

DeviateError
├── InputError        what the user named cannot be used: a script, a metric, an experiment, an option
├── RecordError       a record on disk cannot be read or written
├── RunError          runs could not be started, or the guest never reported from them
└── ToolError         a part of deviate is missing or broken
"""

import contextlib
from collections.abc import Iterator


class DeviateError(Exception):
    """One message for the user.

    Args:
        message: what was being done, with which value, and what went wrong.
        hint: what to do next, an imperative sentence; empty when there is nothing to advise.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if hint:
            self.add_note(hint)  # a traceback, as a notebook shows it, says what to do too


class InputError(DeviateError):
    """What the user named cannot be used."""


class RecordError(DeviateError):
    """A record on disk cannot be read or written."""


class RunError(DeviateError):
    """Runs could not be started, or did not report."""


class ToolError(DeviateError):
    """A part of deviate is missing or broken."""


class InUseError(RunError):
    """Somebody else carries out this run now: not a fault, and to be tried again later."""


class PluginWarning(UserWarning):
    """An extension of another package cannot be used, and is left out."""


@contextlib.contextmanager
def writing(action: str, hint: str = "check free space and permissions") -> Iterator[None]:
    """Turn what the system raises while something is written into an error that names the action, as "making FOLDER".

    Raises:
        RecordError: the disk does not take it.
    """
    try:
        yield
    except OSError as error:
        raise RecordError(f"{action}: {error.strerror or error}", hint) from error
