"""What was imported as an experiment: in memory for a comparison, or in a folder like any other."""

import contextlib
import dataclasses
import hashlib
import itertools
import json
import math
import shutil
import time
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

from deviate.errors import InputError
from deviate.eventlog import SCHEMA, encode, number_text
from deviate.model import IMPORTED_AS, Experiment, Metric, Run, SelectedMetric, Selection, Series, Spec
from deviate.model.metric_vocabulary import item_direction, item_role
from deviate.records.columns import NO_STEP
from deviate.records.events import LARGEST_STEP
from deviate.records.files import lock_folder, write_record, writing
from deviate.records.importers import Imported, ImportedRun
from deviate.records.layout import attempt_folder, runs_folder, snapshot_folder, spec_file
from deviate.records.plans import Plan, VariantPlan, create_experiment, new_experiment_folder, place_of
from deviate.records.read import experiment_of_plan, judge_run
from deviate.records.runs import Result, run_id, spec_hash, write_result, write_spec
from deviate.records.schema import ManifestFile

VARIANT = "imported"
MAIN_LOOP = 0
MOST_FACTS = 5
"""Settings in which runs differ that are told; more say that these runs are no repetitions of one another."""


def experiment_of(imported: Imported) -> Experiment:
    """What was imported as an experiment in memory, whose runs are judged as those on record are.

    Raises:
        InputError: a step is too large to be one.
    """
    whole = _sort_steps(imported)
    plan = _plan(whole, imported.name)
    metrics = plan.selection.metrics
    runs = [judge_run(_run(plan, whole, replicate), metrics) for replicate in range(plan.n_runs)]
    return experiment_of_plan(plan, plan.variants[0], metrics, runs)


def write_imported(folder: Path, imported: Imported, name: str) -> Path:
    """Write what was imported into a new experiment, which `read_experiment` reads back bit by bit; gives its folder.

    Its plan is written last: an import that is cut off leaves no experiment, and what it leaves is cleared by the next.

    Args:
        folder: the `.deviate/` folder.

    Raises:
        InputError: the name cannot be used, an experiment has it already, or a step is too large to be one.
        RecordError: the disk does not take it.
    """
    whole = _sort_steps(imported)
    place = place_of(folder, name)
    plan = dataclasses.replace(_plan(whole, name), created=time.time())
    with lock_folder(place, waits=False):
        new_experiment_folder(folder, name)
        try:
            shutil.rmtree(runs_folder(place), ignore_errors=True)
            _write_snapshot(snapshot_folder(place), plan)
            for replicate, run in enumerate(whole.runs):
                _write_run(place, _spec(plan, run, replicate), run)
            create_experiment(place, plan)
        except BaseException:
            with contextlib.suppress(OSError):
                shutil.rmtree(place)
            raise
    return place


def _sort_steps(imported: Imported) -> Imported:
    """The same with steps that rise in every series, as in what deviate records.

    Raises:
        InputError: a step is so large that no record holds it.
    """
    for run in imported.runs:
        for name, series in run.series.items():
            if (largest := max((abs(step) for step in series.steps if step is not None), default=0)) > LARGEST_STEP:
                raise InputError(
                    f"{name} of {run.label}: the step {largest:.3g} is too large",
                    "number the steps; if these are times, leave the column out",
                )
    runs = (
        dataclasses.replace(run, series={name: _risen(series) for name, series in run.series.items() if series.values})
        for run in imported.runs
    )
    return dataclasses.replace(imported, runs=tuple(runs))


def _risen(series: Series) -> Series:
    """Of several values at one step the last one stands; what stood at no step follows the others."""
    numbered = [step for step in series.steps if step is not None]
    if len(numbered) == len(series.steps) and all(one < other for one, other in itertools.pairwise(numbered)):
        return series
    last = {step: index for index, step in enumerate(series.steps)}
    order = [last[step] for step in sorted(last, key=lambda step: (step is None, step or 0))]
    return Series(
        tuple(series.steps[index] for index in order),
        tuple(series.values[index] for index in order),
        tuple(series.times[index] for index in order) if series.times else (),
    )


def _plan(imported: Imported, name: str) -> Plan:
    names = list(dict.fromkeys(name for run in imported.runs for name in run.series))
    sources = [str(path) for path in imported.sources]
    selected = {metric.name: metric for metric in imported.selected}
    return Plan(
        name=name,
        created=max((run.started for run in imported.runs), default=0.0),
        root=imported.sources[0].parent.absolute() if imported.sources else Path(),
        command=("deviate", "import", *sources),
        cwd=".",
        seed=0,
        sources_hash=_digest(imported),
        variants=(VariantPlan(VARIANT, len(imported.runs)),),
        selection=Selection(
            tuple(selected.get(name) or _metric(number, name, imported) for number, name in enumerate(names))
        ),
        imported=(f"imported from {', '.join(sources)} ({imported.form})", *imported.notes, *_unlike(imported.runs)),
        tasks=imported.tasks,
        streams=imported.streams,
        scores=imported.scores,
    )


def _metric(number: int, name: str, imported: Imported) -> SelectedMetric:
    """A metric, where nothing more stood there by its name: what no word tells is quality without a direction.

    Of `task: metric` the metric tells, for tasks may be called anything.
    """
    words = name.rpartition(": ")[2] if name in imported.tasks else name
    if name in imported.manners:
        role, direction = imported.manners[name]
    else:
        role = item_role(words, "quality")
        direction = item_direction(words, role, None)
    source = imported.sources[0].name if imported.sources else ""
    evidence = "as it was imported" if name in imported.manners else "guessed from its name"
    metric = Metric(number, name, name, source, 0, imported.form, role, direction, (evidence,), None)
    return SelectedMetric(name, metric, role, direction)


def _digest(imported: Imported) -> str:
    """SHA-256 over what was imported, whatever file it came from."""
    digest = hashlib.sha256()
    for run in imported.runs:
        digest.update(repr((run.label, run.status, sorted(run.environment.items()))).encode("utf-8", "surrogatepass"))
        for name, series in run.series.items():
            digest.update(name.encode("utf-8", "surrogatepass"))
            digest.update(array("q", [NO_STEP if step is None else step for step in series.steps]))
            digest.update(array("d", series.values))
    return digest.hexdigest()


def _unlike(runs: Sequence[ImportedRun]) -> list[str]:
    """Settings that some runs share and others do not; what each run has for itself, as a seed, tells nothing."""
    sentences: list[str] = []
    for fact in dict.fromkeys(fact for run in runs for fact in run.environment):
        levels: dict[str, int] = {}
        for run in runs:
            if fact in run.environment:
                levels[run.environment[fact]] = levels.get(run.environment[fact], 0) + 1
        if "seed" not in fact.lower() and 1 < len(levels) < sum(levels.values()):
            sentences.append(
                f"{fact} ({'; '.join(f'{level} in {n}' for level, n in list(levels.items())[:MOST_FACTS])})"
            )
    more = [f"and {len(sentences) - MOST_FACTS} more"] if len(sentences) > MOST_FACTS else []
    return [f"the runs differ in {', '.join([*sentences[:MOST_FACTS], *more])}"] if sentences else []


def _spec(plan: Plan, run: ImportedRun, replicate: int) -> Spec:
    return Spec(plan.sources_hash, plan.command, plan.cwd, VARIANT, replicate, tuple(run.seeds.items()))


def _facts(run: ImportedRun) -> dict[str, str]:
    return {**run.environment, IMPORTED_AS: run.label}


def _run(plan: Plan, imported: Imported, replicate: int) -> Run:
    run = imported.runs[replicate]
    return Run(
        id=run_id(_spec(plan, run, replicate)),
        replicate=replicate,
        variant=VARIANT,
        status=run.status,
        exit_code=None,
        started=run.started,
        wall_time_s=run.wall_time_s,
        folder=imported.sources[0] if imported.sources else Path(),
        series=dict(run.series),
        seeds=dict(run.seeds),
        environment=_facts(run),
        reason=_reason(run),
    )


def _reason(run: ImportedRun) -> str:
    return "" if run.status == "completed" else "as it was imported"


def _write_snapshot(snapshot: Path, plan: Plan) -> None:
    """A manifest of no files: the metrics are known by their names, and stand in the plan."""
    manifest = ManifestFile(
        root=str(plan.root), sources_hash=plan.sources_hash, main_loop=MAIN_LOOP, files={}, linked_folders={}, sites=(),
        metrics=(), warnings=(),
    )  # fmt: skip
    _make_folder(snapshot)
    write_record(snapshot / "manifest.json", "manifest", manifest)


def _write_run(place: Path, spec: Spec, run: ImportedRun) -> None:
    folder = runs_folder(place) / run_id(spec)
    attempt = attempt_folder(folder, 1)
    _make_folder(attempt)
    write_spec(spec_file(folder), spec)
    events = attempt / "events-0-0.jsonl"
    with writing(f"writing {events}"), events.open("w", encoding="ascii", newline="\n") as file:
        n_bytes = sum(file.write(line) for line in _events(run))
        file.write(encode("end", run.wall_time_s, n_bytes))
    write_result(attempt, Result(spec_hash(spec), run.status, None, None, run.started, run.wall_time_s, _reason(run)))


def _make_folder(folder: Path) -> None:
    with writing(f"making {folder}"):
        folder.mkdir(parents=True)


def _events(run: ImportedRun) -> Iterator[str]:
    """What a guest would have recorded, step by step; a time that nobody knows is `nan`."""
    yield encode("start", SCHEMA, {"pid": 0, "ppid": 0, "rank": None, "time": run.started})
    yield encode("path", 0, [])
    yield encode("environment", _facts(run))
    rows = [
        (math.inf if step is None else step, order, index)
        for order, series in enumerate(run.series.values())
        for index, step in enumerate(series.steps)
    ]
    names = [json.dumps(name) for name in run.series]
    all_series = list(run.series.values())
    now: float = -math.inf
    for step, order, index in sorted(rows):
        series = all_series[order]
        seconds = number_text(float(series.times[index])) if series.times else '"nan"'
        if step not in {now, math.inf}:
            now = step
            yield f'["step", {MAIN_LOOP}, {step}, 0.0]\n'
        around = "[]" if step == math.inf else f"[{MAIN_LOOP}, {step}]"
        yield f'["named", {names[order]}, 0, {around}, {seconds}, {number_text(float(series.values[index]))}]\n'
