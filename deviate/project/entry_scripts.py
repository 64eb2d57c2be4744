"""Which file? The likely training scripts of a folder: as text, as a document, and as the error of a run."""

import os
import shlex
import textwrap
from pathlib import Path

from deviate.analysis import Entries
from deviate.errors import InputError

SCHEMA = 1
# 2026-11-21  1  first format.
MOST_SHOWN = 10
MOST_NAMED = 3
MARGIN = 5


def render_entries(entries: Entries, here: Path, width: int, *, is_whole: bool = False) -> str:
    """Plain text of at most `width` columns (from 60), ending in a newline.

    Args:
        here: where the user is; the commands shown are for that folder.
        is_whole: show all of them, not only the best.

    Raises:
        InputError: nothing in the folder looks like a training script.
    """
    if not entries.scripts:
        raise _nothing_found(entries)
    shown = entries.scripts if is_whole else entries.scripts[:MOST_SHOWN]
    count = f"{len(entries.scripts)} of {entries.n_files} Python files may be training scripts"
    lines = [f"Folder     {_clean(str(entries.folder))}", f"           {count}", ""]
    for number, entry in enumerate(shown, start=1):
        lines.append(f"{number:>3}  {_clean(entry.file)}")
        lines += _wrapped(_clean("; ".join(entry.reasons)), width, " " * MARGIN, " " * MARGIN)
    if len(entries.scripts) > len(shown):
        lines.append(f"     and {len(entries.scripts) - len(shown)} more (--all shows them)")
    lines.append("")
    if entries.notebooks:
        lines += _wrapped(_of_notebooks(entries), width, "Notebooks  ", " " * 11)
    title = "Next" if entries.is_clear else "Try"
    return "\n".join([*lines, f"{title:<11}{_command('analyze', entries, here)}"]) + "\n"


def entries_document(entries: Entries) -> dict[str, object]:
    """What `deviate analyze DIRECTORY --format json` prints: ready for `json.dumps`."""
    return {
        "schema": SCHEMA,
        "folder": str(entries.folder),
        "scripts": [
            {"file": entry.file, "score": entry.score, "reasons": list(entry.reasons)} for entry in entries.scripts
        ],
        "notebooks": list(entries.notebooks),
    }


def refuse_folder(entries: Entries, here: Path, verb: str) -> InputError:
    """The error of what cannot be done with a folder: which of its scripts could be meant."""
    if not entries.scripts:
        return _nothing_found(entries)
    shown = "".join(f"\n  {_clean(entry.file)}" for entry in entries.scripts[:MOST_NAMED])
    return InputError(
        f"{entries.folder} is a folder; its most likely training scripts are:{shown}",
        f"Name one: {_command(verb, entries, here)} (deviate analyze {shlex.quote(_seen_from(entries.folder, here))}"
        " says why).",
    )


def _nothing_found(entries: Entries) -> InputError:
    count = f"{entries.n_files} Python file{'s' * (entries.n_files != 1)}"
    hint = "Name the script itself: deviate analyze FILE."
    if entries.notebooks:
        hint = f"{hint} Notebooks are {_of_notebooks(entries)}"
    return InputError(f"{entries.folder} has {count}, none of which looks like a training script", hint)


def _of_notebooks(entries: Entries) -> str:
    first, *more = entries.notebooks
    others = f" and {len(more)} more" if more else ""
    return _clean(
        f"not looked into: {first}{others}; to convert one: jupyter nbconvert --to script {shlex.quote(first)}"
    )


def _command(verb: str, entries: Entries, here: Path) -> str:
    """What to type for the first script; scripts of another project are reached from their own folder."""
    script = entries.scripts[0].file
    if entries.folder.is_relative_to(here):
        return f"deviate {verb} {shlex.quote(_seen_from(entries.folder / script, here))}"
    return f"cd {shlex.quote(_seen_from(entries.folder, here))} && deviate {verb} {shlex.quote(script)}"


def _seen_from(path: Path, here: Path) -> str:
    return os.path.relpath(path, here)


def _wrapped(text: str, width: int, first: str, others: str) -> list[str]:
    return textwrap.wrap(text, max(width, 60), initial_indent=first, subsequent_indent=others)


def _clean(text: str) -> str:
    """Text without control codes, which file names may hold."""
    return "".join(character if character.isprintable() else "?" for character in text)
