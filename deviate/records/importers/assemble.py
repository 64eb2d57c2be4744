"""Turns a table into experiments: guesses which rows belong to which run, and summarises the guess in one sentence."""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import get_args

from deviate.base import first_few
from deviate.errors import InputError
from deviate.model import Series, Status
from deviate.model.metric_vocabulary import direction_of, split_identifier
from deviate.records.importers.registry import Imported, ImportedRun
from deviate.records.importers.roles import (
    Roles,
    find_crossed_factors,
    is_counter,
    keys_of,
    match_repeated,
    roles_of,
    tell_apart,
    word,
)
from deviate.records.importers.tables import Table, is_numeric, number

MOST_METRICS = 1_000
MOST_RUNS = 10_000
MANY_ROWS = 200
"""So many rows without a run and a step are rather steps than runs."""
MOST_NAMED = 6
OTHERWISE = "to read it otherwise, name its columns run, step, metric, value, experiment, task"
WANDB_COLUMN = re.compile(r"(.+) - (.+?)(?:__(MIN|MAX))?")
STATUS_WORDS: dict[str, Status] = {
    "finished": "completed", "success": "completed", "succeeded": "completed", "done": "completed", "ok": "completed",
    "complete": "completed", "failed": "crashed", "error": "crashed", "nan": "diverged", "timeout": "timed_out",
    "killed": "lost", "preempted": "lost",
}  # fmt: skip


@dataclass(slots=True)
class _Run:
    label: str
    points: dict[str, list[tuple[int | None, float]]] = field(default_factory=dict)
    status: Status = "completed"
    seeds: dict[str, int] = field(default_factory=dict)


def assemble(
    table: Table, path: Path, form: str, *, kind: str = "", roles: Roles | None = None
) -> tuple[Imported, ...]:
    """The experiments of a table.

    Args:
        roles: what the columns are, where that is known.
        kind: what to call the table in notes, where the form of its columns does not tell.

    Raises:
        InputError: it holds no scores, or several measurements of a run that nothing tells apart.
    """
    melted = _melt(table) if roles is None else None
    if melted is not None:
        under, melting = melted
        table = Table(under.columns, under.n_rows, notes=(*table.notes, melting))
    roles = roles or roles_of(table, path.name)
    if len(roles.values) > MOST_METRICS:
        raise InputError(
            f"{path} has {len(roles.values)} columns of numbers: this looks like data, not like results of runs",
            "name a file with scores or measurements",
        )
    roles = _told_apart(table, roles, path)
    groups = _groups(table, roles)
    has_tasks = roles.task is not None and len({cell for cell in table.columns[roles.task] if cell}) > 1
    read = {name: _runs(table, roles, rows, has_tasks=has_tasks) for name, rows in groups.items()}
    n_runs = sum(map(len, read.values()))
    if n_runs > MOST_RUNS:
        raise InputError(
            f"{path}: {n_runs} rows would be as many runs",
            "add a column step where they are steps, and a column run where there are several runs",
        )
    names = [name for runs in read.values() for run in runs for name in run.points]
    tasks = _tasks(list(dict.fromkeys(names))) if has_tasks else ()
    notes = tuple(_notes(table, roles, path, kind or _kind(roles), read))
    return tuple(
        Imported(
            name=name or path.stem,
            form=form,
            sources=(path,),
            runs=tuple(_to_imported_run(run, table, roles) for run in runs),
            tasks=tasks,
            notes=notes,
        )
        for name, runs in read.items()
    )


def _told_apart(table: Table, roles: Roles, path: Path) -> Roles:
    """Roles with further columns as part of the experiment, where rows would measure the same thing twice."""
    if roles.run is None and roles.step is None and roles.metric is None and (roles.experiment or roles.task):
        chosen = find_crossed_factors(table, roles)
        if len(chosen) == 1 and is_counter(table.columns[chosen[0]]):
            return replace(_without_columns(roles, chosen), run=chosen[0])
    elif roles.run is not None and not _is_unique(table, roles):
        chosen = tell_apart(table, roles)
        if not chosen:
            raise _ambiguous(table, roles, path)
    else:
        return roles
    return replace(_without_columns(roles, chosen), experiment=(*roles.experiment, *chosen))


def _without_columns(roles: Roles, chosen: Sequence[str]) -> Roles:
    return replace(
        roles,
        values=tuple(name for name in roles.values if name not in chosen) or roles.values,
        settings=tuple(name for name in roles.settings if name not in chosen),
        unused=tuple(name for name in roles.unused if name not in chosen),
    )


def _groups(table: Table, roles: Roles) -> dict[str, list[int]]:
    """Rows by experiment; the name of an experiment leaves out values that are equal in all of them."""
    telling = [name for name in roles.experiment if len(set(table.columns[name])) > 1] or roles.experiment[:1]
    columns = [(f"{name}=" if is_numeric(table.columns[name]) else "", table.columns[name]) for name in telling]
    groups: dict[str, list[int]] = {}
    for row in range(table.n_rows):
        groups.setdefault("-".join(begin + (column[row] or "none") for begin, column in columns), []).append(row)
    return groups


def _is_unique(table: Table, roles: Roles) -> bool:
    """Whether no two rows measure the same thing; a measurement may span lines, as Lightning writes it."""
    keys = [table.columns[column] for column in keys_of(roles)]
    seen: set[tuple[str, ...]] = set()
    for row in range(table.n_rows):
        for value in roles.values:
            if table.columns[value][row]:
                key = (value, *(key[row] for key in keys))
                if key in seen:
                    return False
                seen.add(key)
    return True


def _ambiguous(table: Table, roles: Roles, path: Path) -> InputError:
    cell = next(cell for cell in table.columns[roles.run or ""] if table.columns[roles.run or ""].count(cell) > 1)
    return InputError(
        f"{path}: several rows hold {roles.values[0]} of {roles.run} {cell}"
        + (f" at the same {roles.step}" if roles.step else "")
        + ", and no column tells them apart",
        "name the column that does step, run, experiment or task, or add one",
    )


def _runs(table: Table, roles: Roles, rows: Sequence[int], *, has_tasks: bool) -> list[_Run]:
    """Rows of one experiment grouped by run: by the run column, by steps that restart, or one run per row."""
    columns = table.columns
    runs: dict[str, _Run] = {}
    n_seen: dict[tuple[str, ...], int] = {}
    n_restarts: dict[tuple[str, ...], int] = {}
    last: dict[tuple[str, ...], int] = {}
    for row in rows:
        step = _step_number(columns[roles.step][row]) if roles.step else None
        metric = columns[roles.metric][row] if roles.metric else ""
        task = columns[roles.task][row] if roles.task and has_tasks else ""
        part = f"{columns[roles.split][row]}_" if roles.split and columns[roles.split][row] else ""
        key = (task, metric, part)
        if roles.run is not None:
            label = columns[roles.run][row] or "none"
        elif step is not None:
            if step < last.get(key, step):
                n_restarts[key] = n_restarts.get(key, 0) + 1
            last[key] = step
            label = str(n_restarts.get(key, 0))
        elif roles.step is not None:
            label = str(n_restarts.get(key, 0))
        else:
            label = str(n_seen.get(key, 0))
            n_seen[key] = n_seen.get(key, 0) + 1
        run = runs.setdefault(label, _new_run(label, roles))
        if roles.status and columns[roles.status][row]:
            run.status = _status(columns[roles.status][row], run.status)
        for name in roles.values:
            value = number(columns[name][row]) if columns[name][row] else None
            if value is not None:
                measured = ": ".join(word for word in (task, part + (metric or name)) if word)
                run.points.setdefault(measured, []).append((step, value))
    return sorted(runs.values(), key=_order) if roles.run else list(runs.values())


def _new_run(label: str, roles: Roles) -> _Run:
    if roles.run is None:
        return _Run(f"{'run' if roles.step else 'row'} {int(label) + 1}")
    value = number(label)
    seeds = {roles.run: int(value)} if "seed" in word(roles.run) and value is not None and math.isfinite(value) else {}
    return _Run(f"{roles.run} {label}", seeds=seeds)


def _order(run: _Run) -> tuple[bool, float, str]:
    """Sort runs by their numbers, so that equal seeds of two files become equal replicates."""
    value = number(run.label.rpartition(" ")[2])
    return value is None, value or 0.0, run.label if value is None else ""


def _step_number(cell: str) -> int | None:
    value = number(cell) if cell else None
    return None if value is None or not math.isfinite(value) else int(value)


def _status(cell: str, before: Status) -> Status:
    text = cell.lower().replace(" ", "_").replace("-", "_")
    statuses: dict[str, Status] = {status: status for status in get_args(Status)}
    return statuses.get(text) or STATUS_WORDS.get(text) or before


def _to_imported_run(run: _Run, table: Table, roles: Roles) -> ImportedRun:
    series = {
        name: Series(tuple(name[0] for name in points), tuple(name[1] for name in points))
        for name, points in run.points.items()
    }
    settings = {name: table.columns[name][0] for name in roles.settings}
    return ImportedRun(run.label, series, run.status, environment=settings, seeds=run.seeds)


def _tasks(names: Sequence[str]) -> tuple[str, ...]:
    """The measure that is used for the tasks: the first with a direction that most tasks have."""
    by_measure: dict[str, list[str]] = {}
    for name in names:
        by_measure.setdefault(name.rpartition(": ")[2], []).append(name)
    best = max(
        by_measure,
        key=lambda measure: (len(by_measure[measure]), direction_of(split_identifier(measure)) is not None),
        default="",
    )
    return tuple(by_measure.get(best, ()))


def _melt(table: Table) -> tuple[Table, str] | None:
    """Convert columns that are runs to rows; None where columns are metrics."""
    if not table.has_header:
        return None
    steps = [
        name for name in table.columns if word(name) in {"step", "epoch", "iteration", "iter", "global_step", "round"}
    ]
    step = steps[0] if steps else None
    names = [name for name in table.columns if name != step and any(table.columns[name])]
    matches = {name: match for name in names if (match := WANDB_COLUMN.fullmatch(name))}
    if step and matches and len(matches) >= len(names) - 1 and any(match[3] for match in matches.values()):
        parts = {name: (match[1], match[2]) for name, match in matches.items() if not match[3]}
        return _put_under(table, step, parts), "a chart exported from W&B: a column per run"
    runs = match_repeated([name for name in names if not re.fullmatch(r"column 1|index", name)])
    if runs is None:
        return None
    return _put_under(table, step, {name: (name, metric) for name, metric in runs.items()}), "a column per run"


def _put_under(table: Table, step: str | None, parts: dict[str, tuple[str, str]]) -> Table:
    columns: dict[str, list[str]] = {"run": [], "step": [], "metric": [], "value": []}
    for name, (run, metric) in parts.items():
        for row, cell in enumerate(table.columns[name]):
            if cell:
                columns["run"].append(run)
                columns["step"].append(table.columns[step][row] if step else str(row))
                columns["metric"].append(metric)
                columns["value"].append(cell)
    if step is None and table.n_rows == 1:
        columns.pop("step")
    return Table(columns, len(columns["run"]), notes=table.notes)


def _kind(roles: Roles) -> str:
    if roles.metric is not None:
        return "long"
    return "a row per step" if roles.step else "wide" if len(roles.values) > 1 else "a row per run"


def _notes(table: Table, roles: Roles, path: Path, kind: str, read: dict[str, list[_Run]]) -> Iterator[str]:
    """One sentence on what was guessed, and notes on what was left out."""
    n_runs = sum(map(len, read.values()))
    parts = [
        *([f"experiment = {' and '.join(roles.experiment)}"] if roles.experiment else []),
        *([f"task = {roles.task}"] if roles.task else []),
        f"run = {roles.run}" if roles.run else "each row is a run" if not roles.step and not roles.metric else "",
        f"step = {roles.step}" if roles.step else "",
        f"part of the data = {roles.split}" if roles.split else "",
        f"metric = {roles.metric}, value = {roles.values[0]}" if roles.metric else "",
        "" if roles.metric else f"metric{'s' * (len(roles.values) > 1)} = {first_few(roles.values, MOST_NAMED)}",
    ]
    several = f"{len(read)} experiments, " if len(read) > 1 else ""
    phrases = [*table.notes, *filter(None, parts)]
    yield (
        f"{path.name}: {kind}, {table.n_rows} row{'s' * (table.n_rows != 1)}: {', '.join(phrases)}: "
        f"{several}{n_runs} run{'s' * (n_runs != 1)} ({OTHERWISE})"
    )
    if roles.unused:
        yield f"{path.name}: not used: {first_few(roles.unused, MOST_NAMED)}"
    if roles.settings:
        settings = [f"{name} {table.columns[name][0]}" for name in roles.settings]
        yield f"{path.name}: the same in all rows, so taken for settings: {first_few(settings, MOST_NAMED)}"
    if not roles.run and roles.step and any(len(runs) > 1 for runs in read.values()):
        yield f"{path.name}: {roles.step} begins anew: each time a new run begins"
    if not roles.run and not roles.step and table.n_rows >= MANY_ROWS:
        yield f"{path.name}: {table.n_rows} rows without run and step: if they are steps of one run, add a column step"
    broken = sum(not math.isfinite(value) for value in _values(read))
    if broken:
        yield f"{path.name}: {broken} cell{'s' * (broken > 1)} NaN or infinite: a run that ends so counts as diverged"


def _values(read: dict[str, list[_Run]]) -> Iterator[float]:
    points = (points for runs in read.values() for run in runs for points in run.points.values())
    return (value for _, value in itertools.chain.from_iterable(points))
