"""The way through all rooms: from a command to findings. Knows every room; prints nothing, and ends nothing."""

import dataclasses
import re
import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from deviate import analysis, config, instrument, records, replay
from deviate.command import project_root
from deviate.errors import InputError, RecordError
from deviate.model import Analysis, Experiment, Findings, Metric, Snapshot, Variant
from deviate.prepare import CONFIG, Prepared
from deviate.records import Plan, VariantPlan
from deviate.records.items import CONTAINERS
from deviate.replay import Outcome, RunUpdate

SINGLE = frozenset({"loss", "score", "value", "v", "output", "result", "metric"})
"""Names of containers that are names of single values far more often."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asks of `run`."""

    runs: int
    variants: tuple[Variant, ...]
    name: str | None
    seed: int
    jobs: int | None
    timeout_s: float | None
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Begun:
    """An experiment ready to run."""

    name: str
    folder: Path
    snapshot: Snapshot
    plan: Plan
    jobs: int


@dataclass(frozen=True, slots=True)
class Judging:
    """How scores are read and compared, where the user departs from what is on record."""

    confidence: float = 0.95
    metric: str | None = None
    aggregate: str | None = None
    margin: float | None = None
    matches: Mapping[str, str] = dataclasses.field(default_factory=dict)
    analysis_seed: int = 0


def foresee(prepared: Prepared, judging: Judging) -> str:
    """Whether what is asked of the runs can be answered, before the first of them.

    Returns: a warning, where only the runs can tell whether there is such a metric; else an empty text.

    Raises:
        InputError: no run can report such a metric, or there is no such aggregate.
    """
    if judging.aggregate is not None:
        config.refuse_aggregate(judging.aggregate, "--aggregate")
    names = [item.name for item in prepared.selection.metrics]
    if judging.metric is None or judging.metric in names:
        return ""
    if not any(_may_hold_more(item.metric, prepared.analysis) for item in prepared.selection.metrics):
        raise InputError(
            f"no metric named {judging.metric!r} will be recorded of {prepared.analysis.script}",
            f"Name one of {', '.join(names)}, or add it to {CONFIG}.",
        )
    return f"--metric {judging.metric} is not among the metrics above; the runs may report it under that name"


def _may_hold_more(metric: Metric, found: Analysis) -> bool:
    """Whether runs may show metrics of other names at a metric's site: items, labels, keys of a history."""
    site = next((site for site in found.sites if site.id == metric.site), None)
    if site is None or site.form == "call" or (site.label is not None and metric.label is None):
        return True
    named = set(re.findall(r"[a-z]+", metric.expression.lower()))
    return "{" in metric.expression or not named.isdisjoint(CONTAINERS - SINGLE)


def begin(prepared: Prepared, request: Request, folder: Path) -> Begun:
    """Freeze the project into a new experiment, or go on with one that has the same code and command.

    Args:
        folder: the `.deviate/` folder.

    Raises:
        InputError: the name is taken by other code, another command or other variants, or there is nothing to record.
    """
    if not prepared.selection.metrics:
        raise analysis.explain_nothing_found(prepared.analysis)
    jobs = request.jobs or replay.default_jobs()
    known = {plan.name: plan for plan in records.list_experiments(folder)}
    stem = _name_of(prepared.target.script)
    name = request.name or stem
    if name in known:
        with _frozen_now(prepared, folder) as now:
            number = 1
            while name in known:
                misfit = _misfit(known[name], prepared, request, folder, now)
                if not misfit:
                    return _go_on(known[name], prepared, request, folder, jobs)
                if request.name is not None:
                    raise InputError(
                        f"an experiment named {name} exists already, with {misfit}",
                        "choose another name with --name; what is on record stays",
                    )
                number += 1
                name = f"{stem}-{number}"
    place = records.new_experiment_folder(folder, name)
    snapshot = instrument.freeze(
        prepared.analysis, records.snapshot_folder(place), cwd=prepared.target.cwd, fresh=prepared.config.fresh
    )
    plan = Plan(
        name=name,
        created=time.time(),
        root=prepared.target.root,
        command=prepared.target.command,
        cwd=prepared.target.cwd,
        seed=request.seed,
        sources_hash=snapshot.sources_hash,
        variants=tuple(VariantPlan(variant.name, request.runs, variant) for variant in request.variants),
        selection=prepared.selection,
        jobs=jobs,
    )
    records.create_experiment(place, plan)
    return Begun(name, place, snapshot, plan, jobs)


def carry_out(begun: Begun, request: Request, on_update: Callable[[RunUpdate], None]) -> tuple[Outcome, ...]:
    """Run what is missing; runs of several variants take turns, so that what drifts with time hits all alike."""
    specs = [
        replay.plan(
            begun.snapshot,
            command=begun.plan.command,
            cwd=begun.plan.cwd,
            variant=variant,
            runs=request.runs,
            seed=begun.plan.seed,
            environment=request.environment,
        )
        for variant in request.variants
    ]
    in_turns = [spec for together in zip(*specs, strict=True) for spec in together]
    return replay.execute(
        in_turns,
        begun.snapshot,
        begun.folder,
        jobs=begun.jobs,
        timeout=request.timeout_s,
        on_update=on_update,
    )


def read(folder: Path, names: Sequence[str]) -> tuple[Experiment, ...]:
    """Experiments by name from the `.deviate/` folder; `NAME:VARIANT` names one variant, by default the first."""
    experiments: list[Experiment] = []
    known: dict[str, tuple[Experiment, ...]] = {}
    for name in names:
        plain, _, variant = name.partition(":")
        if plain not in known:
            known[plain] = records.read_experiment(records.find_experiment(folder, plain))
        found = known[plain]
        chosen = [experiment for experiment in found if experiment.variant == variant] if variant else list(found[:1])
        if not chosen:
            there = ", ".join(experiment.variant for experiment in found)
            raise InputError(f"experiment {plain} has no variant {variant!r}", f"it has: {there}")
        experiments += chosen
    return tuple(experiments)


def read_variants(folder: Path, name: str) -> tuple[Experiment, ...]:
    """All variants of an experiment, or the one of `NAME:VARIANT`."""
    if ":" in name:
        return read(folder, [name])
    return records.read_experiment(records.find_experiment(folder, name))


def judge(experiments: Sequence[Experiment], judging: Judging, *, compares: bool = True) -> Findings:
    """The findings of one experiment, or of a baseline and its candidates."""
    from deviate import stats  # half a second of scipy, which no verb but those that judge should wait for

    return stats.judge(
        experiments,
        confidence=judging.confidence,
        primary=judging.metric,
        aggregate=judging.aggregate,
        matches=judging.matches,
        margin=judging.margin,
        analysis_seed=judging.analysis_seed,
        compares=compares,
    )


def describe(experiments: Sequence[Experiment], judging: Judging) -> Findings:
    """The findings of variants of one experiment: not which is better, but where the spread comes from."""
    return judge(experiments, judging, compares=False)


def records_folder(folder: Path) -> Path:
    """The `.deviate/` of the project that a folder belongs to."""
    return records.deviate_folder(project_root(folder))


def report_path(folder: Path, experiments: Sequence[Experiment]) -> Path:
    """Where the report of these experiments is kept."""
    names = [experiment.name for experiment in experiments]
    return folder / "reports" / "-vs-".join(dict.fromkeys(names)) / "report.html"


def write(text: str, target: Path, stdout: TextIO) -> None:
    """Write a rendered report; `-` is standard output. Raises RecordError when the file cannot be written."""
    if str(target) == "-":
        stdout.write(text)
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RecordError(f"writing {target}: {error.strerror or error}", "name another file") from error


def _name_of(script: Path) -> str:
    return "".join(letter if letter.isalnum() or letter in "_.-" else "_" for letter in script.stem)


@contextmanager
def _frozen_now(prepared: Prepared, folder: Path) -> Iterator[Path]:
    """The project as it stands, frozen for a moment, to tell whether an experiment on record has the same."""
    staged = folder / "cache" / f"staged-{time.time_ns()}"
    try:
        instrument.freeze(
            prepared.analysis, staged, cwd=prepared.target.cwd, fresh=prepared.config.fresh, is_tapped=False
        )
        yield staged
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _misfit(plan: Plan, prepared: Prepared, request: Request, folder: Path, now: Path) -> str:
    """What keeps these runs from being more of that experiment; empty when nothing does."""
    if plan.command != prepared.target.command or plan.cwd != prepared.target.cwd:
        return f"another command: {shlex.join(plan.command)}"
    if plan.seed != request.seed:
        return f"another experiment seed: {plan.seed}"
    recorded = {variant.name: variant.definition for variant in plan.variants}
    for variant in request.variants:
        if variant.name in recorded and not _is_same(recorded[variant.name], variant):
            was = recorded[variant.name]
            told = replay.tell(was) if was else "that of an older deviate"
            return f"another definition of variant {variant.name}: {told}"
    changed = instrument.changed_files(records.snapshot_folder(records.find_experiment(folder, plan.name)), now)
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        return f"another state of {changed[0]}{more}"
    return ""


def _is_same(recorded: Variant | None, now: Variant) -> bool:
    if recorded is None:  # an older deviate wrote down names alone; what touches nothing has always been the same
        return not now.varied and not now.held
    return dataclasses.replace(recorded, description=now.description) == now


def _go_on(plan: Plan, prepared: Prepared, request: Request, folder: Path, jobs: int) -> Begun:
    place = records.find_experiment(folder, plan.name)
    planned = {variant.name: variant for variant in plan.variants}
    for variant in request.variants:
        before = planned.get(variant.name, VariantPlan(variant.name, 0, variant))
        planned[variant.name] = dataclasses.replace(before, n_runs=max(request.runs, before.n_runs))
    changed = records.change_experiment(
        place,
        time=time.time(),
        selection=prepared.selection,
        variants=tuple(planned.values()),
        jobs=jobs,
    )
    snapshot = Snapshot(records.snapshot_folder(place), plan.root, plan.sources_hash)
    return Begun(plan.name, place, snapshot, changed, jobs)
