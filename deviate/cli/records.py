"""`deviate list`: what is on record."""

import re
import shlex
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from deviate.base.redaction import redact_words
from deviate.cli.app import Form, as_json, command
from deviate.errors import RecordError
from deviate.model.estimates import Unavailable
from deviate.model.records import search_of
from deviate.records.layout import event_files, log_files, records_folder
from deviate.records.plans import Plan
from deviate.replay import cleanup
from deviate.replay.live_estimates import ExperimentScores, Mean
from deviate.replay.states import RecordedRun, RunState, recorded_runs, run_states, rung_of
from deviate.report.format import decimals, duration, number, size_text, with_unit
from deviate.report.lines import align_columns, name

MOST_WORDS = 12
"""Words of a command that a line of the list has room for."""
MOST_BYTES = 8_000_000
"""Means are shown as long as there is no more than this to read for an experiment: about half a second."""


@command("list", epilog="Example: deviate list --size")
def list_command(
    size: Annotated[bool, typer.Option("--size", help="Show the disk space of each experiment.")] = False,
    form: Annotated[Form, typer.Option("--format", help="Output format.")] = Form.table,
) -> None:
    """List recorded experiments, one line per variant."""
    from deviate.records.plans import find_experiment, on_record

    folder = records_folder(Path.cwd().resolve())
    plans, damaged = on_record(folder)
    entries = [entry for plan in plans for entry in _entries(find_experiment(folder, plan.name), plan, size)]
    if form is Form.json:
        typer.echo(as_json([*entries, *(_damaged_entry(name, error) for name, error in damaged.items())]))
        return
    if not plans and not damaged:
        typer.echo(f"No experiments under {folder}. Run one: deviate run train.py")
        return
    head = ("name", "variant", "done", "failed", "running", "mean ± SD", "age", "size", "command")
    if entries:
        typer.echo(align_columns([head, *(_row(entry) for entry in entries)]))
    for unread, error in damaged.items():
        typer.echo(f"{unread}: {error.message}; {error.hint}", err=True)


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


def _entries(folder: Path, plan: Plan, has_size: bool) -> Iterator[dict[str, Any]]:
    """One entry per variant; damage is stated in it, so that others are still listed."""
    rung = rung_of(plan)
    try:
        runs = tuple(recorded_runs(folder))
        states, problem = run_states(folder, plan, runs), ""
        scores = None if rung else _scores(folder, runs, states)
        means = {} if scores is None else {mean.variant: mean for mean in _means(scores)}
        if scores is not None and scores.damaged:
            problem = f"{len(scores.damaged)} damaged: see deviate show {plan.name}"
    except RecordError as error:
        states, means, problem = (), {}, error.message
    n_bytes = cleanup.size(folder) if has_size else None
    for variant in plan.variants:
        variant_states = [state for state in states if state.variant == variant.name]
        yield {
            "name": plan.name,
            "variant": variant.name,
            "n_runs": variant.n_runs,
            "n_completed": sum(state.state == "completed" for state in variant_states),
            "n_failed": sum(state.state == "failed" for state in variant_states),
            "n_running": sum(state.state == "running" for state in variant_states),
            "mean": _mean(means[variant.name]) if variant.name in means else None,
            "rung": rung or None,
            "created": plan.created,
            "n_bytes": n_bytes,
            "tuned": search_of(plan.imported) or None,
            "command": list(redact_words(plan.command)),
            "problem": problem,
        }


def _scores(folder: Path, runs: Sequence[RecordedRun], states: Sequence[RunState]) -> ExperimentScores | None:
    """The scores of an experiment, if reading them is fast."""
    completed = [state.folder for state in states if state.state == "completed" and state.folder is not None]
    files = (path for attempt in completed for path in (*event_files(attempt), *log_files(attempt)) if path.exists())
    to_read = sum(path.stat().st_size for path in files)
    if not completed or to_read > MOST_BYTES:
        return None
    scores = ExperimentScores(folder)
    scores.read(runs)
    return scores


def _means(scores: ExperimentScores) -> tuple[Mean, ...]:
    """The primary metric of each variant, if there is one."""
    primary = scores.primary()
    return tuple(mean for mean in scores.means(0.95, most=1, has_intervals=False) if mean.metric == primary)


def _mean(mean: Mean) -> dict[str, Any]:
    return {
        "metric": mean.metric,
        "unit": mean.unit,
        "n": mean.n,
        "mean": mean.mean,
        "sd": None if isinstance(mean.sd, Unavailable) else mean.sd,
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
    return f"{name(mean['metric'])} {with_unit(number(mean['mean'], places) + spread, name(mean['unit']))}"
