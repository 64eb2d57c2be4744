"""What `deviate show NAME --run` tells of a run: spec, attempts, files, environment, and why it failed."""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from deviate import records, replay, workflows
from deviate.base import redacted_variables, redacted_words
from deviate.cli.columns import aligned
from deviate.cli.show_experiment import (
    LABEL_WIDTH,
    commands_text,
    state_document,
    state_text,
    step_text,
    variables_text,
)
from deviate.errors import InputError
from deviate.model import Spec
from deviate.records import artifacts_folder, facts_of, log_files, read_spec, runs_folder, spec_file
from deviate.report import clean, duration, instant, replicates, size_text
from deviate.workflows import AttemptState, RunState

SHORTEST_ID = 4
"""Digits of a run id that are enough to name it."""


def find_runs(states: Sequence[RunState], text: str, name: str) -> tuple[RunState, ...]:
    """The runs that a user means by the number of a replicate, or by the beginning of a run id.

    Raises:
        InputError: there is none.
    """
    found = tuple(it for it in states if text.isdecimal() and it.replicate == int(text))
    if not found and len(text) >= SHORTEST_ID:
        found = tuple(it for it in states if it.run_id.startswith(text))
    if not found:
        there = replicates(tuple(sorted({it.replicate for it in states})))
        raise InputError(f"{name} has no run {text!r}", f"it has {there}; a run id has {SHORTEST_ID} digits at least")
    return found


def run_text(experiment: Path, it: RunState) -> str:
    """Several lines for people."""
    lines = [f"{label:<{LABEL_WIDTH}}{clean(text)}" for label, text in _facts(experiment, it)]
    tried = workflows.attempt_states(it.folder.parent) if it.folder is not None else ()
    if tried:
        lines += ["", aligned([("attempt", "status", "started", "time", "host", "device", "reason", "cause"),
                               *(_attempt_row(attempt, it) for attempt in tried)])]  # fmt: skip
    if it.folder is not None:
        lines += ["", *(f"{label:<{LABEL_WIDTH}}{clean(text)}" for label, text in _files(it.folder))]
        if kept := _captured(it.folder):
            lines += ["", aligned([("captured", "size"), *kept])]
        facts = facts_of(it.folder)
        if facts:
            lines += ["", aligned([("environment", ""), *sorted(facts.items())])]
        if it.state == "failed":
            lines += ["", *(f"  {clean(line)}" for line in records.stderr_tail(log_files(it.folder)[1]))]
    return "\n".join(lines)


def run_document(experiment: Path, it: RunState) -> dict[str, Any]:
    """The same as a JSON object."""
    spec = _spec(experiment, it)
    tried = workflows.attempt_states(it.folder.parent) if it.folder is not None else ()
    return {
        **state_document(it),
        "spec": None if spec is None else _spec_document(spec),
        "attempts": [
            {
                "number": attempt.number,
                "folder": str(attempt.folder),
                "claim": None if attempt.claim is None else dataclasses.asdict(attempt.claim),
                "result": None if attempt.result is None else dataclasses.asdict(attempt.result),
            }
            for attempt in tried
        ],
        "files": {} if it.folder is None else dict(_paths(it.folder)),
        "captured": {} if it.folder is None else {path.name: size for path, size in _sizes(it.folder)},
        "environment": {} if it.folder is None else facts_of(it.folder),
        "stderr_tail": (
            list(records.stderr_tail(log_files(it.folder)[1])) if it.folder is not None and it.state == "failed" else []
        ),
    }


def _facts(experiment: Path, it: RunState) -> Iterator[tuple[str, str]]:
    yield "Run", f"{experiment.name}:{it.variant} replicate {it.replicate}"
    yield "State", ", ".join(part for part in (state_text(it), it.reason) if part)
    if it.run_id:
        yield "Id", it.run_id
    spec = _spec(experiment, it)
    if spec is not None:
        yield "Command", commands_text([spec.command]) + (f"  (in {spec.cwd})" if spec.cwd != "." else "")
        if spec.then:
            yield "Then", commands_text(spec.then)
        if spec.wrap:
            yield "Wrap", commands_text([spec.wrap])
        yield "Seeds", ", ".join(f"{name} {seed}" for name, seed in spec.seeds) or "as the script sets them"
        yield "Controls", ", ".join(f"{name} {level}" for name, level in spec.controls) or "none"
        if spec.capture:
            yield "Capture", replay.tell_keeping(spec.capture)
        yield "Variables", variables_text(dict(spec.environment)) or "none"
    if step := step_text(it, None):
        yield "Step", step
    if it.value:
        yield "Last value", it.value


def _attempt_row(attempt: AttemptState, it: RunState) -> tuple[str, ...]:
    claim, result = attempt.claim, attempt.result
    if result is not None:
        status, took, reason = result.status.replace("_", " "), duration(result.wall_time_s), result.reason
    else:
        is_told = attempt.number == it.attempt
        status, took, reason = it.state if is_told else "lost", duration(it.wall_time_s) if is_told else "", ""
    return (
        str(attempt.number),
        status,
        instant(result.started if result else claim.started if claim else 0.0),
        took,
        claim.host if claim else "",
        (result.device if result else "") or (claim.device if claim else ""),
        reason or attempt.problem,
        result.cause if result else "",
    )


def _files(attempt: Path) -> Iterator[tuple[str, str]]:
    for label, path in _paths(attempt):
        yield label, path if Path(path).exists() else f"{path} (removed)" if label == "Work copy" else f"{path} (none)"


def _captured(attempt: Path) -> list[tuple[str, str]]:
    return [(path.name, size_text(size)) for path, size in _sizes(attempt)]


def _sizes(attempt: Path) -> list[tuple[Path, int]]:
    """Files with outputs and weights that are there, and their bytes."""
    return [(path, path.stat().st_size) for path in sorted(artifacts_folder(attempt).glob("*.npz"))]


def _paths(attempt: Path) -> Iterator[tuple[str, str]]:
    stdout, stderr = log_files(attempt)
    yield from (("Folder", str(attempt)), ("Stdout", str(stdout)), ("Stderr", str(stderr)))
    yield "Work copy", str(attempt / "work")


def _spec(experiment: Path, it: RunState) -> Spec | None:
    return read_spec(spec_file(runs_folder(experiment) / it.run_id)) if it.run_id else None


def _spec_document(spec: Spec) -> dict[str, Any]:
    return {
        "command": list(redacted_words(spec.command)),
        "then": [list(redacted_words(words)) for words in spec.then],
        "wrap": list(redacted_words(spec.wrap)),
        "cwd": spec.cwd,
        "seeds": dict(spec.seeds),
        "controls": dict(spec.controls),
        "capture": dict(spec.capture),
        "environment": redacted_variables(dict(spec.environment)),
        "sources_hash": spec.sources_hash,
    }
