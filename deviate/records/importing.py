"""Reads files written by other tools: selects the importer, and joins files that hold one run each."""

import dataclasses
import itertools
import os.path
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from deviate.errors import InputError
from deviate.records.importers import IMPORTERS, Imported, Importer
from deviate.records.importers.deviate2021 import is_summary, relabel

MOST_FILES = 10_000
"""Files in a folder that are looked at."""
NUMBERS = re.compile(r"[\W\d_]*(?:(?:seed|run|version|replicate|rep)[\W\d_]*)*$", re.IGNORECASE)
"""The end of what names of files have in common that tells nothing: `acc_seed_` is acc."""
NO_NAME = re.compile(r"[^\w.+=-]+")
NO_FOLDER = re.compile(r"[^A-Za-z0-9._+=-]+")
LONGEST_NAME = 90
GENERIC = frozenset(
    {"metrics", "metric", "results", "result", "log", "logs", "history", "offline", "offline-run", "wandb", "progress"}
    | {"wandb-offline", "version", "run", "runs", "data", "lightning_logs", "csv_logs", "events", "events.out.tfevents"}
    | {"training", "monitor"}
)
"""What loggers call files and folders: no name of an experiment."""
MOST_OTHERS = 500
"""Files beside those of a folder's format that are looked at."""


def read_files(paths: Sequence[Path], *, form: str | None = None) -> tuple[Imported, ...]:
    """Read the experiments in files and folders, each under a unique name.

    Several files with one run each become one experiment; so do the files of a folder that no importer claims as a
    whole.

    Args:
        form: name of the format, where it is not to be guessed.

    Raises:
        InputError: there is no such file or format, no format knows it, or it is damaged.
    """
    again = next((path for path in paths if paths.count(path) > 1), None) if len(set(paths)) < len(paths) else None
    if again is not None:
        raise InputError(f"{again} is given more than once", "name each file once")
    read = [_read_path(path, form) for path in paths]
    experiments = (
        [_join_runs([experiment for (experiment,) in read])]
        if _are_parts(read)
        else [experiment for these in read for experiment in these]
    )
    names = _names(experiments, NO_NAME)
    return tuple(
        dataclasses.replace(experiment, name=name) for experiment, name in zip(experiments, names, strict=True)
    )


def folder_names(experiments: Sequence[Imported]) -> tuple[str, ...]:
    """Names for recording imported experiments; names are reduced to ASCII letters."""
    return _names(experiments, NO_FOLDER)


def published_table(path: Path) -> str | None:
    """Convert a summary file of the DEVIATE release of 2021 to CSV with corrected labels; None for any other file.

    Raises:
        InputError: it is damaged.
    """
    return relabel(path) if is_summary(path) else None


def _read_path(path: Path, form: str | None) -> tuple[Imported, ...]:
    if form is not None and form not in IMPORTERS:
        raise InputError(f"there is no format {form!r} to import", f"choose one of {', '.join(IMPORTERS)}")
    try:
        if not path.exists():
            raise InputError(f"importing {path}: there is no such file or folder", "check its name")
        return _read_as(path, form)
    except OSError as error:
        place = error.filename or path
        raise InputError(f"reading {place}: {error.strerror or error}", "check its permissions") from error


def _read_as(path: Path, form: str | None) -> tuple[Imported, ...]:
    if form is not None:
        return IMPORTERS[form].read(path)
    chosen = _claiming(path)
    if chosen is not None:
        ignored_notes = _list_unread_files(path, chosen) if path.is_dir() else ()
        return tuple(
            dataclasses.replace(experiment, notes=(*experiment.notes, *ignored_notes))
            for experiment in chosen.read(path)
        )
    if path.is_dir():
        read = [each.read(file) for file in _within(path) if (each := _claiming(file)) is not None]
        if _are_parts(read):
            return (
                dataclasses.replace(_join_runs([experiments for (experiments,) in read]), name=path.absolute().name),
            )
        if read:
            return tuple(experiment for experiments in read for experiment in experiments)
    formats = "".join(f"\n  {importer.name}: {importer.description}" for importer in IMPORTERS.values())
    raise InputError(f"importing {path}: no format knows it", f"these can be imported:{formats}")


def _list_unread_files(folder: Path, chosen: Importer) -> tuple[str, ...]:
    """Files of other formats in a folder that an importer claims as a whole: they are reported as not imported."""
    files = [file for file in _within(folder)[:MOST_OTHERS] if file.is_file() and not chosen.claims(file)]
    counts = Counter(other.name for file in files if (other := _claiming(file)) is not None)
    return tuple(
        f"{folder.name}: read as {chosen.name}; not read: {n} file{'s' * (n > 1)} of the format {name} beside it"
        for name, n in counts.items()
    )


def _are_parts(read: Sequence[tuple[Imported, ...]]) -> bool:
    """Whether several files of one format hold one run of one experiment each."""
    are_single = all(len(experiments) == 1 and len(experiments[0].runs) == 1 for experiments in read)
    return len(read) > 1 and are_single and len({experiments[0].form for experiments in read}) == 1


def _claiming(path: Path) -> Importer | None:
    """The importer for a file or folder: a built-in one, else one of a plug-in."""
    tree = IMPORTERS.in_tree()
    claiming = [importer for importer in tree.values() if importer.claims(path)]
    if not claiming:
        claiming = [importer for name, importer in IMPORTERS.items() if name not in tree and importer.claims(path)]
    return max(claiming, key=lambda importer: importer.rank, default=None)


def _within(folder: Path) -> list[Path]:
    """The direct children of a folder, hidden files excluded."""
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))[:MOST_FILES]


def _join_runs(parts: Sequence[Imported]) -> Imported:
    """Join files of one run each into one experiment, in the given order."""
    labels = _labels(parts)
    runs = tuple(
        dataclasses.replace(part.runs[0], label=label) for part, label in zip(parts, labels, strict=True)
    )  # fmt: skip
    notes = list(dict.fromkeys(note for part in parts for note in part.notes))
    more = ["and the like for the other files"] if len(notes) > 2 else notes[1:]
    return Imported(
        name=_common_name(parts),
        form=parts[0].form,
        sources=tuple(source for part in parts for source in part.sources),
        runs=runs,
        tasks=tuple(dict.fromkeys(task for part in parts for task in part.tasks)),
        notes=(f"{len(parts)} files, one run each, are one experiment", *notes[:1], *more),
    )


def _labels(parts: Sequence[Imported]) -> list[str]:
    """Labels of runs: the imported labels if they are unique, else the parts of the paths in which the files differ."""
    labels = [part.runs[0].label for part in parts]
    if len(set(labels)) == len(labels):
        return labels
    paths = [str(part.sources[0]) for part in parts]
    if len(set(paths)) < len(paths):
        raise InputError(f"{max(paths, key=paths.count)} is given more than once", "name each file of a run once")
    begin = len(os.path.commonpath([Path(path).parent for path in paths])) if len(paths) > 1 else 0
    return [path[begin:].lstrip("/") for path in paths]


def _common_name(parts: Sequence[Imported]) -> str:
    """The common part of the file names, else the name of their folder."""
    paths = [part.sources[0].absolute() for part in parts]
    letters = zip(*{path.stem for path in paths}, strict=False)
    common = NUMBERS.sub(
        "", "".join(column[0] for column in itertools.takewhile(lambda letters: len(set(letters)) == 1, letters))
    )
    folder = Path(os.path.commonpath([path.parent for path in paths]))
    names = [common if len(common) > 1 else "", folder.name, folder.parent.name]
    labels = [name for name in names if name]
    return next((name for name in labels if name.lower() not in GENERIC), labels[0] if labels else "imported")


def _names(experiments: Sequence[Imported], without: re.Pattern[str]) -> tuple[str, ...]:
    """Unique names, numbered where several are equal."""
    names: list[str] = []
    for experiment in experiments:
        stem = without.sub("_", experiment.name).lstrip(".+=-").rstrip("_")[:LONGEST_NAME] or "imported"
        numbered = (f"{stem}-{index}" for index in itertools.count(2))
        names.append(next(name for name in itertools.chain([stem], numbered) if name not in names))
    return tuple(names)
