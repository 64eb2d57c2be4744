"""Importer `wandb`: runs of Weights & Biases as they lie on disk, `wandb/offline-run-…/run-….wandb`.

Steps are those of W&B (`_step`, which counts the calls of `log` unless the script gives it), times its `_runtime`. What
stands in the summary alone is a score of the run. Numbers and the words NaN and Infinity are read; switches, texts,
pictures and histograms are not. Runs of different projects or groups are different experiments. The settings of a run
(`config.…`) and what it ran on are its environment, without secrets. A run without an end on record, which was killed
or still goes on, counts as lost; exit code 255, by which W&B means an interruption, as cancelled.

The format is that of W&B since 0.10; the package has no function to read it that is promised to stay.
Source: framing https://github.com/google/leveldb/blob/main/doc/log_format.md with checksums of zlib over type and data;
messages wandb_internal.proto of W&B 0.31.
"""

import datetime as dt
import inspect
import json
import math
import os
import urllib.parse
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deviate.errors import InputError
from deviate.model.records import Status
from deviate.records.columns import NO_STEP
from deviate.records.importers import Imported, importer, wire
from deviate.records.importers.tracked import (
    OPEN_ENDED,
    Project,
    TrackedRun,
    Trail,
    calling,
    go_on,
    imported_runs,
    note_on,
    split_aggregates,
)

MAGIC = b":W&B"
BLOCK = 32_768
HEAD = 7
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4
HISTORY, SUMMARY, CONFIG, RUN, EXIT, ENVIRONMENT = 2, 3, 5, 17, 18, 26
FACTS = {1: "os", 2: "python", 18: "gpu", 19: "n_gpus", 25: "cuda"}
OWN = frozenset({"_step", "_runtime", "_timestamp", "_wandb"})
DERIVED = frozenset({"max", "min", "mean", "last", "best", "first"})
"""Summaries that `define_metric(…, summary=…)` adds under the name of a metric that has a history."""
WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
INTERRUPTED = 255
AGGREGATE = "deviate_experiment"
"""A setting of runs that `deviate report --to wandb` writes."""
CURE = "restore it, or move its folder away to go on without it"
STATES: Mapping[str, Status] = {
    "finished": "completed", "crashed": "crashed", "failed": "crashed", "killed": "cancelled",
}  # fmt: skip
"""Status of a run of a project by its state. In any other state it has not ended, and counts as lost."""
PAGE = 100
HINT = "check entity, project and the network, and log in with `wandb login`, or set WANDB_API_KEY"
PLACES = ("*.wandb", "*run-*/run-*.wandb", "wandb/*run-*/run-*.wandb")


def _claims(path: Path) -> bool:
    if path.is_file():
        return path.suffix == ".wandb"
    return bool(_files(path))


@dataclass(slots=True)
class _LoggedRun(TrackedRun):
    """A run as recorded in one file, or in several consecutive files of the same run; lost until its end is read.

    Attributes:
        file: name of the file. One of a killed process may lack the record that says which run it is, and its start.
    """

    file: str = ""
    project: str = ""
    group: str = ""
    summary: dict[str, float] = field(default_factory=dict)
    n_replaced: int = 0


@importer("wandb", description="Weights & Biases: run-….wandb, or a folder of runs", claims=_claims, rank=20)
def read_wandb(path: Path) -> tuple[Imported, ...]:
    """The experiments in a `wandb` folder, a run's folder or a run's file.

    Raises:
        InputError: there is no run, or a file is damaged.
    """
    files = [path] if path.is_file() else _files(path)
    if not files:
        raise InputError(f"there is no W&B run in {path}", "name a folder with offline-run-… folders in it")
    by_id: dict[str, _LoggedRun] = {}
    read = sorted((_read(file) for file in files), key=lambda run: run.started)  # folders are named by whole seconds
    for run in read:
        if run.started:
            by_id[run.id] = _after(by_id[run.id], run) if run.id in by_id else run
    aggregates = [run.file for run in by_id.values() if AGGREGATE in run.params]
    experiments: dict[tuple[str, str], list[_LoggedRun]] = {}
    for run in by_id.values():
        if AGGREGATE not in run.params:
            experiments.setdefault((run.project, run.group), []).append(run)
    if aggregates and not experiments:
        raise InputError(f"the W&B runs in {path} were written by deviate report", "name those of the training")
    untold = note_on((run.file for run in read if not run.started), "ends before the run is identified, left out")
    notes = (*untold, *note_on(aggregates, "written by deviate report, left out"))
    if len(experiments) > 1:
        notes = (f"{len(experiments)} experiments: each project and group is one", *notes)
    imported = tuple(_experiment(runs, path, notes) for runs in experiments.values())
    if not any(run.series for experiment in imported for run in experiment.runs):
        raise InputError(f"the W&B runs in {path} logged no numbers", "name another folder")
    return imported


def _files(folder: Path) -> list[Path]:
    """Run files sorted by name, which begins with their date; the symbolic link to the latest run is skipped."""
    files = next((its for place in PLACES if (its := sorted(folder.glob(place)))), [])
    return [path for path in files if path.is_file() and not path.parent.is_symlink()] or files[:1]


def _experiment(runs: Sequence[_LoggedRun], path: Path, notes: Sequence[str]) -> Imported:
    for run in runs:
        add_scores(run, run.summary)
    imported, of_steps = imported_runs(runs, [0.0] * len(runs), "config.")
    name = "-".join(filter(None, (runs[0].project, runs[0].group))) or path.resolve().stem
    resumed = "resumed: from its first step on, the later file replaces earlier values"
    of_runs = (
        *note_on((run.label for run in runs if run.status == "lost"), OPEN_ENDED),
        *note_on((run.label for run in runs if run.n_replaced), resumed),
    )
    return Imported(name, "wandb", (path,), imported, notes=(*notes, *of_runs, *of_steps))


def add_row(run: TrackedRun, items: Iterable[tuple[str, object]], step: float) -> None:
    """Add the numbers of one row of a history; `step` is used where the row has none.

    Raises:
        ValueError: the step is none.
    """
    values = dict(numbers(items))
    time = values.get("_runtime", 0.0)
    run.wall_time_s = max(run.wall_time_s, time)
    step = values.get("_step", step)
    if not math.isfinite(step):
        raise ValueError(f"not a step: {step}")
    for name, value in sorted(values.items()):  # they are written in random order
        if name not in OWN:
            run.trails.setdefault(name, Trail()).add(int(step), value, time)


def add_scores(run: TrackedRun, summary: Mapping[str, float]) -> None:
    """Add what stands in the summary of a run alone as scores of the run."""
    for name, value in sorted(summary.items()):
        stem, _, last = name.rpartition(".")
        if name not in run.trails and not (last in DERIVED and stem in run.trails):
            trail = run.trails[name] = Trail()
            trail.add(NO_STEP, value, run.wall_time_s)


def _after(earlier: _LoggedRun, later: _LoggedRun) -> _LoggedRun:
    """Append a later file of a run that was resumed."""
    later.n_replaced = earlier.n_replaced + go_on(earlier.trails, later.trails)
    later.trails = earlier.trails
    later.summary = {**earlier.summary, **later.summary}
    later.params = {**earlier.params, **later.params}
    later.started = earlier.started or later.started
    later.wall_time_s = max(earlier.wall_time_s, later.wall_time_s)
    return later


def _read(path: Path) -> _LoggedRun:
    data = path.read_bytes()
    if data[:4] != MAGIC[: len(data)]:
        raise InputError(f"{path} is not a W&B run", "name another file or folder")
    run = _LoggedRun(path.stem.removeprefix("run-"), status="lost", file=path.name)
    for offset, record in _records(data, path):
        try:
            _take(run, wire.message(record))
        except ValueError as error:
            raise InputError(f"{path} is damaged at byte {offset}: {error}", CURE) from error
    return run


def _records(data: bytes, path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield complete records; a partial record at the end of the file is ignored."""
    at, parts = HEAD, b""
    while at + HEAD <= len(data):
        if (room := BLOCK - at % BLOCK) < HEAD:
            at += room
            continue
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        piece = data[at + HEAD : at + HEAD + length]
        if len(piece) < length or not any(data[at:]):  # a disk may hold zeros where data was never written
            return
        if zlib.crc32(data[at + 6 : at + HEAD + length]) != int.from_bytes(data[at : at + 4], "little"):
            raise InputError(f"{path} is damaged at byte {at}: its checksum is wrong", CURE)
        parts = piece if kind in {WHOLE, FIRST} else parts + piece
        if kind in {WHOLE, LAST}:
            yield at, parts
        at += HEAD + length


def _take(logged_run: _LoggedRun, record: wire.Message) -> None:
    """Add the contents of one record to a run."""
    if HISTORY in record:
        row = wire.part(record, HISTORY)
        add_row(logged_run, _items(row, 1), wire.whole(wire.part(row, 2), 1))
    elif SUMMARY in record:
        _summarise(logged_run, wire.part(record, SUMMARY))
    elif CONFIG in record:
        logged_run.params |= dict(settings(_items(wire.part(record, CONFIG), 1)))
    elif RUN in record:
        run = wire.part(record, RUN)
        logged_run.id, logged_run.name = wire.text(run, 1) or logged_run.id, wire.text(run, 8)
        logged_run.project, logged_run.group = wire.text(run, 3), wire.text(run, 6)
        started = wire.part(run, 17)
        logged_run.started = wire.whole(started, 1) + wire.whole(started, 2) / 1e9
        logged_run.params |= dict(settings(_items(wire.part(run, 4), 1)))
        _summarise(logged_run, wire.part(run, 5))
    elif EXIT in record:
        ending = wire.part(record, EXIT)
        code = wire.whole(ending, 1)
        logged_run.status = "cancelled" if code == INTERRUPTED else "crashed" if code else "completed"
        logged_run.wall_time_s = max(logged_run.wall_time_s, wire.whole(ending, 2))
    elif ENVIRONMENT in record:
        facts = wire.part(record, ENVIRONMENT)
        for number, fact in FACTS.items():
            if number in facts:
                logged_run.facts[fact] = wire.text(facts, number) or str(wire.whole(facts, number))


def _summarise(run: _LoggedRun, record: wire.Message) -> None:
    run.summary |= {name: value for name, value in numbers(_items(record, 1)) if name.partition(".")[0] not in OWN}
    for raw in wire.parts(record, 2):
        run.summary.pop(_name(wire.message(raw)), None)


def _items(record: wire.Message, number: int) -> Iterator[tuple[str, object]]:
    """Names and values of an item list; nested items are flattened to `outer.inner`."""
    for raw in wire.parts(record, number):
        item = wire.message(raw)
        yield from flatten(_name(item), json.loads(wire.text(item, 16) or "null"))


def _name(item: wire.Message) -> str:
    nested = [part.decode("utf-8", "replace") for part in wire.parts(item, 2)]
    return ".".join(nested) or wire.text(item, 1)


def flatten(name: str, value: object) -> Iterator[tuple[str, object]]:
    """A value under its name, or the values of nested tables under `outer.inner`."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flatten(f"{name}.{key}", inner)
    else:
        yield name, value


def numbers(items: Iterable[tuple[str, object]]) -> Iterator[tuple[str, float]]:
    """Numeric items, except those of pictures, tables and histograms, which have a `_type`."""
    values: Mapping[str, object] = dict(items)
    media = tuple(f"{name.removesuffix('._type')}." for name in values if name.endswith("._type"))
    for name, value in values.items():
        if media and name.startswith(media):
            continue
        if isinstance(value, str) and value in WORDS:
            yield name, WORDS[value]
        elif isinstance(value, int | float) and not isinstance(value, bool):
            try:
                yield name, float(value)
            except OverflowError:
                yield name, math.copysign(math.inf, value)


def settings(items: Iterable[tuple[str, object]]) -> Iterator[tuple[str, str]]:
    """Settings of a run as texts, without those of W&B itself; what is no text is JSON."""
    for name, value in items:
        if name.partition(".")[0] not in OWN:
            yield name, value if isinstance(value, str) else json.dumps(value)


# Projects, read over the network by the package `wandb`: it documents `Api.runs` and `Run.scan_history`, but not the
# queries behind them, and the full history of a long run lies in files that only the library joins with newer rows. It
# finds the API key where W&B keeps it (WANDB_API_KEY, netrc), tries again after overload, and takes WANDB_BASE_URL.


def read_wandb_project(place: str) -> Project:
    """Read the runs of `ENTITY/PROJECT`, `PROJECT` of the default entity, or the address of a page of the project.

    Raises:
        InputError: `wandb` is not installed, there is no API key, no such project, or no answer.
    """
    path = _path(place)
    address = f"wandb:{path}"
    # Before wandb is imported: it reports errors to its authors.
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    with calling("wandb", f"reading {address}", HINT):
        import wandb

        # Without its own messages, the library does not ask for a key on the terminal either.
        wandb.setup(settings=wandb.Settings(silent=True))
        api: Any = wandb.Api()
        options = {"lazy": False} if "lazy" in inspect.signature(api.runs).parameters else {}
        cloud_runs = {run.id: run for run in api.runs(path, per_page=PAGE, **options)}
        runs = [_cloud_run(run) for run in cloud_runs.values()]
        aims = dict(_aims(list(cloud_runs.values())))

    def load(run: TrackedRun) -> None:
        with calling("wandb", f"reading {address}/{run.id}", HINT):
            _load(run, cloud_runs[run.id])

    trained, notes = split_aggregates(runs, lambda run: AGGREGATE in run.params)
    name = path.rpartition("/")[2]
    return Project(address, name, "wandb", "config.", trained, load, aims, has_clock_times=False, notes=notes)


def _path(place: str) -> str:
    """ENTITY/PROJECT or PROJECT, also from the address of a page."""
    is_page = "://" in place
    parts = (urllib.parse.urlsplit(place).path if is_page else place).strip("/").split("/")
    if not all(parts) or (len(parts) > 2 and not is_page):
        raise InputError(f"wandb:{place} is no project", "write wandb:ENTITY/PROJECT; --group sweep=ID chooses a sweep")
    return "/".join(parts[:2])


def _cloud_run(run: Any) -> TrackedRun:
    params = dict(settings(_flat(run.config)))
    started = _seconds(run.created_at)
    return TrackedRun(
        id=run.id,
        name=run.name or "",
        status=STATES.get(run.state, "lost"),
        started=started,
        wall_time_s=max(0.0, _seconds(getattr(run, "heartbeat_at", None)) - started),
        params=params,
        sweep=run.sweep_name or "",
        labels={"group": run.group or "", "job_type": run.job_type or ""},
    )


def _flat(values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in values.items():
        yield from flatten(name, value)


def _seconds(text: object) -> float:
    """Seconds since the epoch of a time in ISO 8601, which is UTC; 0 where there is none."""
    try:
        time = dt.datetime.fromisoformat(str(text))
    except ValueError:
        return 0.0
    return (time if time.tzinfo else time.replace(tzinfo=dt.UTC)).timestamp()


def _aims(runs: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """What the sweeps among the runs were tuned on."""
    first = {run.sweep_name: run for run in reversed(runs) if run.sweep_name}
    for name, run in first.items():
        metric = (run.sweep.config or {}).get("metric") if run.sweep is not None else None
        if isinstance(metric, dict) and metric.get("name"):
            yield name, f"{metric['name']} ({metric.get('goal', 'minimize')})"


def _load(run: TrackedRun, source: Any) -> None:
    """Read all rows of the history, not the sample that `Run.history` gives, and the scores of the summary."""
    for number, row in enumerate(source.scan_history(page_size=1000)):
        add_row(run, _flat(row), number)
    summary = numbers(_flat(dict(source.summary_metrics or {})))
    add_scores(run, {name: value for name, value in summary if name.partition(".")[0] not in OWN})
