"""`deviate list`: what is on record."""

import re
import shlex
import time
from pathlib import Path
from typing import Any

import typer

from deviate.base.decisions import log_decision
from deviate.base.kept import keep, read_kept
from deviate.cli.app import Form, command, print_document
from deviate.cli.options.groups import in_output
from deviate.errors import RecordError
from deviate.records.fingerprint import fingerprint
from deviate.records.layout import records_folder
from deviate.records.plans import experiment_folders
from deviate.report.document import Block, Document, listing, paragraph
from deviate.report.format import clean, decimals, duration, name_text, number, size_text, with_unit

MOST_WORDS = 12
"""Words of a command that a line of the list has room for."""
INDEX = "list.json"
"""File beside the experiments with the entries of those that had ended when they were last listed."""


@command("list", epilog="Example: deviate list --size")
def list_command(
    size: bool = in_output(None, "Show the disk space of each experiment.", default=False),
    form: Form = in_output(None, "Output format.", "--format", default=Form.table),
) -> None:
    """List recorded experiments, one line per variant."""
    folder = records_folder(Path.cwd().resolve())
    entries, damaged = read_entries(folder, has_size=size)
    data = [*entries, *(_damaged_entry(name, error) for name, error in damaged.items())]
    columns = ("name", "variant", "done", "failed", "running", "mean ± SD", "age", "size", "command")
    blocks: list[Block] = [listing(columns, map(_row, entries))] if entries else []
    if not data:
        blocks.append(f"No experiments under {folder}. Run one: deviate run train.py")
    print_document(Document(sections=(paragraph(*blocks),), data=lambda: data), form)
    if form is not Form.json:
        for unread, error in damaged.items():
            typer.echo(f"{unread}: {error.message}; {error.hint}", err=True)


def read_entries(folder: Path, *, has_size: bool = False) -> tuple[list[dict[str, Any]], dict[str, RecordError]]:
    """The entries of all experiments, oldest first, and by name why others cannot be read.

    Those of an experiment that cannot have changed since it was listed last are in the index.
    """
    index = read_kept(folder / INDEX)
    entries, damaged, kept = list[dict[str, Any]](), dict[str, RecordError](), dict[str, Any]()
    for experiment in experiment_folders(folder):
        state = fingerprint(experiment)
        known, listed = index.get(experiment.name, ("", []))
        is_settled = True
        if not state or known != state:
            from deviate.cli.list_experiment import list_experiment  # all that reads runs

            try:
                listed, is_settled = list_experiment(experiment)
            except RecordError as error:
                log_decision("records", "experiment %s is left out: %s", experiment.name, error.message)
                damaged[experiment.name] = error
                continue
        if state and is_settled:
            kept[experiment.name] = [state, listed]
        n_bytes = _size(experiment) if has_size else None
        entries += [{**entry, "n_bytes": n_bytes} for entry in listed]
    if kept != index:
        keep(folder / INDEX, kept)
    return sorted(entries, key=lambda entry: (entry["created"], entry["name"])), damaged


def _size(experiment: Path) -> int:
    from deviate.replay.cleanup import size  # and all that reads runs

    return size(experiment)


def _damaged_entry(name: str, error: RecordError) -> dict[str, Any]:
    """The entry of an experiment that cannot be read."""
    numbers = dict.fromkeys(("n_runs", "n_completed", "n_failed", "n_running"), 0)
    unknown = dict.fromkeys(("mean", "rung", "created", "n_bytes", "tuned"))
    return {
        "name": name,
        "variant": "",
        **numbers,
        **unknown,
        "command": [],
        "problem": f"{error.message}; {error.hint}",
    }


def _row(entry: dict[str, Any]) -> tuple[str, ...]:
    return (
        entry["name"],
        entry["variant"],
        entry["problem"] or f"{entry['n_completed']}/{entry['n_runs']} completed{', tuned' if entry['tuned'] else ''}",
        f"{entry['n_failed']} failed" if entry["n_failed"] else "",
        f"{entry['n_running']} running" if entry["n_running"] else "",
        f"pair of deviate diverge: {entry['rung']}" if entry["rung"] else _mean_text(entry["mean"]),
        duration(max(0.0, time.time() - entry["created"])),
        "" if entry["n_bytes"] is None else size_text(entry["n_bytes"]),
        _shorten_command(entry["command"]),
    )


def _shorten_command(command: list[str]) -> str:
    """A command; if it has many words, such as an import of many files, the first word and the number of the others."""
    program, *arguments = command or [""]
    if re.fullmatch(r"python[\d.]*", Path(program).name):  # `show` states which one it is
        command = [Path(program).name, *arguments]
    n_more = len(command) - MOST_WORDS
    return shlex.join(command) if n_more <= 1 else f"{shlex.join(command[:MOST_WORDS])} … and {n_more} more"


def _mean_text(mean: dict[str, Any] | None) -> str:
    if mean is None:
        return ""
    places = decimals(mean["sd"] / mean["n"] ** 0.5) if mean["sd"] is not None else None
    spread = f" ± {number(mean['sd'], places)}" if places is not None else ""
    return f"{name_text(mean['metric'])} {with_unit(number(mean['mean'], places) + spread, clean(mean['unit']))}"
