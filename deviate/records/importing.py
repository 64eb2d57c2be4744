"""Reads files of other tools: selects the importer, joins files of one run each, and makes experiments of them."""

import contextlib
import dataclasses
import hashlib
import json
import math
import operator
import os.path
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from deviate.errors import InputError, writing
from deviate.eventlog import SCHEMA, encode, number_text
from deviate.model.analysis import Metric
from deviate.model.metric_vocabulary import item_traits, word_set
from deviate.model.plan import SelectedMetric, Selection, Spec
from deviate.model.records import IMPORTED_AS, Experiment, Run
from deviate.model.texts import first_few, numbered
from deviate.records.events import LARGEST_STEP
from deviate.records.files import lock_folder, write_record
from deviate.records.importers import IMPORTERS, Imported, ImportedRun, Importer
from deviate.records.importers.tracked import in_order, reading
from deviate.records.layout import attempt_folder, manifest_file, runs_folder, snapshot_folder, spec_file
from deviate.records.plans import Plan, VariantPlan, create_experiment, new_experiment_folder, place_of
from deviate.records.read import experiment_of_plan, judge_run
from deviate.records.runs import Result, run_id, spec_hash, write_result, write_spec
from deviate.records.schema import Manifest

NUMBERS = re.compile(r"[\W\d_]*(?:(?:seed|run|version|replicate|rep)[\W\d_]*)*$", re.IGNORECASE)
"""Uninformative end of the common part of file names: `acc_seed_` is acc."""
NO_NAME = re.compile(r"[^\w.+=-]+")
NO_FOLDER = re.compile(r"[^A-Za-z0-9._+=-]+")
LONGEST_NAME = 90
GENERIC = word_set(
    "metrics metric results result log logs history offline offline-run wandb progress wandb-offline version run runs "
    "data lightning_logs csv_logs events events.out.tfevents training monitor"
)
"""Usual names of log files and folders, which do not name an experiment."""


def read_files(paths: Sequence[Path], *, form: str | None = None) -> tuple[Imported, ...]:
    """Read the experiments in files and folders, each under a unique name.

    Several files with one run each become one experiment; so do the files of a folder that no importer claims as a
    whole.

    Args:
        form: name of the format, where it is not to be guessed.

    Raises:
        InputError: there is no such file or format, no format knows it, or it is damaged.
    """
    if form is not None:
        refuse_format(form)
    again = next((path for path, n in Counter(paths).items() if n > 1), None)
    if again is not None:
        raise InputError(f"{again} is given more than once", "name each file once")
    experiments = _join([_read_path(path, form) for path in paths])
    names = unique_names([each.name for each in experiments], NO_NAME)
    return tuple(dataclasses.replace(each, name=name) for each, name in zip(experiments, names, strict=True))


def refuse_format(form: str) -> None:
    """Raise InputError for the name of an unknown import format."""
    if form not in IMPORTERS:
        raise InputError(f"unknown import format {form!r}", f"choose one of {', '.join(IMPORTERS)}")


def _read_path(path: Path, form: str | None) -> Sequence[Imported]:
    with reading(str(path)):
        if not path.exists():
            raise InputError(f"importing {path}: no such file or folder", "check its name")
        importer = IMPORTERS[form] if form is not None else _claiming(path)
        if importer is not None:
            return importer.read(path)
        read = [each.read(file) for file in sorted(path.glob("[!.]*")) if (each := _claiming(file)) is not None]
    if not read:
        formats = ", ".join(IMPORTERS)
        raise InputError(f"importing {path}: not a known format", f"name a format with --format: {formats}")
    return _join(read, name=path.absolute().name)


def _claiming(path: Path) -> Importer | None:
    """The importer for a file or folder: a built-in one, else one of a plug-in; the one of the highest rank."""
    importers, of_others = dict(IMPORTERS), IMPORTERS.added_by_others()
    ranked = sorted(importers.values(), key=lambda each: (each.name not in of_others, each.rank), reverse=True)
    return next((each for each in ranked if each.claims(path)), None)


def _join(read: Sequence[Sequence[Imported]], *, name: str = "") -> Sequence[Imported]:
    """Files of one format with one run each as one experiment, in the given order; others as they are."""
    parts = [experiment for experiments in read for experiment in experiments]
    is_split = len({part.form for part in parts}) == 1 and all(len(part.runs) == 1 for part in parts)
    if len(read) < 2 or len(parts) > len(read) or not is_split:
        return parts
    runs = [dataclasses.replace(part.runs[0], label=label) for part, label in zip(parts, _labels(parts), strict=True)]
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    more = ["likewise for the other files"] if len(notes) > 2 else notes[1:]
    return [
        Imported(
            name=name or _common_name(parts),
            form=parts[0].form,
            sources=tuple(source for part in parts for source in part.sources),
            runs=tuple(runs),
            tasks=tuple(dict.fromkeys(task for part in parts for task in part.tasks)),
            notes=(f"{len(parts)} files, one run each, are one experiment", *notes[:1], *more),
        )
    ]


def _labels(parts: Sequence[Imported]) -> list[str]:
    """Labels of runs: the imported labels if they are unique, else the parts of the paths in which the files differ."""
    labels = [part.runs[0].label for part in parts]
    if len(set(labels)) == len(labels):
        return labels
    folder = os.path.commonpath([part.sources[0].parent for part in parts])
    return [os.path.relpath(part.sources[0], folder) for part in parts]


def _common_name(parts: Sequence[Imported]) -> str:
    """The common part of the file names, else the name of their folder."""
    paths = [part.sources[0].absolute() for part in parts]
    letters = os.path.commonprefix([path.stem for path in paths])  # noqa: RUF071  names share letters
    common = NUMBERS.sub("", letters)
    folder = Path(os.path.commonpath([path.parent for path in paths]))
    names = (common, folder.name, folder.parent.name, "imported")
    return next(name for name in names if len(name) > 1 and name.lower() not in GENERIC)


def unique_names(wanted: Sequence[str], without: re.Pattern[str] = NO_FOLDER) -> tuple[str, ...]:
    """Unique names, numbered where several are equal; by default such as recording takes, in ASCII letters."""
    names: list[str] = []
    for one in wanted:
        stem = without.sub("_", one).lstrip(".+=-").rstrip("_")[:LONGEST_NAME] or "imported"
        names.append(next(name for name in numbered(stem) if name not in names))
    return tuple(names)


# What was imported as an experiment: in memory for a comparison, or in a folder like any other.

VARIANT = "imported"
MAIN_LOOP = 0
MOST_FACTS = 5
"""Maximum number of differing settings, and of values of a setting, that are named."""


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
    runs = []
    for run in imported.runs:
        rising = {name: in_order(series) for name, series in run.series.items() if series.values}
        for name, series in rising.items():
            if (largest := max(abs(step or 0) for step in series.steps)) > LARGEST_STEP:
                raise InputError(
                    f"{name} of {run.label}: step {largest:.3g} is too large",
                    "number the steps; if they are times, remove the column",
                )
        runs.append(dataclasses.replace(run, series=rising))
    return dataclasses.replace(imported, runs=tuple(runs))


def _plan(imported: Imported, name: str) -> Plan:
    names = list(dict.fromkeys(name for run in imported.runs for name in run.series))
    sources = [str(path) for path in imported.sources] or list(imported.arguments)
    return Plan(
        name=name,
        created=max((run.started for run in imported.runs), default=0.0),
        root=imported.sources[0].parent.absolute() if imported.sources else Path(),
        command=("deviate", "import", *sources),
        cwd=".",
        seed=0,
        sources_hash=hashlib.sha256(repr(imported.runs).encode("utf-8", "surrogatepass")).hexdigest(),
        variants=(VariantPlan(VARIANT, len(imported.runs)),),
        selection=Selection(tuple(_metric(number, name, imported) for number, name in enumerate(names))),
        imported=(
            f"imported from {', '.join(sources[:1] if imported.arguments else sources)} ({imported.form})",
            *imported.notes,
            *_unlike(imported.runs),
        ),
        tasks=imported.tasks,
    )


def _metric(number: int, name: str, imported: Imported) -> SelectedMetric:
    """A metric, where nothing more stood there by its name: what no word tells is quality without a direction.

    Of `task: metric` the metric tells, for tasks may be called anything.
    """
    words = name.rpartition(": ")[2] if name in imported.tasks else name
    stated = imported.stated.get(name)
    role, direction = (stated.role, stated.direction) if stated else item_traits(words)
    source = imported.sources[0].name if imported.sources else ""
    evidence = "as it was imported" if stated else "guessed from its name"
    metric = Metric(number, name, name, source, 0, imported.form, role, direction, (evidence,), None)
    if stated is None:
        return SelectedMetric(name, metric, role, direction)
    return SelectedMetric(name, metric, role, direction, stated.aggregate, stated.unit, stated.primary, stated.margin)


def _unlike(runs: Sequence[ImportedRun]) -> list[str]:
    """Settings that some runs share and others do not; what each run has for itself, as a seed, tells nothing."""
    sentences: list[str] = []
    for fact in dict.fromkeys(fact for run in runs for fact in run.environment):
        levels = Counter(run.environment[fact] for run in runs if fact in run.environment)
        if "seed" not in fact.lower() and 1 < len(levels) < levels.total():
            sentences.append(f"{fact} ({first_few([f'{level} in {n}' for level, n in levels.items()], MOST_FACTS)})")
    return [f"the runs differ in {first_few(sentences, MOST_FACTS)}"] if sentences else []


def _spec(plan: Plan, run: ImportedRun, replicate: int) -> Spec:
    return Spec(plan.sources_hash, plan.command, plan.cwd, VARIANT, replicate, tuple(run.seeds.items()))


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
        environment={**run.environment, IMPORTED_AS: run.label},
        reason=_reason(run),
    )


def _reason(run: ImportedRun) -> str:
    return "" if run.status == "completed" else "as it was imported"


def _write_snapshot(snapshot: Path, plan: Plan) -> None:
    """A manifest of no files: the metrics are known by their names, and stand in the plan."""
    manifest = Manifest(
        root=str(plan.root), sources_hash=plan.sources_hash, main_loop=MAIN_LOOP, files={}, linked_folders={}, sites=(),
        metrics=(), warnings=(),
    )  # fmt: skip
    with writing(f"making {snapshot}"):
        snapshot.mkdir(parents=True)
    write_record(manifest_file(snapshot), manifest, is_compact=True)


def _write_run(place: Path, spec: Spec, run: ImportedRun) -> None:
    folder = runs_folder(place) / run_id(spec)
    attempt = attempt_folder(folder, 1)
    events = attempt / "events-0-0.jsonl"
    with writing(f"writing {events}"):
        attempt.mkdir(parents=True)
        write_spec(spec_file(folder), spec)
        with events.open("w", encoding="ascii", newline="\n") as file:
            n_bytes = sum(file.write(line) for line in _events(run))
            file.write(encode("end", run.wall_time_s, n_bytes))
    write_result(attempt, Result(spec_hash(spec), run.status, None, None, run.started, run.wall_time_s, _reason(run)))


def _events(run: ImportedRun) -> Iterator[str]:
    """What a guest would have recorded, step by step; a time that nobody knows is `nan`."""
    yield encode("start", SCHEMA, {"pid": 0, "ppid": 0, "rank": None, "time": run.started})
    yield encode("path", 0, [])
    yield encode("environment", {**run.environment, IMPORTED_AS: run.label})
    rows = [
        (math.inf if step is None else step, json.dumps(name), float(value), float(seconds))
        for name, series in run.series.items()
        for step, value, seconds in zip(
            series.steps, series.values, series.times or [math.nan] * len(series.values), strict=True
        )
    ]
    now: float = -math.inf
    for step, name, value, seconds in sorted(rows, key=operator.itemgetter(0)):
        if step not in {now, math.inf}:
            now = step
            yield f'["step", {MAIN_LOOP}, {step}, 0.0]\n'
        around = "[]" if step == math.inf else f"[{MAIN_LOOP}, {step}]"
        yield f'["named", {name}, 0, {around}, {number_text(seconds)}, {number_text(value)}]\n'
