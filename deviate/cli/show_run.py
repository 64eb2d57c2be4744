"""Output of `deviate show NAME --run`: spec, attempts, files, environment, and the reason of a failure."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from deviate.cli.show_experiment import (
    attempts_of,
    command_facts,
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
from deviate.report.document import Block, Code, Document, Fact, Facts, fact, listing, paragraph
from deviate.report.format import duration, instant, replicates, size_text

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


def run_document(experiment: Path, states: Sequence[RunState]) -> Document:
    """Runs of an experiment, each in a few paragraphs."""
    sections = tuple(paragraph(*blocks) for state in states for blocks in _paragraphs(experiment, state) if blocks)
    return Document(sections=sections, data=lambda: [_data(experiment, state) for state in states])


def _paragraphs(experiment: Path, state: RunState) -> Iterator[Sequence[Block]]:
    from deviate.records.read import stderr_tail

    yield [Facts(tuple(_facts(experiment, state)))]
    if tried := attempts_of(state):
        columns = ("attempt", "status", "started", "time", "host", "device", "reason", "cause")
        yield [listing(columns, (_attempt_row(attempt, state) for attempt in tried))]
    if state.folder is None:
        return
    yield [Facts(tuple(_files(state.folder)))]
    if sizes := _sizes(state.folder):
        yield [listing(("captured", "size"), ((path.name, size_text(size)) for path, size in sizes))]
    if facts := facts_of(state.folder):
        yield [listing(("environment", ""), sorted(facts.items()))]
    if state.state == "failed":
        yield [Code("\n".join(stderr_tail(log_files(state.folder)[1])))]


def _data(experiment: Path, state: RunState) -> dict[str, Any]:
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


def _facts(experiment: Path, state: RunState) -> Iterator[Fact]:
    yield fact("Run", f"{experiment.name}:{state.variant} replicate {state.replicate}")
    yield fact("State", ", ".join(part for part in (state_text(state), state.reason) if part))
    if state.run_id:
        yield fact("Id", state.run_id)
    spec = _spec(experiment, state)
    if spec is not None:
        yield from command_facts(spec)
        yield fact("Seeds", ", ".join(f"{name} {seed}" for name, seed in spec.seeds) or "as the script sets them")
        yield fact("Controls", ", ".join(f"{name} {level}" for name, level in spec.controls) or "none")
        if spec.capture:
            yield fact("Capture", describe_capture(spec.capture))
        yield fact("Variables", variables_text(dict(spec.environment)) or "none", is_code=True)
    if step := step_text(state, None):
        yield fact("Step", step)
    if state.status == "completed":
        score = ExperimentScores(experiment).score_text(runs_folder(experiment) / state.run_id)
        yield from (fact("Score", text) for text in [score] if text)


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


def _files(attempt: Path) -> Iterator[Fact]:
    for label, path in _paths(attempt):
        lack = "" if Path(path).exists() else " (removed)" if label == "Work copy" else " (none)"
        yield fact(label, f"{path}{lack}", is_code=True)


def _sizes(attempt: Path) -> list[tuple[Path, int]]:
    """Numbers and sizes of the existing files with outputs and weights."""
    return [(path, path.stat().st_size) for path in sorted(artifacts_folder(attempt).glob("*.npz"))]


def _paths(attempt: Path) -> Iterator[tuple[str, str]]:
    stdout, stderr = log_files(attempt)
    yield from (("Folder", str(attempt)), ("Stdout", str(stdout)), ("Stderr", str(stderr)))
    yield "Work copy", str(attempt / "work")


def _spec(experiment: Path, state: RunState) -> Spec | None:
    return read_spec(spec_file(runs_folder(experiment) / state.run_id)) if state.run_id else None
