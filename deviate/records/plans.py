"""The plan of an experiment, `experiment.json`: created once, changed by name, with every change kept."""

import dataclasses
import difflib
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deviate.base.decisions import log_decision
from deviate.errors import InputError, RecordError, writing
from deviate.model.plan import Selection, Settings, SweptValue, Variant
from deviate.model.records import PastComparison, Spending
from deviate.records.files import lock_folder, read_record, reading, to_builtins, write_record
from deviate.records.layout import experiment_file, experiments_folder, runs_folder, snapshot_folder
from deviate.records.schema import Change, Reported
from deviate.registry import Plugin


@dataclass(frozen=True, slots=True)
class VariantPlan:
    """A variant of the experiment and its number of runs.

    Attributes:
        definition: the whole variant as it was when the experiment took it up, so that a later edit of `deviate.toml`
            changes nothing that is on record; None where deviate did not run the experiment.
    """

    name: str
    n_runs: int
    definition: Variant | None = None

    @property
    def varied(self) -> tuple[str, ...]:
        """Streams and factors that vary between runs."""
        return self.definition.varied if self.definition else ()

    @property
    def held(self) -> tuple[str, ...]:
        """Streams and factors that are held fixed."""
        return self.definition.held if self.definition else ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What an experiment is to do, and what to read from it.

    Attributes:
        seed: the experiment seed, from which the seed set of each run follows.
        selection: the metrics as selected last; changing it needs no new runs.
        history: changes since the plan was made, oldest first.
        environment: variables that the user sets for every run; secrets are not among them.
        prepare: commands that ran once in the frozen project, before all runs; then: commands that follow each run.
        wrap: the beginning of a command that starts a container, empty for none.
        n_threads: to how many threads each run is limited, None for no limit.
        settings: as used last.
        looks: numbers of runs per variant at which the user means to compare, declared before the first run; `spending`
            is how the error is spent on them.
        precision: what decides the number of runs, such as "test_acc ±0.5"; empty where it was given.
        reported: when results were shown, with the number of runs that had been planned by then.
        past_comparisons: candidates that it was the baseline of, one entry for each.
        imported: sentences on what was read from elsewhere; empty where deviate runs the experiment.
        tasks: names of metrics that are one measure on several tasks or data sets.
        capture: what the runs keep beside their metrics, as in `Spec.capture`; empty for nothing.
        sweep: which value of which argument this is, where it is one of a sweep.
        plugins: sinks and adapters of other packages whose files lie in the snapshot.
        n_ended: runs per variant that had ended when runs were last executed to their end, which a budget or
            `--max-failures` may have set before all had.
        origins: what gave each setting its value, by the name of its option: the flag `--runs`, the variable
            `DEVIATE_RUNS` or `deviate.toml`; defaults are left out.
        weights: places of draws before the training that are first values of weights, which the first run finds, such
            as `net.py:3<train.py:9`; None before it has ended, empty where nothing is to be found.
    """

    name: str
    created: float
    root: Path
    command: tuple[str, ...]
    cwd: str
    seed: int
    sources_hash: str
    variants: tuple[VariantPlan, ...]
    selection: Selection
    history: tuple[Change, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    prepare: tuple[tuple[str, ...], ...] = ()
    then: tuple[tuple[str, ...], ...] = ()
    wrap: tuple[str, ...] = ()
    n_threads: int | None = None
    settings: Settings = field(default_factory=Settings)
    looks: tuple[int, ...] = ()
    spending: Spending = "obrien-fleming"
    precision: str = ""
    reported: tuple[Reported, ...] = ()
    past_comparisons: tuple[PastComparison, ...] = ()
    imported: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    capture: tuple[tuple[str, str], ...] = ()
    sweep: SweptValue | None = None
    plugins: tuple[Plugin, ...] = ()
    n_ended: int = 0
    origins: tuple[tuple[str, str], ...] = ()
    weights: tuple[str, ...] | None = ()

    @property
    def n_runs(self) -> int:
        """The largest number of runs of any variant."""
        return max((variant.n_runs for variant in self.variants), default=0)

    def is_cut_short(self, n_planned: int, n_ended: int) -> bool:
        """Whether a variant with so many planned and ended runs is to get no more of them."""
        return not self.imported and n_ended < n_planned and n_ended <= self.n_ended

    def n_pending(self, n_planned: int, n_ended: int) -> int:
        """Runs of a variant that a verdict waits for; none where looks are declared, which say when to compare."""
        is_closed = self.imported or self.looks or self.is_cut_short(n_planned, n_ended)
        return 0 if is_closed else max(0, n_planned - n_ended)

    def n_unplanned_looks(self, *, is_cut_short: bool) -> int:
        """How often runs were added after a comparison was shown, without a declared look."""
        if self.looks or self.precision:
            return 0
        n_runs = self.n_reached(is_cut_short=is_cut_short)
        return len({report.n_runs for report in self.reported if report.is_comparison and report.n_runs < n_runs})

    def n_reached(self, *, is_cut_short: bool) -> int:
        """The number of runs per variant of a plan that is carried out."""
        return min(self.n_ended or self.n_runs, self.n_runs) if is_cut_short else self.n_runs


NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+=@-]{0,99}")
"""Pattern of the name of an experiment."""


WARNS = ("on-missing", "warn")
"""Control of a variant that continues where an operation has no deterministic version."""


OPTION_OF_SETTING = {field.name: field.name for field in dataclasses.fields(Settings)} | {
    "options": "option",
    "timeout_s": "timeout",
    "stall_timeout_s": "stall_timeout",
    "ignored_codes": "ignore_failure",
}
"""The option that each field of `Settings` is set by, as in `Plan.origins`."""
SAME_WORK = ("command", "cwd", "sources_hash", "environment", "prepare", "capture", "sweep")
"""Fields of a plan that are equal in experiments that do the same work."""


def place_of(deviate: Path, name: str) -> Path:
    """The folder that an experiment of this name has, or would have. Raises InputError where nothing can bear it."""
    if not NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name an experiment",
            "use only letters, digits and . _ + = @ -, and begin with a letter or digit",
        )
    return experiments_folder(deviate) / name


def new_experiment_folder(deviate: Path, name: str) -> Path:
    """Make the folder for a new experiment, and `.deviate/` invisible to git.

    Raises:
        InputError: the name cannot be used, or an experiment has it already.
    """
    folder = free_place(deviate, name)
    make_deviate_folder(deviate)
    with writing(f"making {folder}", "check free space and permissions there"):
        shutil.rmtree(snapshot_folder(folder), ignore_errors=True)  # of an experiment that never began
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def free_place(deviate: Path, name: str) -> Path:
    """The folder for a new experiment, which is not made.

    Raises:
        InputError: the name cannot be used, or an experiment has it already.
    """
    folder = place_of(deviate, name)
    if experiment_file(folder).exists():
        raise InputError(
            f"an experiment named {name} exists already", f"choose another name with --name, or delete {folder}"
        )
    return folder


def make_deviate_folder(deviate: Path) -> None:
    """Make the `.deviate/` folder, invisible to git. Raises RecordError."""
    with writing(f"making {deviate}", "check free space and permissions there"):
        deviate.mkdir(parents=True, exist_ok=True)
        ignore = deviate / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")


def create_experiment(folder: Path, plan: Plan) -> None:
    """Write the plan of a new experiment into its folder.

    Raises:
        InputError: there is one already.
    """
    if experiment_file(folder).exists():
        raise InputError(f"an experiment named {plan.name} exists already", "choose another name with --name")
    runs_folder(folder).mkdir(parents=True, exist_ok=True)
    _write_plan(folder, plan)


def change_experiment(folder: Path, *, time: float, **changes: Any) -> Plan:
    """Give fields of the plan new values, and keep what changed; gives the new plan.

    Other origins of the same values are no change.
    """

    def change(plan: Plan) -> Plan:
        new = dataclasses.replace(plan, **changes)
        before = to_builtins(plan)
        fields = {key: value for key, value in to_builtins(new).items() if value != before[key] and key != "origins"}
        return dataclasses.replace(new, history=(*plan.history, Change(time, fields))) if fields else plan

    return _rewrite(folder, change)


def tell_reported(
    folder: Path,
    *,
    time: float,
    is_comparison: bool,
    is_cut_short: bool = False,
    compared: Sequence[PastComparison] = (),
) -> None:
    """Write down that results were shown: runs that are added from now on were not planned without knowing them.

    Args:
        is_cut_short: whether the plan had ended before all its runs had, as in `Plan.is_cut_short`.
        compared: what was shown of this experiment as the baseline; the latest comparison with a candidate stands.
    """

    def tell(plan: Plan) -> Plan:
        n_runs, reported = plan.n_reached(is_cut_short=is_cut_short), plan.reported
        if not any(report.n_runs == n_runs and report.is_comparison >= is_comparison for report in reported):
            reported = (*reported, Reported(time, n_runs, is_comparison))
        past = {comparison.key: comparison for comparison in (*plan.past_comparisons, *compared)}
        return dataclasses.replace(plan, reported=reported, past_comparisons=tuple(past.values()))

    _rewrite(folder, tell)


def record_ended(folder: Path, n_ended: int) -> None:
    """Write down that runs were executed to their end, with how many of a variant had ended then."""
    _rewrite(folder, lambda plan: dataclasses.replace(plan, n_ended=max(plan.n_ended, n_ended)))


def record_weights(folder: Path, places: Sequence[str]) -> None:
    """Write down which draws before the training are weights, unless a run before has told."""
    _rewrite(folder, lambda plan: dataclasses.replace(plan, weights=tuple(places)) if plan.weights is None else plan)


def _rewrite(folder: Path, change: Callable[[Plan], Plan]) -> Plan:
    """Change the plan while nobody else does; gives the new one."""
    with lock_folder(folder, waits=True):
        plan = read_plan(folder)
        new = change(plan)
        if new != plan:
            _write_plan(folder, new)
        return new


def _write_plan(folder: Path, plan: Plan) -> None:
    write_record(experiment_file(folder), plan)


def read_plan(folder: Path) -> Plan:
    """Raises RecordError when the plan is missing or damaged."""
    path = experiment_file(folder)
    plan = read_record(path, Plan)
    with reading(path):  # reports are written to folders of these names
        if not NAME.fullmatch(plan.name):
            raise ValueError(f"{plan.name!r} cannot name an experiment")
    return plan


def experiment_folders(deviate: Path) -> list[Path]:
    """The folders of experiments by name, also of those that have runs and no plan any more."""
    folders = sorted(experiments_folder(deviate).glob("*/"))
    return [folder for folder in folders if experiment_file(folder).exists() or any(runs_folder(folder).glob("*/"))]


def list_experiments(deviate: Path) -> tuple[Plan, ...]:
    """Every experiment under `.deviate/` whose plan can be read, oldest first."""
    return on_record(deviate)[0]


def on_record(deviate: Path) -> tuple[tuple[Plan, ...], dict[str, RecordError]]:
    """The plans that can be read, oldest first, and by name why others cannot."""
    plans, damaged = [], {}
    for folder in experiment_folders(deviate):
        try:
            plans.append(read_plan(folder))
        except RecordError as error:
            log_decision("records", "experiment %s is left out: %s", folder.name, error.message)
            damaged[folder.name] = error
    return tuple(sorted(plans, key=lambda plan: (plan.created, plan.name))), damaged


def siblings(plans: Sequence[Plan], name: str, variant: str) -> tuple[str, ...]:
    """Names of the other experiments that run the same command on the same code in this variant, in the order given."""
    plan_of_name = next((plan for plan in plans if plan.name == name), None)
    if plan_of_name is None or plan_of_name.imported:
        return ()
    return tuple(
        plan.name
        for plan in plans
        if plan is not plan_of_name
        and not plan.imported
        and all(getattr(plan, field) == getattr(plan_of_name, field) for field in SAME_WORK)
        and variant in {other.name for other in plan.variants}
    )


def find_experiment(deviate: Path, name: str) -> Path:
    """The folder of an experiment by name.

    Raises:
        InputError: there is none; the message lists those that are there.
    """
    folder = experiments_folder(deviate) / name
    names = [path.name for path in experiment_folders(deviate)]
    if NAME.fullmatch(name) and name in names:
        return folder
    near = difflib.get_close_matches(name, names, n=1)
    suggestion = f"did you mean {near[0]}? " if near else ""
    raise InputError(
        f"no experiment named {name!r} under {deviate}",
        f"{suggestion}known experiments: {', '.join(names)}"
        if names
        else "no experiment is recorded there: change to the folder of the project, or run one first: "
        "deviate run TRAIN.py --name NAME",
    )


def flags_of(plan: Plan, variant: VariantPlan) -> Iterator[str]:
    """Flags as `deviate diverge` takes them, besides the command and the variant; empty for imported experiments.

    Devices, time limits and similar options do not change what a run computes, so they are not included.
    """
    if plan.imported:
        return
    for name, value in plan.environment:
        yield from ("--env", f"{name}={value}")
    for words in plan.prepare:
        yield from ("--prepare", shlex.join(words))
    if plan.wrap:
        yield from ("--wrap", shlex.join(plan.wrap))
    if plan.seed:
        yield from ("--seed", str(plan.seed))
    definition = variant.definition
    if definition is not None and not definition.are_trackers_offline:
        yield from ("--trackers", "as-is")
    if definition is not None and WARNS in definition.controls:
        yield "--warn-only"
