"""Output of `deviate show NAME --run`: spec, attempts, files, environment, and the reason of a failure."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from deviate.cli.show_experiment import (
    LABEL_WIDTH,
    attempts_of,
    command_lines,
    launch_document,
    state_document,
    state_text,
    step_text,
    variables_text,
)
from deviate.errors import InputError
from deviate.model.plan import Spec
from deviate.records.environment import facts_of
from deviate.records.layout import artifacts_folder, log_files, runs_folder, spec_file
from deviate.records.runs import read_spec
from deviate.replay.capture_options import describe_capture
from deviate.replay.live_estimates import ExperimentScores
from deviate.replay.states import AttemptState, RunState
from deviate.report.format import clean, duration, instant, replicates, size_text
from deviate.report.lines import align_columns

CAUSES: Mapping[str, str] = {
    "exit": "the script failed",
    "signal": "ended by a signal",
    "memory": "out of memory",
    "time": "time limit",
    "stall": "no sign of life",
    "cancel": "cancelled",
    "node": "executor or its machine",
    "silent": "recorded nothing",
    "disk": "disk full",
    "checkpoint": "checkpoint of an earlier training",
}
"""Why an attempt failed, by the word of its record."""
SHORTEST_ID = 4
"""Digits of a run id that are enough to name it."""


def find_runs(states: Sequence[RunState], text: str, name: str) -> tuple[RunState, ...]:
    """The runs for a replicate number, or a prefix of a run id.

    Raises:
        InputError: there is none.
    """
    matches = tuple(state for state in states if text.isdecimal() and state.replicate == int(text))
    if not matches and len(text) >= SHORTEST_ID:
        matches = tuple(state for state in states if state.run_id.startswith(text))
    if not matches:
        numbers = replicates(tuple(sorted({state.replicate for state in states})))
        raise InputError(f"{name} has no run {text!r}", f"it has {numbers}; a run id has {SHORTEST_ID} digits at least")
    return matches


def run_text(experiment: Path, state: RunState) -> str:
    """Text with several lines."""
    from deviate.records.read import stderr_tail

    lines = [f"{label:<{LABEL_WIDTH}}{clean(text)}" for label, text in _facts(experiment, state)]
    if tried := attempts_of(state):
        lines += ["", align_columns([("attempt", "status", "started", "time", "host", "device", "reason", "cause"),
                               *(_attempt_row(attempt, state) for attempt in tried)])]  # fmt: skip
    if state.folder is not None:
        lines += ["", *(f"{label:<{LABEL_WIDTH}}{clean(text)}" for label, text in _files(state.folder))]
        if sizes := _sizes(state.folder):
            captured_files = ((path.name, size_text(size)) for path, size in sizes)
            lines += ["", align_columns([("captured", "size"), *captured_files])]
        facts = facts_of(state.folder)
        if facts:
            lines += ["", align_columns([("environment", ""), *sorted(facts.items())])]
        if state.state == "failed":
            lines += ["", *(f"  {clean(line)}" for line in stderr_tail(log_files(state.folder)[1]))]
    return "\n".join(lines)


def run_document(experiment: Path, state: RunState) -> dict[str, Any]:
    """The run as a JSON object."""
    from deviate.records.read import stderr_tail

    spec = _spec(experiment, state)
    return {
        **state_document(state),
        "spec": spec
        and {
            **launch_document(spec),
            "seeds": dict(spec.seeds),
            "controls": dict(spec.controls),
            "sources_hash": spec.sources_hash,
        },
        "attempts": [
            {
                "number": attempt.number,
                "folder": str(attempt.folder),
                "claim": None if attempt.claim is None else dataclasses.asdict(attempt.claim),
                "result": None if attempt.result is None else dataclasses.asdict(attempt.result),
            }
            for attempt in attempts_of(state)
        ],
        "files": {} if state.folder is None else dict(_paths(state.folder)),
        "captured": {} if state.folder is None else {path.name: size for path, size in _sizes(state.folder)},
        "environment": {} if state.folder is None else facts_of(state.folder),
        "stderr_tail": (
            list(stderr_tail(log_files(state.folder)[1]))
            if state.folder is not None and state.state == "failed"
            else []
        ),
    }


def _facts(experiment: Path, state: RunState) -> Iterator[tuple[str, str]]:
    yield "Run", f"{experiment.name}:{state.variant} replicate {state.replicate}"
    yield "State", ", ".join(part for part in (state_text(state), state.reason) if part)
    if state.run_id:
        yield "Id", state.run_id
    spec = _spec(experiment, state)
    if spec is not None:
        yield from command_lines(spec)
        yield "Seeds", ", ".join(f"{name} {seed}" for name, seed in spec.seeds) or "as the script sets them"
        yield "Controls", ", ".join(f"{name} {level}" for name, level in spec.controls) or "none"
        if spec.capture:
            yield "Capture", describe_capture(spec.capture)
        yield "Variables", variables_text(dict(spec.environment)) or "none"
    if step := step_text(state, None):
        yield "Step", step
    if state.status == "completed":
        score = ExperimentScores(experiment).score_text(runs_folder(experiment) / state.run_id)
        yield from (("Score", text) for text in [score] if text)


def _attempt_row(attempt: AttemptState, state: RunState) -> tuple[str, ...]:
    claim, result = attempt.claim, attempt.result
    if result is not None:
        status, took, reason = result.status.replace("_", " "), duration(result.wall_time_s), result.reason
    else:
        is_told = attempt.number == state.attempt
        status, took, reason = state.state if is_told else "lost", duration(state.wall_time_s) if is_told else "", ""
    return (
        str(attempt.number),
        status,
        instant(result.started if result else claim.started if claim else 0.0),
        took,
        claim.host if claim else "",
        (result.device if result else "") or (claim.device if claim else ""),
        reason or attempt.problem,
        CAUSES.get(result.cause, result.cause) if result else "",
    )


def _files(attempt: Path) -> Iterator[tuple[str, str]]:
    for label, path in _paths(attempt):
        yield label, path if Path(path).exists() else f"{path} (removed)" if label == "Work copy" else f"{path} (none)"


def _sizes(attempt: Path) -> list[tuple[Path, int]]:
    """Numbers and sizes of the existing files with outputs and weights."""
    return [(path, path.stat().st_size) for path in sorted(artifacts_folder(attempt).glob("*.npz"))]


def _paths(attempt: Path) -> Iterator[tuple[str, str]]:
    stdout, stderr = log_files(attempt)
    yield from (("Folder", str(attempt)), ("Stdout", str(stdout)), ("Stderr", str(stderr)))
    yield "Work copy", str(attempt / "work")


def _spec(experiment: Path, state: RunState) -> Spec | None:
    return read_spec(spec_file(runs_folder(experiment) / state.run_id)) if state.run_id else None
