"""Starts or continues an experiment: freezes the project, and compares it with the record."""

import dataclasses
import re
import shlex
import shutil
import time
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from deviate.base.decisions import log_decision, timed_stage
from deviate.base.redaction import redact_words
from deviate.errors import InputError
from deviate.model.analysis import TEXT_SINK, Analysis
from deviate.model.plan import PrimaryChoice, Selection, Settings, Snapshot
from deviate.model.texts import first_few
from deviate.project.command import CONFIG
from deviate.project.prepare import PreparedScript
from deviate.project.validate import refuse_mute
from deviate.records.environment import environment_changed
from deviate.records.files import lock_folder
from deviate.records.layout import experiment_file, snapshot_folder
from deviate.records.plans import (
    OPTION_OF_SETTING,
    Plan,
    VariantPlan,
    change_experiment,
    create_experiment,
    find_experiment,
    list_experiments,
    new_experiment_folder,
    place_of,
    read_plan,
)
from deviate.records.snapshot import output_names, read_manifest
from deviate.replay.adopt import settled_attempt
from deviate.replay.capture_options import describe_capture, is_captured, with_defaults
from deviate.replay.experiments import PreparedExperiment, Request, specs_of
from deviate.replay.protocol import Order
from deviate.replay.variants import describe_variant

PLANNED = frozenset({
    "runs", "variants", "seed", "command", "prepare", "then", "python", "wrap", "env", "trackers", "warn_only", "vary",
    "until", "looks", "capture", "capture_every", "capture_limit", "tta", "metric", "margin",
    *OPTION_OF_SETTING.values(),
})  # fmt: skip
"""Options whose values are in a plan, which says where they came from."""
LONGEST_NAME = 80
"""Characters of a name made from a script's: an experiment of the same one gets a number after it."""
DRAWING = re.compile(
    r"\.(?:(?:standard_)?normal|randn?|random(?:_sample)?|uniform|randint|integers|choice|gauss|glorot\w*)\("
)
LAYERS = re.compile(r"\bnn\.(?:Module|Linear|Sequential|Conv\w+)\b|\bkeras\b|\bflax\b|\bhaiku\b|\btransformers\b")
"""Frameworks whose layers draw their weights by calls that tell it."""


def begin_experiment(
    prepared: PreparedScript, request: Request, folder: Path, *, name: str | None = None, like: Snapshot | None = None
) -> PreparedExperiment:
    """Freeze the project into a new experiment, or continue one with the same code and command.

    Args:
        folder: the `.deviate/` folder.
        name: of the experiment, where it is not that of the request.
        like: of an experiment that has begun from the same, whose snapshot a new one takes over.

    Raises:
        InputError: the name is taken by other code, another command or other variants, or there is nothing to record.
        RecordError: the plan of the experiment of this name is damaged.
        RunError: a command that prepares has failed.
    """
    refuse_mute(prepared, request)
    plans = {plan.name: plan for plan in list_experiments(folder)}
    wanted_name = name or request.name
    stem = name_of(Path(prepared.analysis.script))
    name = wanted_name or stem
    if name in plans:
        with _frozen_now(prepared, folder) as now:
            number = 1
            while name in plans:
                misfit = _misfit(plans[name], prepared, request, folder, now)
                log_decision("project", "experiment %s %s", name, f"has {misfit}" if misfit else "goes on")
                if not misfit:
                    return _go_on(plans[name], prepared, request, folder)
                if wanted_name is not None:
                    raise _name_is_taken(name, misfit)
                number += 1
                name = f"{stem}-{number}"
    place = place_of(folder, name)
    with lock_folder(place, waits=False):
        if not experiment_file(place).exists():
            return _make(prepared, request, folder, name, like)
    read_plan(place)  # raises if it is damaged
    return begin_experiment(
        prepared, request, folder, name=wanted_name, like=like
    )  # created by another process in the meantime


def refuse_misfit(prepared: PreparedScript, request: Request, folder: Path, name: str) -> None:
    """Raise InputError if an experiment cannot start under this name, before any other one has started."""
    refuse_mute(prepared, request)
    plans = {plan.name: plan for plan in list_experiments(folder)}
    if name in plans:
        with _frozen_now(prepared, folder) as now:
            if misfit := _misfit(plans[name], prepared, request, folder, now):
                raise _name_is_taken(name, misfit)


def _name_is_taken(name: str, misfit: str) -> InputError:
    return InputError(
        f"an experiment named {name} exists already, with {misfit}",
        f"choose another name with --name; deviate resume {name} continues with the code as it was",
    )


REQUESTED = ("seed", "environment", "prepare", "wrap", "n_threads", "settings", "sweep")
"""Fields that a plan has from the request as they are."""


def _make(
    prepared: PreparedScript, request: Request, folder: Path, name: str, like: Snapshot | None
) -> PreparedExperiment:
    """Freeze the project into a new experiment. The plan is written last, since it makes the experiment valid."""
    from deviate.instrument.snapshot import take_over, travelling_plugins  # here and below: a dry run freezes nothing

    place = new_experiment_folder(folder, name)
    target = prepared.target
    if like is not None:
        snapshot = take_over(like, snapshot_folder(place))
        plugins = read_plan(like.folder.parent).plugins
    else:
        with timed_stage("instrument", "froze the project for experiment %s", name):
            snapshot = _frozen(prepared, request, folder, place)
        plugins = travelling_plugins()
    plan = Plan(
        name=name,
        created=time.time(),
        root=target.root,
        command=target.command,
        cwd=target.cwd,
        sources_hash=snapshot.sources_hash,
        variants=tuple(VariantPlan(variant.name, request.runs, variant) for variant in request.variants),
        selection=_selection(prepared, request),
        then=target.then,
        **{field: getattr(request, field) for field in REQUESTED},
        looks=request.sample_size.looks,
        spending=request.sample_size.spending,
        precision=request.sample_size.precision,
        capture=with_defaults(request.capture),
        plugins=plugins,
        n_ended=0,
        origins=_origins(prepared, request),
        weights=None if _may_draw_weights(prepared.analysis, snapshot) else (),
    )
    create_experiment(place, plan)
    return PreparedExperiment(place, plan, script=_script_of(prepared, request))


def _may_draw_weights(analysis: Analysis, snapshot: Snapshot) -> bool:
    """Whether the project draws numbers, outside of a loop with a tap, of which only a run tells what they are."""
    loops = [loop for loop in analysis.loops if loop.kind != "managed"]
    inside = {(loop.file, line) for loop in loops for line in range(loop.line, loop.end_line + 1)}
    texts = {file: (snapshot.folder / "tree" / file).read_text(errors="replace") for file in analysis.files}
    lines = ((file, number, line) for file in texts for number, line in enumerate(texts[file].splitlines(), 1))
    is_drawing = any((file, number) not in inside and DRAWING.search(line) for file, number, line in lines)
    return bool(loops) and is_drawing and not any(map(LAYERS.search, texts.values()))


def _origins(prepared: PreparedScript, request: Request) -> tuple[tuple[str, str], ...]:
    origin_of = {name: origin for name, origin in request.origins if name in PLANNED}
    if prepared.target.then:
        origin_of.setdefault("then", CONFIG)
    return tuple(origin_of.items())


def _grown_origins(
    plan: Plan, variants: Sequence[VariantPlan], prepared: PreparedScript, request: Request
) -> tuple[tuple[str, str], ...]:
    """The origins of a plan that runs or variants are added to."""
    renewed = set(OPTION_OF_SETTING.values())
    renewed |= {"runs"} if max(variant.n_runs for variant in variants) > plan.n_runs else set()
    renewed |= {"variants"} if len(variants) > len(plan.variants) else set()
    now = _origins(prepared, request)
    before = {name: origin for name, origin in plan.origins if name not in renewed}
    return tuple({**dict(now), **before, **{name: origin for name, origin in now if name in renewed}}.items())


def _selection(prepared: PreparedScript, request: Request) -> Selection:
    """The selection with what the user declares for these runs: the primary metric, and its margin."""
    selection = prepared.selection
    if request.primary is not None:
        reason = f"named with {dict(request.origins).get('metric', '--metric')} before the runs"
        selection = dataclasses.replace(selection, primary=PrimaryChoice(request.primary, reason))
    return selection if request.margin is None else dataclasses.replace(selection, margin=request.margin)


def _with_margins(selection: Selection, margins: Mapping[str, float | None]) -> Selection:
    metrics = (
        dataclasses.replace(metric, margin=margins.get(metric.name, metric.margin)) for metric in selection.metrics
    )
    return dataclasses.replace(selection, metrics=tuple(metrics))


def _with_planned(selection: Selection, planned: Selection) -> Selection:
    """The selection with the primary metric of the plan, and its margins where the configuration has none now."""
    margins = {metric.name: metric.margin for metric in planned.metrics}
    margins |= {metric.name: metric.margin for metric in selection.metrics if metric.margin is not None}
    return dataclasses.replace(
        _with_margins(selection, margins),
        primary=planned.primary or selection.primary,
        margin=planned.margin if selection.margin is None else selection.margin,
    )


def _script_of(prepared: PreparedScript, request: Request) -> Analysis | None:
    return prepared.analysis if request.needs_metrics else None


def _frozen(prepared: PreparedScript, request: Request, folder: Path, place: Path) -> Snapshot:
    """The current project, after the preparing commands."""
    from deviate.instrument.snapshot import freeze, note_prepared
    from deviate.replay.attempt import prepare_tree

    target = prepared.target
    snapshot = freeze(
        prepared.analysis,
        snapshot_folder(place),
        cwd=target.cwd,
        fresh=prepared.config.fresh,
        has_input_taps="trace" in dict(request.capture),
        sources=prepared.sources,
        received=output_names(folder),
    )
    if request.prepare:
        snapshot = prepare_tree(
            snapshot, place, request.prepare, cwd=target.cwd, environment=request.environment, wrap=request.wrap
        )
        note_prepared(snapshot)
    return snapshot


def name_of(script: Path) -> str:
    """An experiment name from the script's name: accents are removed, other characters are replaced by `_`."""
    plain = (
        character for character in unicodedata.normalize("NFKD", script.stem) if not unicodedata.combining(character)
    )
    name = "".join(
        character if character.isascii() and (character.isalnum() or character in "_.-") else "_" for character in plain
    )
    return name.lstrip(".-")[:LONGEST_NAME] or "experiment"


@contextmanager
def _frozen_now(prepared: PreparedScript, folder: Path) -> Iterator[Path]:
    """The current project, frozen temporarily, to check whether a recorded experiment has the same."""
    from deviate.instrument.snapshot import freeze

    staged = folder / "cache" / f"staged-{time.time_ns()}"
    try:
        freeze(
            prepared.analysis,
            staged,
            cwd=prepared.target.cwd,
            fresh=prepared.config.fresh,
            is_tapped=False,
            sources=prepared.sources,
            received=output_names(folder),
        )
        yield staged
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _misfit(plan: Plan, prepared: PreparedScript, request: Request, folder: Path, now: Path) -> str:
    """Why these runs cannot be added to that experiment; empty if they can."""
    from deviate.instrument.snapshot import changed_files

    if plan.imported:
        return "runs that were imported"
    target = prepared.target
    for kind, was, wanted in (
        ("command", (plan.command,), (target.command,)),
        ("--prepare", plan.prepare, request.prepare),
        ("--then", plan.then, target.then),
        ("--wrap", (plan.wrap,), (request.wrap,)),
    ):
        if was != wanted:
            return f"another {kind}: {_command_text(was)}"
    if plan.cwd != target.cwd:
        return f"another working folder: {plan.cwd}"
    if plan.environment != request.environment:
        return f"another --env: {' '.join(f'{name}={value}' for name, value in plan.environment) or 'none'}"
    if plan.seed != request.seed:
        return f"another experiment seed: {plan.seed}"
    if request.sweep is not None and plan.sweep != request.sweep:
        return "runs of another sweep" if plan.sweep else "runs that belong to no sweep"
    if not is_captured(request.capture, plan.capture):
        return f"another --capture: its runs keep {describe_capture(plan.capture)}"
    recorded = {variant.name: variant.definition for variant in plan.variants}
    for variant in request.variants:
        definition = recorded.get(variant.name)
        if definition is not None and dataclasses.replace(definition, description=variant.description) != variant:
            return f"another definition of variant {variant.name}: {describe_variant(definition)}"
    changed = changed_files(snapshot_folder(find_experiment(folder, plan.name)), now)
    if changed:
        return f"another state of {first_few(changed, 1)}"
    return ""


def _command_text(commands: Sequence[Sequence[str]]) -> str:
    return "; ".join(shlex.join(redact_words(words)) for words in commands if words) or "none"


def _go_on(plan: Plan, prepared: PreparedScript, request: Request, folder: Path) -> PreparedExperiment:
    """Add runs or variants to a recorded experiment; its thread limit stays, as it belongs to its runs."""
    place = find_experiment(folder, plan.name)
    planned = {variant.name: variant for variant in plan.variants}
    for variant in request.variants:
        before = planned.get(variant.name, VariantPlan(variant.name, 0, variant))
        planned[variant.name] = dataclasses.replace(before, n_runs=max(request.runs, before.n_runs))
    notes = list(_environment_notes(place, plan)) if tuple(planned.values()) != plan.variants else []
    if notes and request.is_strict:
        raise InputError(f"--strict: {notes[0]}", "restore the environment, or run anew under another --name")
    changed = change_experiment(
        place,
        time=time.time(),
        selection=_with_planned(_selection(prepared, request), plan.selection),
        variants=tuple(planned.values()),
        settings=request.settings,
        origins=_grown_origins(plan, tuple(planned.values()), prepared, request),
        **(
            {"precision": request.sample_size.precision}
            if request.sample_size.precision and not _is_compared(plan)
            else {}
        ),
    )
    notes += [*_selection_notes(plan, changed.selection), *_looks_notes(plan, request)]
    notes += [*_capture_notes(plan, request), *_pattern_notes(place, prepared)]
    return PreparedExperiment(place, changed, tuple(notes), _script_of(prepared, request))


def resume_notes(experiment: PreparedExperiment) -> tuple[str, ...]:
    """What the user has to know before the missing runs are executed."""
    plan = experiment.plan
    orders = [Order(experiment.folder, spec) for spec in specs_of(plan)]
    is_whole = all(settled_attempt(order.run, order.spec) for order in orders)
    notes = [] if is_whole else [*_environment_notes(experiment.folder, plan)]
    if plan.precision or plan.looks:
        rule = f"until {plan.precision}" if plan.precision else "look by look"
        notes.append(f"runs are added {rule} by the command that began the experiment; resume does what is planned")
    return tuple(notes)


def keep_settings(experiment: PreparedExperiment, settings: Settings, origins: Mapping[str, str]) -> None:
    """Store how runs are executed from now on, for workers to read, and by which options that was said now."""
    words = OPTION_OF_SETTING.values()
    changed = {name: origin for name, origin in origins.items() if name in words}
    change_experiment(
        experiment.folder,
        time=time.time(),
        settings=settings,
        origins=tuple({**dict(experiment.plan.origins), **changed}.items()),
    )


def _environment_notes(place: Path, plan: Plan) -> Iterator[str]:
    """Environment facts that would differ between new and recorded runs."""
    from deviate.replay.environment import current_platform

    now = current_platform(plan.command, plan.root / plan.cwd, wrap=plan.wrap)
    differences = environment_changed(place, now, has_machine=plan.settings.executor == "local")
    if differences:
        yield f"runs are added in another environment than those on record: {'; '.join(differences)}"


def _selection_notes(plan: Plan, selection: Selection) -> Iterator[str]:
    """Note on a different selection of metrics, which requires no new runs and applies from now on."""
    was = {metric.name: metric for metric in plan.selection.metrics}
    now = {metric.name: metric for metric in selection.metrics}
    parts = [
        *(f"without {name}" for name in was.keys() - now.keys()),
        *(f"with {name}" for name in now.keys() - was.keys()),
        *(f"with another {name}" for name in sorted(was.keys() & now.keys()) if was[name] != now[name]),
    ]
    if parts:
        yield f"metrics are read otherwise than before, in all runs: {', '.join(sorted(parts))}"


def _pattern_notes(place: Path, prepared: PreparedScript) -> Iterator[str]:
    """Note on patterns of text that came after the project was frozen, as the guest of that does not look for them."""
    frozen = {metric.expression for metric in read_manifest(snapshot_folder(place)).metrics}
    patterns = [item for item in prepared.selection.metrics if item.metric.sink == TEXT_SINK]
    later = [item.name for item in patterns if item.metric.expression not in frozen]
    if later:
        yield f"runs of this experiment do not look for the text of {', '.join(later)}: begin another one with --name"


def _capture_notes(plan: Plan, request: Request) -> Iterator[str]:
    """Note on what is captured although it was not requested, as all runs of an experiment capture the same."""
    if describe_capture(plan.capture) != describe_capture(request.capture):
        yield f"runs go on keeping {describe_capture(plan.capture)}, as those on record"


def _is_compared(plan: Plan) -> bool:
    """Whether runs were compared with others, so that a stopping rule can no longer be declared."""
    return any(showing.is_comparison for showing in plan.reported)


def _looks_notes(plan: Plan, request: Request) -> Iterator[str]:
    if request.sample_size.looks and request.sample_size.looks != plan.looks:
        declared = ", ".join(map(str, plan.looks)) or "none"
        yield f"looks are declared before the first run: those of this experiment stay ({declared})"
    n_before = min((variant.n_runs for variant in plan.variants), default=0)
    grows = request.runs > n_before or request.sample_size.precision
    if _is_compared(plan) and grows and not plan.looks and not plan.precision:
        yield (
            f"runs are added after {n_before} were compared: an unplanned look, so that comparisons give no verdict; "
            "declare looks before the first run (--looks), or run anew under another --name"
        )
