"""What a noise study says, and what it may not claim: sentences without rounded figures, and notes in its tables."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from deviate.model.comparisons import Description
from deviate.model.findings import Absorption, Findings, NoiseRow, NoiseTable, Repeatability, Study
from deviate.model.places import place_text
from deviate.model.records import Experiment
from deviate.model.texts import count, first_few
from deviate.report.evaluation import evaluation_statements
from deviate.report.format import group_pairs, replicates
from deviate.series.repeatability import equal_words, select_completed, where
from deviate.series.study import (
    CONTROL,
    SCRIPT,
    STREAMS,
    find_drawn_streams,
    find_unrouted_draws,
    isolates,
    leaves_other_out,
)
from deviate.stats.estimates.sample import spread_refusal

EQUAL = {
    "script": "as the script leaves it",
    "nothing": "identical",
    "implementation": "no implementation noise observed",
    "configuration": "no effect of the configuration observed",
}
"""What it means, by kind of variant, that all runs are bitwise equal."""
MOST_LISTED = 5
MOST_RECORDED = 100
"""Seeds of one call that a process records."""


def with_statements(findings: Findings) -> Findings:
    """The findings with the sentences on their noise, and with the notes on its rows."""
    noise = findings.noise
    if noise is None or noise.study is None:
        return findings
    tables = tuple(
        replace(table, rows=tuple(_noted(noise.study, index, table, row) for index, row in enumerate(table.rows)))
        for table in noise.tables
    )
    return replace(findings, noise=replace(noise, tables=tables, statements=statements(noise.study)))


def _noted(study: Study, index: int, table: NoiseTable, row: NoiseRow) -> NoiseRow:
    descriptions = study.described[index].descriptions
    description = next((one for one in descriptions if one.metric.name == table.metric.name), None)
    notes = row_notes(study, index, description, [score.value for score in row.scores])
    return replace(row, note="; ".join((*(["not isolated"] if row.is_isolated is False else []), *notes)))


def statements(study: Study) -> tuple[str, ...]:
    """Sentences on control first, as all claims depend on it; then on each variant, then on what escapes control."""
    sentences = [
        *_control(study),
        *(sentence for index, _ in enumerate(study.experiments) for sentence in _of_variant(study, index)),
        *_beyond_control(study),
    ]
    if not study.is_single:
        sentences += [*_draws(study), *evaluation_statements(study.experiments)]
    return tuple(sentences)


def _control(study: Study) -> Iterator[str]:
    proof = next((proof for proof in study.proofs if proof.variant == CONTROL), None)
    claims = [
        experiment.variant
        for experiment, kind in zip(study.experiments, study.kinds, strict=True)
        if isolates(experiment, kind) and experiment.variant != CONTROL
    ]
    match study.control, proof:
        case "absent", _ if claims:
            text = f"Isolation was not checked: it needs 2 completed runs of {CONTROL}, has"
            yield f"{text} 0. Add {CONTROL} to --variants." if proof is None else f"{text} {proof.n}."
        case "intact", Repeatability():
            yield f"{CONTROL} is intact: identical, {equal_words(proof)}{_what_compared(proof)}."
        case "broken", Repeatability():
            yield f"{CONTROL} failed: {where(proof)}, although everything was held."
            yield from [f"Not isolated: {_join_words(claims)}, because {CONTROL} failed."] if claims else []


def _what_compared(proof: Repeatability) -> str:
    parts = [count(proof.n_metrics, "quality metric")] if proof.n_metrics else []
    parts += ["final weights"] if proof.weights == "equal" else []
    return f" ({_join_words(parts)})"


def _of_variant(study: Study, index: int) -> Iterator[str]:
    experiment, kind, proof = study.experiments[index], study.kinds[index], study.proofs[index]
    name = experiment.variant
    n_left = sum(run.status not in {"lost", "cancelled"} for run in experiment.runs) - proof.n
    if n_left and kind in {"nothing", "implementation"}:
        yield f"{name}: {count(n_left, 'run')} did not complete and {'is' if n_left == 1 else 'are'} not compared."
    if proof.is_equal and name != CONTROL and kind != "one-bit":
        note = equal_note(study, index)
        yield f"{name} {note}." if note.startswith("had ") else f"{name}: {note}."
    elif proof.is_equal is False and kind == "implementation":
        seeds = "all seeds that deviate routes" if find_unrouted_draws(study.experiments) else "all seeds"
        yield f"{name}: the runs diverge with {seeds} held, {where(proof)}."
    if name == SCRIPT and not study.is_single:
        yield f"{name} is the unchanged script: the sources of its spread are not separated."
    if kind == "configuration":
        yield f"{name} changes how numbers are rounded (threads, oneDNN): another configuration, not noise."
    if (flips := study.absorbed[index]) is not None and (notes := _flip_notes(flips)):
        yield f"{name}: {'; '.join(notes)}."


def _beyond_control(study: Study) -> Iterator[str]:
    runs = [run for experiment in study.experiments for run in select_completed(experiment)]
    unrouted = find_unrouted_draws(study.experiments)
    if unrouted:
        yield f"Not routed: {unrouted_words(study.experiments)}. {_consequence(study)}"
    others = (operation for run in runs for operation in run.uncontrolled if operation not in unrouted)
    if names := list(dict.fromkeys(others)):
        effect = "Its effect is in the spread of every variant"
        if study.control == "intact":
            effect = f"The runs of {CONTROL} are equal all the same"
        yield f"Not controllable: {_some(names)}. {effect}."
    if names := list(dict.fromkeys(operation for run in runs for operation in run.operations)):
        yield f"Used without a deterministic version: {_some(names)}."
    yield from _run_time_seeds(study)


def unrouted_words(experiments: Sequence[Experiment]) -> str:
    """Draws that belong to no stream, `draws in threads (a.py:1, a.py:2)`; empty if there are none."""
    parts = (name.removesuffix(")").rpartition(" (") for name in find_unrouted_draws(experiments))
    places = group_pairs((phrase or place, place if phrase else "") for phrase, _, place in parts)
    words = [f"{phrase} ({first_few(some, MOST_LISTED)})" if any(some) else phrase for phrase, some in places.items()]
    return _some(words) if words else ""


def _consequence(study: Study) -> str:
    """What draws outside of all streams take from the claims of a study."""
    if study.is_single:
        return "These draws belong to no stream: whether they differ between runs is not known."
    return (
        "These draws belong to no stream, so no variant isolates a source of spread, and equal runs of a variant do "
        "not show that the script has no such source."
    )


def _run_time_seeds(study: Study) -> Iterator[str]:
    """Sentences on seeds that differ between runs, of variants that hold everything if there are any.

    Their source is not observed: the clock, a process number, a variable, the folder of the run.
    """
    holding = [
        experiment
        for experiment in study.experiments
        if experiment.held and set(experiment.varied).isdisjoint({*STREAMS, "hash"})
    ]
    for experiment in holding or study.experiments:
        if calls := _calls_with_other_values(experiment):
            text = f"{_some(calls)}: the value of the seed differs between runs of {experiment.variant}"
            if holding:
                yield f"{text}; deviate does not hold it."
            elif experiment.held:
                yield f"{text}; {CONTROL} would show whether {experiment.variant} causes this."
            else:
                yield f"{text}."


def _calls_with_other_values(experiment: Experiment) -> list[str]:
    """Seeding calls whose values are not the same in all runs; runs may make them more or less often.

    The same values in another order are no other seeds: workers share the tasks by chance. Where so many were made that
    a run records only some of them, those of one run have none in common with those of another.
    """
    of_runs = (
        group_pairs(((event.call, event.file, event.line), event.value) for event in run.seed_events)
        for run in select_completed(experiment)
    )
    by_call = group_pairs(pair for calls in of_runs for pair in calls.items())
    return [
        f"{call} at {place_text(file, line)}"
        for (call, file, line), runs in by_call.items()
        if any(len(set(together)) > 1 for together in zip(*runs, strict=False)) and _are_other_values(runs)
    ]


def _are_other_values(runs: Sequence[Sequence[str]]) -> bool:
    fewest, *others = sorted(runs, key=len)
    if len(fewest) >= MOST_RECORDED:
        return any(set(fewest).isdisjoint(other) for other in others)
    return any(not Counter(fewest) <= Counter(other) for other in others)


def _draws(study: Study) -> Iterator[str]:
    """Sentences on observed draws; draws that deviate does not watch are not ruled out."""
    streams = find_drawn_streams(study.experiments)
    if streams is None:
        yield "The streams of random draws were not recorded."
        return
    if not streams:
        yield "No random draw was observed from the generators that deviate watches."
        return
    examples = ("init", "shuffle", "augment", "dropout")
    unrouted = find_unrouted_draws(study.experiments)
    if unused := [stream for stream in examples if stream not in streams]:
        text = f"No draw from {_join_words(unused)} was observed from the generators that deviate watches"
        if "other" in streams:
            text += "; the script's own draws for such purposes count as other"
        if unrouted:
            text += "; draws that are not routed may serve such purposes"
        yield f"{text}."
    holding = [experiment for experiment in study.experiments if "split" in experiment.held]
    if "split" in streams and holding and len(holding) == len(study.experiments):
        yield "Division of the data, and shuffling before the main loop, have the same seed in all runs here."
    if "other" not in streams:
        if not unrouted:
            yield "Every observed draw belonged to a stream; none was from other."
        return
    varying = [experiment.variant for experiment in study.experiments if "other" in experiment.varied]
    whose = f"{_join_words(varying)} {'varies' if len(varying) == 1 else 'vary'}" if varying else "no variant varies"
    yield f"Some draws belong to no stream (other); {whose} them."
    left_out = [
        experiment.variant for index, experiment in enumerate(study.experiments) if leaves_other_out(study, index)
    ]
    if left_out:
        noun, verb, be = ("share", "leaves", "is") if len(left_out) == 1 else ("shares", "leave", "are")
        yield f"The {noun} of {_join_words(left_out)} {verb} them out and {be} not shown: add other to --variants."


def _join_words(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _some(words: Sequence[str]) -> str:
    return first_few(words, MOST_LISTED) if len(words) > MOST_LISTED else _join_words(words)


def row_notes(study: Study, index: int, description: Description | None, values: Sequence[float]) -> list[str]:
    """Notes on one variant in one metric; `values` are the scores behind its SD."""
    kind, proof, flips = study.kinds[index], study.proofs[index], study.absorbed[index]
    notes = ["configuration, not noise"] if kind == "configuration" else []
    if flips is not None:
        return notes + _flip_notes(flips)
    if description is None:
        return [*notes, "not reported"]
    if proof.is_equal:
        return [*notes, equal_note(study, index)]
    if len(values) > 1 and (reason := spread_refusal(values)):
        notes.append(reason.reason if proof.is_equal is None else f"{reason.reason}, the runs are not: {where(proof)}")
    if proof.is_equal is False and _draws_nothing(study, index):
        notes.append(f"{_no_draw(study, index)}, yet the runs differ")
    if len(values) < description.n_runs:
        notes.append(f"{len(values)} of {count(description.n_runs, 'run')} have a score")
    return notes


def equal_note(study: Study, index: int) -> str:
    """What it means that all runs of a variant are bitwise equal."""
    words = equal_words(study.proofs[index])
    if known := EQUAL.get(study.kinds[index]):
        return f"{known}, {words}"
    if _draws_nothing(study, index):
        return f"{_no_draw(study, index)}, {words}"
    if find_unrouted_draws(study.experiments):
        return f"its routed draws had no observed effect, {words}"
    return f"had no observed effect, {words}"


def _flip_notes(flips: Absorption) -> list[str]:
    n, flipped = len(flips.absorbed), count(flips.n_flipped, "flip")
    notes = []
    if missing := flips.n_runs - flips.n_flipped:
        runs = count(flips.n_runs, "run")
        notes.append(f"{missing} of {runs} left out without a flip: no weight matrix was reached")
    if flips.n_unknown:
        notes.append(f"{flips.n_unknown} of {flipped} unknown: weights not reached")
    if flips.n_flipped == flips.n_unknown:
        return notes
    if not n and not flips.against:
        return [*notes, f"without a repeatable {CONTROL} a single absorbed flip cannot be detected"]
    why = (
        f"metrics and final weights bitwise as in {flips.against}" if flips.against else "these runs end bitwise equal"
    )
    which = f", left out ({replicates(flips.absorbed)}: {why})" if n else ""
    return [*notes, f"{'' if flips.against else 'at least '}{n} of {flipped} absorbed{which}"]


def _draws_nothing(study: Study, index: int) -> bool:
    """Whether a variant varies random streams alone, and its runs drew from none of them."""
    experiment = study.experiments[index]
    streams = find_drawn_streams([experiment])
    return streams is not None and set(STREAMS) - streams >= set(experiment.varied) > set()


def _no_draw(study: Study, index: int) -> str:
    which = "this stream" if len(study.experiments[index].varied) == 1 else "these streams"
    is_unrouted = bool(find_unrouted_draws(study.experiments))
    return f"no routed draw observed from {which}" if is_unrouted else f"no draw observed from {which}"
