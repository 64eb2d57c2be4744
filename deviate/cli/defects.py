"""Unexpected exceptions: one message that it is a defect of deviate, and a traceback that is not lost."""

import contextlib
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path

import typer

from deviate.base.redaction import known_secrets, redact

FOLDER = "defects"
MOST_KEPT = 10
PREFIX = "deviate-defect-"


def report_defect(error: Exception) -> None:
    """Say that an exception is a defect of deviate, and keep its traceback.

    It is printed too with `--debug`, and where standard error is the log of a job, which may be all that is left of it.
    """
    secrets = known_secrets(os.environ)
    text = redact("".join(traceback.format_exception(error)), secrets)
    file = _keep(text)
    if file is None or not sys.stderr.isatty() or _is_debugging():
        typer.echo(text, nl=False, err=True)
    places = [f" ({Path(frame.filename).name}:{frame.lineno})" for frame in traceback.extract_tb(error.__traceback__)]
    what = redact(" ".join(f"{type(error).__name__}: {error}".split()), secrets)
    typer.echo(f"Error: this is a defect of deviate: {what}{places[-1] if places else ''}", err=True)
    where = f"its traceback is in {file}; " if file is not None else ""
    typer.echo(f"  {where}to report it, add the output of: deviate doctor --report", err=True)


def latest_defect() -> str | None:
    """The traceback that was kept last of the project or, without records, of the user; None if there is none."""
    folder = _records()
    files = list((folder / FOLDER).glob("*.txt")) if folder is not None else []
    if not files:
        files = [
            path for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*.txt") if path.stat().st_uid == os.getuid()
        ]
    return max(files, key=lambda path: path.stat().st_mtime).read_text(encoding="utf-8") if files else None


def _keep(text: str) -> Path | None:
    """Write a traceback among the records of the project, else to a temporary file; None where neither is possible."""
    folder = _records()
    with contextlib.suppress(OSError):
        if folder is not None:
            place = folder / FOLDER
            place.mkdir(exist_ok=True)
            # One reading for both parts: between two, a second could pass, and the names would not sort by age.
            seconds, nanoseconds = divmod(time.time_ns(), 10**9)
            moment = time.strftime("%Y-%m-%dT%H-%M-%S", time.localtime(seconds))
            file = place / f"{moment}-{nanoseconds:09}.txt"
            file.write_text(text, encoding="utf-8")
            for old in sorted(place.glob("*.txt"))[:-MOST_KEPT]:
                old.unlink(missing_ok=True)
            return file
    with (
        contextlib.suppress(OSError),
        tempfile.NamedTemporaryFile("w", prefix=PREFIX, suffix=".txt", delete=False, encoding="utf-8") as temporary,
    ):
        temporary.write(text)
        return Path(temporary.name)
    return None


def _records() -> Path | None:
    """The nearest `.deviate/` above the working folder; what failed may have been the search by git."""
    with contextlib.suppress(OSError):
        cwd = Path.cwd()
        return next((path / ".deviate" for path in (cwd, *cwd.parents) if (path / ".deviate").is_dir()), None)
    return None


def _is_debugging() -> bool:
    if "deviate.cli.debug" not in sys.modules:
        return False
    from deviate.cli.debug import is_logging

    return is_logging()
