"""Notes of a noise study, shown beside a variant's figures or in their place."""

from collections.abc import Sequence

from deviate.model import Absorption, Description, Repeatability, value_text
from deviate.stats.estimates.sample import count, spread_refusal
from deviate.stats.study import STREAMS, Study, find_drawn_streams

WITHOUT_STREAMS = frozenset({"script", "nothing", "implementation", "configuration"})
"""Kinds of variants whose equal runs say nothing about streams."""


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
        notes.append(f"no draw observed from {_these(study, index)}, yet the runs differ")
    if len(values) < description.n_runs:
        notes.append(f"{len(values)} of {count(description.n_runs, 'run')} gave a score")
    return notes


def equal_note(study: Study, index: int) -> str:
    """The note on a variant whose runs are all bitwise equal."""
    words = equal_words(study.proofs[index])
    match study.kinds[index]:
        case "script":
            return f"as the script leaves it, {words}"
        case "nothing":
            return f"identical, {words}"
        case "implementation":
            return f"no implementation noise observed, {words}"
        case "configuration":
            return f"no effect of the configuration observed, {words}"
    if _draws_nothing(study, index):
        return f"no draw observed from {_these(study, index)}, {words}"
    return f"had no observed effect, {words}"


def has_no_effect(study: Study, index: int) -> bool:
    """Whether the varied streams of a variant were drawn from, although all its runs are equal."""
    return study.kinds[index] not in WITHOUT_STREAMS and not _draws_nothing(study, index)


def equal_words(proof: Repeatability) -> str:
    """The phrase `5 runs bitwise equal`, and what could not be compared."""
    left_out = "" if proof.weights == "equal" else " in metrics, weights not reached"
    if not proof.n_metrics:
        left_out = " in final weights, no quality metric reported"
    return f"{count(proof.n, 'run')} bitwise equal{left_out}"


def where(proof: Repeatability) -> str:
    """Where the runs of a variant diverge, with the exact values."""
    parting = proof.parting
    if parting is None:
        return "final weights differ"
    step = "outside the main loop" if parting.step is None else f"at main-loop step {parting.step}"
    one, other = (
        f"{'nothing' if value is None else value_text(value)} in replicate {replicate}"
        for value, replicate in zip(parting.values, parting.replicates, strict=True)
    )
    return f"{parting.metric} differs {step}: {one}, {other}"


def _flip_notes(flips: Absorption) -> list[str]:
    n = len(flips.absorbed)
    notes = []
    if flips.n_flipped < flips.n_runs:
        notes.append(f"{flips.n_runs - flips.n_flipped} of {count(flips.n_runs, 'run')} without a flip, left out")
    if flips.n_unknown:
        notes.append(f"{flips.n_unknown} of {count(flips.n_flipped, 'flip')} absorbed or not: weights not reached")
    if flips.n_flipped > flips.n_unknown and (n or flips.against):
        least = "" if flips.against else "at least "
        notes.append(f"{least}{n} of {count(flips.n_flipped, 'flip')} absorbed{', left out' if n else ''}")
    return notes


def _draws_nothing(study: Study, index: int) -> bool:
    """Whether a variant varies only random streams, and its runs drew from none of them."""
    experiment = study.experiments[index]
    streams = find_drawn_streams([experiment])
    return streams is not None and set(STREAMS) - streams >= set(experiment.varied) > set()


def _these(study: Study, index: int) -> str:
    return "this stream" if len(study.experiments[index].varied) == 1 else "these streams"
