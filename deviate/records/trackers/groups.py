"""Groups runs by their configuration: equal settings are one group, whatever their seeds, names and output folders."""

import fnmatch
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from deviate.base.redaction import redact, redact_variables
from deviate.errors import InputError
from deviate.model.metric_vocabulary import snake, word_set
from deviate.model.records import TUNED
from deviate.model.texts import first_few
from deviate.records.importers import Imported
from deviate.records.importers.tracked import TrackedProject, TrackedRun, is_seed

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
    """

    project: TrackedProject
    groups: tuple[RunGroup, ...]
    left_out: tuple[str, ...]
    without: tuple[str, ...]


def group_runs(project: TrackedProject, *, without: Sequence[str] = ()) -> Grouping:
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
    excluded: set[str] = set()
    for key in without:
        matching = _find_settings(key, [*names, *([SWEEP] if any(run.sweep for run in project.runs) else [])])
        if not matching:
            listed = first_few(sorted(names), 12) or "none"
            raise InputError(f"no run has a setting {key!r}", f"the settings are {listed}")
        excluded.update(matching)
    columns, left_out = _columns(project.runs, all_settings, names, excluded)
    rows = [{name: column[index] for name, column in columns.items()} for index in range(len(project.runs))]
    searches = _searches(project.runs, rows)
    if searches and SWEEP not in excluded:
        for run, row in zip(project.runs, rows, strict=True):
            row[SWEEP] = run.sweep if run.sweep in searches else NONE
    members: dict[tuple[str, ...], list[int]] = {}
    for index, row in enumerate(rows):
        members.setdefault(tuple(row.values()), []).append(index)
    differing = [name for name in rows[0] if len({row[name] for row in rows}) > 1]
    groups = []
    for indices in members.values():
        settings = rows[indices[0]]
        as_logged = {**settings, **all_settings[indices[0]]}
        visible = redact_variables({name: _text(as_logged[name]) for name in differing})
        groups.append(RunGroup("", tuple(project.runs[index] for index in indices), visible, settings))
    sweeps = [next((run.sweep for run in group.runs if run.sweep in searches), "") for group in groups]
    labels = [f"one of {sweeps.count(sweep)} configurations of sweep {sweep}" if sweep else "" for sweep in sweeps]
    texts = zip(groups, _group_names(project.name, groups), labels, strict=True)
    named = tuple(replace(group, name=name, tuned=label) for group, name, label in texts)
    return Grouping(project, named, tuple(left_out), tuple(without))


def _columns(
    runs: Sequence[TrackedRun], all_settings: Sequence[Settings], names: Sequence[str], excluded: Container[str]
) -> tuple[dict[str, list[str]], list[str]]:
    """The settings that count, each run by run in the form in which it is compared, and the names of the others."""
    left_out: list[str] = []
    columns: dict[str, list[str]] = {}
    for name in names:
        column = [normal_form(settings[name]) if name in settings else NONE for settings in all_settings]
        if name in excluded or _is_of_run(name, column):
            left_out += [name] if len(set(column)) > 1 else []
            continue
        masked = [_mask(value, run, _seeds(run.params)) for value, run in zip(column, runs, strict=True)]
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
    groups = [group for group in grouping.groups if _is_chosen(group, chosen, [it.name for it in grouping.groups])]
    if not groups:
        listed = first_few(sorted(group.name for group in grouping.groups), MOST_IN_NAMES)
        raise InputError(
            f"{grouping.project.address} has no group {' '.join(chosen)}",
            f"choose one of {listed}; --dry-run lists all",
        )
    return tuple(groups)


def _is_chosen(group: RunGroup, chosen: Sequence[str], names: Container[str]) -> bool:
    """Whether a group has all the settings, and one of the names and patterns, that were asked for."""
    keys = {text: _find_settings(text.partition("=")[0], group.settings) for text in chosen if "=" in text}
    patterns = [text for text in chosen if text in names or not keys.get(text)]
    is_named = any(group.name == text or fnmatch.fnmatchcase(group.name, text) for text in patterns)
    return (is_named or not patterns) and all(
        _has_value(group, keys[text], text.partition("=")[2]) for text in chosen if text not in patterns
    )


def _has_value(group: RunGroup, names: Sequence[str], value: str) -> bool:
    """Whether one of these settings has a value, as it is or as it is shown; `none` is the absent one too."""
    shown = {normal_form(group.differing.get(name, NONE)) for name in names}
    own_values = shown | {group.settings[name] for name in names}
    return normal_form(value) in own_values or (value == "none" and NONE in own_values)


def normal_form(text: str) -> str:
    """The form in which values are compared.

    >>> [normal_form(text) for text in ("1e-1", "0.10", "1.0", "True", "adam")]
    ['0.1', '0.1', '1', 'true', 'adam']
    """
    text = text.strip()
    if NUMBER.fullmatch(text):
        return repr(float(text)).removesuffix(".0")
    if text.lower() in {"true", "false"}:
        return text.lower()
    return text


def _settings(run: TrackedRun) -> Settings:
    """What may tell configurations apart, with the labels of the tracker, which never replace a setting."""
    labels = {name: value for name, value in run.labels.items() if value and name not in run.params}
    return {**run.params, **labels}


def _find_settings(key: str, names: Iterable[str]) -> list[str]:
    """The setting of that name, or else those whose last part has it."""
    listed = list(names)
    return [name for name in listed if name == key] or [name for name in listed if _last_part(name) == key]


def _last_part(name: str) -> str:
    return re.split(r"[./]", name)[-1]


def _is_of_run(name: str, values: Sequence[str]) -> bool:
    """Whether a setting belongs to a run rather than to its configuration, by its name."""
    if redact_variables({name: "x"})[name] != "x":
        return True
    if is_seed(name):
        return not {"true", "false"} & set(values)  # `use_seed` is a setting
    parts = [snake(part) for part in re.split(r"[./]", name)]
    words = "_".join(parts[-2:]).split("_")  # `hydra.run.dir`
    is_output = words[-1] in FOLDER and bool(OUTPUT & set(words)) and not INPUT & set(words)
    return parts[-1] in RUN_NAMES | OUTPUT_FOLDERS or is_output


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


def _group_names(project: str, groups: Sequence[RunGroup]) -> list[str]:
    """Names of the settings that tell the groups apart; numbers where these are many or long."""
    names = ["-".join([project, *_name_parts(group.differing)]) for group in groups]
    if len(groups[0].differing) > MOST_IN_NAMES or max(map(len, names)) > LONGEST_NAME or len(set(names)) < len(names):
        return [f"{project}-{number}" for number in range(1, len(groups) + 1)]
    return names


def _name_parts(settings: Settings) -> Iterator[str]:
    """What the name of a group says of its settings, in ASCII letters, as names of experiments are."""
    for name, text in settings.items():
        value = re.sub(r"<\w+>", "", text).rstrip("/_-.")
        if value != NONE:
            yield f"{_last_part(name)}={re.sub(r'[^A-Za-z0-9._+-]+', '_', value.rpartition('/')[2]).strip('_')}"


def _text(text: str) -> str:
    """A value as it is shown: numbers that a program computed have fewer digits."""
    return f"{float(text):g}" if NUMBER.fullmatch(text) and set(text) & set(".eE") else text


def _searches(runs: Sequence[TrackedRun], rows: Sequence[Settings]) -> frozenset[str]:
    """The sweeps with several configurations: one over seeds alone chooses nothing."""
    tried = {(run.sweep, *row.values()) for run, row in zip(runs, rows, strict=True) if run.sweep}
    return frozenset(sweep for sweep, n in Counter(sweep for sweep, *_ in tried).items() if n > 1)


def import_groups(grouping: Grouping, groups: Sequence[RunGroup]) -> tuple[Imported, ...]:
    """Read the measurements of groups, each of which becomes an experiment of its name.

    Raises:
        InputError: the tracker cannot be read, or no run of any group logged numbers.
    """
    experiments = [_experiment(grouping, group) for group in groups]
    if not any(run.series for experiment in experiments for run in experiment.runs):
        raise InputError(f"the runs of {grouping.project.address} logged no numbers", "choose another group or project")
    return tuple(experiments)


def _experiment(grouping: Grouping, group: RunGroup) -> Imported:
    """The runs of a group, with the arguments of `deviate import` that read it again."""
    project = grouping.project
    without = (word for name in grouping.without for word in ("--without", name))
    chosen = ("--group", group.name) if len(grouping.groups) > 1 else ()
    notes = (*grouping_notes(grouping, group), *project.notes)
    of_group = replace(project, name=group.name, runs=group.runs, notes=notes)
    return of_group.as_experiment(arguments=(redact(project.address), *without, *chosen))


def grouping_notes(grouping: Grouping, group: RunGroup) -> tuple[str, ...]:
    """Sentences on how a group was made, for the record of its experiment."""
    values = ", ".join(f"{name} = {value}" for name, value in group.differing.items())
    return (
        *([f"{TUNED}{group.tuned}"] if group.tuned else []),
        *([f"one of {len(grouping.groups)} groups: {values}"] if values else []),
        *([f"grouped without: {', '.join(grouping.left_out)}"] if grouping.left_out else []),
    )
