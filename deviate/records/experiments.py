"""Sources of experiments: records by name, and files of other tools."""

import contextlib
import dataclasses
import glob
import os
from collections.abc import Sequence
from pathlib import Path

from deviate.errors import InputError
from deviate.model.plan import SelectedMetric, SweptValue
from deviate.model.records import Experiment
from deviate.model.sweep import number_of
from deviate.model.texts import numbered
from deviate.records.importers import Imported
from deviate.records.plans import find_experiment, list_experiments, on_record
from deviate.records.read import read_experiment

LONGEST_NAME = 200
"""Characters of a name that a message shows."""


def read_any(
    folder: Path, names: Sequence[str], *, form: str | None = None, has_all_variants: bool = False
) -> tuple[Experiment, ...]:
    """Experiments by name from the `.deviate/` folder, or from files of other tools.

    A recorded experiment has precedence over a file of the same name. A path, or a pattern such as
    `"runs/*/metrics.csv"`, is one experiment, or the experiments in its file; `FILE:NAME` is one of them.

    Args:
        form: name of the importer for the files; None to tell by what they look like.
        has_all_variants: whether a name on record means all its variants, not the first one.

    Raises:
        InputError: neither on record nor a file, or a file that cannot be read.
    """
    if form is not None:
        from deviate.records.importing import (
            refuse_format,
        )  # with all importers, which experiments on record do without

        refuse_format(form)
    sources: list[tuple[str, Experiment]] = []
    for name in names:
        paths, part = _files(folder, name)
        experiments: Sequence[Experiment]
        if paths:
            experiments = _import_files(paths, part, name, form)
        else:
            experiments = read_variants(folder, name) if has_all_variants else read(folder, [name])
        sources += [(name if paths else "", experiment) for experiment in experiments]
    return _with_distinct_names(sources)


def read_one(folder: Path, name: str, *, form: str | None = None) -> Experiment:
    """The experiment of a name, as `read_any`; raises InputError if there are several in a file."""
    experiment, *others = read_any(folder, [name], form=form)
    if others:
        choices = ", ".join(choice.name for choice in (experiment, *others))
        raise InputError(f"{name} holds several experiments: {choices}", f"name one of them: {name}:{experiment.name}")
    return experiment


def read(folder: Path, names: Sequence[str]) -> tuple[Experiment, ...]:
    """Experiments by name from the `.deviate/` folder; `NAME:VARIANT` names one variant, by default the first."""
    experiments: list[Experiment] = []
    experiments_by_name: dict[str, tuple[Experiment, ...]] = {}
    for name in names:
        plain, _, variant = name.partition(":")
        if plain not in experiments_by_name:
            experiments_by_name[plain] = read_experiment(find_experiment(folder, plain))
        variants = experiments_by_name[plain]
        chosen = (
            [experiment for experiment in variants if experiment.variant == variant] if variant else list(variants[:1])
        )
        if not chosen:
            recorded = ", ".join(experiment.variant for experiment in variants)
            raise InputError(f"experiment {plain} has no variant {variant!r}", f"it has: {recorded}")
        experiments += chosen
    return tuple(experiments)


def read_variants(folder: Path, name: str) -> tuple[Experiment, ...]:
    """All variants of an experiment, or the one of `NAME:VARIANT`."""
    if ":" in name:
        return read(folder, [name])
    return read_experiment(find_experiment(folder, name))


def read_files(names: Sequence[str], *, form: str | None = None) -> tuple[Imported, ...]:
    """The experiments in files, folders and patterns.

    Raises:
        InputError: there is no such file, or it cannot be read.
    """
    paths: list[Path] = []
    for name in names:
        matches = _matching(name)
        if not matches:
            raise InputError(f"there is no file {name}", "name an existing file or folder")
        paths += matches
    from deviate.records.importing import read_files

    return read_files(paths, form=form)


def published_table(names: Sequence[str]) -> str | None:
    """Convert one summary file of the DEVIATE release of 2021 to CSV with corrected labels; None for other files.

    Raises:
        InputError: it is damaged, or there is one among other files.
    """
    from deviate.records.importers.deviate2021 import published_table as table_of_file

    paths = [path for name in names for path in _matching(name)]
    tables = [table for path in paths if path.is_file() and (table := table_of_file(path)) is not None]
    if tables and len(paths) > 1:
        raise InputError("summaries of the DEVIATE release of 2021 have no runs", "name one such file alone")
    return tables[0] if tables else None


def _matching(name: str) -> list[Path]:
    """Files or folders that match a path or a pattern.

    Raises:
        InputError: whether there are any cannot be told.
    """
    if not name:
        return []
    try:
        if Path(name).exists():
            return [Path(name)]
    except OSError as error:
        raise InputError(
            f"reading {name[:LONGEST_NAME]}: {error.strerror or error}", "check its name and permissions"
        ) from error
    if not glob.has_magic(name):
        return []
    return [Path(path) for path in sorted(glob.glob(name, recursive=True))]  # noqa: PTH207  `Path.glob` takes no whole path


def _files(folder: Path, name: str) -> tuple[list[Path], str]:
    """Files that a name refers to (none if it is a recorded experiment), and the selected part of them."""
    from deviate.records.trackers.addresses import is_address

    if is_address(name) and not os.path.lexists(name):
        raise InputError(
            f"{name}: runs of a tracker are imported before they are compared",
            f"list them: deviate import {name} --dry-run",
        )
    with contextlib.suppress(InputError):
        find_experiment(folder, name.partition(":")[0])
        return [], ""
    for path, part in ((name, ""), name.rpartition(":")[::2]):
        if path and (matches := _matching(path)):
            return matches, part
    if glob.has_magic(name) or Path(name).suffix or "/" in name:
        raise InputError(f"there is no file {name}", "name an existing file or folder, or a recorded experiment")
    return [], ""


def _import_files(paths: Sequence[Path], part: str, name: str, form: str | None) -> Sequence[Experiment]:
    from deviate.records.importing import experiment_of, read_files

    results = [experiment_of(imported) for imported in read_files(paths, form=form)]
    chosen = [experiment for experiment in results if experiment.name == part] if part else results
    if not chosen:
        names = ", ".join(experiment.name for experiment in results)
        raise InputError(f"{name.rpartition(':')[0]} has no experiment {part!r}", f"it has: {names}")
    return chosen


def _with_distinct_names(sources: Sequence[tuple[str, Experiment]]) -> tuple[Experiment, ...]:
    """Rename experiments with equal names after the differing parts of their paths: `old-scores`, `new-scores`."""
    names = [experiment.name for _, experiment in sources]
    used_names: set[str] = set()
    experiments = []
    for source, experiment in sources:
        name = experiment.name
        if source and names.count(name) > 1:
            places = [_folders(path) for path, other in sources if path and other.name == name]
            shared = set.intersection(*map(set, places))
            apart = [folder for folder in _folders(source) if folder not in shared] or _folders(source)
            name = "-".join((*apart[-1:], name))
        name = next(free for free in numbered(name) if not source or free not in used_names)
        used_names.add(name)
        experiments.append(dataclasses.replace(experiment, name=name))
    return tuple(experiments)


def _folders(source: str) -> tuple[str, ...]:
    """Folders on a path, including itself if it is one; patterns are skipped."""
    path = Path(source).resolve()
    parts = path.parts[1:] if path.is_dir() else path.parts[1:-1]
    return tuple(part for part in parts if not glob.has_magic(part))


# Tables whose columns are methods, such as `seed,baseline,ours`: several experiments rather than several metrics.

SCORE = "score"
"""Name of the metric where the columns are named after experiments."""
TABLES = ("(csv)", "(json)")


def split_columns(experiment: Experiment) -> tuple[Experiment, ...]:
    """The columns of a table as experiments, if it can be compared only that way; else the experiment unchanged.

    This applies to tables with one score per row and column, and no column name that is known as a measure.
    """
    metrics = experiment.metrics
    if experiment.folder is not None or not experiment.imported[:1] or not experiment.imported[0].endswith(TABLES):
        return (experiment,)
    if len(metrics) < 2 or any(metric.role != "quality" or metric.direction is not None for metric in metrics):
        return (experiment,)
    if any(list(series.steps) != [None] for run in experiment.runs for series in run.series.values()):
        return (experiment,)
    names = ", ".join(metric.name for metric in metrics)
    note = f"no column name is a known measure, so each column is an experiment and each row a {SCORE}: {names}"
    return tuple(_column(experiment, metric, note) for metric in metrics)


def _column(experiment: Experiment, metric: SelectedMetric, note: str) -> Experiment:
    runs = tuple(
        dataclasses.replace(run, series={SCORE: run.series[metric.name]})
        for run in experiment.runs
        if metric.name in run.series  # columns may have different lengths
    )
    source = dataclasses.replace(metric.metric, id=0, name=SCORE)
    score = dataclasses.replace(metric, name=SCORE, metric=source, is_primary=True)  # there is no other
    return dataclasses.replace(
        experiment,
        name=metric.name,
        n_planned=len(runs),
        metrics=(score,),
        runs=runs,
        imported=(*experiment.imported, note),
    )


# Sweeps on record: the experiments that were started together, one per value of an argument.


def has_sweep(folder: Path, name: str) -> bool:
    """Whether experiments of a sweep with this name are on record."""
    return any(plan.sweep is not None and plan.sweep.sweep == name for plan in list_experiments(folder))


def read_sweep(folder: Path, name: str) -> tuple[tuple[SweptValue, tuple[Experiment, ...]], ...]:
    """All experiments of a sweep with their variants: numbers ascending, words in the order of their start.

    Raises:
        InputError: there is no such sweep, or the experiments sweep different arguments.
        RecordError: an experiment that may be of it is damaged.
    """
    plans_on_record, damaged = on_record(folder)
    for experiment, error in damaged.items():
        if experiment.startswith(name):
            raise error
    plans = [plan for plan in plans_on_record if plan.sweep is not None and plan.sweep.sweep == name]
    if not plans:
        names = sorted({plan.sweep.sweep for plan in plans_on_record if plan.sweep is not None})
        advice = f"recorded sweeps: {', '.join(names)}" if names else "run one: deviate run TRAIN.py --sweep …"
        raise InputError(f"no sweep named {name!r} under {folder}", advice)
    arguments = sorted({plan.sweep.argument for plan in plans if plan.sweep is not None})
    if len(arguments) > 1:
        raise InputError(
            f"the sweep {name} has several arguments: {', '.join(arguments)}",
            "use a separate --name for the sweep of each argument",
        )
    points = [(plan.sweep, read_variants(folder, plan.name)) for plan in plans if plan.sweep is not None]
    places = [number_of(point.value) for point, _ in points]
    if None not in places:
        points.sort(key=lambda point: float(point[0].value))
    return tuple(points)
