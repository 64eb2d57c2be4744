"""`deviate import`: results from elsewhere become an experiment like any other."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from deviate.cli.app import command, nearest, print_document
from deviate.cli.options.groups import in_records, in_runs
from deviate.cli.options.results import IMPORTER
from deviate.errors import InputError
from deviate.records.experiments import published_table, read_files
from deviate.records.importers import Imported
from deviate.records.layout import records_folder
from deviate.records.trackers.groups import Grouping, RunGroup
from deviate.report.document import Document, Facts, fact, listing, paragraph
from deviate.report.format import clean, counted

MOST_GROUPS = 20
"""Groups of a project that are imported without a choice."""
MOST_SETTINGS = 5
"""Settings that the list of groups has a column for."""
FEWEST_SLOW = 10
"""Runs from which on reading them over a network takes so long that it is announced."""


@command(
    "import",
    epilog="Example: deviate import lightning_logs/version_* --name baseline",
)
def import_command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Files, folders or patterns with the runs of an experiment; or a project of a tracker: "
            "wandb:ENTITY/PROJECT, mlflow:EXPERIMENT, tensorboard:FOLDER.",
        ),
    ],
    name: str | None = in_runs(
        "NAME", "Name of the experiment; of several groups, how their names begin. Default: that of the files."
    ),
    importer: str | None = IMPORTER,
    group: list[str] | None = in_records(
        "NAME|KEY=VALUE", "Groups of a project to import: by name, pattern or setting. May be repeated."
    ),
    without: list[str] | None = in_records("KEY", "Group the runs of a project without this setting. May be repeated."),
    dry_run: bool = in_runs(None, "List the groups of a project; import nothing.", default=False),
) -> None:
    """Import results from elsewhere as an experiment, for list, show, report and compare.

    Reads CSV (wide or long), JSON, TensorBoard, offline wandb, MLflow, Lightning, Keras and DEVIATE 2021. Of a project
    of a tracker, the runs with equal settings but different seeds become an experiment.
    """
    from deviate.records.importing import unique_names
    from deviate.records.plans import free_place
    from deviate.records.trackers.addresses import is_address

    address = next((file for file in files if is_address(file) and not os.path.lexists(file)), None)
    if address is not None:
        if len(files) > 1 or importer is not None:
            raise InputError(f"{address} is imported alone", "name one project, without --format")
        _import_project(address, name, group or [], without or [], is_dry=dry_run)
        return
    if group or without or dry_run:
        raise InputError(
            "--group, --without and --dry-run are for projects of a tracker", "name one, such as wandb:ENTITY/PROJECT"
        )
    table = published_table(files)
    if table is not None:
        typer.echo(table, nl=False)
        return
    folder = records_folder(Path.cwd().resolve())
    if name is not None:
        free_place(folder, name)
    results = read_files(files, form=importer)
    if name is not None and len(results) > 1:
        names = ", ".join(result.name for result in results)
        raise InputError(f"--name {name}: there are {len(results)} experiments: {names}", "leave --name out")
    _write(folder, results, (name,) if name is not None else unique_names([result.name for result in results]))


def _import_project(
    address: str, name: str | None, chosen: Sequence[str], without: Sequence[str], *, is_dry: bool
) -> None:
    from deviate.records.plans import free_place
    from deviate.records.trackers.addresses import read_project
    from deviate.records.trackers.groups import group_runs, grouping_notes, import_groups, select_groups

    grouping = group_runs(read_project(address), without=without)
    groups = select_groups(grouping, chosen)
    is_choice_open = not chosen and len(groups) > MOST_GROUPS
    if is_dry or len(grouping.groups) > 1:
        print_document(_listing(grouping, groups if is_dry or not is_choice_open else groups[:MOST_GROUPS]))
    if is_dry:
        return
    if is_choice_open:
        raise InputError(
            f"{grouping.project.address} has {len(groups)} groups, of which {MOST_GROUPS} are listed above",
            "choose with --group NAME or --group KEY=VALUE; --group '*' imports all",
        )
    folder = records_folder(Path.cwd().resolve())
    names = _names(grouping, groups, name)
    for group_name in names:  # before anything is fetched
        free_place(folder, group_name)
    n_runs = sum(len(group.runs) for group in groups)
    if n_runs > FEWEST_SLOW:
        typer.echo(f"Reading  {n_runs} runs")
    listed = [note for group in groups for note in grouping_notes(grouping, group)]
    _write(folder, import_groups(grouping, groups), names, listed=listed if len(grouping.groups) > 1 else ())


def _names(grouping: Grouping, groups: Sequence[RunGroup], name: str | None) -> tuple[str, ...]:
    """Names for the experiments of groups, of which a single one is called `name` itself."""
    from deviate.records.importing import unique_names

    if name is not None and len(groups) == 1:
        return (name,)
    project = grouping.project.name
    return unique_names(
        [group.name if name is None else f"{name}{group.name.removeprefix(project)}" for group in groups]
    )


def _listing(grouping: Grouping, groups: Sequence[RunGroup]) -> Document:
    """The groups in a table, and what they were made by."""
    project = grouping.project
    n_runs, n_groups = counted(len(project.runs), "run"), counted(len(grouping.groups), "group")
    head = [fact("Project", f"{project.address}: {n_runs} in {n_groups}")]
    head += [fact("Grouped", f"without: {', '.join(grouping.left_out)}")] if grouping.left_out else []
    settings = list(groups[0].differing)
    columns = settings[:MOST_SETTINGS]
    rows = [
        (
            group.name,
            str(len(group.runs)),
            _count(group, "completed"),
            _count(group, "crashed", "diverged"),
            _count(group, "lost", "cancelled"),
            *(group.differing[key] for key in columns),
        )
        for group in groups
    ]
    table = listing(("name", "runs", "finished", "failed", "not counted", *columns), rows)
    tuned = Counter(group.tuned for group in groups if group.tuned)
    rest = [fact("Tuned", f"{n} listed: {search}") for search, n in tuned.items()]
    if more := settings[MOST_SETTINGS:]:
        rest.insert(0, fact("Settings", f"{len(more)} more differ: {', '.join(more)}"))
    return Document(sections=(paragraph(Facts(tuple(head)), table, Facts(tuple(rest))),))


def _count(group: RunGroup, *states: str) -> str:
    n = sum(run.status in states for run in group.runs)
    return str(n) if n else ""


def _write(folder: Path, results: Sequence[Imported], names: Sequence[str], *, listed: Sequence[str] = ()) -> None:
    """Record experiments; of several all are imported, or none. Notes that were listed before are not shown again."""
    from deviate.records.importing import write_imported
    from deviate.records.plans import free_place

    for note in dict.fromkeys(note for imported in results for note in imported.notes):
        if note not in listed:
            typer.echo(f"Read     {clean(note)}")
    for name in names:
        free_place(folder, name)
    for imported, name in zip(results, names, strict=True):
        path = write_imported(folder, imported, name)
        metrics = sorted({metric for run in imported.runs for metric in run.series})
        typer.echo(f"Imported {path.name}: {counted(len(imported.runs), 'run')}, {', '.join(metrics) or 'no numbers'}")
        typer.echo(f"         {nearest(path)}")
