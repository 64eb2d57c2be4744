"""Turns a table into experiments: guesses what its columns are and which rows belong to which run, and notes it."""

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import get_args

from deviate.base import first_few
from deviate.errors import InputError
from deviate.model import Series, Status
from deviate.model.metric_vocabulary import direction_of, role_of, split_identifier, word_set
from deviate.records.importers import Imported, ImportedRun
from deviate.records.importers.tables import Table, is_integral, is_numeric, number

METRIC = word_set("metric metric_name metrics measure measure_name quantity tag score_name key variable metricname")
VALUE = word_set("value values score scores result metric_value metricvalue val y")
RUN = word_set(
    "run run_id runid run_number run_name runname seed seeds random_seed rng_seed seed_id replicate replicates "
    "replication rep repeat repetition trial trial_id fold cv_fold random_state instance_seed run_index run_idx "
    "seed_idx runs"
)
STEP = word_set(
    "global_step step steps trainer_step iteration iterations iter iters timestep timesteps total_timesteps "
    "total_steps env_steps env_step training_iteration num_steps update updates frame frames round epoch epochs "
    "episode episodes num_epochs batch environment_steps gradient_steps train_step t x_step communication_round "
    "comm_round itr it kimg tick nimg"
)
EXPERIMENT = word_set(
    "experiment experiment_name experiment_id exp exp_name method methods model model_name variant algorithm algo "
    "algorithm_name algo_name agent approach system classifier learner policy technique group condition setting config "
    "configuration architecture arch network backbone strategy estimator optimizer loss_function scheme baseline solver"
)
TASK = word_set(
    "task task_name dataset datasets dataset_name data_set env environment env_id env_name environment_name game "
    "benchmark problem domain instance dataset_id task_id test_set corpus language"
)
STATUS = word_set("status state outcome")
SPLIT = word_set("split phase subset partition stage data_partition train_or_val train_test set_name")
"""The part of the data that the metrics of a row are about: `val` and `loss` are val_loss."""
WALL = word_set("wall_time walltime timestamp wall_clock relative_time_process relative_time_wall _timestamp _runtime")
AMBIGUOUS = word_set("name id label")
"""Columns that name metrics if there is one column of numbers, else experiments."""
MEANS, SPREADS = (
    word_set("mean avg average m"),
    word_set("std sd stdev stddev sem se stderr ci ci95 var variance std_dev std_err"),
)
COUNTS = word_set("n count num n_runs runs n_seeds nruns")
INDEX = re.compile(r"column 1|index|idx|row|rowid|no", re.IGNORECASE)
REPEATED = re.compile(r"(?i)^(.*?)[\s_./-]*(?:seed|run|rep|repl?icate|repeat|trial|fold)[\s_./-]*\d+$")
SUMMARY_HINT = (
    "import the scores of the runs; `deviate.stats` compares two summaries of n, mean and SD (divisor n or n - 1) "
    "with welch, student and hedges_g"
)


@dataclass(frozen=True, slots=True)
class Roles:
    """Column names by role; `values` are metrics, `unused` columns are ignored.

    Attributes:
        settings: numbers that are the same in every row.
    """

    values: tuple[str, ...]
    experiment: tuple[str, ...] = ()
    task: str | None = None
    run: str | None = None
    step: str | None = None
    metric: str | None = None
    status: str | None = None
    split: str | None = None
    settings: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()


def word(name: str) -> str:
    """A name of a column as it stands in the lists: `Random Seed` and `randomSeed` as random_seed.

    >>> word("Random Seed"), word("globalStep"), word("train/epoch")
    ('random_seed', 'global_step', 'train_epoch')
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")


def roles_of(table: Table, place: str) -> Roles:
    """Guess the roles of all columns; `place` is used in messages.

    Raises:
        InputError: no column holds numbers, or they are summaries over runs.
    """
    columns = table.columns
    if not table.has_header:
        numeric = tuple(name for name in columns if is_numeric(columns[name]))
        return Roles(_some(numeric, columns, place))
    by_word = {name: word(name) for name in columns}
    numeric = tuple(name for name in columns if is_numeric(columns[name]))
    texts = [name for name in columns if name not in numeric and any(columns[name])]
    occupied: list[str] = []

    def take(names: Iterable[str]) -> str | None:
        name = next((name for name in names if name not in occupied), None)
        occupied.extend([name] if name is not None else [])
        return name

    metric = take(name for name in texts if by_word[name] in METRIC)
    task = take(
        name for name in columns if by_word[name] in TASK and _can_name(columns[name], has_numbers=name in numeric)
    )
    experiment = [name for name in texts if by_word[name] in EXPERIMENT and name not in occupied]
    occupied += experiment
    run = take(name for name in _by_rank(columns, by_word, RUN) if name in texts or is_integral(columns[name]))
    status = take(name for name in texts if by_word[name] in STATUS)
    split = take(name for name in texts if by_word[name] in SPLIT)
    step = _step(columns, by_word, occupied, numeric)
    occupied += [step] if step else []
    rest = [name for name in numeric if name not in occupied and not _is_index(name, columns[name])]
    if metric is None and len(rest) == 1 and by_word[rest[0]] in VALUE:
        metric = take(name for name in texts if by_word[name] in AMBIGUOUS)
    elif not experiment and run is None:
        experiment = [name for name in [take(name for name in texts if by_word[name] in AMBIGUOUS)] if name]
    values: tuple[str, ...]
    if metric is not None:
        values = tuple(name for name in rest if by_word[name] in VALUE)[:1] or tuple(rest[:1])
    else:
        counters = {name for name in rest if by_word[name] in STEP | WALL}
        values = tuple(name for name in rest if name not in counters)
    settings = tuple(name for name in values if metric is None and _is_setting(name, columns[name]))
    values = tuple(name for name in values if name not in settings) or values
    if not values:
        listing = ", ".join(map(repr, list(columns)[:8]))
        raise InputError(f"{place}: no column holds scores; the columns are {listing}", _cure(columns))
    _refuse_summaries(by_word, values, place, is_over_runs=run is None and step is None)
    repeated_names = [name for name in experiment if len(set(columns[name])) < table.n_rows]
    experiment = (
        repeated_names or experiment
    )  # a text that differs in every row names the runs, if there are other columns to describe experiments
    experiment += [name for name in texts if name not in occupied and 1 < len(set(columns[name])) <= table.n_rows / 2]
    used = {*values, *experiment, *settings, task, run, step, metric, status, split}
    unused = tuple(name for name in columns if name not in used and any(columns[name]))
    return Roles(values, tuple(experiment), task, run, step, metric, status, split, settings, unused)


def tell_apart(table: Table, roles: Roles) -> tuple[str, ...]:
    """The smallest set of additional columns that makes rows with the same keys distinct; empty if there is none."""
    columns, n_rows = table.columns, table.n_rows
    keys = keys_of(roles)
    free = [
        name for name in (*roles.unused, *roles.settings, *roles.values) if name != roles.metric and name not in keys
    ]
    free = [
        name
        for name in free
        if direction_of(split_identifier(name)) is None and 1 < len(set(columns[name])) <= max(2, n_rows // 2)
    ]
    free.sort(key=lambda name: (is_numeric(columns[name]), len(set(columns[name]))))
    for n in (1, 2):
        for chosen in itertools.islice(itertools.combinations(free, n), 200):
            if _n_levels(columns, (*keys, *chosen)) == n_rows:
                return chosen
    chosen_names: tuple[str, ...] = ()
    while free and _n_levels(columns, (*keys, *chosen_names)) < n_rows:
        best = max(free, key=lambda name: _n_levels(columns, (*keys, *chosen_names, name)))
        free.remove(best)
        chosen_names = (*chosen_names, best)
    return chosen_names if _n_levels(columns, (*keys, *chosen_names)) == n_rows else ()


def find_crossed_factors(table: Table, roles: Roles) -> tuple[str, ...]:
    """Numeric columns that are factors, not results: every experiment and task has the same levels."""
    chosen = tell_apart(table, roles)
    groups: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for row in range(table.n_rows):
        group = tuple(table.columns[key][row] for key in keys_of(roles))
        groups.setdefault(group, set()).add(tuple(table.columns[key][row] for key in chosen))
    levels = list(groups.values())
    is_crossed = len(levels) > 1 and len(levels[0]) > 1 and all(level == levels[0] for level in levels)
    return chosen if is_crossed else ()


def is_counter(column: Sequence[str]) -> bool:
    """Whether the levels are 0, 1, 2 … or 1, 2, 3 …, which suggests run numbers rather than settings."""
    levels = sorted({number(cell) or 0.0 for cell in column})
    return levels in ([*range(len(levels))], [*range(1, len(levels) + 1)])


def keys_of(roles: Roles) -> tuple[str, ...]:
    """The columns that identify what a row measures."""
    one = (roles.task, roles.run, roles.step, roles.metric, roles.split)
    return (*roles.experiment, *(row for row in one if row is not None))


def _n_levels(columns: dict[str, list[str]], names: Sequence[str]) -> int:
    return len(set(zip(*(columns[name] for name in names), strict=True)))


def match_repeated(values: Sequence[str]) -> dict[str, str] | None:
    """Map numbered columns, as `acc_seed_0` and `acc_seed_1`, to their metric; None where columns are not like that."""
    matches = {name: REPEATED.match(name) for name in values}
    if len(values) < 2 or not all(matches.values()):
        return None
    return {name: (match[1] if match else "").strip(" _./-") or "value" for name, match in matches.items()}


def _some(numeric: tuple[str, ...], columns: dict[str, list[str]], place: str) -> tuple[str, ...]:
    if not numeric:
        raise InputError(f"{place}: no column holds only numbers", _cure(columns))
    return numeric


def _cure(columns: dict[str, list[str]]) -> str:
    if any("±" in cell or "+-" in cell or "+/-" in cell for column in columns.values() for cell in column[:50]):
        return f"cells such as 0.5 ± 0.1 are summaries over runs: {SUMMARY_HINT}"
    return "write the scores of the runs as plain numbers, with a header such as run,metric,value"


def _can_name(column: Sequence[str], *, has_numbers: bool) -> bool:
    """Whether a column can name things: text, or a few distinct whole numbers such as data set ids."""
    return not has_numbers or (is_integral(column) and len(set(column)) < len(column))


def _by_rank(columns: dict[str, list[str]], by_word: dict[str, str], name_words: frozenset[str]) -> list[str]:
    """Columns that may name runs: seeds first, then columns that vary, then constant ones."""
    names = [name for name in columns if by_word[name] in name_words or by_word[name].endswith("_seed")]
    return sorted(names, key=lambda name: (len(set(columns[name])) == 1, "seed" not in by_word[name]))


def _step(
    columns: dict[str, list[str]], by_word: dict[str, str], used: Sequence[str], numeric: Sequence[str]
) -> str | None:
    """The step column with the most levels; of equal ones, not the epoch."""
    counting = [
        name
        for name in numeric
        if name not in used and (by_word[name] in STEP or by_word[name].rpartition("_")[2] in STEP)
        if is_integral(columns[name]) and (len(set(columns[name])) > 1 or len(columns[name]) == 1)
    ]
    counting = [name for name in counting if by_word[name] in STEP] or counting
    return max(counting, key=lambda name: (len(set(columns[name])), "epoch" not in by_word[name]), default=None)


def _is_index(name: str, column: Sequence[str]) -> bool:
    """Whether a column numbers the rows, as pandas writes an index."""
    if not INDEX.fullmatch(name) or not is_integral(column):
        return False
    values = [number(cell) for cell in column]
    return values in ([*range(len(values))], [*range(1, len(values) + 1)])


def _is_setting(name: str, column: Sequence[str]) -> bool:
    return (
        len(column) > 2 and len(set(column)) == 1 and role_of(split_identifier(name)) != "quality" and bool(column[0])
    )


def _refuse_summaries(by_word: dict[str, str], values: Sequence[str], place: str, *, is_over_runs: bool) -> None:
    """Raise InputError for means and spreads of one quantity, unless a column marks rows as runs or steps."""
    means = {_without(by_word[name], MEANS) for name in values if set(by_word[name].split("_")) & MEANS}
    spreads = {_without(by_word[name], SPREADS) for name in values if set(by_word[name].split("_")) & SPREADS}
    if is_over_runs and means & spreads:
        summaries = [name for name in values if set(by_word[name].split("_")) & (MEANS | SPREADS | COUNTS)]
        raise InputError(
            f"{place} holds means and spreads ({', '.join(summaries[:6])}), not the scores of runs", SUMMARY_HINT
        )


def _without(name: str, those: frozenset[str]) -> str:
    return "_".join(part for part in name.split("_") if part not in those)


MOST_METRICS = 1_000
MOST_RUNS = 10_000
MANY_ROWS = 200
"""Number of rows from which rows without run and step are probably steps."""
MOST_NAMED = 6
OTHERWISE = "if this is wrong, name the columns run, step, metric, value, experiment, task"
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
            f"{path} would have {n_runs} runs",
            "add a column step if rows are steps, and a column run if there are several runs",
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
        + ", and no column distinguishes them",
        "name the column that distinguishes them step, run, experiment or task, or add one",
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
        return _put_under(table, step, parts), "a chart exported from W&B: one column per run"
    runs = match_repeated([name for name in names if not re.fullmatch(r"column 1|index", name)])
    if runs is None:
        return None
    return _put_under(table, step, {name: (name, metric) for name, metric in runs.items()}), "one column per run"


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
    return "one row per step" if roles.step else "wide" if len(roles.values) > 1 else "one row per run"


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
        yield f"{path.name}: read as settings, because equal in all rows: {first_few(settings, MOST_NAMED)}"
    if not roles.run and roles.step and any(len(runs) > 1 for runs in read.values()):
        yield f"{path.name}: a new run begins where {roles.step} restarts"
    if not roles.run and not roles.step and table.n_rows >= MANY_ROWS:
        yield f"{path.name}: {table.n_rows} rows without run and step: if they are steps of one run, add a column step"
    broken = sum(not math.isfinite(value) for value in _values(read))
    if broken:
        yield f"{path.name}: {broken} cell{'s' * (broken > 1)} NaN or infinite: a run that ends so counts as diverged"


def _values(read: dict[str, list[_Run]]) -> Iterator[float]:
    points = (points for runs in read.values() for run in runs for points in run.points.values())
    return (value for _, value in itertools.chain.from_iterable(points))
