"""Turns a table into experiments: guesses what its columns are and which rows belong to which run, and notes it."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from deviate.errors import InputError
from deviate.model.metric_vocabulary import direction_of, role_of, snake, split_identifier, word_set
from deviate.model.records import Series, Status
from deviate.model.texts import count, first_few
from deviate.records.importers import Imported, ImportedRun
from deviate.records.importers.tables import CellTable, is_integral, is_numeric, number
from deviate.series.words import COUNTERS

METRIC = word_set("metric metric_name metrics measure measure_name quantity tag score_name key variable")
VALUE = word_set("value values score scores result metric_value val y")
RUN = word_set(
    "run run_id run_number run_name seed seeds random_seed rng_seed seed_id replicate replicates replication rep "
    "repeat repetition trial trial_id runid trialid fold cv_fold random_state run_index run_idx seed_idx runs"
)
STEP = COUNTERS | word_set("frame frames itr kimg tick nimg t")
OF_STEPS = word_set("global total env environment trainer training train gradient communication comm num x")
"""Words that may stand beside one of `STEP` in the name of a column of steps."""
EXPERIMENT = word_set(
    "experiment experiment_name experiment_id exp exp_name method methods model model_name variant algorithm algo "
    "agent approach system classifier learner policy technique group condition setting config configuration "
    "architecture arch network backbone strategy estimator optimizer loss_function scheme baseline solver name label"
)
TASK = word_set(
    "task task_name dataset datasets dataset_name data_set env environment env_id env_name game benchmark problem "
    "domain instance dataset_id task_id test_set corpus language"
)
STATUS = word_set("status state outcome")
SPLIT = word_set("split phase subset partition stage")
"""The part of the data that the metrics of a row are about: `val` and `loss` are val_loss."""
CLOCK = word_set("wall_time walltime timestamp wall_clock relative_time_process relative_time_wall runtime")
MEANS = word_set("mean avg average m")
SPREADS = word_set("std sd stdev stddev sem se stderr ci ci95 var variance")
INDEX = re.compile(r"column 1|unnamed: 0|index|idx|row|rowid|no", re.IGNORECASE)
REPEATED = re.compile(r"(?i)(?P<metric>.*?)[\s_./-]*(?:seed|run|rep|repl?icate|repeat|trial|fold)[\s_./-]*\d+")
OF_WANDB = re.compile(r"(?P<run>.+) - (?P<metric>.+?)(?P<bound>__MIN|__MAX)?")
"""Columns of a chart exported from W&B."""
STATUSES: dict[str, Status] = {status: status for status in get_args(Status)}
STATUSES |= {"failed": "crashed", "error": "crashed", "nan": "diverged", "killed": "lost"}
SUMMARY_HINT = "import the scores of the runs; deviate.stats compares summaries of n, mean and SD (divisor n or n - 1)"
NUMBERS_HINT = f"write scores as plain numbers; where cells such as 0.5 ± 0.1 are summaries, {SUMMARY_HINT}"
OTHERWISE = "if this is wrong, name the columns run, step, metric, value, experiment, task"
MOST_RUNS = 10_000
MOST_NAMED = 6
Points = dict[str, list[tuple[int | None, float]]]
"""Steps and values by metric."""


@dataclass(frozen=True, slots=True)
class Roles:
    """Column names by role; `values` are metrics, `unused` columns are ignored."""

    values: tuple[str, ...]
    experiment: tuple[str, ...] = ()
    task: str | None = None
    run: str | None = None
    step: str | None = None
    metric: str | None = None
    status: str | None = None
    split: str | None = None
    unused: tuple[str, ...] = ()


def assemble(table: CellTable, path: Path, form: str, *, roles: Roles | None = None) -> tuple[Imported, ...]:
    """The experiments of a table.

    Args:
        roles: what the columns are, where that is known.

    Raises:
        InputError: it holds no scores, or several measurements of a run that nothing tells apart.
    """
    table = _melt(table) if roles is None else table
    roles = _told_apart(table, roles or _roles(table, path), path)
    has_tasks = roles.task is not None and len({cell for cell in table.columns[roles.task] if cell}) > 1
    read = {name: _runs(table, roles, rows, has_tasks=has_tasks) for name, rows in _groups(table, roles).items()}
    all_runs = [run for runs in read.values() for run in runs]
    if len(all_runs) > MOST_RUNS:
        raise InputError(f"{path} would have {len(all_runs)} runs", "add a column step if rows are steps, or run")
    tasks = _tasks(dict.fromkeys(name for run in all_runs for name in run.series)) if has_tasks else ()
    notes = tuple(f"{path.name}: {note}" for note in _notes(table, roles, len(read), all_runs))
    return tuple(Imported(name or path.stem, form, (path,), tuple(runs), tasks, notes) for name, runs in read.items())


def _melt(table: CellTable) -> CellTable:
    """Columns that are runs, such as `acc_seed_0` and `acc_seed_1`, under one another; other tables as they are."""
    step = next((name for name in table.columns if _counts_steps(name)), None)
    names = [name for name in table.columns if name != step and not INDEX.fullmatch(name) and any(table.columns[name])]
    pattern = OF_WANDB if step is not None and any(name.endswith("__MIN") for name in names) else REPEATED
    matches = {name: pattern.fullmatch(name) for name in names}
    if len(names) < 2 or not all(matches.values()):
        return table
    columns: dict[str, list[str]] = {"run": [], "step": [], "metric": [], "value": []}
    for name, parts in ((name, match.groupdict()) for name, match in matches.items() if match):
        cells = [] if parts.get("bound") else [(row, cell) for row, cell in enumerate(table.columns[name]) if cell]
        columns["run"] += [parts.get("run", name)] * len(cells)
        columns["step"] += [table.columns[step][row] if step else str(row) for row, _ in cells]
        columns["metric"] += [parts["metric"].strip(" _./-") or "value"] * len(cells)
        columns["value"] += [cell for _, cell in cells]
    if step is None and table.n_rows == 1:
        del columns["step"]
    return CellTable(columns, len(columns["run"]), notes=(*table.notes, "one column per run"))


def _counts_steps(name: str) -> bool:
    words = set(snake(name).split("_"))
    return bool(words & STEP) and words <= STEP | OF_STEPS


def _roles(table: CellTable, path: Path) -> Roles:
    """Guess the roles of all columns.

    Raises:
        InputError: no column holds numbers, or they are summaries over runs.
    """
    columns = table.columns
    numeric = [name for name in columns if is_numeric(columns[name])]
    levels = {name: len(set(column)) for name, column in columns.items()}
    texts = [name for name in columns if name not in numeric and any(columns[name])]
    whole = [name for name in numeric if is_integral(columns[name])]
    naming = [*texts, *(name for name in whole if levels[name] < table.n_rows)]
    taken: set[str | None] = set()

    def take(names: Iterable[str], words: frozenset[str] | None = None) -> str | None:
        fitting = (name for name in names if name not in taken and (words is None or snake(name) in words))
        name = next(fitting, None)
        taken.add(name)
        return name

    metric = take(texts, METRIC)
    task = take(naming, TASK)
    experiment = [name for name in naming if snake(name) in EXPERIMENT and name not in taken]
    taken.update(experiment)
    runs = [name for name in [*texts, *whole] if snake(name) in RUN or snake(name).endswith("_seed")]
    run = take(sorted(runs, key=lambda name: (levels[name] == 1, "seed" not in snake(name))))
    status = take(texts, STATUS)
    split = take(texts, SPLIT)
    counters = [name for name in numeric if _counts_steps(name)]
    steps = [name for name in counters if name in whole and (levels[name] > 1 or table.n_rows == 1)]
    step = take(sorted(steps, key=lambda name: (levels[name], "epoch" not in snake(name)), reverse=True))
    rest = [name for name in numeric if name not in taken and not _is_index(name, columns[name])]
    if metric is not None:
        values = ([name for name in rest if snake(name) in VALUE] or rest)[:1]
    else:
        values = [name for name in rest if name not in counters and snake(name) not in CLOCK]
        if table.n_rows > 2:
            telling = [name for name in values if levels[name] > 1 or role_of(split_identifier(name)) == "quality"]
            values = telling or values
    if not values:
        listing = first_few(list(columns), MOST_NAMED)
        raise InputError(f"{path.name}: no column holds scores; the columns are {listing}", NUMBERS_HINT)
    if run is None and step is None:
        _refuse_summaries(values, path)
    # A text that differs in every row names the runs, if others name the experiments.
    experiment = [name for name in experiment if levels[name] < table.n_rows] or experiment
    experiment += [name for name in texts if name not in taken and 1 < levels[name] <= table.n_rows / 2]
    used = {*values, *experiment, task, run, step, metric, status, split}
    unused = tuple(name for name in columns if name not in used and any(columns[name]))
    return Roles(tuple(values), tuple(experiment), task, run, step, metric, status, split, unused)


def _is_index(name: str, column: Sequence[str]) -> bool:
    """Whether a column numbers the rows, as pandas writes an index."""
    values = [number(cell) for cell in column] if INDEX.fullmatch(name) else []
    return bool(values) and values in ([*range(len(values))], [*range(1, len(values) + 1)])


def _refuse_summaries(values: Sequence[str], path: Path) -> None:
    """Raise InputError for means and spreads of one quantity."""
    words = {name: set(snake(name).split("_")) for name in values}
    means = {frozenset(parts - MEANS) for parts in words.values() if parts & MEANS}
    spreads = {frozenset(parts - SPREADS) for parts in words.values() if parts & SPREADS}
    if means & spreads:
        summaries = [name for name, parts in words.items() if parts & (MEANS | SPREADS)]
        raise InputError(f"{path.name} holds means and spreads ({first_few(summaries, MOST_NAMED)})", SUMMARY_HINT)


def _told_apart(table: CellTable, roles: Roles, path: Path) -> Roles:
    """Roles with a further column as part of the experiment, where rows of one run would measure the same thing twice.

    Raises:
        InputError: no column tells them apart.
    """
    if roles.run is None or _is_unique(table, roles):
        return roles
    columns = table.columns
    levels = {name: len(set(columns[name])) for name in (*roles.unused, *roles.values)}
    free = [name for name, n in levels.items() if n > 1 and direction_of(split_identifier(name)) is None]
    for name in sorted(free, key=lambda name: (is_numeric(columns[name]), levels[name])):
        extended = replace(
            roles,
            experiment=(*roles.experiment, name),
            values=tuple(value for value in roles.values if value != name) or roles.values,
            unused=tuple(unused for unused in roles.unused if unused != name),
        )
        if _is_unique(table, extended):
            return extended
    cell = next(cell for cell, n in Counter(columns[roles.run]).items() if n > 1)
    raise InputError(
        f"{path}: several rows hold {roles.values[0]} of {roles.run} {cell}, and no column distinguishes them",
        "name the column that distinguishes them step, run, experiment or task, or add one",
    )


def _is_unique(table: CellTable, roles: Roles) -> bool:
    """Whether no two rows measure the same thing; a measurement may span lines, as Lightning writes it."""
    keys = [*roles.experiment, *filter(None, (roles.task, roles.run, roles.step, roles.metric, roles.split))]
    rows = list(zip(*(table.columns[key] for key in keys), strict=True))
    measured = [(name, key) for name in roles.values for row, key in enumerate(rows) if table.columns[name][row]]
    return len(set(measured)) == len(measured)


def _groups(table: CellTable, roles: Roles) -> dict[str, list[int]]:
    """Rows by experiment; the name of an experiment leaves out values that are equal in all of them."""
    telling = [name for name in roles.experiment if len(set(table.columns[name])) > 1] or roles.experiment[:1]
    columns = [(f"{name}=" if is_numeric(table.columns[name]) else "", table.columns[name]) for name in telling]
    groups: dict[str, list[int]] = {}
    for row in range(table.n_rows):
        groups.setdefault("-".join(begin + (column[row] or "none") for begin, column in columns), []).append(row)
    return groups


def _runs(table: CellTable, roles: Roles, rows: Sequence[int], *, has_tasks: bool) -> list[ImportedRun]:
    """Rows of one experiment grouped by run: by the run column, by steps that restart, or one run per row."""

    def cell(column: str | None, row: int) -> str:
        return table.columns[column][row] if column is not None else ""

    runs: dict[str, Points] = {}
    statuses: dict[str, Status] = {}
    n_begun = Counter[tuple[str, ...]]()
    last: dict[tuple[str, ...], int] = {}
    for row in rows:
        step = _step(cell(roles.step, row))
        task = f"{cell(roles.task, row)}: " if has_tasks and cell(roles.task, row) else ""
        part = f"{cell(roles.split, row)}_" if cell(roles.split, row) else ""
        key = (task, cell(roles.metric, row), part)
        if step is not None:
            n_begun[key] += step < last.get(key, step)
            last[key] = step
        label = (cell(roles.run, row) or "none") if roles.run is not None else str(n_begun[key])
        n_begun[key] += roles.step is None
        points = runs.setdefault(label, {})
        statuses[label] = STATUSES.get(snake(cell(roles.status, row)), statuses.get(label, "completed"))
        for name in roles.values:
            value = number(cell(name, row))
            if value is not None:
                points.setdefault(f"{task}{part}{cell(roles.metric, row) or name}", []).append((step, value))
    labels = sorted(runs, key=_order) if roles.run else list(runs)
    return [_run(label, runs[label], statuses[label], roles) for label in labels]


def _step(cell: str) -> int | None:
    value = number(cell)
    return None if value is None or not math.isfinite(value) else int(value)


def _order(label: str) -> tuple[bool, float, str]:
    """Sort runs by their numbers, so that equal seeds of two files become equal replicates."""
    value = number(label)
    return value is None, value or 0.0, label if value is None else ""


def _run(label: str, points: Points, status: Status, roles: Roles) -> ImportedRun:
    series = {name: Series(*zip(*pairs, strict=True)) for name, pairs in points.items()}
    if roles.run is None:
        name = f"{'run' if roles.step else 'row'} {int(label) + 1}"
        return ImportedRun(name, series, status)
    seed = _step(label) if "seed" in snake(roles.run) else None
    seeds = {} if seed is None else {roles.run: seed}
    return ImportedRun(f"{roles.run} {label}", series, status, seeds=seeds)


def _tasks(names: Iterable[str]) -> tuple[str, ...]:
    """The measure that is used for the tasks: the first with a direction that most tasks have."""
    by_measure: dict[str, list[str]] = {}
    for name in names:
        by_measure.setdefault(name.rpartition(": ")[2], []).append(name)

    def rank(measure: str) -> tuple[int, bool]:
        return len(by_measure[measure]), direction_of(split_identifier(measure)) is not None

    return tuple(by_measure[max(by_measure, key=rank)]) if by_measure else ()


def _notes(table: CellTable, roles: Roles, n_experiments: int, runs: Sequence[ImportedRun]) -> Iterator[str]:
    """One sentence on what was guessed, and notes on what needs care."""
    named = {
        "experiment": " and ".join(roles.experiment),
        "task": roles.task,
        "run": roles.run,
        "step": roles.step,
        "part of the data": roles.split,
        "metric": roles.metric,
        "value" if roles.metric else "metrics": first_few(roles.values, MOST_NAMED),
        "not used": first_few(roles.unused, MOST_NAMED),
    }
    parts = (*table.notes, *(f"{role} = {names}" for role, names in named.items() if names))
    counts = f"{count(n_experiments, 'experiment')}, {count(len(runs), 'run')}"
    yield f"{count(table.n_rows, 'row')}: {', '.join(parts)}: {counts} ({OTHERWISE})"
    if not roles.run and roles.step and len(runs) > n_experiments:
        yield f"a new run begins where {roles.step} restarts"
