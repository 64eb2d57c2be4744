"""Writer for Weights & Biases: a run per experiment or variant, offline unless `WANDB_MODE` says otherwise."""

import os
import shlex
from typing import Any

from deviate.errors import InputError, RecordError
from deviate.report.format import clean, shorten
from deviate.report.trackers.aggregate import AggregateReport, AggregateRun
from deviate.report.trackers.registry import Written, tracker

PROJECT = "deviate"
LONGEST_TAG = 64
LONGEST_REASON = 200


@tracker("wandb")
def write_to_wandb(report: AggregateReport, where: str | None) -> Written:
    """Write runs of one group to a project.

    Args:
        where: PROJECT or ENTITY/PROJECT; None for `WANDB_PROJECT`, or else `deviate`.

    Raises:
        InputError: the name of the project is none, or `WANDB_MODE` lets nothing be written.
        RecordError: wandb cannot write.
    """
    mode = os.environ.get("WANDB_MODE") or "offline"
    if mode == "disabled":
        raise InputError("--to wandb: WANDB_MODE=disabled lets wandb write nothing", "unset it, or set it to offline")
    entity, slash, project = (where or os.environ.get("WANDB_PROJECT") or PROJECT).rpartition("/")
    if not project or "/" in entity or (slash and not entity):
        raise InputError(f"--to wandb:{where} names no project", "write it as --to wandb:ENTITY/PROJECT")
    # Before wandb is imported: it reports errors to its authors.
    os.environ.setdefault("WANDB_ERROR_REPORTING", "false")
    import wandb

    try:
        written = [_write_run(report, run, entity or None, project, mode) for run in report.runs]
        wandb.teardown()  # files are whole once wandb's own process has ended
    except (wandb.Error, OSError) as error:
        raise RecordError(
            f"writing to wandb with WANDB_MODE={mode}: {shorten(clean(str(error)), LONGEST_REASON)}",
            "log in with wandb login, or unset WANDB_MODE to write offline",
        ) from error
    if mode != "offline":
        return Written(f"group {report.group}, {mode}", f"show: {written[0]}")
    folders = shlex.join(os.path.relpath(folder) for folder in written)
    return Written(f"group {report.group}, offline", f"upload: wandb sync {folders}")


def _write_run(report: AggregateReport, run: AggregateRun, entity: str | None, project: str, mode: str) -> str:
    """Write one run; returns its folder, or its address where it is online."""
    import wandb

    tags = ["deviate", *filter(None, [run.facts.get("verdict"), run.facts["experiment"]])]
    # The run is no process of the user: nothing is told of this machine, its output and its repository.
    settings = wandb.Settings(
        silent=True,
        console="off",
        host="",
        save_code=False,
        disable_git=True,
        disable_job_creation=True,
        x_disable_meta=True,
        x_disable_machine_info=True,
        x_disable_stats=True,
        x_save_requirements=False,
    )
    written = wandb.init(
        entity=entity,
        project=project,
        mode=mode,  # type: ignore[arg-type]  # as the user's variable says
        id=os.urandom(4).hex(),
        name=f"{run.label} {report.stamp}",
        group=report.group,
        job_type="deviate report",
        tags=[tag[:LONGEST_TAG] for tag in dict.fromkeys(tags)],
        notes=report.sentence,
        config={f"deviate_{name}": text for name, text in run.facts.items()},
        reinit="create_new",
        settings=settings,
    )
    with written:
        rows: dict[int, dict[str, Any]] = dict(run.rows()) or {0: {}}
        last = max(rows)
        rows[last]["report"] = wandb.Html(report.page(), inject=False)
        for step, row in rows.items():
            written.log(row, step=step)
        written.summary.update({**run.figures, **run.words})
        return str(written.settings.sync_dir if mode == "offline" else written.url)
