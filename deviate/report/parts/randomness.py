"""How randomness was treated in the runs of one experiment: seeds, controls, draws, bit flips, hashes."""

from collections.abc import Iterable

from deviate.model import DrawEvent, Experiment, Run
from deviate.report.document import Absent, ColumnStyle, Row, Table, cell
from deviate.report.format import clean, counted, group_pairs, replicates

HASH_LENGTH = 16


def seed_set(seeds: dict[str, int]) -> str:
    """Seeds of a run; streams with equal seeds are listed together."""
    if not seeds:
        return "left to the script"
    by_seed = group_pairs((seed, clean(stream)) for stream, seed in seeds.items())
    return " · ".join(f"{', '.join(streams)} {seed}" for seed, streams in by_seed.items())


def seed_calls(experiment: Experiment, label: str) -> Table | Absent:
    """Seeding calls of the script: the requested seed, and whether it was replaced."""
    values: dict[tuple[str, str, str], dict[str, None]] = {}
    calls: dict[tuple[str, str, str], set[int]] = {}
    for run in experiment.runs:
        for event in run.seed_events:
            key = (clean(event.call), clean(f"{event.file}:{event.line}"), event.action)
            values.setdefault(key, {})[clean(event.value)] = None
            calls.setdefault(key, set()).add(run.replicate)
    rows = tuple(
        _row(
            call,
            place,
            next(iter(seeds)) if len(seeds) == 1 else f"{len(seeds)} different values",
            action,
            _seen_in(calls[call, place, action], experiment),
        )
        for (call, place, action), seeds in values.items()
    )
    columns = ("Call", "Place", "Asked for", "Action", "Seen in")
    caption = f"{label}: seeding calls of the script itself"
    return _listing(caption, columns, rows, ("code", "", "", "", "")) or Absent(
        "No seeding call of the script was observed."
    )


def controls(experiment: Experiment, label: str) -> Table | Absent:
    """Factors that were controlled, and calls of the script that were overridden, without duplicates."""
    actions: dict[tuple[str, str, str, str, str], set[int]] = {}
    for run in experiment.runs:
        for control_event in run.control_events:
            place = f"{control_event.file}:{control_event.line}" if control_event.file else "the guest"
            key = (
                clean(control_event.factor),
                clean(control_event.call),
                clean(control_event.value),
                clean(place),
                control_event.action,
            )
            actions.setdefault(key, set()).add(run.replicate)
    rows = tuple(_row(*key, _seen_in(runs, experiment)) for key, runs in actions.items())
    columns = ("Factor", "Call", "Value", "Place", "Action", "Seen in")
    caption = f"{label}: factors that were set, and calls of the script that were overridden"
    return _listing(caption, columns, rows, ("", "code", "", "", "", "")) or Absent(
        "No factor was set, and no call of the script was overridden."
    )


def facts(experiment: Experiment) -> list[tuple[str, str]]:
    """Labels with texts; the text is empty where nothing is recorded."""
    drawn: dict[str, dict[str, None]] = {}
    for run in experiment.runs:
        for library, streams in run.draws.items():
            drawn.setdefault(clean(library), {}).update(dict.fromkeys(map(clean, streams)))
    draws = [f"{library}: {', '.join(streams) or 'nothing'}" for library, streams in drawn.items()]
    sentences = [
        ("Varied", ", ".join(map(clean, experiment.varied)) or ("nothing" if experiment.held else "")),
        ("Held", ", ".join(map(clean, experiment.held))),
        ("Controls", _levels(experiment)),
        ("Numbers drawn, by library", "; ".join(draws)),
    ]
    escaped = (
        ("Drawn outside of the main loop", _per_run((run, tuple(map(_draw, run.drawn))) for run in experiment.runs)),
        ("Beyond control", _per_run((run, run.uncontrolled) for run in experiment.runs)),
        ("Used without a deterministic version", _per_run((run, run.operations) for run in experiment.runs)),
    )
    return sentences + [(label, text) for label, text in escaped if text]


def flips(experiment: Experiment, label: str) -> Table | None:
    """Table of flipped bits; None if no bit was flipped."""
    rows = tuple(
        _row(
            str(run.replicate),
            clean(flip.parameter),
            f"[{', '.join(map(str, flip.index))}]",
            repr(flip.before),
            repr(flip.after),
        )
        for run in experiment.runs
        for flip in run.flips
    )
    columns = ("Replicate", "Parameter", "Index", "Before", "After")
    return _listing(f"{label}: the bit that was flipped in each run", columns, rows, ("number", "", "", "", ""))


def hashes(experiment: Experiment, label: str) -> Table | Absent:
    """Shortened hashes of the weights and of the evaluation data of each run."""
    if not any(run.weights or run.evaluation for run in experiment.runs):
        return Absent("Neither weights nor evaluation data were within reach.")
    rows = tuple(
        _row(
            str(run.replicate),
            " · ".join(
                f"{clean(weight.framework)} {clean(weight.moment)} {_short(weight.digest)}" for weight in run.weights
            )
            or "not reached",
            " · ".join(
                f"{clean(evaluation.framework)} {_short(evaluation.digest)}, "
                f"{counted(evaluation.n_examples, 'example')}"
                for evaluation in run.evaluation
            )
            or "not seen",
        )
        for run in experiment.runs
    )
    caption = f"{label}: hashes of weights and of evaluation data, the first digits"
    columns = ("Replicate", "Weights", "Evaluation data")
    return Table(caption, columns, rows, kind="listing", styles=("number", "seeds", "seeds"))


def _row(label: str, *texts: str) -> Row:
    return Row(label, tuple(map(cell, texts)))


def _listing(
    caption: str, columns: tuple[str, ...], rows: tuple[Row, ...], styles: tuple[ColumnStyle, ...]
) -> Table | None:
    """A table; None if it has no rows."""
    return Table(caption, columns, rows, kind="listing", styles=styles) if rows else None


def _seen_in(runs: set[int], experiment: Experiment) -> str:
    return f"{len(runs)} of {counted(len(experiment.runs), 'run')}"


def _levels(experiment: Experiment) -> str:
    """Requested levels; levels that differ between runs are listed by replicate."""
    names = dict.fromkeys(name for run in experiment.runs for name in run.controls)
    parts = []
    for name in names:
        levels = group_pairs((clean(run.controls.get(name, "as it is")), run.replicate) for run in experiment.runs)
        each = [level if len(levels) == 1 else f"{level} ({replicates(runs)})" for level, runs in levels.items()]
        parts.append(f"{clean(name)} {', '.join(each)}")
    return " · ".join(parts)


def _per_run(facts_of_runs: Iterable[tuple[Run, tuple[str, ...]]]) -> str:
    replicates_of_fact = group_pairs(
        (clean(phrase), run.replicate) for run, phrases in facts_of_runs for phrase in dict.fromkeys(phrases)
    )
    return "; ".join(f"{phrase} ({replicates(runs)})" for phrase, runs in replicates_of_fact.items())


def _short(digest: str) -> str:
    return clean(digest)[:HASH_LENGTH]


def _draw(event: DrawEvent) -> str:
    return f"{event.call} ({event.file}:{event.line}, {event.stream})"
