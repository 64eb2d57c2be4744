"""Guesses the roles of a table's columns from their names and contents."""

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deviate.errors import InputError
from deviate.model.metric_vocabulary import direction_of, role_of, split_identifier, word_set
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
"""What of a row's metrics it tells: `val` and `loss` are val_loss."""
WALL = word_set("wall_time walltime timestamp wall_clock relative_time_process relative_time_wall _timestamp _runtime")
AMBIGUOUS = word_set("name id label")
"""A metric where one column of numbers stands beside it, else an experiment."""
MEANS, SPREADS = (
    word_set("mean avg average m"),
    word_set("std sd stdev stddev sem se stderr ci ci95 var variance std_dev std_err"),
)
COUNTS = word_set("n count num n_runs runs n_seeds nruns")
INDEX = re.compile(r"column 1|index|idx|row|rowid|no", re.IGNORECASE)
REPEATED = re.compile(r"(?i)^(.*?)[\s_./-]*(?:seed|run|rep|repl?icate|repeat|trial|fold)[\s_./-]*\d+$")
SUMMARY_HINT = (
    "give the runs; of n, mean and SD alone (say whether its divisor is n or n - 1) `deviate.stats` has the "
    "comparisons of two summaries (welch, student, hedges_g)"
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
        raise InputError(f"{place}: no column holds scores; its columns are {listing}", _cure(columns))
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
        raise InputError(f"{place}: no column holds numbers alone", _cure(columns))
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
