"""Runs as text: how each ended, how it was started, and where an experiment comes from."""

import shlex
from collections import Counter
from collections.abc import Sequence

from deviate.model import IMPORTED_AS, Experiment, Run
from deviate.report.document import Absent, Block, ColumnStyle, Fact, Facts, Failure, Row, Section, Table, cell
from deviate.report.format import clean, counted, group_pairs, instant, replicates
from deviate.report.numbers import Pieces, duration_of
from deviate.report.parts import randomness
from deviate.report.parts.changes import commit_text

OUTCOMES: dict[str, str] = {
    "completed": "completed",
    "diverged": "diverged",
    "crashed": "crashed",
    "timed_out": "timed out",
    "lost": "lost",
    "cancelled": "cancelled",
    "silent": "recorded nothing",
}


def outcome_counts(experiment: Experiment) -> str:
    """`9/10 completed, 1 diverged`."""
    n_completed = sum(run.status == "completed" for run in experiment.runs)
    parts = [f"{n_completed}/{experiment.n_planned} completed"]
    not_completed = Counter(run.status for run in experiment.runs if run.status != "completed")
    parts += [f"{n} {OUTCOMES[status]}" for status, n in not_completed.items()]
    n_absent = experiment.n_planned - len(experiment.runs)
    if n_absent > 0:
        parts.append(f"{n_absent} not on record")
    return ", ".join(parts)


def circumstances(experiment: Experiment) -> tuple[str, ...]:
    """Circumstances that affect all results: unplanned runs, and limited threads."""
    n_threads, n_looks = experiment.n_threads, experiment.n_unplanned_looks
    parts = [
        counted(n_looks, "unplanned look") if n_looks else "",
        f"each run limited to {counted(n_threads, 'thread')}" if n_threads else "",
    ]
    return tuple(filter(None, parts))


def record_warnings(experiments: Sequence[Experiment], labels: Sequence[str]) -> tuple[str, ...]:
    """Warnings of the records; equal warnings of several runs and experiments are merged."""
    places: list[tuple[str, str]] = []
    for experiment, label in zip(experiments, labels, strict=True):
        places += [(clean(text), label) for text in experiment.warnings]
        of_runs = group_pairs((clean(text), run.replicate) for run in experiment.runs for text in run.warnings)
        places += [(text, f"{label}, {replicates(runs)}") for text, runs in of_runs.items()]
    return tuple(f"{'; '.join(whose)}: {text}" for text, whose in group_pairs(places).items())


def failures(experiment: Experiment, label: str) -> tuple[Failure, ...]:
    return tuple(
        Failure(
            experiment=label,
            run=_run_name(run),
            outcome=_outcome(run),
            reason=clean(run.reason) or "no reason on record",
            log="" if experiment.imported else clean(str(run.folder / "stderr.log")),
            stderr=tuple(clean(line) for line in run.stderr_tail),
        )
        for run in experiment.runs
        if run.status != "completed"
    )


def _run_name(run: Run) -> str:
    """`replicate 3`, with the original label of an imported run."""
    name = clean(run.environment.get(IMPORTED_AS, ""))
    return f"replicate {run.replicate} ({name})" if name else f"replicate {run.replicate}"


def provenance_part(experiment: Experiment, label: str, index: int, code: Section) -> Section:
    """Origin of an experiment's runs; `code` describes the code in its snapshot."""
    facts = (
        *(_fact("Imported", clean(note)) for note in experiment.imported),
        *([] if experiment.imported else [_fact("Command", clean(shlex.join(experiment.command)))]),
        _fact("Variant", clean(experiment.variant)),
        *(_fact(name, text) for name, text in randomness.facts(experiment)),
        _fact("Project", clean(experiment.root)),
        _fact("Commit", commit_text(experiment)),
        _fact("Hash of the sources", clean(experiment.sources_hash)),
        _fact("Created", instant(experiment.created)),
        _fact("Runs planned", str(experiment.n_planned)),
        *(_fact("Number of runs", text) for text in _describe_decision(experiment)),
        _fact("Runs at a time", str(experiment.jobs)),
        _fact("Threads", _threads(experiment)),
        _fact("Records", "" if experiment.folder is None else clean(str(experiment.folder))),
    )
    flips = randomness.flips(experiment, label)
    blocks: tuple[Block, ...] = (
        Facts(facts),
        code,
        randomness.seed_calls(experiment, label),
        randomness.controls(experiment, label),
        *([flips] if flips else []),
        _runs(experiment, label),
        randomness.hashes(experiment, label),
        _environment(experiment, label),
    )
    return Section(f"provenance-{index}", label, blocks)


def _outcome(run: Run) -> str:
    return OUTCOMES[run.status] if run.exit_code is None else f"{OUTCOMES[run.status]}, exit code {run.exit_code}"


def _fact(label: str, text: str) -> Fact:
    return Fact(label, cell(text) if text else Absent("not recorded"))


def _describe_decision(experiment: Experiment) -> tuple[str, ...]:
    """How the number of runs was decided, unless it was given as a number."""
    looks = ", ".join(map(str, experiment.looks))
    sentences = [
        f"decided by precision: {clean(experiment.precision)}" if experiment.precision else "",
        f"looks declared at {looks} runs, {experiment.spending} spending" if looks else "",
        counted(experiment.n_unplanned_looks, "unplanned look") if experiment.n_unplanned_looks else "",
    ]
    return tuple(filter(None, sentences))


def _threads(experiment: Experiment) -> str:
    n_threads = experiment.n_threads
    return "not limited" if n_threads is None else f"each run limited to {counted(n_threads, 'thread')}"


def _wall_time(run: Run) -> Pieces:
    beside = f", up to {counted(run.n_sharing, 'other run')} beside it" if run.n_sharing else ""
    return (*duration_of(run.wall_time_s), beside)


def _runs(experiment: Experiment, label: str) -> Table:
    rows = tuple(
        Row(
            str(run.replicate),
            (
                cell(OUTCOMES[run.status]),
                cell("none" if run.exit_code is None else str(run.exit_code)),
                cell(instant(run.started)),
                cell(*_wall_time(run), value=run.wall_time_s),
                cell(randomness.seed_set(run.seeds)),
            ),
        )
        for run in experiment.runs
    )
    columns = ("Replicate", "Outcome", "Exit code", "Started", "Wall time", "Seed set")
    styles: tuple[ColumnStyle, ...] = ("number", "", "", "", "sorted", "seeds")
    return Table(f"{label}: runs and their seed sets", columns, rows, kind="listing", styles=styles)


def _environment(experiment: Experiment, label: str) -> Table | Absent:
    """Environment of the runs; values that differ between runs are listed by replicate."""
    names = sorted({name for run in experiment.runs for name in run.environment}, key=str.casefold)
    rows: list[Row] = []
    for name in names:
        runs_of_value = group_pairs(
            (clean(run.environment[name]), run.replicate) for run in experiment.runs if name in run.environment
        )
        differs = len(runs_of_value) > 1
        text = "; ".join(f"{value} ({replicates(runs)})" if differs else value for value, runs in runs_of_value.items())
        rows.append(Row(clean(name), (cell(text),), is_marked=differs))
    if not rows:
        return Absent("The runs recorded no versions.")
    caption, columns = f"{label}: environment of the runs", ("What", "Value")
    return Table(caption, columns, tuple(rows), kind="listing", styles=("", "seeds"))
