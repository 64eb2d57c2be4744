"""An experiment read back from its folder: runs, measurements, and what a reader must be told."""

import dataclasses
import math
import time
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec.structs

from deviate.base.decisions import log_decision, timed_stage
from deviate.base.redaction import redact_words
from deviate.errors import RecordError
from deviate.model.estimates import value_text
from deviate.model.places import traceback_with_cells
from deviate.model.plan import PrimaryChoice, SelectedMetric, Spec
from deviate.model.records import Artifact, Experiment, Run, Series
from deviate.model.texts import first_few
from deviate.records import merge_processes
from deviate.records.catalog import Catalog
from deviate.records.columns import NO_STEP
from deviate.records.environment import differences, facts_of, missing_facts
from deviate.records.events import Points, ProcessLog, read_events
from deviate.records.files import read_end
from deviate.records.layout import (
    attempt_number,
    attempts,
    event_files,
    result_file,
    runs_folder,
    snapshot_folder,
)
from deviate.records.main_loop import MainLoop, confirm_main_loop
from deviate.records.plans import Plan, VariantPlan, flags_of, read_plan
from deviate.records.runs import (
    STALE_S,
    Claim,
    Result,
    collect_continued,
    damaged_files,
    find_result,
    read_claim,
    read_result,
    spec_of,
)
from deviate.records.schema import Manifest
from deviate.records.snapshot import damaged_sources, list_injected, read_manifest, revision
from deviate.series.headline import choose_headline, order_of_results
from deviate.series.naming import LoggedOutput

TAP_FAILED = "a tap failed; the script was not affected"
"""Prefix of warnings about a fault of a tap."""

MOST_NAMED = 3
"""Maximum number of damaged files that are named."""
TAIL_LINES = 20
TAIL_BYTES = 16_384


def read_experiment(folder: Path) -> tuple[Experiment, ...]:
    """Read an experiment, one value per variant in the order of the plan.

    Raises:
        RecordError: a file that everything hangs on is damaged.
    """
    plan = read_plan(folder)
    snapshot = snapshot_folder(folder)
    manifest = read_manifest(snapshot)
    specs, unreadable = _specs(folder)
    first, _ = _first_completed(plan, specs)
    reader = RunReader(plan, manifest, first)
    catalog, main_loop = reader.catalog, reader.main_loop
    if damaged := damaged_sources(snapshot, manifest, "originals", "tree", "git.diff"):
        unreadable.append(
            f"the code in the report is damaged: {first_few(damaged, MOST_NAMED)} in the snapshot has changed"
        )
    read = [(variant, *_read_runs(folder, specs, variant, reader)) for variant in plan.variants]
    every = [run for _, runs, _ in read for run in runs]
    leading = next((run for run in every if run.folder == first), None)
    primary = reader.choose_primary(leading.series, leading.trained_s) if leading else plan.selection.primary
    reported = {name for run in every for name in run.series}
    metrics = _metrics(plan, catalog, primary, reported)
    revised, injected = revision(snapshot, manifest.git), list_injected(snapshot)
    counter = next((loop.counter for loop in manifest.loops if loop.id == main_loop.id), None)
    shared = (*manifest.warnings, *filter(None, (main_loop.note,)), *_ladder(plan), *unreadable)
    experiments: list[Experiment] = []
    for variant, runs, warnings in read:
        differing = () if plan.imported else differences(runs)  # of imported runs it was told when they were imported
        judged = sorted((judge_run(run, catalog.metrics) for run in runs), key=lambda run: run.replicate)
        experiments.append(
            experiment_of_plan(
                plan,
                variant,
                metrics,
                judged,
                folder=folder,
                warnings=(*shared, *warnings, *differing),
                revision=revised,
                injected=injected,
                counter=counter,
                primary=primary,
                flags=redact_words(tuple(flags_of(plan, variant))),
            )
        )
    return tuple(experiments)


def _metrics(
    plan: Plan, catalog: Catalog, primary: PrimaryChoice | None, reported: Container[str]
) -> list[SelectedMetric]:
    """The metrics in the order of a report, the primary one with the margin of the plan."""
    if catalog.keeps_listed:
        metrics = list(catalog.metrics)
    else:
        ordered = order_of_results(catalog.metrics, None if primary is None else primary.name)
        metrics = [metric for metric in ordered if metric.name in reported]
    margin = plan.selection.margin
    if primary is None or margin is None:
        return metrics
    return [dataclasses.replace(one, margin=margin) if one.name == primary.name else one for one in metrics]


class RunReader:
    """Reads runs of one experiment, with the names that its first completed run gives to what they report.

    Args:
        first: the attempt of that run, None where there is none yet.
    """

    def __init__(self, plan: Plan, manifest: Manifest, first: Path | None) -> None:
        self.plan, self.first = plan, first
        self.main_loop = MainLoop(manifest.main_loop) if first is None else confirm_main_loop(manifest, first)
        manifest = msgspec.structs.replace(manifest, main_loop=self.main_loop.id)
        self.catalog = Catalog(manifest, plan.selection, bool(plan.imported), self.main_loop.n_anew)
        self._primary: list[PrimaryChoice | None] = []  # one, once the first run is read
        self._learnt: LoggedOutput | None = None  # of that run, until it is read
        if first is not None:
            self._learnt = self._read_output(collect_continued(first))
            self.catalog.learn(self._learnt)

    def _read_output(self, attempts: Sequence[Path]) -> LoggedOutput:
        if self.catalog.keeps_listed:
            return LoggedOutput({})
        from deviate.records.output import read_output  # compiles patterns, which what is imported does not need

        return read_output(attempts, self.catalog.manifest.sites, self.main_loop.id)

    def logs(self, attempt: Path) -> list[ProcessLog]:
        """What the processes of an attempt recorded, and those of the attempts that it continues."""
        chain = collect_continued(attempt)
        logs = self.read_logs([path for part in chain for path in event_files(part)], chain)
        if attempt == self.first:
            self._primary = [self.choose_primary(merge_processes.measure(logs), trained_s(logs))]
        return logs

    def read_logs(self, files: Sequence[Path], attempts: Sequence[Path]) -> list[ProcessLog]:
        """What the processes of a run recorded, with the numbers that only its output has.

        Args:
            files: event files, of the attempts in order of time.
        """
        if self._learnt is not None and attempts[-1] == self.first:
            output, self._learnt = self._learnt, None  # it is as long as the run, and is let go
        else:
            output = self._read_output(attempts)
        loop, words = self.main_loop.id, output.captions
        logs = [read_events(path, loop, self.catalog.name, words.get(path.name, {})) for path in files]
        main = merge_processes.main_process(logs)
        for key, (steps, values) in output.unrecorded.items():
            name = self.catalog.name_unrecorded(key)
            if main is not None and name is not None:
                points = main.points.setdefault(name, Points())
                for step, value in zip(steps, values, strict=True):
                    points.add(NO_STEP if step is None else step, value, main.ended - main.started)
        return logs

    @property
    def primary(self) -> PrimaryChoice | None:
        """The metric that leads, as `choose_primary` gives it."""
        if self.first is not None and not self._primary:
            self.logs(self.first)
        return self._primary[0] if self._primary else None

    def choose_primary(self, series: Mapping[str, Series], trained: float | None) -> PrimaryChoice | None:
        """The metric that leads: the one that the plan names, else what the first completed run announced."""
        if self.plan.selection.primary is not None:
            return self.plan.selection.primary
        headline = choose_headline(self.catalog.metrics, series, trained)
        return None if headline is None or (headline.is_by_order and self.plan.imported) else headline.choice


def open_runs(experiment: Path, plan: Plan) -> RunReader | None:
    """What reads the runs of an experiment; None before the run that gives the names has ended."""
    first, is_decided = _first_completed(plan, _specs(experiment)[0])
    return RunReader(plan, read_manifest(snapshot_folder(experiment)), first) if is_decided else None


def _specs(folder: Path) -> tuple[list[tuple[Path, Spec]], list[str]]:
    """Every run that has an attempt, with its spec, and sentences on those whose spec is damaged."""
    specs: list[tuple[Path, Spec]] = []
    damaged: list[str] = []
    for path in sorted(runs_folder(folder).glob("*/")):
        if not attempts(path):
            continue
        try:
            specs.append((path, spec_of(path)))
        except RecordError as error:
            damaged.append(damage_text(path, error.message))
    return specs, damaged


def damage_text(run: Path, why: str) -> str:
    """A warning about a run whose spec is damaged."""
    return f"run {run.name} is damaged and left out ({why}); {_cure(run.parent.parent)}"


def _first_completed(plan: Plan, specs: Sequence[tuple[Path, Spec]]) -> tuple[Path | None, bool]:
    """The attempt of the first run that has completed, in the order of the plan, so that more runs change nothing.

    Returns: the attempt, and whether no run that is before it in the plan may still complete.
    """
    runs = {(spec.variant, spec.replicate): (path, spec) for path, spec in specs}
    is_decided = True
    for variant in plan.variants:
        for replicate in range(variant.n_runs):
            found = runs.get((variant.name, replicate))
            run = None if found is None else _candidate(*found)
            if run is None or run.result is None:
                is_decided = False
            elif run.result.status == "completed" and not run.damaged:
                return run.attempt, is_decided
    return None, False


def _cure(experiment: Path) -> str:
    return f"deviate resume {experiment.name} runs it again, unless it was imported"


def _ladder(plan: Plan) -> tuple[str, ...]:
    """What to know of runs that end where they have been looked at."""
    until = dict(plan.capture).get("trace-until")
    if until is None:
        return ()
    return (f"runs of deviate diverge, which end soon after update {until}: their values are not training results",)


PLANNED = (
    "name", "created", "sources_hash", "n_threads", "looks", "precision", "spending", "imported",
    "tasks", "past_comparisons",
)  # fmt: skip
"""Fields that an experiment has from its plan as they are."""


def experiment_of_plan(
    plan: Plan, variant: VariantPlan, metrics: Sequence[SelectedMetric], runs: Sequence[Run], **more: Any
) -> Experiment:
    """A variant with its runs, all that the plan says of them, and more fields of an experiment."""
    n_ended = sum(run.status not in {"lost", "cancelled"} for run in runs)
    is_cut_short = plan.is_cut_short(variant.n_runs, n_ended)
    return Experiment(
        **({name: getattr(plan, name) for name in PLANNED} | {"primary": plan.selection.primary} | more),
        jobs=plan.settings.jobs,
        variant=variant.name,
        command=redact_words(plan.command),
        n_planned=variant.n_runs,
        metrics=tuple(metrics),
        runs=tuple(runs),
        root=str(plan.root),
        varied=variant.varied,
        held=variant.held,
        n_unplanned_looks=plan.n_unplanned_looks(is_cut_short=is_cut_short),
        n_pending=plan.n_pending(variant.n_runs, n_ended),
        is_cut_short=is_cut_short,
    )


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A run that was found, by the attempt that counts: the latest that has ended, else the latest.

    Attributes:
        result: None when the attempt has not ended, or what it says cannot be believed.
        claim: where there is no result; None where it cannot be read.
        damaged: files that are not what they were when it ended.
    """

    spec: Spec
    attempt: Path
    result: Result | None = None
    claim: Claim | None = None
    damaged: tuple[str, ...] = ()

    @property
    def is_running(self) -> bool:
        if self.damaged or self.claim is None:
            return False
        return abs(time.time() - self.claim.heartbeat) < STALE_S  # clocks differ either way


def _candidate(run: Path, spec: Spec) -> _Candidate:
    numbered = attempts(run)
    for attempt in reversed(numbered):
        try:
            result = read_result(attempt)
        except RecordError:
            return _Candidate(spec, attempt, claim=read_claim(attempt), damaged=(result_file(attempt).name,))
        if result is not None:
            return _Candidate(spec, attempt, result, damaged=damaged_files(attempt, result))
    return _Candidate(spec, numbered[-1], claim=read_claim(numbered[-1]))


def _read_runs(
    experiment: Path, specs: Sequence[tuple[Path, Spec]], variant: VariantPlan, reader: RunReader
) -> tuple[list[Run], list[str]]:
    candidates = [
        _candidate(path, spec)
        for path, spec in specs
        if spec.variant == variant.name and spec.replicate < variant.n_runs
    ]
    chosen = [run for run in candidates if not run.is_running]
    running = sorted(run.spec.replicate for run in candidates if run.is_running)
    warnings: list[str] = []
    if running:
        plural, those = "s" * (len(running) > 1), ", ".join(map(str, running))
        warnings.append(f"still running just now, and not read: replicate{plural} {those}")
    warnings += [
        f"replicate {run.spec.replicate} is damaged and left out: {first_few(run.damaged, MOST_NAMED)} in "
        f"{run.attempt.parent.name}/{run.attempt.name} changed after the run ended; {_cure(experiment)}"
        for run in chosen
        if run.damaged
    ]
    warnings += missing_facts(run.attempt for run in chosen if not run.damaged)
    with timed_stage("records", "read %s runs of %s:%s", len(chosen), experiment.name, variant.name):
        runs = [_read_run(run, reader) for run in chosen]
    for warning in warnings:
        log_decision("records", "%s:%s: %s", experiment.name, variant.name, warning)
    return runs, warnings


OUTCOME = ("status", "exit_code", "wall_time_s", "reason", "device", "n_sharing")
"""Fields of a result that its run has as they are."""
NO_RESULT = "ended without a result: the machine or deviate stopped"


def _read_run(candidate: _Candidate, reader: RunReader) -> Run:
    spec, attempt, result = candidate.spec, candidate.attempt, candidate.result
    begun = result or candidate.claim
    started = begun.started if begun else 0.0
    run = Run(
        id=attempt.parent.name,
        replicate=spec.replicate,
        variant=spec.variant,
        status="lost",
        exit_code=None,
        started=started,
        wall_time_s=0.0,
        folder=attempt,
        series={},
        seeds=dict(spec.seeds),
        controls=dict(spec.controls),
        attempt=attempt_number(attempt) or 1,
        reason=NO_RESULT,
    )
    if candidate.damaged:  # only that it was there is told: any of its values may be another one than was recorded
        names = first_few(candidate.damaged, MOST_NAMED)
        return dataclasses.replace(run, reason=f"damaged: {names} changed after the run ended")
    chain = collect_continued(attempt)
    files, beyond = _event_files(chain)
    logs = reader.read_logs(files, chain)
    files_kept = merge_processes.artifacts(logs)
    continued = [f"continues attempt {attempt_number(part)}, which was lost" for part in chain[:-1]]
    outcome: dict[str, Any] = {"wall_time_s": max([log.ended - started for log in logs], default=0.0)}
    told: tuple[str, ...] = ()
    if result is not None:
        outcome, told = {name: getattr(result, name) for name in OUTCOME}, result.warnings
    is_completed = result is not None and result.status == "completed"
    return dataclasses.replace(
        run,
        **outcome,
        series=merge_processes.measure(logs, attempt),
        seed_events=merge_processes.union_over_processes(logs, lambda log: log.seeds),
        environment={**facts_of(attempt), **merge_processes.environment(logs)},
        stderr_tail=() if is_completed else stderr_tail(attempt / "stderr.log"),
        warnings=(*told, *continued, *beyond, *_warnings(logs, reader.catalog.metrics), *_missing(files_kept)),
        notes=tuple(continued),
        control_events=merge_processes.union_over_processes(logs, lambda log: log.controls),
        trained_s=trained_s(logs),
        draws=merge_processes.draws(logs),
        drawn=merge_processes.union_over_processes(logs, lambda log: log.drawn),
        weights=merge_processes.weights_of_ranks(logs),
        evaluation=merge_processes.lowest_rank_facts(logs, lambda log: log.evaluation),
        flips=merge_processes.lowest_rank_facts(logs, lambda log: log.flips),
        operations=merge_processes.union_over_processes(logs, lambda log: log.operations),
        uncontrolled=merge_processes.uncontrolled(logs),
        artifacts=files_kept,
        not_captured=merge_processes.not_captured(spec, files_kept, logs) if is_completed else (),
    )


def trained_s(logs: Sequence[ProcessLog]) -> float | None:
    """Seconds from the start of a run to its last training step; None where none was seen."""
    return max((log.trained_s for log in logs if log.trained_s is not None), default=None)


def _event_files(chain: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """The event files of a chain of attempts, and sentences on what came after the end.

    A file that was not there when the attempt ended is left out; of one that has grown, all is read.
    """
    files: list[Path] = []
    sentences: list[str] = []
    for part in chain:
        result = find_result(part)
        for path in event_files(part):
            if result is not None and path.name not in result.files:
                sentences.append(f"{path.name} was created after the run ended and is left out")
                continue
            if result is not None and path.stat().st_size > result.files[path.name][0]:
                sentences.append(f"{path.name} has grown since the run ended: no digest covers the added part")
            files.append(path)
    return files, sentences


def judge_run(run: Run, metrics: Sequence[SelectedMetric]) -> Run:
    """A run that completed with a quality metric at NaN or infinity has diverged; one may have reported nothing."""
    if run.status != "completed":
        return run
    if not run.series:
        return dataclasses.replace(run, reason="reported none of the metrics")
    broken = [
        f"{metric.name} ended {value_text(run.series[metric.name].values[-1])}"
        for metric in metrics
        if metric.role == "quality" and metric.name in run.series
        if not math.isfinite(run.series[metric.name].values[-1])
    ]
    return dataclasses.replace(run, status="diverged", reason=", ".join(broken)) if broken else run


def _warnings(logs: Sequence[ProcessLog], metrics: Sequence[SelectedMetric]) -> list[str]:
    warnings: list[str] = []
    n_torn, n_bad = sum(log.n_torn for log in logs), sum(log.n_bad for log in logs)
    if n_torn:
        warnings.append(f"the last line of {n_torn} event file{'s' * (n_torn > 1)} was cut off and left out")
    if n_bad:
        warnings.append(f"{n_bad} line{'s' * (n_bad > 1)} of the event files could not be read and were left out")
    warnings += _outside(merge_processes.union_over_processes(logs, lambda log: log.writes))
    warnings += [
        f"{path} was there before the run: what the run reports may be of that model. Let it start without: "
        f'[snapshot] fresh = ["{path.partition(" (")[0]}"]'
        for path in merge_processes.union_over_processes(logs, lambda log: log.old_models)
    ]
    warnings += [f"{TAP_FAILED}: {one}" for one in merge_processes.union_over_processes(logs, lambda log: log.errors)]
    return warnings + merge_processes.process_warnings(logs, metrics)


def _outside(paths: Iterable[str]) -> list[str]:
    """What was written outside of the work copy, by folder, without what libraries keep for themselves."""
    folders: dict[str, list[str]] = {}
    for path in paths:
        folder, _, file = path.rpartition("/")
        if not _is_of_libraries(folder):
            folders.setdefault(folder, []).append(file)
    places = [
        f"{folder}/{files[0]}" if len(files) == 1 else f"{folder} ({len(files)} files)"
        for folder, files in folders.items()
    ]
    return [f"wrote outside its work copy: {first_few(places, MOST_NAMED)}"] if places else []


def _is_of_libraries(folder: str) -> bool:
    """Whether a folder holds caches and settings of programs, by the names that such folders have.

    Source: XDG Base Directory Specification (hidden folders of the home); PEP 3147; Apple, File System Programming
        Guide.
    """
    names = folder.split("/")
    return any(name.startswith(".") or name == "__pycache__" for name in names) or "/Library/Caches" in folder


def _missing(files: Sequence[Artifact]) -> list[str]:
    n_missing = sum(not artifact.path.is_file() for artifact in files)
    return [f"{n_missing} of {len(files)} files with captured outputs or weights are missing"] if n_missing else []


def stderr_tail(path: Path) -> tuple[str, ...]:
    """The last lines of a log; empty when there is none."""
    return tuple(traceback_with_cells(log_end(path)).splitlines()[-TAIL_LINES:])


def log_end(path: Path) -> str:
    """The last TAIL_BYTES of a log; empty when there is none."""
    return read_end(path, TAIL_BYTES).decode("utf-8", "replace")
