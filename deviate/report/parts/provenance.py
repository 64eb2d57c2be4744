"""Runs as text: how each ended, how it was started, and where an experiment comes from."""

import math
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath

from deviate.model.places import frame_of, place_text, project_in_attempt
from deviate.model.records import IMPORTED_AS, SHARED, ControlEvent, DrawEvent, Experiment, Run
from deviate.model.texts import first_few, ranges
from deviate.report.document import (
    Absent,
    Block,
    Cell,
    DocumentTable,
    Fact,
    Facts,
    Failure,
    Section,
    cell,
    listing,
)
from deviate.report.format import clean, counted, group_pairs, instant, name_text, number, replicates
from deviate.report.numbers import duration_of
from deviate.report.parts.changes import commit_text
from deviate.report.parts.divergence import run_command
from deviate.report.parts.many_runs import MOST_ROWS, rows_note
from deviate.report.parts.script_seeds import STREAMS

OUTCOMES = {"timed_out": "timed out", "silent": "recorded nothing"}
"""Words for those outcomes whose own names are none."""


def outcome_words(status: str) -> str:
    return OUTCOMES.get(status, status)


def outcome_counts(experiment: Experiment) -> str:
    """`9/10 completed, 1 diverged`."""
    n_completed = sum(run.status == "completed" for run in experiment.runs)
    parts = [f"{n_completed}/{experiment.n_planned} completed"]
    not_completed = Counter(run.status for run in experiment.runs if run.status != "completed")
    parts += [f"{n} {outcome_words(status)}" for status, n in not_completed.items()]
    n_absent = experiment.n_planned - len(experiment.runs)
    if n_absent > 0:
        parts.append(f"{n_absent} not run")
    return ", ".join(parts)


KERNELS = frozenset({"kernels", "autotune", "precision"})
ALL_FREE = "training varies: seeds and kernels"
"""Meaning of the default variant."""
MOST_HELD = 6
UNROUTED_LEFT_OUT = ", except draws that are not routed"


def freedom(experiment: Experiment) -> str:
    """What differs between the runs, in words for someone who has not met the variants; empty for a part of a group."""
    text = _freedom(experiment)
    if text and any(SHARED not in phrase for run in experiment.runs for phrase in run.unrouted):
        text += UNROUTED_LEFT_OUT
    if text and (shared := _shared_draws(experiment)):
        draws = [f"{words} ({first_few(places, MOST_HELD)})" for words, places in shared.items()]
        text += f"; not held: {', '.join(draws)}; seed each task: default_rng(task)"
    held = held_draws(experiment)
    is_varied = bool(text and held and STREAMS.intersection(experiment.varied))
    return f"{text}; data held: {held}; --vary NAME or FILE:LINE" if is_varied else text


def held_draws(experiment: Experiment) -> str:
    """What makes or divides the data, equal in all runs: `train_test_split (train.py:7), normal (train.py:8)`."""
    events = dict.fromkeys(event for run in experiment.runs for event in run.drawn)
    weights = {(event.file, event.line) for event in events if event.stream == "init"}
    shared = {place for places in _shared_draws(experiment).values() for place in places}
    texts = dict.fromkeys(
        f"{clean(event.call.rpartition('.')[2])} ({place_text(clean(event.file), event.line)})"
        for event in events
        if event.stream == "split" and "split" in experiment.held and (event.file, event.line) not in weights
        if place_text(clean(event.file), event.line) not in shared
    )
    return first_few(list(texts), MOST_HELD)


def _shared_draws(experiment: Experiment) -> dict[str, list[str]]:
    """Draws in workers that no stream holds, as words with their places."""
    phrases = dict.fromkeys(clean(phrase) for run in experiment.runs for phrase in run.unrouted if SHARED in phrase)
    parts = (phrase.removesuffix(")").rpartition(" (") for phrase in phrases)
    return group_pairs((words, place) for words, _, place in parts)


def _freedom(experiment: Experiment) -> str:
    varied = set(experiment.varied)
    if any(run.flips for run in experiment.runs):
        return "one bit of one weight differs, all else is held" if not varied else ""
    match varied >= STREAMS, varied >= KERNELS:
        case True, True:
            return ALL_FREE
        case True, False if not KERNELS & varied:
            return "seeds free, kernels held"
        case False, True if not STREAMS & varied:
            return "kernels free, seeds held"
    return "all randomness held" if experiment.held and not varied else ""


def circumstances(experiment: Experiment) -> tuple[str, ...]:
    """Circumstances that affect all results: unplanned runs, and limited threads."""
    n_threads, n_looks = experiment.n_threads, experiment.n_unplanned_looks
    parts = [
        counted(n_looks, "unplanned look") if n_looks else "",
        f"each run limited to {counted(n_threads, 'thread')}" if n_threads else "",
    ]
    return tuple(filter(None, parts))


def record_warnings(
    experiments: Sequence[Experiment], labels: Sequence[str], *, are_notes: bool = False
) -> tuple[str, ...]:
    """Warnings of the records, or notes; equal ones of several runs and experiments are merged."""
    places: list[tuple[str, str]] = []
    for experiment, label in zip(experiments, labels, strict=True):
        places += [(clean(text), label) for text in experiment.warnings if (text in experiment.notes) == are_notes]
        of_runs = group_pairs(
            (clean(text), run.replicate)
            for run in experiment.runs
            for text in run.warnings
            if (text in run.notes) == are_notes
        )
        places += [(text, f"{label}, {replicates(runs)}") for text, runs in of_runs.items()]
    return tuple(f"{'; '.join(whose)}: {text}" for text, whose in group_pairs(places).items())


def failures(experiment: Experiment, label: str) -> tuple[Failure, ...]:
    return tuple(
        Failure(
            experiment=label,
            run=_run_name(run),
            outcome=_outcome(run),
            reason=failure_reason(run, experiment),
            last=_last_value(run, experiment),
            log="" if experiment.imported else clean(str(run.folder / "stderr.log")),
            stderr=tuple(clean(line) for line in run.stderr_tail),
        )
        for run in experiment.runs
        if run.status not in ("completed", "cancelled")
    )


def failure_reason(run: Run, experiment: Experiment) -> str:
    """Why a run failed, with the user's line where one is known."""
    file, line = failure_place(run, experiment)
    reason = clean(run.reason) or "no reason recorded"
    return f"{reason} ({place_text(file, line)})" if file else reason


def _last_value(run: Run, experiment: Experiment) -> str:
    """`Last recorded: loss 0.693 at main-loop step 12`; of the loss where there is one, else of the first metric."""
    names = [metric.name for metric in experiment.metrics if metric.role == "quality" and metric.name in run.series]
    names = [name for name in names if len(run.series[name].values)]
    name = next((name for name in names if "loss" in name.lower()), names[0] if names else None)
    if name is None:
        return ""
    step, value = run.series[name].steps[-1], run.series[name].values[-1]
    place = "outside the main loop" if step is None else f"at main-loop step {step}"
    text = "not a number" if math.isnan(value) else "infinite" if math.isinf(value) else number(value, None)
    return f"Last recorded: {name_text(name)} {text} {place}."


def _run_name(run: Run) -> str:
    """`replicate 3`, with the original label of an imported run."""
    name = clean(run.environment.get(IMPORTED_AS, ""))
    return f"replicate {run.replicate} ({name})" if name else f"replicate {run.replicate}"


FOR_OWNERS = frozenset({"Project", "Records"})
"""Facts that a reader without the machine has no use for."""


def shared_facts(experiments: Sequence[Experiment], labels: Sequence[str]) -> Facts:
    """Facts of all experiments, each once where it is the same; what no record has is left out."""
    by_label = group_pairs(
        (fact.label, (label, fact.cell.text))
        for experiment, label in zip(experiments, labels, strict=True)
        for fact in (*_facts(experiment), _fact("Seeds", _seeds(experiment)), _fact("Software", _software(experiment)))
        if fact.label not in FOR_OWNERS and not isinstance(fact.cell, Absent)
    )
    shown = []
    for name, texts in by_label.items():
        whose = group_pairs((text, label) for label, text in texts)
        is_shared = len(whose) == 1 and len(texts) == len(experiments)
        parts = [text if is_shared else f"{', '.join(names)}: {text}" for text, names in whose.items()]
        shown.append(_fact(name, "; ".join(parts)))
    return Facts(tuple(shown))


def _seeds(experiment: Experiment) -> str:
    """`init, shuffle 1000–1007 · dropout 2000–2007`: the seeds of all runs, by stream."""
    by_stream = group_pairs((clean(stream), seed) for run in experiment.runs for stream, seed in run.seeds.items())
    streams = group_pairs((", ".join(ranges(sorted(set(seeds)))), stream) for stream, seeds in by_stream.items())
    return " · ".join(f"{', '.join(names)} {seeds}" for seeds, names in streams.items())


def _software(experiment: Experiment) -> str:
    """`python 3.11.9, torch 2.13.0`, of values that are the same in all runs."""
    values = group_pairs(pair for run in experiment.runs for pair in run.environment.items())
    return ", ".join(f"{clean(name)} {clean(of_runs[0])}" for name, of_runs in values.items() if len(set(of_runs)) == 1)


def provenance_part(experiment: Experiment, label: str, index: int, code: Section) -> Section:
    """Origin of an experiment's runs; `code` describes the code in its snapshot."""
    flips = flip_table(experiment, label)
    blocks: tuple[Block, ...] = (
        Facts(_facts(experiment)),
        code,
        seed_call_table(experiment, label),
        control_table(experiment, label),
        *([flips] if flips.rows else []),
        _runs(experiment, label),
        hash_table(experiment, label),
        _environment(experiment, label),
    )
    return Section(f"provenance-{index}", label, blocks, is_folded=True)


def _facts(experiment: Experiment) -> tuple[Fact, ...]:
    return (
        *(_fact("Imported", clean(note)) for note in experiment.imported),
        *([] if experiment.imported else [_fact("Command", clean(shlex.join(experiment.command)))]),
        *([] if experiment.imported else [_fact("Run again with", run_again(experiment, (experiment.variant,)))]),
        _fact("Variant", clean(experiment.variant)),
        *(_fact(name, text) for name, text in randomness_facts(experiment)),
        _fact("Project", clean(experiment.root)),
        _fact("Commit", commit_text(experiment)),
        _fact("Hash of the sources", clean(experiment.sources_hash)),
        _fact("Created", instant(experiment.created)),
        _fact("Runs planned", str(experiment.n_planned)),
        *(_fact("Number of runs", text) for text in describe_decision(experiment)),
        _fact("Runs at a time", str(experiment.jobs)),
        _fact("Threads", _threads(experiment)),
        _fact("Records", "" if experiment.folder is None else clean(str(experiment.folder))),
    )


def failure_place(run: Run, experiment: Experiment) -> tuple[str, int]:
    """File, as from the project's root, and line of the user's in which a run failed; empty and 0 where none is known.

    A traceback has the path of the work copy.
    """
    project = f"{run.folder.name}/{project_in_attempt(PurePath(experiment.root))}/"
    frames = [frame for text in run.stderr_tail if (frame := frame_of(text)) and project in frame[0]]
    if not frames:
        return "", 0
    file, line = frames[-1]
    return clean(file.partition(project)[2]), line


def run_again(experiment: Experiment, variants: Sequence[str]) -> str:
    """The command that runs these variants; empty where none is known."""
    if not experiment.command:
        return ""
    flags = (*experiment.flags, *(["--looks", ",".join(map(str, experiment.looks))] if experiment.looks else []))
    return run_command(experiment.command, experiment.name, experiment.n_planned, variants, flags)


def _outcome(run: Run) -> str:
    code = "" if run.exit_code is None else f", exit code {run.exit_code}"
    return f"{outcome_words(run.status)}{code}"


def _fact(label: str, text: str) -> Fact:
    return Fact(label, cell(text) if text else Absent("not recorded"))


def describe_decision(experiment: Experiment) -> tuple[str, ...]:
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


def _wall_time(run: Run) -> Cell:
    beside = f", up to {counted(run.n_sharing, 'other run')} beside it" if run.n_sharing else ""
    return cell(*duration_of(run.wall_time_s), beside, value=run.wall_time_s)


def _environment(experiment: Experiment, label: str) -> DocumentTable | Absent:
    """Environment of the runs; values that differ between runs are listed by replicate."""
    names = sorted({name for run in experiment.runs for name in run.environment}, key=str.casefold)
    rows = [
        (
            name,
            _by_replicate(((run.environment[name], run) for run in experiment.runs if name in run.environment), "; "),
        )
        for name in names
    ]
    return _table(f"{label}: environment of the runs", ("What", "Value"), rows, "The runs recorded no versions.")


# How randomness was treated in the runs of one experiment: seeds, controls, draws, bit flips, hashes.

HASH_LENGTH = 16
DRAWN_FROM = STREAMS | {"split"}
"""Streams whose draws are recorded."""


def seed_set(run: Run) -> str:
    """Seeds of a run; streams with equal seeds are listed together, streams without an observed draw at the end."""
    if not run.seeds:
        return "left to the script"
    drawn = {stream for streams in run.draws.values() for stream in streams}
    unused = DRAWN_FROM - drawn if run.draws else frozenset()
    by_seed = group_pairs((seed, clean(stream)) for stream, seed in run.seeds.items() if stream not in unused)
    parts = [f"{', '.join(streams)} {seed}" for seed, streams in by_seed.items()]
    idle = [f"{clean(stream)} {seed}" for stream, seed in run.seeds.items() if stream in unused]
    unused_words = "unused (no routed draw observed)" if run.unrouted else "unused (no draw observed)"
    return " · ".join(parts + ([f"{unused_words}: {', '.join(idle)}"] if idle else []))


RUN_COLUMNS: dict[str, Callable[[Run], str | Cell]] = {
    "Replicate": lambda run: str(run.replicate),
    "Outcome": lambda run: outcome_words(run.status),
    "Exit code": lambda run: "none" if run.exit_code is None else str(run.exit_code),
    "Started": lambda run: instant(run.started),
    "Wall time": _wall_time,
    "Seed set": seed_set,
}


def _runs(experiment: Experiment, label: str) -> DocumentTable:
    rows = [[text(run) for text in RUN_COLUMNS.values()] for run in experiment.runs[:MOST_ROWS]]
    caption = f"{label}: runs and their seed sets{rows_note(len(experiment.runs))}"
    return listing(tuple(RUN_COLUMNS), rows, caption=caption)


def seed_call_table(experiment: Experiment, label: str) -> DocumentTable | Absent:
    """Seeding calls of the script: the requested seed, and whether it was replaced."""
    calls = group_pairs(
        ((event.call, place_text(event.file, event.line), event.action), (event.value, run.replicate))
        for run in experiment.runs
        for event in run.seed_events
    )
    rows = []
    for (call, place, action), events in calls.items():
        seeds = list(dict.fromkeys(seed for seed, _ in events))
        seed = seeds[0] if len(seeds) == 1 else f"{len(seeds)} different values"
        rows.append((call, place, seed, action, _seen_in((replicate for _, replicate in events), experiment)))
    columns = ("Call", "Place", "Asked for", "Action", "Seen in")
    caption = f"{label}: seeding calls of the script itself"
    return _table(caption, columns, rows, "No seeding call of the script was observed.")


def control_table(experiment: Experiment, label: str) -> DocumentTable | Absent:
    """Factors that were controlled, and calls of the script that were overridden, without duplicates."""
    actions = group_pairs(
        ((event.factor, event.call, event.value, _place(event), event.action), run.replicate)
        for run in experiment.runs
        for event in run.control_events
    )
    rows = [(*key, _seen_in(runs, experiment)) for key, runs in actions.items()]
    columns = ("Factor", "Call", "Value", "Place", "Action", "Seen in")
    caption = f"{label}: factors that were set, and calls of the script that were overridden"
    return _table(caption, columns, rows, "No determinism switch was set or overridden.")


def _place(event: ControlEvent) -> str:
    return place_text(event.file, event.line) if event.file else "the guest"


def randomness_facts(experiment: Experiment) -> list[tuple[str, str]]:
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


def flip_table(experiment: Experiment, label: str) -> DocumentTable:
    """Table of flipped bits, without a row if no bit was flipped."""
    rows = [
        (str(run.replicate), flip.parameter, str(list(flip.index)), repr(flip.before), repr(flip.after))
        for run in experiment.runs[:MOST_ROWS]
        for flip in run.flips
    ]
    columns = ("Replicate", "Parameter", "Index", "Before", "After")
    caption = f"{label}: the bit that was flipped in each run{rows_note(len(experiment.runs))}"
    return listing(columns, rows, caption=caption)


def hash_table(experiment: Experiment, label: str) -> DocumentTable | Absent:
    """Shortened hashes of the weights and of the evaluation data of each run."""
    rows = []
    for run in experiment.runs[:MOST_ROWS]:
        weights = " · ".join(f"{one.framework} {one.moment} {one.digest[:HASH_LENGTH]}" for one in run.weights)
        data = " · ".join(
            f"{one.framework} {one.digest[:HASH_LENGTH]}, {counted(one.n_examples, 'example')}"
            for one in run.evaluation
        )
        if weights or data:
            rows.append((str(run.replicate), weights or "not reached", data or "not seen"))
    caption = f"{label}: hashes of weights and of evaluation data, the first digits{rows_note(len(experiment.runs))}"
    columns = ("Replicate", "Weights", "Evaluation data")
    return _table(caption, columns, rows, "Neither weights nor evaluation data were observed.")


def _table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]], none: str) -> DocumentTable | Absent:
    return listing(columns, rows, caption=caption) if rows else Absent(none)


def _seen_in(runs: Iterable[int], experiment: Experiment) -> str:
    return f"{len(set(runs))} of {counted(len(experiment.runs), 'run')}"


def _levels(experiment: Experiment) -> str:
    """Requested levels; levels that differ between runs are listed by replicate."""
    names = dict.fromkeys(name for run in experiment.runs for name in run.controls)
    parts = []
    for name in names:
        levels = ((run.controls.get(name, "as it is"), run) for run in experiment.runs)
        parts.append(f"{clean(name)} {_by_replicate(levels, ', ')}")
    return " · ".join(parts)


def _by_replicate(values: Iterable[tuple[str, Run]], join: str) -> str:
    """The value of all runs; where they differ, each with the replicates that have it."""
    runs_of = group_pairs((clean(value), run.replicate) for value, run in values)
    return join.join(value if len(runs_of) == 1 else f"{value} ({replicates(runs)})" for value, runs in runs_of.items())


def _per_run(facts_of_runs: Iterable[tuple[Run, tuple[str, ...]]]) -> str:
    replicates_of_fact = group_pairs(
        (clean(phrase), run.replicate) for run, phrases in facts_of_runs for phrase in dict.fromkeys(phrases)
    )
    return "; ".join(f"{phrase} ({replicates(runs)})" for phrase, runs in replicates_of_fact.items())


def _draw(event: DrawEvent) -> str:
    return f"{event.call} ({place_text(event.file, event.line)}, {event.stream})"
