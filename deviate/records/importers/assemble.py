"""Turns a table into experiments: guesses what its columns are and which rows belong to which run, and notes it."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import get_args

from deviate.base.texts import first_few
from deviate.errors import InputError
from deviate.model.metric_vocabulary import direction_of, role_of, split_identifier, word_set
from deviate.model.records import Series, Status
from deviate.records.importers import Imported, ImportedRun
from deviate.records.importers.tables import Table, is_integral, is_numeric, number
from deviate.series.words import COUNTERS

METRIC = word_set("metric metric_name metrics measure measure_name quantity tag score_name key variable")
VALUE = word_set("value values score scores result metric_value val y")
RUN = word_set(
    "run run_id run_number run_name seed seeds random_seed rng_seed seed_id replicate replicates replication rep "
    "repeat repetition trial trial_id fold cv_fold random_state run_index run_idx seed_idx runs"
)
STEP = COUNTERS | word_set("frame frames itr kimg tick nimg t")
OF_STEPS = word_set("global total env environment trainer training train gradient communication comm num x")
"""Words that may stand beside one of `STEP` in the name of a column of steps."""
EXPERIMENT = word_set(
    "experiment experiment_name experiment_id exp exp_name method methods model model_name variant algorithm algo "
    "agent approach system classifier learner policy technique group condition setting config configuration "
    "architecture arch network backbone strategy estimator optimizer loss_function scheme baseline solver"
)
TASK = word_set(
    "task task_name dataset datasets dataset_name data_set env environment env_id env_name game benchmark problem "
    "domain instance dataset_id task_id test_set corpus language"
)
STATUS = word_set("status state outcome")
SPLIT = word_set("split phase subset partition stage")
"""The part of the data that the metrics of a row are about: `val` and `loss` are val_loss."""
CLOCK = word_set("wall_time walltime timestamp wall_clock relative_time_process relative_time_wall runtime")
AMBIGUOUS = word_set("name id label")
"""Columns that name metrics if there is one column of numbers, else experiments."""
MEANS = word_set("mean avg average m")
SPREADS = word_set("std sd stdev stddev sem se stderr ci ci95 var variance")
INDEX = re.compile(r"column 1|index|idx|row|rowid|no", re.IGNORECASE)
REPEATED = re.compile(r"(?i)(?P<metric>.*?)[\s_./-]*(?:seed|run|rep|repl?icate|repeat|trial|fold)[\s_./-]*\d+")
OF_WANDB = re.compile(r"(?P<run>.+) - (?P<metric>.+?)(?P<bound>__MIN|__MAX)?")
"""Columns of a chart exported from W&B."""
STATUS_WORDS: dict[str, Status] = {"failed": "crashed", "error": "crashed", "nan": "diverged", "killed": "lost"}
SUMMARY_HINT = (
    "import the scores of the runs; `deviate.stats` compares two summaries of n, mean and SD (divisor n or n - 1) "
    "with welch, student and hedges_g"
)
OTHERWISE = "if this is wrong, name the columns run, step, metric, value, experiment, task"
MOST_METRICS = 1_000
MOST_RUNS = 10_000
MANY_ROWS = 200
"""Number of rows from which rows without run and step are probably steps."""
MOST_NAMED = 6


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
    table = _melt(table) if roles is None else table
    roles = _told_apart(table, roles or _roles(table, path), path)
    if len(roles.values) > MOST_METRICS:
        raise InputError(
            f"{path} has {len(roles.values)} columns of numbers: this looks like data, not like results of runs",
            "name a file with scores or measurements",
        )
    has_tasks = roles.task is not None and len({cell for cell in table.columns[roles.task] if cell}) > 1
    read = {name: _runs(table, roles, rows, has_tasks=has_tasks) for name, rows in _groups(table, roles).items()}
    n_runs = sum(map(len, read.values()))
    if n_runs > MOST_RUNS:
        raise InputError(
            f"{path} would have {n_runs} runs",
            "add a column step if rows are steps, and a column run if there are several runs",
        )
    tasks = _tasks(name for runs in read.values() for run in runs for name in run.points) if has_tasks else ()
    notes = tuple(_notes(table, roles, path, kind or _kind(roles), read))
    settings = {name: table.columns[name][0] for name in roles.settings}
    return tuple(
        Imported(name or path.stem, form, (path,), tuple(_imported(run, settings) for run in runs), tasks, notes)
        for name, runs in read.items()
    )


def word(name: str) -> str:
    """A name of a column as it stands in the lists: `Random Seed` and `randomSeed` as random_seed.

    >>> word("Random Seed"), word("globalStep"), word("train/epoch")
    ('random_seed', 'global_step', 'train_epoch')
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")


def _melt(table: Table) -> Table:
    """Columns that are runs, such as `acc_seed_0` and `acc_seed_1`, under one another; other tables as they are."""
    step = next((name for name in table.columns if _counts_steps(name)), None)
    names = [name for name in table.columns if name != step and not INDEX.fullmatch(name) and any(table.columns[name])]
    pattern = OF_WANDB if step is not None and any(name.endswith("__MIN") for name in names) else REPEATED
    matches = {name: pattern.fullmatch(name) for name in names}
    if not table.has_header or len(names) < 2 or not all(matches.values()):
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
    return Table(columns, len(columns["run"]), notes=(*table.notes, "one column per run"))


def _counts_steps(name: str) -> bool:
    words = set(word(name).split("_"))
    return bool(words & STEP) and words <= STEP | OF_STEPS


def _roles(table: Table, path: Path) -> Roles:
    """Guess the roles of all columns.

    Raises:
        InputError: no column holds numbers, or they are summaries over runs.
    """
    columns = table.columns
    numeric = [name for name in columns if is_numeric(columns[name])]
    if not table.has_header:
        if not numeric:
            raise _no_scores(columns, path)
        return Roles(tuple(numeric))
    texts = [name for name in columns if name not in numeric and any(columns[name])]
    taken: set[str | None] = set()

    def take(names: Iterable[str]) -> str | None:
        name = next((name for name in names if name not in taken), None)
        taken.add(name)
        return name

    def named(words: frozenset[str], among: Iterable[str]) -> list[str]:
        return [name for name in among if word(name) in words]

    def n_levels(name: str) -> int:
        return len(set(columns[name]))

    whole = [name for name in numeric if is_integral(columns[name])]
    metric = take(named(METRIC, texts))
    naming = [*texts, *(name for name in whole if n_levels(name) < table.n_rows)]
    task = take(named(TASK, naming))
    experiment = [name for name in named(EXPERIMENT, naming) if name not in taken]
    taken.update(experiment)
    runs = [name for name in [*texts, *whole] if word(name) in RUN or word(name).endswith("_seed")]
    run = take(sorted(runs, key=lambda name: (n_levels(name) == 1, "seed" not in word(name))))
    status = take(named(STATUS, texts))
    split = take(named(SPLIT, texts))
    counters = [name for name in numeric if _counts_steps(name)]
    steps = [name for name in counters if name in whole and (n_levels(name) > 1 or table.n_rows == 1)]
    step = take(sorted(steps, key=lambda name: (n_levels(name), "epoch" not in word(name)), reverse=True))
    rest = [name for name in numeric if name not in taken and not _is_index(name, columns[name])]
    if metric is None and len(rest) == 1 and word(rest[0]) in VALUE:
        metric = take(named(AMBIGUOUS, texts))
    elif not experiment and run is None:
        experiment = [name for name in [take(named(AMBIGUOUS, texts))] if name]
    if metric is not None:
        values, settings = (named(VALUE, rest) or rest)[:1], []
    else:
        values = [name for name in rest if name not in counters and word(name) not in CLOCK]
        settings = [name for name in values if n_levels(name) == 1 and table.n_rows > 2 and not _is_quality(name)]
        values = [name for name in values if name not in settings] or values
    if not values:
        raise _no_scores(columns, path)
    if run is None and step is None:
        _refuse_summaries(values, path)
    # A text that differs in every row names the runs, if others name the experiments.
    experiment = [name for name in experiment if n_levels(name) < table.n_rows] or experiment
    experiment += [name for name in texts if name not in taken and 1 < n_levels(name) <= table.n_rows / 2]
    used = {*values, *experiment, *settings, task, run, step, metric, status, split}
    unused = tuple(name for name in columns if name not in used and any(columns[name]))
    return Roles(tuple(values), tuple(experiment), task, run, step, metric, status, split, tuple(settings), unused)


def _no_scores(columns: Mapping[str, Sequence[str]], path: Path) -> InputError:
    cure = "write the scores of the runs as plain numbers, with a header such as run,metric,value"
    if any(sign in cell for column in columns.values() for cell in column[:50] for sign in ("±", "+-", "+/-")):
        cure = f"cells such as 0.5 ± 0.1 are summaries over runs: {SUMMARY_HINT}"
    listing = ", ".join(map(repr, list(columns)[:8]))
    return InputError(f"{path.name}: no column holds scores; the columns are {listing}", cure)


def _is_index(name: str, column: Sequence[str]) -> bool:
    """Whether a column numbers the rows, as pandas writes an index."""
    values = [number(cell) for cell in column] if INDEX.fullmatch(name) else []
    return bool(values) and values in ([*range(len(values))], [*range(1, len(values) + 1)])


def _is_quality(name: str) -> bool:
    return role_of(split_identifier(name)) == "quality"


def _refuse_summaries(values: Sequence[str], path: Path) -> None:
    """Raise InputError for means and spreads of one quantity."""
    words = {name: set(word(name).split("_")) for name in values}
    means = {frozenset(parts - MEANS) for parts in words.values() if parts & MEANS}
    spreads = {frozenset(parts - SPREADS) for parts in words.values() if parts & SPREADS}
    if means & spreads:
        summaries = [name for name, parts in words.items() if parts & (MEANS | SPREADS)]
        raise InputError(
            f"{path.name} holds means and spreads ({', '.join(summaries[:6])}), not the scores of runs", SUMMARY_HINT
        )


def _told_apart(table: Table, roles: Roles, path: Path) -> Roles:
    """Roles with a further column as part of the experiment, where rows of one run would measure the same thing twice.

    Raises:
        InputError: no column tells them apart.
    """
    if roles.run is None or _is_unique(table, roles):
        return roles
    columns = table.columns
    free = [name for name in (*roles.unused, *roles.settings, *roles.values) if name != roles.metric]
    free = [name for name in free if direction_of(split_identifier(name)) is None and len(set(columns[name])) > 1]
    for name in sorted(free, key=lambda name: (is_numeric(columns[name]), len(set(columns[name])))):
        extended = replace(
            roles,
            experiment=(*roles.experiment, name),
            values=tuple(value for value in roles.values if value != name) or roles.values,
            unused=tuple(unused for unused in roles.unused if unused != name),
        )
        if _is_unique(table, extended):
            return extended
    cell = next(cell for cell, n in Counter(columns[roles.run]).items() if n > 1)
    at_step = f" at the same {roles.step}" if roles.step else ""
    raise InputError(
        f"{path}: several rows hold {roles.values[0]} of {roles.run} {cell}{at_step}, and no column distinguishes them",
        "name the column that distinguishes them step, run, experiment or task, or add one",
    )


def _is_unique(table: Table, roles: Roles) -> bool:
    """Whether no two rows measure the same thing; a measurement may span lines, as Lightning writes it."""
    keys = [*roles.experiment, *filter(None, (roles.task, roles.run, roles.step, roles.metric, roles.split))]
    rows = list(zip(*(table.columns[key] for key in keys), strict=True))
    measured = [(name, key) for name in roles.values for row, key in enumerate(rows) if table.columns[name][row]]
    return len(set(measured)) == len(measured)


def _groups(table: Table, roles: Roles) -> dict[str, list[int]]:
    """Rows by experiment; the name of an experiment leaves out values that are equal in all of them."""
    telling = [name for name in roles.experiment if len(set(table.columns[name])) > 1] or roles.experiment[:1]
    columns = [(f"{name}=" if is_numeric(table.columns[name]) else "", table.columns[name]) for name in telling]
    groups: dict[str, list[int]] = {}
    for row in range(table.n_rows):
        groups.setdefault("-".join(begin + (column[row] or "none") for begin, column in columns), []).append(row)
    return groups


def _runs(table: Table, roles: Roles, rows: Sequence[int], *, has_tasks: bool) -> list[_Run]:
    """Rows of one experiment grouped by run: by the run column, by steps that restart, or one run per row."""

    def cell(column: str | None, row: int) -> str:
        return table.columns[column][row] if column is not None else ""

    runs: dict[str, _Run] = {}
    n_begun = Counter[tuple[str, ...]]()
    last: dict[tuple[str, ...], int] = {}
    for row in rows:
        step = _step(cell(roles.step, row))
        task = cell(roles.task, row) if has_tasks else ""
        part = f"{cell(roles.split, row)}_" if cell(roles.split, row) else ""
        key = (task, cell(roles.metric, row), part)
        if step is not None:
            n_begun[key] += step < last.get(key, step)
            last[key] = step
        label = (cell(roles.run, row) or "none") if roles.run is not None else str(n_begun[key])
        n_begun[key] += roles.step is None
        run = runs.setdefault(label, _new_run(label, roles))
        run.status = _status(cell(roles.status, row), run.status)
        for name in roles.values:
            value = number(cell(name, row)) if cell(name, row) else None
            if value is not None:
                measured = part + (cell(roles.metric, row) or name)
                run.points.setdefault(f"{task}: {measured}" if task else measured, []).append((step, value))
    return sorted(runs.values(), key=_order) if roles.run else list(runs.values())


def _step(cell: str) -> int | None:
    value = number(cell) if cell else None
    return None if value is None or not math.isfinite(value) else int(value)


def _new_run(label: str, roles: Roles) -> _Run:
    if roles.run is None:
        return _Run(f"{'run' if roles.step else 'row'} {int(label) + 1}")
    value = number(label)
    seeds = {roles.run: int(value)} if "seed" in word(roles.run) and value is not None and math.isfinite(value) else {}
    return _Run(f"{roles.run} {label}", seeds=seeds)


def _status(cell: str, before: Status) -> Status:
    statuses: dict[str, Status] = {status: status for status in get_args(Status)}
    return {**statuses, **STATUS_WORDS}.get(word(cell), before)


def _order(run: _Run) -> tuple[bool, float, str]:
    """Sort runs by their numbers, so that equal seeds of two files become equal replicates."""
    value = number(run.label.rpartition(" ")[2])
    return value is None, value or 0.0, run.label if value is None else ""


def _imported(run: _Run, settings: Mapping[str, str]) -> ImportedRun:
    series = {
        name: Series(tuple(step for step, _ in points), tuple(value for _, value in points))
        for name, points in run.points.items()
    }
    return ImportedRun(run.label, series, run.status, environment=dict(settings), seeds=run.seeds)


def _tasks(names: Iterable[str]) -> tuple[str, ...]:
    """The measure that is used for the tasks: the first with a direction that most tasks have."""
    by_measure: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        by_measure.setdefault(name.rpartition(": ")[2], []).append(name)
    best = max(
        by_measure,
        key=lambda measure: (len(by_measure[measure]), direction_of(split_identifier(measure)) is not None),
        default="",
    )
    return tuple(by_measure.get(best, ()))


def _kind(roles: Roles) -> str:
    if roles.metric is not None:
        return "long"
    return "one row per step" if roles.step else "wide" if len(roles.values) > 1 else "one row per run"


def _notes(table: Table, roles: Roles, path: Path, kind: str, read: Mapping[str, Sequence[_Run]]) -> Iterator[str]:
    """One sentence on what was guessed, and notes on what was left out."""
    n_runs = sum(map(len, read.values()))
    parts = [
        f"experiment = {' and '.join(roles.experiment)}" if roles.experiment else "",
        f"task = {roles.task}" if roles.task else "",
        f"run = {roles.run}" if roles.run else "each row is a run" if not roles.step and not roles.metric else "",
        f"step = {roles.step}" if roles.step else "",
        f"part of the data = {roles.split}" if roles.split else "",
        f"metric = {roles.metric}, value = {roles.values[0]}" if roles.metric else "",
        "" if roles.metric else f"metric{'s' * (len(roles.values) > 1)} = {first_few(roles.values, MOST_NAMED)}",
    ]
    several = f"{len(read)} experiments, " if len(read) > 1 else ""
    yield (
        f"{path.name}: {kind}, {table.n_rows} row{'s' * (table.n_rows != 1)}: "
        f"{', '.join(filter(None, (*table.notes, *parts)))}: "
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
    points = itertools.chain.from_iterable(
        points for runs in read.values() for run in runs for points in run.points.values()
    )
    broken = sum(not math.isfinite(value) for _, value in points)
    if broken:
        yield f"{path.name}: {broken} cell{'s' * (broken > 1)} NaN or infinite: a run that ends so counts as diverged"
