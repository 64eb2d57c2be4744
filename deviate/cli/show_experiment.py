"""What `deviate show` tells of an experiment, gathered from its folder: text for people, a document for programs."""

import dataclasses
import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deviate import records, replay, workflows
from deviate.base import redacted_variables, redacted_words
from deviate.cli.columns import aligned
from deviate.cli.progress import mean_text
from deviate.model import Settings, Unavailable
from deviate.records import Plan, artifacts_folder, read_manifest
from deviate.report import clean, counted, duration, filled, instant, name, replicates, size_text
from deviate.workflows import Mean, RunState

LABEL_WIDTH = 12
NARROWEST = 40
UNBROKEN = frozenset({"Experiment", "Command", "Then", "Prepare", "Wrap", "Environment"})
GIVEN, DEFAULT = "given", "default"


@dataclass(frozen=True, slots=True)
class Shown:
    """An experiment, or one variant of it, as it stands.

    Attributes:
        used_by: who runs it now, in words; empty where nobody does.
    """

    folder: Path
    plan: Plan
    variant: str
    used_by: str
    states: tuple[RunState, ...]
    means: tuple[Mean, ...]
    warnings: tuple[str, ...]


def look(folder: Path, variant: str, *, confidence: float = 0.95) -> Shown:
    """How an experiment stands.

    Args:
        variant: its name, empty for all.

    Raises:
        RecordError: a file that everything hangs on is damaged.
    """
    plan = records.read_plan(folder)
    states = workflows.run_states(folder, plan)
    scores = workflows.Scores(folder)
    scores.read()
    completed = {it.run_id for it in states if it.state == "completed"}  # a run may have ended since they were read
    scores.runs = {run: it for run, it in scores.runs.items() if run in completed}
    diverged = {run for run, it in scores.runs.items() if it.is_diverged}
    states = tuple(
        dataclasses.replace(it, state="lost", status="lost", reason=f"damaged: {', '.join(scores.damaged[it.run_id])}")
        if it.run_id in scores.damaged and it.state == "completed"
        else it
        for it in states
    )
    chosen = tuple(
        dataclasses.replace(it, state="failed", status="diverged", reason="a metric ended NaN or infinite")
        if it.run_id in diverged and it.state == "completed"
        else it
        for it in states
        if variant in {"", it.variant}
    )
    told = () if "trace-until" in dict(plan.capture) else scores.means(confidence)  # those runs end early
    means = tuple(it for it in told if variant in {"", it.variant})
    return Shown(folder, plan, variant, workflows.in_use(folder), chosen, means, tuple(_warnings(folder, chosen)))


def settings_of(plan: Plan) -> dict[str, tuple[Any, str]]:
    """Each setting with its value, and whether it is the default or was given: as a flag, a variable or in a file."""
    usual = Settings()
    return {
        it.name: (value, DEFAULT if value == getattr(usual, it.name) else GIVEN)
        for it in dataclasses.fields(plan.settings)
        for value in (getattr(plan.settings, it.name),)
    }


def experiment_text(shown: Shown, width: int) -> str:
    """Several lines for people, no wider than `width` but for commands and paths, which are there to be copied."""
    plan = shown.plan
    sections = [
        "\n".join(line for label, text in _head(shown) for line in _lines(label, clean(text), width)),
        runs_text(shown.states),
        "\n".join(line for label, text in _foot(shown) for line in _lines(label, text, width)),
    ]
    if not plan.variants:
        sections.pop(1)
    return "\n\n".join(part for part in sections if part)


def _lines(label: str, text: str, width: int) -> list[str]:
    first, others = f"{label:<{LABEL_WIDTH}}", " " * LABEL_WIDTH
    return [first + text] if label in UNBROKEN else filled(text, max(width, NARROWEST), first, others)


def _captured(shown: Shown) -> str:
    """What runs keep, and how much of it lies there."""
    folders = [artifacts_folder(it.folder) for it in shown.states if it.folder is not None]
    n_bytes = sum(workflows.size(it) for it in folders if it.is_dir())
    return f"{replay.tell_keeping(shown.plan.capture)}; {size_text(n_bytes)} of it on record"


def runs_text(states: Sequence[RunState]) -> str:
    """A table of runs; those that wait without having begun are told together."""
    several = len({it.variant for it in states}) > 1
    n_steps = {it.variant: workflows.n_steps_of([run for run in states if run.variant == it.variant]) for it in states}
    rows = [
        (
            *([it.variant] if several else []),
            str(it.replicate),
            state_text(it),
            str(it.attempt),
            it.host,
            it.device,
            duration(it.wall_time_s) if it.started and it.state != "waiting" else "",
            step_text(it, n_steps[it.variant]),
            it.value,
            it.reason,
        )
        for it in states
        if it.attempt
    ]
    head = ("variant",) if several else ()
    columns = (*head, "replicate", "state", "attempt", "host", "device", "time", "step", "last value", "reason")
    lines = [aligned([columns, *rows])] if rows else []
    for variant in dict.fromkeys(it.variant for it in states):
        waiting = tuple(it.replicate for it in states if it.variant == variant and not it.attempt)
        if waiting:
            lines.append(f"{f'{clean(variant)} ' if several else ''}{replicates(waiting)} waiting")
    return "\n".join(lines)


def state_text(it: RunState) -> str:
    return f"{it.state}: {it.status.replace('_', ' ')}" if it.state == "failed" and it.status else it.state


def step_text(it: RunState, n_steps: int | None) -> str:
    if it.step is None:
        return ""
    at = it.step + 1
    return f"{at} of {n_steps}" if n_steps is not None and at <= n_steps and it.state != "completed" else str(at)


def experiment_document(shown: Shown) -> dict[str, Any]:
    """The same as a JSON object."""
    plan = shown.plan
    return {
        "schema": 1,
        "experiment": plan.name,
        "folder": str(shown.folder),
        "created": plan.created,
        "used_by": shown.used_by,
        "command": list(redacted_words(plan.command)),
        "cwd": plan.cwd,
        "prepare": [list(redacted_words(words)) for words in plan.prepare],
        "then": [list(redacted_words(words)) for words in plan.then],
        "wrap": list(redacted_words(plan.wrap)),
        "environment": redacted_variables(dict(plan.environment)),
        "seed": plan.seed,
        "variants": [
            {"name": it.name, "n_runs": it.n_runs, "varied": list(it.varied), "held": list(it.held)}
            for it in plan.variants
            if shown.variant in {"", it.name}
        ],
        "n_threads": plan.n_threads,
        "capture": dict(plan.capture),
        "settings": {name: {"value": value, "from": origin} for name, (value, origin) in settings_of(plan).items()},
        "looks": list(plan.looks),
        "spending": plan.spending,
        "precision": plan.precision,
        "imported": list(plan.imported),
        "changes": [{"time": it.time, "fields": sorted(it.fields)} for it in plan.history],
        "runs": [state_document(it) for it in shown.states],
        "means": [_mean_document(it) for it in shown.means],
        "warnings": list(shown.warnings),
    }


def state_document(it: RunState) -> dict[str, Any]:
    return {**dataclasses.asdict(it), "folder": None if it.folder is None else str(it.folder)}


def commands_text(commands: Sequence[Sequence[str]]) -> str:
    """Commands without their secrets, as a shell would take them."""
    return "; ".join(shlex.join(redacted_words(words)) for words in commands)


def variables_text(variables: dict[str, str]) -> str:
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in redacted_variables(variables).items())


def _head(shown: Shown) -> Iterator[tuple[str, str]]:
    plan = shown.plan
    yield "Experiment", f"{plan.name}  {shown.folder}"
    yield "State", f"being run by {shown.used_by}" if shown.used_by else _idle(shown)
    yield "Created", _created(plan)
    for index, note in enumerate(plan.imported):
        yield "Imported" if index == 0 else "", clean(note.removeprefix("imported "))
    yield from () if plan.imported else _commands(plan)
    for it in plan.variants:
        if shown.variant in {"", it.name}:
            told = f": {replay.tell(it.definition)}" if it.definition else ""
            yield "Variant", f"{it.name}, {counted(it.n_runs, 'run')}{told}"
    yield from () if plan.imported else _carried_out(plan)
    if rung := workflows.rung_of(plan):
        yield "Ladder", f"a pair of deviate diverge, rung {rung}"
    if plan.capture:
        yield "Capture", _captured(shown)
    ways = ((it, f"{it.aggregate}{', primary' if it.is_primary else ''}") for it in plan.selection.metrics)
    yield "Metrics", ", ".join(f"{name(it.name)} ({way})" for it, way in ways) or "none"


def _commands(plan: Plan) -> Iterator[tuple[str, str]]:
    """What is run."""
    yield "Command", commands_text([plan.command]) + (f"  (in {plan.cwd})" if plan.cwd != "." else "")
    if plan.then:
        yield "Then", commands_text(plan.then)
    if plan.prepare:
        yield "Prepare", commands_text(plan.prepare)
    if plan.wrap:
        yield "Wrap", commands_text([plan.wrap])
    if plan.environment:
        yield "Environment", variables_text(dict(plan.environment))


def _carried_out(plan: Plan) -> Iterator[tuple[str, str]]:
    """How it is run, and how often."""
    yield "Seed", str(plan.seed)
    yield "Settings", _settings(plan)
    if plan.n_threads is not None:
        yield "Threads", f"{plan.n_threads} per run"
    if plan.looks:
        yield "Looks", f"at {', '.join(map(str, plan.looks))} runs, {plan.spending} spending"
    if plan.precision:
        yield "Until", plan.precision


def _foot(shown: Shown) -> Iterator[tuple[str, str]]:
    for state in ("completed", "running", "failed", "lost", "cancelled", "waiting"):
        n = sum(it.state == state for it in shown.states)
        if n:
            yield f"{state.capitalize()}", f"{n} of {len(shown.states)}"
    several = len({it.variant for it in shown.means}) > 1
    for mean in shown.means:
        yield "Mean", f"{f'{clean(mean.variant)}: ' if several else ''}{mean_text(mean)}"
    for warning in shown.warnings:
        yield "Warning", clean(warning)


def _idle(shown: Shown) -> str:
    if all(it.state in {"completed", "failed"} for it in shown.states):
        return "nobody runs it; all runs are on record"
    return f"nobody runs it; what is missing is run by: deviate resume {shown.plan.name}"


def _created(plan: Plan) -> str:
    changes = [f"; {', '.join(sorted(it.fields))} changed {instant(it.time)}" for it in plan.history]
    ago = f" ({duration(max(0.0, time.time() - plan.created))} ago)"
    return instant(plan.created) + ago + "".join(changes)


def _settings(plan: Plan) -> str:
    """Those that were given first."""
    settings = settings_of(plan)
    groups = {
        origin: [f"{name} {_told(value)}" for name, (value, own) in settings.items() if own == origin]
        for origin in (GIVEN, DEFAULT)
    }
    return "; ".join(f"{origin}: {', '.join(told)}" for origin, told in groups.items() if told)


def _told(value: Any) -> str:
    if value is None or value == ():
        return "none"
    if isinstance(value, tuple):
        return " ".join("=".join(it) if isinstance(it, tuple) else str(it) for it in value)
    return str(value)


def _warnings(folder: Path, states: Sequence[RunState]) -> Iterator[str]:
    """What the snapshot, the runs and their environments give reason to, each once."""
    yield from read_manifest(records.snapshot_folder(folder)).warnings
    told: dict[str, list[int]] = {}
    for it in states:
        result = next((each.result for each in _attempts(it) if each.number == it.attempt), None)
        for warning in result.warnings if result else ():
            told.setdefault(warning, []).append(it.replicate)
    for warning, those in told.items():
        yield f"{warning} ({replicates(tuple(dict.fromkeys(those)))})"
    yield from records.environment_misfits(folder)


def _attempts(it: RunState) -> tuple[workflows.AttemptState, ...]:
    return workflows.attempt_states(it.folder.parent) if it.folder is not None else ()


def _mean_document(it: Mean) -> dict[str, Any]:
    values = {field.name: getattr(it, field.name) for field in dataclasses.fields(it)}
    return {name: None if isinstance(value, Unavailable) else value for name, value in values.items()}
