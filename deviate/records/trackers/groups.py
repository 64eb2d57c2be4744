"""Groups runs by their configuration: equal settings are one group, whatever their seeds, names and output folders."""

import fnmatch
import json
import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from deviate.base import first_few, redact_variables
from deviate.errors import InputError
from deviate.model.metric_vocabulary import word_set
from deviate.records.importers.assemble import word
from deviate.records.importers.tracked import TrackedRun, is_seed
from deviate.records.trackers.project import Project

Settings = dict[str, str]

RUN_NAMES = word_set(
    "run_name run_id run_uuid runname runid run_number run_idx run_index name_of_run wandb_name wandb_id wandb_run_id "
    "wandb_run_name wandb_run_url job_id jobid slurm_job_id slurm_array_task_id task_index worker_id pid process_id "
    "host hostname host_name node nodename node_name node_list nodelist machine_name local_rank "
    "timestamp time_stamp start_time started_at created created_at launch_time date datetime now "
    "node_ip ip_address trial_id trial_name "
    "replicate replication rep repeat repetition seed_id seed_idx seed_index seeds"
)
"""Names of settings that say which run it is, when and where it ran. What only may be one, as `name`, is a setting."""
OUTPUT = word_set(
    "output outputs out save saved saving log logs logging result results tensorboard tb work run exp tmp"
)
FOLDER = word_set("dir directory folder path root file filename")
INPUT = word_set("data dataset datasets input inputs load pretrained init model weights train val test")
OUTPUT_FOLDERS = word_set("outdir logdir workdir savedir rundir save_to log_to default_root_dir")
"""A path is one of output if its name has a word of `OUTPUT` and none of `INPUT`."""

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
DATE = re.compile(
    r"20\d\d[-_.]?(?:0[1-9]|1[0-2])[-_.]?(?:0[1-9]|[12]\d|3[01])"
    r"(?:[T_ -]?\d{2}[-:._h]?\d{2}(?:[-:._m]?\d{2})?)?(?!\d)"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\d{2}_\d{2}-\d{2}-\d{2}(?:_[\w.-]+)?"
    r"|(?<!\d)1[5-9]\d{8}(?:\.\d+)?(?!\d)"
)
"""A date with or without time, the default folder of `SummaryWriter`, seconds since the epoch."""
SHORTEST_ID = 5
NONE = "(none)"
SWEEP = "sweep"
MOST_IN_NAMES = 3
LONGEST_NAME = 60
FEWEST_SINGLE = 5
"""Configurations that ran once each, from which on they look like a search."""


@dataclass(frozen=True, slots=True)
class RunGroup:
    """Runs of one configuration.

    Attributes:
        name: of the project and the settings by which it differs from other groups.
        differing: these settings, as they are shown.
        settings: all settings that count, in the form in which they are compared.
        tuned: whose choice it is: "one of 12 configurations of sweep abc"; empty where nothing tells of a search.
    """

    name: str
    runs: tuple[TrackedRun, ...]
    differing: Settings
    settings: Settings
    tuned: str = ""


@dataclass(frozen=True, slots=True)
class Grouping:
    """The groups of a project, by the start of their first run.

    Attributes:
        left_out: names of settings that differ between runs and do not count.
        without: those among them that the user named.
        splitting: a setting without which there are far fewer groups, and how many there are then; None for none.
    """

    project: Project
    groups: tuple[RunGroup, ...]
    left_out: tuple[str, ...]
    without: tuple[str, ...]
    splitting: tuple[str, int] | None


def group_runs(project: Project, *, without: Sequence[str] = ()) -> Grouping:
    """Group the runs of a project.

    Left out are seeds; names of runs, hosts, jobs, times and output folders, by the name of the setting; secrets; and
    `without`. Of other texts, such as paths, the seed, the name and the date of their run are left out, if that makes
    more runs alike. Values compare by value: 0.1 and 1e-1 are equal. The group and job type that a tracker keeps
    beside the settings, and the sweep, count as settings.

    Args:
        without: names of further settings that do not count, whole or without what stands before their last dot.

    Raises:
        InputError: no run has such a setting.
    """
    all_settings = [_settings(run) for run in project.runs]
    names = list(dict.fromkeys(name for settings in all_settings for name in settings))
    sweeps = [SWEEP] if any(run.sweep for run in project.runs) and SWEEP not in names else []
    excluded = {name for key in without for name in _find_setting(key, [*names, *sweeps])}
    columns, left_out = _columns(project.runs, all_settings, names, excluded)
    searches = _searches(project, columns)
    if searches and not excluded & set(sweeps):
        columns[SWEEP] = [run.sweep if run.sweep in searches else NONE for run in project.runs]
    members: dict[tuple[str, ...], list[int]] = {}
    for index, key_values in enumerate(_keys(columns, len(project.runs))):
        members.setdefault(key_values, []).append(index)
    differing = [name for name, column in columns.items() if len(set(column)) > 1]
    groups = []
    for indices in members.values():
        first = indices[0]
        settings = {name: column[first] for name, column in columns.items()}
        as_logged = {**all_settings[first], **{name: settings[name] for name in sweeps if name in settings}}
        visible = redact_variables({name: _text(as_logged.get(name, NONE)) for name in differing})
        groups.append(RunGroup("", tuple(project.runs[index] for index in indices), visible, settings))
    group_names, labels = _group_names(project.name, groups), _search_labels(project, groups, searches)
    labelled = tuple(
        RunGroup(name, group.runs, group.differing, group.settings, label)
        for group, name, label in zip(groups, group_names, labels, strict=True)
    )
    free = [index for index, run in enumerate(project.runs) if run.sweep not in searches]
    free_columns = {name: [column[index] for index in free] for name, column in columns.items()}
    splitting = _splitting(free_columns, differing, len(free))
    return Grouping(project, labelled, tuple(left_out), tuple(without), splitting)


def _columns(
    runs: Sequence[TrackedRun], all_settings: Sequence[Settings], names: Sequence[str], excluded: Container[str]
) -> tuple[dict[str, list[str]], list[str]]:
    """The settings that count, each run by run in the form in which it is compared, and the names of the others."""
    seeds = [_seeds(settings) for settings in all_settings]
    left_out: list[str] = []
    columns: dict[str, list[str]] = {}
    for name in names:
        column = [normal_form(settings[name]) if name in settings else NONE for settings in all_settings]
        if name in excluded or _is_of_run(name, column):
            left_out += [name] if len(set(column)) > 1 else []
            continue
        masked = [_mask(value, run, run_seeds) for value, run, run_seeds in zip(column, runs, seeds, strict=True)]
        if len(set(masked)) < len(set(column)):
            left_out.append(name if len(set(masked)) == 1 else f"seed and date in {name}")
            column = masked
        columns[name] = column
    return columns, left_out


def select_groups(grouping: Grouping, chosen: Sequence[str]) -> tuple[RunGroup, ...]:
    """The groups that were asked for: by name or pattern, and by KEY=VALUE, which narrows them down.

    Raises:
        InputError: no group is so.
    """
    names = {group.name for group in grouping.groups}
    groups = grouping.groups
    patterns = [text for text in chosen if text in names or not _is_pair(text, grouping)]
    if patterns:
        groups = tuple(group for group in groups if any(_has_name(group, text) for text in patterns))
    for text in chosen:
        if text in patterns:
            continue
        key, _, value = text.partition("=")
        keys = _find_setting(key, list(grouping.groups[0].settings))
        groups = tuple(group for group in groups if any(_has_value(group, name, value) for name in keys))
    if not groups:
        raise InputError(
            f"{grouping.project.address} has no group {' '.join(chosen)}",
            f"choose one of {first_few(sorted(names), MOST_IN_NAMES)}; --dry-run lists all",
        )
    return groups


def _has_name(group: RunGroup, pattern: str) -> bool:
    return group.name == pattern or fnmatch.fnmatchcase(group.name, pattern)


def _has_value(group: RunGroup, name: str, value: str) -> bool:
    """Whether a setting has a value, as it is or as it is shown; `none` is the absent one too."""
    own_value = group.settings[name]
    if own_value == NONE and value == "none":
        return True
    return normal_form(value) in {own_value, normal_form(group.differing.get(name, own_value))}


def normal_form(text: str) -> str:
    """The form in which values are compared.

    >>> [normal_form(text) for text in ("1e-1", "0.10", "1.0", "True", '{"b": 1, "a": 2.0}', "adam")]
    ['0.1', '0.1', '1', 'true', '{"a": 2, "b": 1}', 'adam']
    """
    text = text.strip()
    if NUMBER.fullmatch(text):
        return _number_text(float(text))
    if text.lower() in {"true", "false"}:
        return text.lower()
    if text[:1] in {"[", "{"}:
        try:
            return json.dumps(_plain(json.loads(text)), sort_keys=True)
        except ValueError:
            return text
    return text


def _plain(value: object) -> object:
    """A value in which numbers that are equal are written alike."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    return value


def _number_text(number: float) -> str:
    return str(int(number)) if math.isfinite(number) and number.is_integer() and abs(number) < 1e15 else repr(number)


def _settings(run: TrackedRun) -> Settings:
    """What may tell configurations apart, with the labels of the tracker, which never replace a setting."""
    labels = {name: value for name, value in run.labels.items() if value and name not in run.params}
    return {**run.params, **labels}


def _find_setting(key: str, names: Sequence[str]) -> list[str]:
    matching = _matching(key, names)
    if not matching:
        raise InputError(f"no run has a setting {key!r}", f"the settings are {first_few(sorted(names), 12) or 'none'}")
    return matching


def _matching(key: str, names: Sequence[str]) -> list[str]:
    """The setting of that name, or else those whose last part has it."""
    return [name for name in names if name == key] or [name for name in names if re.split(r"[./]", name)[-1] == key]


def _is_pair(text: str, grouping: Grouping) -> bool:
    key, equals, _ = text.partition("=")
    names = [name for group in grouping.groups[:1] for name in group.settings]
    return bool(equals and _matching(key, names))


def _is_of_run(name: str, values: Sequence[str]) -> bool:
    """Whether a setting belongs to a run rather than to its configuration, by its name."""
    if redact_variables({name: "x"})[name] != "x":
        return True
    if is_seed(name):
        return not {"true", "false"} & set(values)  # `use_seed` is a setting
    parts = [word(part) for part in re.split(r"[./]", name)]
    words = "_".join(parts[-2:]).split("_")  # `hydra.run.dir`
    is_output = words[-1] in FOLDER and bool(OUTPUT & set(words)) and not INPUT & set(words)
    return parts[-1] in RUN_NAMES or parts[-1] in OUTPUT_FOLDERS or is_output


def _seeds(settings: Settings) -> list[str]:
    """Seeds of a run as they may stand in a path."""
    values = [normal_form(value) for name, value in settings.items() if is_seed(name)]
    return [value for value in values if value.isdigit()]


def _mask(value: str, run: TrackedRun, seeds: Iterable[str]) -> str:
    """A text without what belongs to its run: seed, name, identifier, date. Numbers are settings as they are."""
    if NUMBER.fullmatch(value) or value in {NONE, "true", "false"}:
        return value
    for own_name in (run.id, run.name):
        if len(own_name) >= SHORTEST_ID:
            value = value.replace(own_name, "<run>")
    value = DATE.sub("<date>", value)
    for seed in seeds:
        without_seed, n_seeds = re.subn(rf"(?i)((?<![a-z])(?:seed|s|rs)[_=-]?)0*{seed}(?!\d)", r"\1<seed>", value)
        value = without_seed if n_seeds else re.sub(rf"(?<![A-Za-z0-9.])0*{seed}(?![A-Za-z0-9]|\.\d)", "<seed>", value)
    return value


def _keys(columns: Mapping[str, Sequence[str]], n_runs: int) -> list[tuple[str, ...]]:
    return list(zip(*columns.values(), strict=True)) if columns else [()] * n_runs


def _splitting(columns: Mapping[str, Sequence[str]], differing: Sequence[str], n_runs: int) -> tuple[str, int] | None:
    """The setting without which there are the fewest groups, if most runs are alone in theirs."""
    n_in_group = Counter(_keys(columns, n_runs))
    n_groups, n_single = len(n_in_group), sum(n == 1 for n in n_in_group.values())
    if n_groups < FEWEST_SINGLE or 2 * n_single <= n_groups:
        return None
    fewer = {}
    for name in differing:
        other_columns = {other: column for other, column in columns.items() if other != name}
        fewer[name] = len(set(_keys(other_columns, n_runs)))
    best = min(fewer, key=lambda name: fewer[name])
    return (best, fewer[best]) if 2 * fewer[best] <= n_groups else None


def _group_names(project: str, groups: Sequence[RunGroup]) -> list[str]:
    """Names of the fewest settings that tell the groups apart; numbers where that takes many or long ones."""
    if len(groups) == 1:
        return [project]
    differing = list(groups[0].differing)
    telling = list(differing)
    for name in reversed(differing):
        fewer = [other for other in telling if other != name]
        if len({tuple(group.settings[other] for other in fewer) for group in groups}) == len(groups):
            telling = fewer
    shorts = [re.split(r"[./]", name)[-1] for name in telling]
    labels = [name if shorts.count(short) > 1 else short for name, short in zip(telling, shorts, strict=True)]
    names = ["-".join([project, *_name_parts(group, labels, telling)]) for group in groups]
    if len(telling) > MOST_IN_NAMES or max(map(len, names)) > LONGEST_NAME or len(set(names)) < len(names):
        return [f"{project}-{number}" for number in range(1, len(groups) + 1)]
    return names


def _name_parts(group: RunGroup, labels: Sequence[str], telling: Sequence[str]) -> Iterator[str]:
    """What the name of a group says of its settings, in ASCII letters, as names of experiments are."""
    for label, name in zip(labels, telling, strict=True):
        value = re.sub(r"<\w+>", "", group.differing[name]).rstrip("/_-.")
        if value != NONE:
            yield f"{label}={re.sub(r'[^A-Za-z0-9._+-]+', '_', value.rpartition('/')[2]).strip('_')}"


def _text(text: str) -> str:
    """A value as it is shown: numbers that a program computed have fewer digits."""
    return f"{float(text):g}" if NUMBER.fullmatch(text) and set(text) & set(".eE") else text


def _searches(project: Project, columns: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """The sweeps with several configurations: one over seeds alone chooses nothing."""
    tried: dict[str, set[tuple[str, ...]]] = {}
    for run, key in zip(project.runs, _keys(columns, len(project.runs)), strict=True):
        tried.setdefault(run.sweep, set()).add(key)
    return frozenset(sweep for sweep, keys in tried.items() if sweep and len(keys) > 1)


def _search_labels(project: Project, groups: Sequence[RunGroup], searches: frozenset[str]) -> list[str]:
    """For each group, the search that it was chosen in: a sweep, or many configurations that ran once."""
    sweeps = [{run.sweep for run in group.runs} & searches for group in groups]
    n_configurations = Counter(sweep for group_sweeps in sweeps for sweep in group_sweeps)
    is_single = [len(group.runs) == 1 and not group_sweeps for group, group_sweeps in zip(groups, sweeps, strict=True)]
    labels = []
    for group_sweeps, is_alone in zip(sweeps, is_single, strict=True):
        sweep = max(group_sweeps, key=lambda name: n_configurations[name], default="")
        if sweep:
            aim = f", tuned on {project.aims[sweep]}" if sweep in project.aims else ""
            labels.append(f"one of {n_configurations[sweep]} configurations of sweep {sweep}{aim}")
        elif is_alone and sum(is_single) >= FEWEST_SINGLE:
            labels.append(f"one of {sum(is_single)} configurations with one run each, as in a search")
        else:
            labels.append("")
    return labels
