"""`deviate analyze --edit`: the user corrects `deviate.toml` in an editor, which opens again until it can be used."""

import dataclasses
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from deviate.errors import InputError, ToolError
from deviate.model.analysis import Analysis
from deviate.project import saving
from deviate.project.command import CONFIG, Target
from deviate.project.config import parse, read_text
from deviate.project.config_text import LINE, WIDTH, ConfigText, comment
from deviate.project.prepare import AnalyzedScript, analyze_scripts, apply_config, match_config

SIGN = "#>"
USAGE = f"Save and close to write {CONFIG}; empty the file to write nothing. Lines with {SIGN} are removed."
AGAIN = "Correct the text; close the editor without a change to give up."
CURE = "Set VISUAL or EDITOR, for example EDITOR=nano, or use --save and edit deviate.toml by hand."


def edit_config(target: Target) -> AnalyzedScript:
    """Open `deviate.toml` as `--save` would write it, and write what the user makes of it.

    Raises:
        InputError: there is no terminal or no editor, the file is for another script or changed meanwhile, or the user
            gave up. Then nothing is written; a text that the user has changed is kept in a temporary folder.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise InputError("--edit needs a terminal", "Use --save, and edit deviate.toml by hand.")
    script_analysis, path = analyze_scripts(target), target.root / CONFIG
    before = read_text(path)
    text, changes = _proposal(target, script_analysis, before)
    draft = Path(tempfile.mkdtemp(prefix="deviate-"), CONFIG)
    try:
        new_text = _edit(draft, text, changes, partial(_finish, target, script_analysis))
        _replace(path, before, new_text)
    except InputError as error:
        hint = error.hint
        if _without_notes(draft) not in ("", text):
            hint = f"Your text is kept in {draft}. {hint}".strip()
        else:
            shutil.rmtree(draft.parent)
        raise InputError(f"nothing was written: {error.message}", hint) from None
    shutil.rmtree(draft.parent)
    return match_config(target, script_analysis, parse(new_text, CONFIG))


def _replace(path: Path, before: str, text: str) -> None:
    if read_text(path) != before:
        raise InputError(f"{CONFIG} was changed by something else meanwhile", "Edit the file as it is now.")
    saving.write_text(path, text)


def _proposal(target: Target, script_analysis: Analysis, before: str) -> tuple[str, str]:
    """The text that `--save` would write, and what that changes."""
    config = parse(before, CONFIG)
    saving.refuse_other_script(script_analysis, config, target.root / CONFIG)
    script = match_config(target, script_analysis, config)
    if script.problem is not None:
        config = dataclasses.replace(config, main_loop=None)  # stays as written, for the user to correct
    text, saved = saving.update(before, script.analysis, config, script.matches or ())
    return text, str(saved)


def _finish(target: Target, script_analysis: Analysis, text: str) -> str:
    """The text as it is written.

    Raises:
        InputError, ToolError: it cannot be used.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{CONFIG} is not valid TOML: it is not UTF-8", "Save it as UTF-8.") from None
    config = parse(text, CONFIG)
    saving.refuse_other_script(script_analysis, config, Path(CONFIG))
    script = match_config(target, script_analysis, config, is_current=True)
    apply_config(script)
    saving.refuse_no_metric(script_analysis, config)
    return saving.refresh(ConfigText(text), script.analysis, config, config.metrics or ())


def _edit(draft: Path, text: str, changes: str, finish: Callable[[str], str]) -> str:
    """The finished text, once the user has closed the editor with one that can be used.

    Raises:
        InputError: there is no editor, or the user gave up.
    """
    is_edited = False
    while True:
        notes, fault = _notes(text, changes, finish)
        if is_edited and fault is None:
            return finish(text)
        draft.write_bytes((notes + text).encode(errors="surrogateescape"))
        _open_editor(draft)
        edited = _without_notes(draft)
        if not edited:
            raise InputError("the file was emptied")
        if fault is not None and edited == text:
            raise InputError(fault.message, fault.hint)
        text, is_edited = edited, True


def _notes(text: str, changes: str, finish: Callable[[str], str]) -> tuple[str, InputError | ToolError | None]:
    """The comments above the text, and its fault."""
    lines, fault = [USAGE, *([f"Changes: {changes}"] if changes else [])], None
    for _ in range(2):  # the second time, line numbers in the fault include its comments
        try:
            finish(comment("\n".join(lines), WIDTH, SIGN) + text)
        except (InputError, ToolError) as error:
            fault, lines = error, [error.message, error.hint, AGAIN, USAGE]
    notes = comment("\n".join(lines), WIDTH, SIGN)
    return notes.replace("\n", "\r\n") if "\r\n" in text else notes, fault


def _without_notes(draft: Path) -> str:
    """What the user wrote, with undecodable bytes as surrogates; empty if the file is blank or deleted."""
    text = draft.read_bytes().decode("utf-8-sig", "surrogateescape") if draft.exists() else ""
    kept = "".join(line for line in LINE.findall(text) if not line.startswith(SIGN))
    return kept if kept.strip() else ""


def _open_editor(draft: Path) -> None:
    """Let the user edit a file.

    Raises:
        InputError: the editor cannot be started, or fails.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        process = subprocess.Popen([*shlex.split(editor), str(draft)])
    except (OSError, ValueError) as error:
        raise InputError(f"cannot start the editor {editor}: {error}", CURE) from None
    # Ctrl-C is for the editor alone. This comes after its start, because a child inherits what is ignored.
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        code = process.wait()
    finally:
        signal.signal(signal.SIGINT, handler)
    if code:
        raise InputError(f"the editor {editor} failed with code {code}", CURE)
