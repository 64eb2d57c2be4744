"""Writes reports: to a file or standard output, with data beside the page, or to the folder of a paper.

Files of an earlier report are replaced or removed; what others have put there is kept.
"""

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from deviate.errors import InputError, RecordError, writing
from deviate.model.records import Experiment

if TYPE_CHECKING:  # with statistics, which runs that are only planned do without
    from deviate.report.data.tables import TableFile

LONGEST_FOLDER = 200
"""Maximum bytes of the name of a folder; file systems allow 255."""
SCRIPTS = (".py", ".ipynb", ".sh", ".toml")
"""What no report is, so that a script named by mistake is not written over."""


def write(text: str, target: Path, stdout: TextIO) -> None:
    """Write a rendered report; `-` is standard output. Raises RecordError if the file cannot be written."""
    if str(target) == "-":
        stdout.write(text)
        return
    with writing(f"writing {target}", "name another file"):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def write_tables(tables: "Sequence[TableFile]", folder: Path) -> None:
    """Write tables to the folder of a report; tables of an earlier report that no longer exist are removed.

    Raises:
        RecordError: a file cannot be written.
    """
    for table in tables:
        target = folder / table.name
        try:
            with target.open("w", encoding="utf-8", newline="") as file:
                file.writelines(table.chunks())
        except OSError as error:
            target.unlink(missing_ok=True)
            raise RecordError(
                f"writing {target}: {error.strerror or error}", "free some space, or delete the report's folder"
            ) from error
    from deviate.report.data.tables import table_names

    for name in set(table_names()) - {table.name for table in tables}:
        (folder / name).unlink(missing_ok=True)


def refuse_output(target: Path, flag: str) -> None:
    """Raise InputError, before anything is run, if a file cannot be written; folders that are missing are made.

    Args:
        flag: the option that names it, for the message.
    """
    if target.is_dir():
        raise InputError(f"{flag} {target} is a folder", f"name a file in it: {flag} {target / 'report'}")
    if target.suffix in SCRIPTS:
        raise InputError(f"{flag} {target} would be written over", f"name a file for the report: {flag} out.html")
    existing = _nearest(target)
    if existing.absolute() != target.absolute() and not existing.is_dir():
        raise InputError(f"{flag} {target}: {existing} is no folder", "name another file")
    if not os.access(existing, os.W_OK):
        raise InputError(f"{flag} {target}: {existing} is not writable", "name another file")


def refuse_paper_folder(folder: Path, content: str = "a paper") -> None:
    """Raise InputError, before anything is run, if the folder cannot be created or written to."""
    existing = _nearest(folder)
    if not existing.is_dir():
        problem = f"{folder} cannot hold {content}: {existing} is not a folder"
        raise InputError(problem, "name another folder, or a new one")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InputError(f"{folder} cannot hold {content}: {existing} is not writable", "name another folder")


def _nearest(path: Path) -> Path:
    """The path itself, or the nearest of its parents that is there."""
    return next(one for one in (path, *path.absolute().parents) if one.exists() or one.is_symlink())


def write_paper(files: Iterable[tuple[str, bytes]], folder: Path) -> int:
    """Write files as they are generated, by path in the folder; returns their number.

    Raises:
        RecordError: one cannot be written.
    """
    n_written = 0
    for name, content in files:
        target = folder / name
        with writing(f"writing {target}", "name another folder"):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        n_written += 1
    return n_written


def report_path(folder: Path, experiments: Sequence[Experiment]) -> Path:
    """The path of the report on these experiments."""
    return report_folder(folder, [experiment.name for experiment in experiments]) / "report.html"


def report_folder(folder: Path, names: Sequence[str]) -> Path:
    """The folder of reports on experiments with these names, in order; a name may occur twice."""
    joined = "-vs-".join(dict.fromkeys(names)).replace("/", "_").replace("\0", "_")  # names of files may be anything
    name = os.fsencode(f"_{joined}" if joined in {"", ".", ".."} else joined)
    if len(name) > LONGEST_FOLDER:
        digest = hashlib.sha256(name).hexdigest()[:12].encode()
        name = name[:LONGEST_FOLDER].decode("utf-8", "ignore").encode() + b"-" + digest
    return folder / "reports" / os.fsdecode(name)
