"""Output of `deviate show`, collected from the experiment's folder."""

import dataclasses
import shlex
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deviate.base.redaction import redact_variables, redact_words
from deviate.cli.progress.tally import mean_text
from deviate.model.estimates import Unavailable
from deviate.model.plan import Settings, Spec
from deviate.records.layout import artifacts_folder
from deviate.records.plans import OPTION_OF_SETTING, Plan, VariantPlan
from deviate.records.snapshot import read_manifest
from deviate.replay.capture_options import describe_capture
from deviate.replay.cleanup import size
from deviate.replay.live_estimates import ExperimentScores, Mean
from deviate.replay.states import (
    AttemptState,
    RecordedRun,
    RunState,
    attempt_states,
    in_use,
    n_steps_of,
    recorded_runs,
    run_states,
    rung_of,
)
from deviate.replay.variants import VARY, describe_variant
from deviate.report.document import Block, Document, Fact, Facts, fact, labelled, listing, paragraph
from deviate.report.format import counted, duration, instant, name_text, replicates, size_text
from deviate.report.parts.divergence import run_command
from deviate.report.parts.script_seeds import seed_sentence

DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Overview:
    """An experiment, or one variant of it, with its current state.

    Attributes:
        used_by: who runs it now, in words; empty where nobody does.
        seeding: what became of the script's seeds in the completed runs, a sentence; empty without a recorded seed.
    """

    folder: Path
    plan: Plan
    variant: str
    used_by: str
    states: tuple[RunState, ...]
    means: tuple[Mean, ...]
    warnings: tuple[str, ...]
    seeding: str


def describe_experiment(folder: Path, variant: str, *, confidence: float = 0.95) -> Overview:
    """The current state of an experiment.

    Args:
        variant: its name, empty for all.

    Raises:
        RecordError: a file that everything hangs on is damaged.
    """
    from deviate.records.plans import read_plan

    plan = read_plan(folder)
    runs = tuple(recorded_runs(folder))
    states = run_states(folder, plan, runs)
    scores = ExperimentScores(folder)
    scores.read(runs)
    completed = {state.run_id for state in states if state.state == "completed"}
    scores.runs = {run: score for run, score in scores.runs.items() if run in completed}
    chosen = tuple(_as_scored(state, scores) for state in states if variant in {"", state.variant})
    all_means = () if "trace-until" in dict(plan.capture) else scores.means(confidence)  # those runs end early
    means = tuple(mean for mean in all_means if variant in {"", mean.variant})
    seeding = seed_sentence(
        [
            (
                one.name,
                one.varied,
                one.held,
                [event for run in scores.runs.values() if run.variant == one.name for event in run.seeding],
            )
            for one in plan.variants
            if variant in {"", one.name}
        ]
    )
    warnings = tuple(_warnings(folder, runs, chosen))
    return Overview(folder, plan, variant, in_use(runs), chosen, means, warnings, seeding)


def _as_scored(state: RunState, scores: ExperimentScores) -> RunState:
    """The state of a run that is damaged or diverged, which its result does not tell."""
    if state.state != "completed":
        return state
    if files := scores.damaged.get(state.run_id):
        return dataclasses.replace(state, state="lost", status="lost", reason=f"damaged: {', '.join(files)}")
    if (score := scores.runs.get(state.run_id)) and score.is_diverged:
        return dataclasses.replace(state, state="failed", status="diverged", reason="a metric ended NaN or infinite")
    return state


def settings_of(plan: Plan) -> dict[str, tuple[Any, str]]:
    """Settings with values, and the flag, variable or file that each is from, or `default`.

    First come those of what is run, as far as they were set, by the names of their options; then how it is run.
    """
    values = {one.name: getattr(plan.settings, one.name) for one in dataclasses.fields(Settings)}
    origin_of = dict(plan.origins)
    set_values = {name: (value, origin_of[name]) for name, value in _planned_values(plan) if name in origin_of}
    how = {
        name: (value, origin_of.get(OPTION_OF_SETTING[name], DEFAULT) if value != () else DEFAULT)
        for name, value in values.items()
    }
    return {**set_values, **how}


def _planned_values(plan: Plan) -> Iterator[tuple[str, Any]]:
    """What a plan says beside `Settings`, by the name of the option that says it."""
    from deviate.records.plans import WARNS

    primary = next((metric for metric in plan.selection.metrics if metric.is_primary), None)
    name_of_primary = plan.selection.primary.name if plan.selection.primary else primary.name if primary else None
    margins = [one for one in (plan.selection.margin, *(m.margin for m in plan.selection.metrics)) if one is not None]
    capture = dict(plan.capture)
    kinds = tuple(kind for kind in ("predictions", "weights") if kind in capture)
    yield "runs", plan.n_runs
    yield "variants", tuple(variant.name for variant in plan.variants)
    yield "seed", plan.seed
    yield from ((name, value) for name, value in (("until", plan.precision), ("looks", plan.looks)) if value)
    commands = (("command", [plan.command]), ("prepare", plan.prepare), ("then", plan.then), ("wrap", [plan.wrap]))
    yield from ((name, commands_text(words)) for name, words in commands if any(words))
    yield "python", redact_words(plan.command)[0]
    yield from (("env", variables_text(dict(plan.environment))) for _ in plan.environment[:1])
    yield from (("metric", value) for value in [name_of_primary] if value is not None)
    yield from (("margin", margins[0] if len(margins) == 1 else tuple(margins)) for _ in margins[:1])
    yield from (("capture", kinds) for _ in kinds[:1])
    keys = (("every", "capture_every"), ("limit", "capture_limit"), ("tta", "tta"))
    yield from ((name, capture[key]) for key, name in keys if key in capture)
    definitions = [variant.definition for variant in plan.variants if variant.definition]
    if definitions:
        yield "trackers", "offline" if all(one.are_trackers_offline for one in definitions) else "as-is"
        yield "warn_only", any(WARNS in one.controls for one in definitions)
        places = dict.fromkeys(dict(one.controls).get(VARY, "") for one in definitions)
        yield from (("vary", place) for place in places if place)


def experiment_document(overview: Overview) -> Document:
    """What is shown of an experiment: how it is run, its settings, its runs, and their means."""
    settings = [] if overview.plan.imported else [paragraph(*_settings(_plan_of(overview)))]
    foot = Facts(tuple(_foot(overview)))
    parts = (
        paragraph(Facts(tuple(_head(overview)))),
        *settings,
        paragraph(*runs_part(overview.states)),
        paragraph(foot),
    )
    return Document(sections=parts, data=lambda: _data(overview))


def _plan_of(overview: Overview) -> Plan:
    """The plan with the variants that are shown."""
    variants = tuple(one for one in overview.plan.variants if overview.variant in {"", one.name})
    return dataclasses.replace(overview.plan, variants=variants)


def _again(plan: Plan, variants: Sequence[VariantPlan]) -> str:
    """The `deviate run` that plans these variants, with the options that differ from the defaults."""
    from deviate.records.plans import flags_of

    words = list(flags_of(plan, variants[0]))
    for command in plan.then:
        words += ["--then", shlex.join(redact_words(command))]
    if plan.looks:
        words += ["--looks", ",".join(map(str, plan.looks))]
    usual = Settings()
    for setting, option in OPTION_OF_SETTING.items():
        if (value := getattr(plan.settings, setting)) != getattr(usual, setting):
            words += _flag_words(f"--{option.replace('_', '-')}", value)
    return run_command(
        plan.command, plan.name, max(one.n_runs for one in variants), [one.name for one in variants], words
    )


def _flag_words(flag: str, value: Any) -> list[str]:
    if flag == "--option":
        return [word for key, text in value for word in (flag, f"{key}={text}")]
    if isinstance(value, tuple):
        return [flag, ",".join(map(str, value))]
    return [flag, f"{value:g}" if isinstance(value, float) else str(value)]


def _capture_text(overview: Overview) -> str:
    """What runs capture, and the size of captured files."""
    folders = [artifacts_folder(state.folder) for state in overview.states if state.folder is not None]
    n_bytes = sum(size(folder) for folder in folders if folder.is_dir())
    return f"{describe_capture(overview.plan.capture)}; {size_text(n_bytes)} of it on record"


MOST_ROWS = 200
"""Maximum number of runs in the table."""


def runs_part(states: Sequence[RunState]) -> Iterator[Block]:
    """A table of runs, of many those that have not completed; waiting runs that were not started are summarised."""
    runs_of: dict[str, list[RunState]] = {}
    for state in states:
        runs_of.setdefault(state.variant, []).append(state)
    n_steps = {variant: n_steps_of(runs) for variant, runs in runs_of.items()}
    started = [state for state in states if state.attempt]
    listed = started
    if len(started) > MOST_ROWS:
        listed = [state for state in started if state.state != "completed"][:MOST_ROWS]
    n_more = len(started) - len(listed)
    several = len(runs_of) > 1
    rows = [
        (
            *([state.variant] if several else []),
            str(state.replicate),
            state_text(state),
            str(state.attempt),
            state.host,
            state.device,
            duration(state.wall_time_s) if state.started and state.state != "waiting" else "",
            step_text(state, n_steps[state.variant]),
            state.reason,
        )
        for state in listed
    ]
    head = ("variant",) if several else ()
    if rows:
        yield listing((*head, "replicate", "state", "attempt", "host", "device", "time", "step", "reason"), rows)
    if n_more:
        yield f"{n_more:,} {'more ' if rows else ''}runs are not listed: --run NUMBER shows one, --format json all"
    for variant, runs in runs_of.items():
        if waiting := tuple(state.replicate for state in runs if not state.attempt):
            yield f"{f'{variant} ' if several else ''}{replicates(waiting)} waiting"


def state_text(state: RunState) -> str:
    return (
        f"{state.state}: {state.status.replace('_', ' ')}" if state.state == "failed" and state.status else state.state
    )


def step_text(state: RunState, n_steps: int | None) -> str:
    if state.step is None:
        return ""
    at = state.step + 1
    return f"{at} of {n_steps}" if n_steps is not None and at <= n_steps and state.state != "completed" else str(at)


def _data(overview: Overview) -> dict[str, Any]:
    """The experiment as a JSON object."""
    plan = overview.plan
    return {
        "schema": 1,
        "experiment": plan.name,
        "folder": str(overview.folder),
        "created": plan.created,
        "used_by": overview.used_by,
        **launch_document(plan),
        "prepare": list(map(redact_words, plan.prepare)),
        "seed": plan.seed,
        "variants": [
            {"name": variant.name, "n_runs": variant.n_runs, "varied": list(variant.varied), "held": list(variant.held)}
            for variant in plan.variants
            if overview.variant in {"", variant.name}
        ],
        "n_threads": plan.n_threads,
        "settings": {
            name: {"value": value, "from": origin} for name, (value, origin) in settings_of(_plan_of(overview)).items()
        },
        "looks": list(plan.looks),
        "spending": plan.spending,
        "precision": plan.precision,
        "imported": list(plan.imported),
        "changes": [{"time": change.time, "fields": sorted(change.fields)} for change in plan.history],
        "runs": [state_document(state) for state in overview.states],
        "means": [_mean_document(mean) for mean in overview.means],
        "warnings": list(overview.warnings),
    }


def launch_document(launched: Plan | Spec) -> dict[str, Any]:
    """What is run, and what it keeps, without secrets."""
    return {
        "command": redact_words(launched.command),
        "cwd": launched.cwd,
        "then": list(map(redact_words, launched.then)),
        "wrap": redact_words(launched.wrap),
        "environment": redact_variables(dict(launched.environment)),
        "capture": dict(launched.capture),
    }


def state_document(state: RunState) -> dict[str, Any]:
    return {**dataclasses.asdict(state), "folder": None if state.folder is None else str(state.folder)}


def commands_text(commands: Sequence[Sequence[str]]) -> str:
    """Commands in shell notation without secrets."""
    return "; ".join(shlex.join(redact_words(words)) for words in commands)


def variables_text(variables: dict[str, str]) -> str:
    return " ".join(f"{name}={shlex.quote(value)}" for name, value in redact_variables(variables).items())


def _head(overview: Overview) -> Iterator[Fact]:
    plan = overview.plan
    yield fact("Experiment", f"{plan.name}  {overview.folder}", is_code=True)
    yield fact("State", f"being run by {overview.used_by}" if overview.used_by else _idle(overview))
    yield fact("Created", _origin_text(plan))
    yield from labelled("Imported", (note.removeprefix("imported ") for note in plan.imported))
    if not plan.imported:
        yield from command_facts(plan)
        if plan.variants and not rung_of(plan):
            again = _again(plan, [one for one in plan.variants if overview.variant in {"", one.name}])
            yield fact("Run again", again, is_code=True)
        if plan.environment:
            yield fact("Environment", variables_text(dict(plan.environment)), is_code=True)
    for variant in plan.variants:
        if overview.variant in {"", variant.name}:
            definition = f": {describe_variant(variant.definition)}" if variant.definition else ""
            yield fact("Variant", f"{variant.name}, {counted(variant.n_runs, 'run')}{definition}")
    yield from () if plan.imported else _carried_out(overview)
    if rung := rung_of(plan):
        yield fact("Level", f"{rung}, a pair of deviate diverge")
    if plan.capture:
        yield fact("Capture", _capture_text(overview))
    ways = (
        (metric, f"{metric.aggregate}{', primary' if metric.is_primary else ''}") for metric in plan.selection.metrics
    )
    yield fact("Metrics", ", ".join(f"{name_text(metric.name)} ({way})" for metric, way in ways) or "none")


def command_facts(launched: Plan | Spec) -> Iterator[Fact]:
    """What is run, once or in one run."""
    where = f"  (in {launched.cwd})" if launched.cwd != "." else ""
    prepare = launched.prepare if isinstance(launched, Plan) else ()
    commands = (("Then", launched.then), ("Prepare", prepare), ("Wrap", [launched.wrap] if launched.wrap else []))
    yield fact("Command", f"{commands_text([launched.command])}{where}", is_code=True)
    yield from (fact(label, commands_text(words), is_code=True) for label, words in commands if words)


def _carried_out(overview: Overview) -> Iterator[Fact]:
    """How runs are executed, and how many."""
    plan = overview.plan
    yield fact("Seeds", f"experiment seed {plan.seed}" + (f". {overview.seeding}" if overview.seeding else ""))
    if plan.n_threads is not None:
        yield fact("Threads", f"{plan.n_threads} per run")
    if plan.looks:
        yield fact("Looks", f"at {', '.join(map(str, plan.looks))} runs, {plan.spending} spending")
    if plan.precision:
        yield fact("Until", plan.precision)


def _foot(overview: Overview) -> Iterator[Fact]:
    for state in ("completed", "running", "failed", "lost", "cancelled", "waiting"):
        if n := sum(run_state.state == state for run_state in overview.states):
            yield fact(state.capitalize(), f"{n} of {len(overview.states)}")
    several = len({mean.variant for mean in overview.means}) > 1
    for mean in overview.means:
        yield fact("Mean", f"{f'{mean.variant}: ' if several else ''}{mean_text(mean)}")
    yield from (fact("Warning", warning) for warning in overview.warnings)


def _idle(overview: Overview) -> str:
    if all(state.state in {"completed", "failed"} for state in overview.states):
        return "not running; all runs are recorded"
    return f"not running; to run what is missing: deviate resume {overview.plan.name}"


def _origin_text(plan: Plan) -> str:
    changes = [f"; {', '.join(sorted(change.fields))} changed {instant(change.time)}" for change in plan.history]
    ago = f" ({duration(max(0.0, time.time() - plan.created))} ago)"
    return instant(plan.created) + ago + "".join(changes)


def _settings(plan: Plan) -> Iterator[Block]:
    """A table of the settings that were set, with what set them, and a line of those that were not."""
    settings = [
        (
            OPTION_OF_SETTING.get(name, name).replace("_", "-"),
            duration(value) if name in {"timeout_s", "stall_timeout_s"} and value else _value_text(value),
            origin,
        )
        for name, (value, origin) in settings_of(plan).items()
    ]
    if rows := [setting for setting in settings if setting[-1] != DEFAULT]:
        yield listing(("setting", "value", "from"), rows)
    usual = ", ".join(f"{name} {value}" for name, value, origin in settings if origin == DEFAULT)
    yield Facts((fact("Defaults", usual),))


def _value_text(value: Any) -> str:
    if value is None or value == ():
        return "none"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return ",".join("=".join(part) if isinstance(part, tuple) else str(part) for part in value)
    return str(value)


def _warnings(folder: Path, runs: Sequence[RecordedRun], states: Sequence[RunState]) -> Iterator[str]:
    """Warnings about the snapshot, the runs and their environments, without duplicates."""
    from deviate.records.environment import environment_misfits
    from deviate.records.layout import snapshot_folder
    from deviate.records.read import damage_text

    yield from read_manifest(snapshot_folder(folder)).warnings
    yield from (damage_text(run.folder, run.problem) for run in runs if run.problem)
    results = {attempt.folder: attempt.result for run in runs for attempt in run.attempts}
    replicates_by_reason: dict[str, list[int]] = {}
    for state in states:
        result = None if state.folder is None else results.get(state.folder)
        for warning in result.warnings if result else ():
            replicates_by_reason.setdefault(warning, []).append(state.replicate)
    for warning, those in replicates_by_reason.items():
        yield f"{warning} ({replicates(tuple(dict.fromkeys(those)))})"
    yield from environment_misfits(folder)


def attempts_of(state: RunState) -> tuple[AttemptState, ...]:
    return attempt_states(state.folder.parent) if state.folder is not None else ()


def _mean_document(mean: Mean) -> dict[str, Any]:
    values = {field.name: getattr(mean, field.name) for field in dataclasses.fields(mean)}
    return {name: None if isinstance(value, Unavailable) else value for name, value in values.items()}
