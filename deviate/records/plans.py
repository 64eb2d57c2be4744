"""The plan of an experiment, `experiment.json`: created once, changed by name, with every change kept."""

import dataclasses
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deviate.errors import InputError, RecordError
from deviate.model import SelectedMetric, Selection, Variant
from deviate.records.files import read_json, reading, write_json
from deviate.records.layout import experiment_file, experiments_folder, runs_folder, snapshot_folder
from deviate.records.manifest import metric_from

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+=-]{0,99}")


@dataclass(frozen=True, slots=True)
class VariantPlan:
    """A variant of the experiment and how many runs it is to have.

    Attributes:
        definition: the whole variant as it was when the experiment took it up, so that a later edit of `deviate.toml`
            changes nothing that is on record; None in a plan of format 1, which has names only.
    """

    name: str
    n_runs: int
    definition: Variant | None = None

    @property
    def varied(self) -> tuple[str, ...]:
        """Streams and factors that vary between runs; empty where the record does not tell."""
        return self.definition.varied if self.definition else ()

    @property
    def held(self) -> tuple[str, ...]:
        """Streams and factors that are held; empty where the record does not tell."""
        return self.definition.held if self.definition else ()


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the plan: when, and the fields that took a new value, as stored."""

    time: float
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """What an experiment is to do, and what to read from it.

    Attributes:
        seed: the experiment seed, from which the seed set of each run follows.
        selection: the metrics as selected last; changing it needs no new runs.
        history: changes since the plan was made, oldest first.
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
    jobs: int = 1
    history: tuple[Change, ...] = ()


def new_experiment_folder(deviate: Path, name: str) -> Path:
    """Make the folder for a new experiment, and `.deviate/` invisible to git.

    Raises:
        InputError: the name cannot be used, or an experiment has it already.
    """
    if not NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot name an experiment", "use letters, digits and . _ + = - only, beginning with a letter"
        )
    folder = experiments_folder(deviate) / name
    if experiment_file(folder).exists():
        raise InputError(
            f"an experiment named {name} exists already",
            f"choose another name with --name, or delete {folder}",
        )
    try:
        shutil.rmtree(snapshot_folder(folder), ignore_errors=True)  # of an experiment that never began
        folder.mkdir(parents=True, exist_ok=True)
        ignore = deviate / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
    except OSError as error:
        raise RecordError(
            f"making {folder}: {error.strerror or error}", "check free space and permissions there"
        ) from error
    return folder


def create_experiment(folder: Path, plan: Plan) -> None:
    """Write the plan of a new experiment into its folder.

    Raises:
        InputError: there is one already.
    """
    if experiment_file(folder).exists():
        raise InputError(f"an experiment named {plan.name} exists already", "choose another name with --name")
    runs_folder(folder).mkdir(parents=True, exist_ok=True)
    write_json(experiment_file(folder), "experiment", _document(plan))


def change_experiment(
    folder: Path,
    *,
    time: float,
    selection: Selection | None = None,
    variants: Sequence[VariantPlan] | None = None,
    jobs: int | None = None,
) -> Plan:
    """Change what is read, how many runs there are to be, or how many run at once; gives the new plan."""
    plan = read_plan(folder)
    new = dataclasses.replace(
        plan,
        selection=plan.selection if selection is None else selection,
        variants=plan.variants if variants is None else tuple(variants),
        jobs=plan.jobs if jobs is None else jobs,
    )
    before, after = _document(plan), _document(new)
    fields = {key: value for key, value in after.items() if value != before[key]}
    if not fields:
        return plan
    new = dataclasses.replace(new, history=(*plan.history, Change(time, fields)))
    write_json(experiment_file(folder), "experiment", _document(new))
    return new


def read_plan(folder: Path) -> Plan:
    """Raises RecordError when the plan is missing or damaged."""
    path = experiment_file(folder)
    document = read_json(path, "experiment")
    with reading(path):
        return Plan(
            name=str(document["name"]),
            created=float(document["created"]),
            root=Path(document["root"]),
            command=tuple(map(str, document["command"])),
            cwd=str(document["cwd"]),
            seed=int(document["seed"]),
            sources_hash=str(document["sources_hash"]),
            variants=tuple(_variant_from(entry) for entry in document["variants"]),
            selection=Selection(tuple(_selected_from(entry) for entry in document["selection"])),
            jobs=int(document["jobs"]),
            history=tuple(Change(float(entry["time"]), dict(entry["fields"])) for entry in document["history"]),
        )


def list_experiments(deviate: Path) -> tuple[Plan, ...]:
    """Every experiment under `.deviate/`, oldest first. Raises RecordError for a damaged plan."""
    folders = [path.parent for path in experiments_folder(deviate).glob("*/experiment.json")]
    return tuple(sorted((read_plan(folder) for folder in folders), key=lambda plan: (plan.created, plan.name)))


def find_experiment(deviate: Path, name: str) -> Path:
    """The folder of an experiment by name.

    Raises:
        InputError: there is none; the message lists those that are there.
    """
    folder = experiments_folder(deviate) / name
    if NAME.fullmatch(name) and experiment_file(folder).exists():
        return folder
    known = sorted(path.parent.name for path in experiments_folder(deviate).glob("*/experiment.json"))
    raise InputError(
        f"no experiment named {name!r} under {deviate}",
        f"known experiments: {', '.join(known)}" if known else "run one first: deviate run TRAIN.py --name NAME",
    )


def _document(plan: Plan) -> dict[str, Any]:
    return {
        "name": plan.name,
        "created": plan.created,
        "root": str(plan.root),
        "command": list(plan.command),
        "cwd": plan.cwd,
        "seed": plan.seed,
        "sources_hash": plan.sources_hash,
        "jobs": plan.jobs,
        "variants": [_variant_document(variant) for variant in plan.variants],
        "selection": [dataclasses.asdict(metric) for metric in plan.selection.metrics],
        "history": [dataclasses.asdict(change) for change in plan.history],
    }


def _variant_document(variant: VariantPlan) -> dict[str, Any]:
    document: dict[str, Any] = {"name": variant.name, "n_runs": variant.n_runs}
    if variant.definition is not None:
        document |= {
            "description": variant.definition.description,
            "varied": list(variant.definition.varied),
            "held": list(variant.definition.held),
            "controls": dict(variant.definition.controls),
            "perturbations": [dict(levels) for levels in variant.definition.perturbations],
            "are_trackers_offline": variant.definition.are_trackers_offline,
        }
    return document


def _variant_from(entry: dict[str, Any]) -> VariantPlan:
    name, n_runs = str(entry["name"]), int(entry["n_runs"])
    if "varied" not in entry:
        return VariantPlan(name, n_runs)
    definition = Variant(
        name=name,
        description=str(entry["description"]),
        varied=tuple(map(str, entry["varied"])),
        held=tuple(map(str, entry["held"])),
        controls=_levels_from(entry["controls"]),
        perturbations=tuple(_levels_from(levels) for levels in entry["perturbations"]),
        are_trackers_offline=bool(entry["are_trackers_offline"]),
    )
    return VariantPlan(name, n_runs, definition)


def _levels_from(levels: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((str(name), str(level)) for name, level in levels.items())


def _selected_from(entry: dict[str, Any]) -> SelectedMetric:
    return SelectedMetric(
        name=str(entry["name"]),
        metric=metric_from(entry["metric"]),
        role=entry["role"],
        direction=entry["direction"],
        aggregate=str(entry["aggregate"]),
        unit=str(entry["unit"]),
        is_primary=bool(entry["is_primary"]),
        margin=None if entry["margin"] is None else float(entry["margin"]),
    )
