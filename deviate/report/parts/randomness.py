"""How randomness was treated in the runs of one experiment: seeds, controls, draws, bit flips, hashes."""

from collections.abc import Iterable, Sequence

from deviate.model import ControlEvent, DrawEvent, Experiment, Run
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
    calls = group_pairs(
        ((clean(event.call), clean(f"{event.file}:{event.line}"), event.action), (clean(event.value), run.replicate))
        for run in experiment.runs
        for event in run.seed_events
    )
    rows = []
    for (call, place, action), events in calls.items():
        seeds = list(dict.fromkeys(seed for seed, _ in events))
        seed = seeds[0] if len(seeds) == 1 else f"{len(seeds)} different values"
        rows.append(_row(call, place, seed, action, _seen_in((replicate for _, replicate in events), experiment)))
    columns = ("Call", "Place", "Asked for", "Action", "Seen in")
    caption, nothing = f"{label}: seeding calls of the script itself", "No seeding call of the script was observed."
    return _listing(caption, columns, rows, ("code", "", "", "", "")) or Absent(nothing)


def controls(experiment: Experiment, label: str) -> Table | Absent:
    """Factors that were controlled, and calls of the script that were overridden, without duplicates."""
    actions = group_pairs(
        (tuple(map(clean, (event.factor, event.call, event.value, _place(event), event.action))), run.replicate)
        for run in experiment.runs
        for event in run.control_events
    )
    rows = [_row(*key, _seen_in(runs, experiment)) for key, runs in actions.items()]
    columns = ("Factor", "Call", "Value", "Place", "Action", "Seen in")
    caption = f"{label}: factors that were set, and calls of the script that were overridden"
    nothing = Absent("No factor was set, and no call of the script was overridden.")
    return _listing(caption, columns, rows, ("", "code", "", "", "", "")) or nothing


def _place(event: ControlEvent) -> str:
    return f"{event.file}:{event.line}" if event.file else "the guest"


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
    rows = [
        _row(str(run.replicate), clean(flip.parameter), str(list(flip.index)), repr(flip.before), repr(flip.after))
        for run in experiment.runs
        for flip in run.flips
    ]
    columns = ("Replicate", "Parameter", "Index", "Before", "After")
    return _listing(f"{label}: the bit that was flipped in each run", columns, rows, ("number", "", "", "", ""))


def hashes(experiment: Experiment, label: str) -> Table | Absent:
    """Shortened hashes of the weights and of the evaluation data of each run."""
    if not any(run.weights or run.evaluation for run in experiment.runs):
        return Absent("Neither weights nor evaluation data were within reach.")
    rows = []
    for run in experiment.runs:
        weights = [f"{clean(one.framework)} {clean(one.moment)} {_short(one.digest)}" for one in run.weights]
        data = [
            f"{clean(one.framework)} {_short(one.digest)}, {counted(one.n_examples, 'example')}"
            for one in run.evaluation
        ]
        rows.append(_row(str(run.replicate), " · ".join(weights) or "not reached", " · ".join(data) or "not seen"))
    caption = f"{label}: hashes of weights and of evaluation data, the first digits"
    columns = ("Replicate", "Weights", "Evaluation data")
    return Table(caption, columns, tuple(rows), kind="listing", styles=("number", "seeds", "seeds"))


def _row(label: str, *texts: str) -> Row:
    return Row(label, tuple(map(cell, texts)))


def _listing(
    caption: str, columns: tuple[str, ...], rows: Sequence[Row], styles: tuple[ColumnStyle, ...]
) -> Table | None:
    """A table; None if it has no rows."""
    return Table(caption, columns, tuple(rows), kind="listing", styles=styles) if rows else None


def _seen_in(runs: Iterable[int], experiment: Experiment) -> str:
    return f"{len(set(runs))} of {counted(len(experiment.runs), 'run')}"


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
