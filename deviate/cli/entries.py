"""Likely training scripts of a folder: as a document, and in the error for a command without a script."""

import os
import shlex
from pathlib import Path

from deviate.analysis.entries import EntryScripts
from deviate.errors import InputError
from deviate.report.document import Block, Document, Facts, Remark, fact, paragraph
from deviate.report.format import printable

SCHEMA = 1
MOST_SHOWN = 10
MOST_NAMED = 3


def entries_document(entries: EntryScripts, cwd: Path, *, is_whole: bool = False) -> Document:
    """The scripts, best first, and the command for the first.

    Args:
        cwd: working folder of the user, for which the commands are written.
        is_whole: show all of them, not only the best.

    Raises:
        InputError: nothing in the folder looks like a training script.
    """
    if not entries.scripts:
        raise _nothing_found(entries, cwd)
    scripts = entries.scripts if is_whole else entries.scripts[:MOST_SHOWN]
    count = f"{len(entries.scripts)} of {entries.n_files} Python files may be training scripts"
    blocks: list[Block] = [
        Remark(f"{number}  {printable(entry.file)}", "", ("; ".join(entry.reasons),))
        for number, entry in enumerate(scripts, start=1)
    ]
    if len(entries.scripts) > len(scripts):
        blocks.append(f"and {len(entries.scripts) - len(scripts)} more (--all shows them)")
    head = Facts((fact("Folder", printable(str(entries.folder))), fact("", count)))
    notebooks = [fact("Notebooks", _of_notebooks(entries, cwd))] if entries.notebooks else []
    next_step = fact("Next" if entries.is_clear else "Try", _command("analyze", entries, cwd), is_code=True)
    return Document(
        sections=(paragraph(head), paragraph(*blocks), paragraph(Facts((*notebooks, next_step)))),
        data=lambda: _data(entries),
    )


def _data(entries: EntryScripts) -> dict[str, object]:
    """Output of `deviate analyze DIRECTORY --format json`, for `json.dumps`."""
    return {
        "schema": SCHEMA,
        "folder": str(entries.folder),
        "scripts": [
            {"file": entry.file, "score": entry.score, "reasons": list(entry.reasons)} for entry in entries.scripts
        ],
        "notebooks": list(entries.notebooks),
    }


def refuse_folder(entries: EntryScripts, cwd: Path, verb: str) -> InputError:
    """The error for a command that does not accept a folder, which lists its likely scripts."""
    if not entries.scripts:
        return _nothing_found(entries, cwd)
    listing = ", ".join(printable(entry.file) for entry in entries.scripts[:MOST_NAMED])
    return InputError(
        f"{entries.folder} is a folder; its most likely training scripts: {listing}",
        f"Name one: {_command(verb, entries, cwd)} (deviate analyze {shlex.quote(_seen_from(entries.folder, cwd))}"
        " says why).",
    )


def _nothing_found(entries: EntryScripts, cwd: Path) -> InputError:
    count = f"{entries.n_files} Python file{'s' * (entries.n_files != 1)}"
    hint = "Name the script: deviate analyze FILE."
    if entries.notebooks:
        hint = f"{hint} Notebooks are {_of_notebooks(entries, cwd)}"
    return InputError(f"{entries.folder} has {count}, but no likely training script", hint)


def _of_notebooks(entries: EntryScripts, cwd: Path) -> str:
    first, *more = entries.notebooks
    rest = f" and {len(more)} more" if more else ""
    command = f"deviate analyze {shlex.quote(_seen_from(entries.folder / first, cwd))}"
    return printable(f"not ranked: {first}{rest}; to analyse one: {command}")


def _command(verb: str, entries: EntryScripts, cwd: Path) -> str:
    """The command for the first script; scripts of another project are run from their own folder."""
    script = entries.scripts[0].file
    if entries.folder.is_relative_to(cwd):
        return f"deviate {verb} {shlex.quote(_seen_from(entries.folder / script, cwd))}"
    return f"cd {shlex.quote(_seen_from(entries.folder, cwd))} && deviate {verb} {shlex.quote(script)}"


def _seen_from(path: Path, cwd: Path) -> str:
    return os.path.relpath(path, cwd)
