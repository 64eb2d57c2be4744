"""Turns groups of runs into experiments, and reads their measurements for it."""

from collections.abc import Sequence

from deviate.base import redact
from deviate.errors import InputError
from deviate.model import TUNED
from deviate.records.importers import Imported
from deviate.records.importers.tracked import imported_runs, note_on
from deviate.records.trackers.groups import Grouping, RunGroup
from deviate.records.trackers.project import reading

UNFINISHED = "not finished, so the run does not count"


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
    project = grouping.project
    with reading(project.address):
        for run in group.runs:
            project.load(run)
    unfinished = note_on((run.label for run in group.runs if run.status == "lost"), UNFINISHED)
    starts = [run.started if project.has_clock_times else 0.0 for run in group.runs]
    runs, of_steps = imported_runs(group.runs, starts, project.prefix)
    return Imported(
        name=group.name,
        form=project.form,
        sources=(),
        runs=runs,
        notes=(*grouping_notes(grouping, group), *project.notes, *unfinished, *of_steps),
        arguments=_arguments(grouping, group),
    )


def _arguments(grouping: Grouping, group: RunGroup) -> tuple[str, ...]:
    """Those of `deviate import` that read the group again."""
    without = (word for name in grouping.without for word in ("--without", name))
    chosen = ("--group", group.name) if len(grouping.groups) > 1 else ()
    return (redact(grouping.project.address), *without, *chosen)


def grouping_notes(grouping: Grouping, group: RunGroup) -> tuple[str, ...]:
    """Sentences on how a group was made, for the record of its experiment."""
    values = ", ".join(f"{name} = {value}" for name, value in group.differing.items())
    return (
        *([f"{TUNED}{group.tuned}"] if group.tuned else []),
        *([f"one of {len(grouping.groups)} groups: {values}"] if values else []),
        *([f"grouped without: {', '.join(grouping.left_out)}"] if grouping.left_out else []),
    )
