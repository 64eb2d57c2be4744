"""Importer `tensorboard`: folders of event files, as SummaryWriter, tf.summary and the callbacks of Keras leave them.

A folder with event files is a run, and a folder of such folders an experiment. What belongs to the run of the folder
above: `train`, `validation` and the like (Keras), whose metrics keep that in front of their names, such as
`validation/epoch_loss`; what `add_scalars(main, …)` makes (`main/name`); and sessions of `add_hparams`. Steps are those
that the script gave. Values are of single precision, as TensorBoard keeps them. How a run ended is not on record: a run
counts as completed, unless its last file breaks off within a record.

Files of one folder are one run that was started again: what a later one has replaces, metric by metric, what the
earlier ones had from its first step on; a declared start (`purge_step`) does so in all metrics, as in TensorBoard.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from deviate.errors import InputError
from deviate.model import Series
from deviate.records.importers.registry import Imported, ImportedRun, importer
from deviate.records.importers.tensorboard_events import EventFile, read_events
from deviate.records.importers.tracked import Trails, as_series, go_on, list_names, note_on

MARK = "tfevents"
PARTS = frozenset({"train", "training", "validation", "val", "valid", "eval", "evaluation", "test"})
MOST_LOOKED_AT = 2_000
"""Folders in which event files are looked for before a path is taken for something else."""


def _claims(path: Path) -> bool:
    if path.is_file():
        return MARK in path.name
    return any(_event_files(path, MOST_LOOKED_AT))


@dataclass(slots=True)
class _LoggedRun:
    """A run with its event files, in order."""

    trails: Trails = field(default_factory=dict)
    folders: list[EventFile] = field(default_factory=list)

    @property
    def began(self) -> float:
        return min((folder.began for folder in self.folders if folder.began), default=0.0)

    @property
    def ended(self) -> float:
        return max(folder.ended for folder in self.folders)


@importer("tensorboard", description="TensorBoard: event files, or folders of them", claims=_claims, rank=10)
def read_tensorboard(path: Path) -> tuple[Imported, ...]:
    """Read the runs below a folder, or the run of one file, as one experiment.

    Raises:
        InputError: there are no scalars, or a file is damaged.
    """
    root = path.parent if path.is_file() else path
    listed = [(root, [path])] if path.is_file() else list(_event_files(path))
    if not listed:
        raise InputError(
            f"there are no event files of TensorBoard in {path}", "name the folder that runs were logged to"
        )
    folders = {folder: _join_files(files) for folder, files in listed}
    runs: dict[Path, _LoggedRun] = {}
    for folder, events in folders.items():
        home = root if path.is_file() else _home(folder, root, folders)
        run = runs.setdefault(home, _LoggedRun())
        run.folders.append(events)
        for tag, trail in events.trails.items():
            name = _name(tag, folder, home, events)
            if name not in run.trails:
                run.trails[name] = trail
            elif not events.is_session:  # these record only a final value at no step for a curve
                run.trails[f"{folder.relative_to(home).as_posix()}/{tag}"] = trail
    empty = [_label(home, root, path) for home, run in runs.items() if not run.trails]
    runs = {home: run for home, run in runs.items() if run.trails}
    if not runs:
        raise InputError(f"the event files in {path} hold no scalars", "name another folder")
    series, notes = as_series([run.trails for run in runs.values()], [run.began for run in runs.values()])
    labels = {home: _label(home, root, path) for home in runs}
    imported = tuple(
        ImportedRun(
            labels[home],
            its,
            "lost" if any(folder.is_torn for folder in run.folders) else "completed",
            run.began,
            max(0.0, run.ended - run.began),
        )
        for (home, run), its in zip(runs.items(), series, strict=True)
    )
    run_notes = _notes({labels[home]: run for home, run in runs.items()}, imported)
    all_notes = (*run_notes, *notes, *note_on(empty, "no scalars in the event files, left out"))
    return (Imported(root.resolve().name, "tensorboard", (path,), imported, notes=all_notes),)


def _event_files(folder: Path, most: int | None = None) -> Iterator[tuple[Path, list[Path]]]:
    """Event files by folder; their names sort in order of time."""
    for place, inner, names in islice(os.walk(folder), most):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        files = sorted(name for name in names if MARK in name and not name.endswith(".profile-empty"))
        if files:
            yield Path(place), [Path(place, name) for name in files]


def _join_files(files: list[Path]) -> EventFile:
    """Combine the event files of one folder in order of time."""
    whole = read_events(files[0])
    for path in files[1:]:
        later = read_events(path)
        for step in later.restarts:
            whole.restart(step)
        whole.n_cut += later.n_cut + go_on(whole.trails, later.trails)
        whole.began = min(filter(None, (whole.began, later.began)), default=0.0)
        whole.ended = max(whole.ended, later.ended)
        whole.is_torn = later.is_torn
        whole.is_session = whole.is_session or later.is_session
    return whole


def _home(folder: Path, root: Path, folders: Mapping[Path, EventFile]) -> Path:
    """The folder of the run that a folder of event files belongs to."""
    while folder != root:
        above = [parent for parent in folder.parents if parent in folders and parent.is_relative_to(root)]
        if folder.name.lower() in PARTS:
            folder = folder.parent
        elif (
            folder in folders and above and (folders[folder].is_session or _main_tag(folder, above[0], folders[folder]))
        ):
            folder = above[0]
        else:
            break
    return folder


def _main_tag(folder: Path, home: Path, file: EventFile) -> str:
    """The main tag passed to `add_scalars`, which writes a folder `main_name` for it; empty for other folders."""
    tags = list(file.trails)
    inner = folder.relative_to(home).as_posix()
    return tags[0] if len(tags) == 1 and inner.startswith(tags[0].replace("/", "_") + "_") else ""


def _name(tag: str, folder: Path, home: Path, file: EventFile) -> str:
    if folder == home or file.is_session:
        return tag
    inner = folder.relative_to(home).as_posix()
    if _main_tag(folder, home, file):
        return f"{tag}/{inner[len(tag) + 1 :]}"
    return f"{inner}/{tag}"


def _label(home: Path, root: Path, path: Path) -> str:
    if path.is_file():
        return path.name
    return root.resolve().name if home == root else home.relative_to(root).as_posix()


def _notes(runs: Mapping[str, _LoggedRun], imported: tuple[ImportedRun, ...]) -> Iterator[str]:
    """Notes that readers of the numbers need."""
    if len(runs) > 1:
        yield f"each folder with event files is a run, {len(runs)} in all; train, validation and the like are parts"
    torn = (run.label for run in imported if run.status == "lost")
    yield from note_on(torn, "the last record is not whole, so the run was killed or still goes on: counts as lost")
    cut = {label: sum(folder.n_cut for folder in run.folders) for label, run in runs.items()}
    cut = {label: n_cut for label, n_cut in cut.items() if n_cut}
    if cut:
        yield (
            f"{list_names(cut)}: started again, so {sum(cut.values())} values of earlier event files are replaced by "
            "later ones; if each file is a run of its own, name the files"
        )
    ends = sorted({_last_step(run.series) for run in imported if run.status == "completed"})
    if len(ends) > 1:
        yield (
            f"the last steps of the runs are {ends[0]} to {ends[-1]}; TensorBoard does not tell how a run ended, "
            "so all count as completed"
        )


def _last_step(series: Mapping[str, Series]) -> int:
    return max((one.steps[-1] or 0 for one in series.values() if len(one.steps)), default=0)
