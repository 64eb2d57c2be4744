"""Likely training scripts of a folder: as text, as a document, and in the error for a command without a script."""

import os
import shlex
import textwrap
from pathlib import Path

from deviate.analysis.entries import EntryScripts
from deviate.errors import InputError

SCHEMA = 1
MOST_SHOWN = 10
MOST_NAMED = 3
MARGIN = 5


def render_entries(entries: EntryScripts, cwd: Path, width: int, *, is_whole: bool = False) -> str:
    """Plain text of at most `width` columns (from 60), ending in a newline.

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
    lines = [f"Folder     {_clean(str(entries.folder))}", f"           {count}", ""]
    for number, entry in enumerate(scripts, start=1):
        lines.append(f"{number:>3}  {_clean(entry.file)}")
        lines += _wrap(_clean("; ".join(entry.reasons)), width, " " * MARGIN, " " * MARGIN)
    if len(entries.scripts) > len(scripts):
        lines.append(f"     and {len(entries.scripts) - len(scripts)} more (--all shows them)")
    lines.append("")
    if entries.notebooks:
        lines += _wrap(_of_notebooks(entries, cwd), width, "Notebooks  ", " " * 11)
    title = "Next" if entries.is_clear else "Try"
    return "\n".join([*lines, f"{title:<11}{_command('analyze', entries, cwd)}"]) + "\n"


def entries_document(entries: EntryScripts) -> dict[str, object]:
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
    listing = ", ".join(_clean(entry.file) for entry in entries.scripts[:MOST_NAMED])
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
    return _clean(f"not ranked: {first}{rest}; to analyse one: {command}")


def _command(verb: str, entries: EntryScripts, cwd: Path) -> str:
    """The command for the first script; scripts of another project are run from their own folder."""
    script = entries.scripts[0].file
    if entries.folder.is_relative_to(cwd):
        return f"deviate {verb} {shlex.quote(_seen_from(entries.folder / script, cwd))}"
    return f"cd {shlex.quote(_seen_from(entries.folder, cwd))} && deviate {verb} {shlex.quote(script)}"


def _seen_from(path: Path, cwd: Path) -> str:
    return os.path.relpath(path, cwd)


def _wrap(text: str, width: int, first: str, indent: str) -> list[str]:
    return textwrap.wrap(text, max(width, 60), initial_indent=first, subsequent_indent=indent)


def _clean(text: str) -> str:
    """Text without control codes, which file names may contain."""
    return "".join(character if character.isprintable() else "?" for character in text)
