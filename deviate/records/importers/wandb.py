"""Importer `wandb`: runs of Weights & Biases as they lie on disk, `wandb/offline-run-…/run-….wandb`.

Steps are those of W&B (`_step`, which counts the calls of `log` unless the script gives it), times its `_runtime`. What
stands in the summary alone is a score of the run. Numbers and the words NaN and Infinity are read; switches, texts,
pictures and histograms are not. Runs of different projects or groups are different experiments. The settings of a run
(`config.…`) and what it ran on are its environment, without secrets. A run without an end on record, which was killed
or still goes on, counts as lost; exit code 255, by which W&B means an interruption, as cancelled.

The package `wandb` has the messages of the format. The framing is read here: newer releases of the package (0.31) have
no reader for it.
Source: https://github.com/google/leveldb/blob/main/doc/log_format.md, with checksums of zlib over type and data.
"""

import contextlib
import datetime as dt
import inspect
import json
import math
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deviate.errors import InputError
from deviate.model.records import Status
from deviate.records.columns import NO_STEP
from deviate.records.importers import Imported, importer
from deviate.records.importers.tracked import (
    CURE,
    TrackedProject,
    TrackedRun,
    as_params,
    calling,
    flatten,
    note_on,
    trained,
)

MAGIC = b":W&B"
BLOCK = 32_768
HEAD = 7
WHOLE, FIRST, MIDDLE, LAST = 1, 2, 3, 4
FACTS = {"os": "os", "python": "python", "gpu_type": "gpu", "gpu_count": "n_gpus", "cuda_version": "cuda"}
OWN = frozenset({"_step", "_runtime", "_timestamp", "_wandb"})
DERIVED = frozenset({"max", "min", "mean", "last", "best", "first"})
"""Summaries that `define_metric(…, summary=…)` adds under the name of a metric that has a history."""
WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
INTERRUPTED = 255
AGGREGATE = "deviate_experiment"
"""A setting of runs that `deviate report --to wandb` writes."""
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
    """A run as recorded in its file, or in several of them if it was resumed; lost until its end is read."""

    project: str = ""
    group: str = ""
    summary: dict[str, float] = field(default_factory=dict)


@importer("wandb", claims=_claims, rank=20)
def read_wandb(path: Path) -> tuple[Imported, ...]:
    """The experiments in a `wandb` folder, a run's folder or a run's file.

    Raises:
        InputError: there is no run, a file is damaged, or the package `wandb` is not installed.
    """
    files = [path] if path.is_file() else _files(path)
    if not files:
        raise InputError(f"there is no W&B run in {path}", "name a folder with offline-run-… folders in it")
    runs: dict[str, _LoggedRun] = {}
    for file in files:
        _read(file, runs.setdefault(file.stem, _LoggedRun(file.stem.removeprefix("run-"))))
    # Folders are named by whole seconds. The file of a killed process may lack the record of the run, and so its start.
    kept, notes = trained(sorted((run for run in runs.values() if run.started), key=lambda run: run.started))
    untold = (f"{stem}.wandb" for stem, run in runs.items() if not run.started)
    notes += note_on(untold, "ends before the run is identified, left out")
    experiments: dict[str, list[_LoggedRun]] = {}
    for run in kept:
        add_scores(run, run.summary)
        experiments.setdefault("-".join(filter(None, (run.project, run.group))), []).append(run)
    if not any(run.trails for run in kept):
        raise InputError(f"the W&B runs in {path} logged no numbers", "; ".join(notes) or "name another folder")
    projects = [
        TrackedProject(
            str(path), name or path.resolve().stem, "wandb", "config.", its, has_clock_times=False, notes=notes
        )
        for name, its in experiments.items()
    ]
    return tuple(project.as_experiment(path) for project in projects)


def _files(folder: Path) -> list[Path]:
    """Run files sorted by name, which begins with their date; the symbolic link to the latest run is skipped."""
    files = next((its for place in PLACES if (its := sorted(folder.glob(place)))), [])
    return [path for path in files if path.is_file() and not path.parent.is_symlink()] or files[:1]


def add_row(run: TrackedRun, row: Mapping[str, object], step: float) -> None:
    """Add the numbers of one row of a history; `step` is used where the row has none.

    Raises:
        ValueError: the step is none.
    """
    values = dict(numbers(row))
    time = values.get("_runtime", 0.0)
    run.wall_time_s = max(run.wall_time_s, time)
    step = values.get("_step", step)
    if not math.isfinite(step):
        raise ValueError(f"not a step: {step}")
    for name, value in sorted(values.items()):  # they are written in random order
        if name not in OWN:
            run.log(name, int(step), value, time)


def add_scores(run: TrackedRun, summary: Mapping[str, float]) -> None:
    """Add what stands in the summary of a run alone as scores of the run."""
    for name, value in sorted(summary.items()):
        stem, _, last = name.rpartition(".")
        if name not in run.trails and not (last in DERIVED and stem in run.trails):
            run.log(name, NO_STEP, value, run.wall_time_s)


def _read(path: Path, run: _LoggedRun) -> None:
    """Read a file of a run, which replaces what earlier files have of a metric from its first step on."""
    data = path.read_bytes()
    earlier, run.trails, run.status = run.trails, {}, "lost"
    with _calling(f"reading {path}", CURE):
        from wandb.proto.wandb_internal_pb2 import Record  # type: ignore[attr-defined]  # by the release of protobuf

        for record in _records(data):
            _take(run, Record.FromString(record))
    later, run.trails = run.trails, earlier
    for name, points in later.items():
        run.cut(name, points[0][0])
        run.trails[name] += points
    run.is_aggregate = AGGREGATE in run.params


def _records(data: bytes) -> Iterator[bytes]:
    """Yield complete records; a partial record at the end of the file is ignored.

    Raises:
        ValueError: this is no file of W&B, or a record is damaged.
    """
    if data[:4] != MAGIC[: len(data)]:
        raise ValueError("it is not a W&B run")
    at, parts = HEAD, b""
    while at + HEAD <= len(data):
        if (room := BLOCK - at % BLOCK) < HEAD:
            at += room
            continue
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        piece = data[at + HEAD : at + HEAD + length]
        is_blank = not any(data[at : at + HEAD]) and not any(data[at:])
        if len(piece) < length or is_blank:  # a disk may hold zeros where data was never written
            return
        if zlib.crc32(data[at + 6 : at + HEAD + length]) != int.from_bytes(data[at : at + 4], "little"):
            raise ValueError(f"it is damaged at byte {at}: its checksum is wrong")
        parts = piece if kind in {WHOLE, FIRST} else parts + piece
        if kind in {WHOLE, LAST}:
            yield parts
        at += HEAD + length


def _take(run: _LoggedRun, record: Any) -> None:
    """Add the contents of one record to a run."""
    kind = record.WhichOneof("record_type")
    part: Any = getattr(record, kind or "", None)
    match kind:
        case "history":
            add_row(run, _values(part.item), part.step.num)
        case "summary":
            run.summary |= _scores(_values(part.update))
        case "config":
            run.params |= _params(_values(part.update))
        case "run":
            run.id, run.name = part.run_id or run.id, part.display_name
            run.project, run.group = part.project, part.run_group
            run.started = run.started or part.start_time.ToNanoseconds() / 1e9
            run.params |= _params(_values(part.config.update))
            run.summary |= _scores(_values(part.summary.update))
        case "exit":
            code = part.exit_code
            run.status = "cancelled" if code == INTERRUPTED else "crashed" if code else "completed"
            run.wall_time_s = max(run.wall_time_s, part.runtime)
        case "environment":
            run.facts |= {FACTS[it.name]: str(value) for it, value in part.ListFields() if it.name in FACTS}


def _values(items: Iterable[Any]) -> dict[str, object]:
    return {_name(item): json.loads(item.value_json or "null") for item in items}


def _name(item: Any) -> str:
    return ".".join(item.nested_key) or str(item.key)


def numbers(values: Mapping[str, object]) -> Iterator[tuple[str, float]]:
    """The numbers under flat names, except those of pictures, tables and histograms, which have a `_type`."""
    flat = dict(flatten(values))
    media = tuple(f"{name.removesuffix('._type')}." for name in flat if name.endswith("._type"))
    for name, value in flat.items():
        if media and name.startswith(media):
            continue
        if isinstance(value, str) and value in WORDS:
            yield name, WORDS[value]
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield name, float(value)


def _is_own(name: str) -> bool:
    """Whether W&B wrote a value for itself."""
    return name.partition(".")[0] in OWN


def _scores(summary: Mapping[str, object]) -> dict[str, float]:
    return {name: value for name, value in numbers(summary) if not _is_own(name)}


def _params(config: Mapping[str, object]) -> dict[str, str]:
    return {name: text for name, text in as_params(config).items() if not _is_own(name)}


@contextlib.contextmanager
def _calling(doing: str, hint: str) -> Iterator[None]:
    # Before wandb is imported: it reports errors to its authors.
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    with calling("wandb", doing, hint):
        yield


# Projects, read over the network by the package `wandb`: it documents `Api.runs` and `Run.scan_history`, but not the
# queries behind them, and the full history of a long run lies in files that only the library joins with newer rows. It
# finds the API key where W&B keeps it (WANDB_API_KEY, netrc), tries again after overload, and takes WANDB_BASE_URL.


def read_wandb_project(place: str) -> TrackedProject:
    """Read the runs of `ENTITY/PROJECT`, or `PROJECT` of the default entity.

    Raises:
        InputError: `wandb` is not installed, there is no API key, no such project, or no answer.
    """
    address = f"wandb:{place}"
    if not re.fullmatch(r"([^/]+/)?[^/]+", place):
        raise InputError(f"{address} is no project", "write wandb:ENTITY/PROJECT; --group sweep=ID chooses a sweep")
    with _calling(f"reading {address}", HINT):
        import wandb

        # Without its own messages, the library does not ask for a key on the terminal either.
        wandb.setup(settings=wandb.Settings(silent=True))
        api: Any = wandb.Api()
        options = {"lazy": False} if "lazy" in inspect.signature(api.runs).parameters else {}
        cloud_runs = {run.id: run for run in api.runs(place, per_page=PAGE, **options)}
        runs = [_cloud_run(run) for run in cloud_runs.values()]

    def load(run: TrackedRun) -> None:
        with _calling(f"reading {address}/{run.id}", HINT):
            _load(run, cloud_runs[run.id])

    kept, notes = trained(runs)
    name = place.rpartition("/")[2]
    return TrackedProject(address, name, "wandb", "config.", kept, load, has_clock_times=False, notes=notes)


def _cloud_run(run: Any) -> TrackedRun:
    params = _params(run.config)
    created = dt.datetime.fromisoformat(run.created_at)
    return TrackedRun(
        id=run.id,
        name=run.name or "",
        status=STATES.get(run.state, "lost"),
        started=(created if created.tzinfo else created.replace(tzinfo=dt.UTC)).timestamp(),
        params=params,
        sweep=run.sweep_name or "",
        labels={"group": run.group or "", "job_type": run.job_type or ""},
        is_aggregate=AGGREGATE in params,
    )


def _load(run: TrackedRun, source: Any) -> None:
    """Read all rows of the history, not the sample that `Run.history` gives, and the scores of the summary."""
    for number, row in enumerate(source.scan_history(page_size=1000)):
        add_row(run, row, number)
    add_scores(run, _scores(dict(source.summary_metrics or {})))
