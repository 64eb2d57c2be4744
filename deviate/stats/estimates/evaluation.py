"""Whether runs were tested on the same data, by its hashes, and what to do if they were not."""

from collections.abc import Collection, Iterator, Sequence

from deviate.base import first_few
from deviate.model import DrawEvent, EvaluationData, Experiment
from deviate.stats.estimates.proof import agreement, evaluation_agreement, select_completed
from deviate.stats.estimates.sample import count

ALGORITHM = ("init", "shuffle", "augment", "dropout", "other")
"""The streams that `algo` varies."""
MOST_PLACES = 3
VARIES = "the division of the data"


def evaluation_statements(experiments: Sequence[Experiment]) -> Iterator[str]:
    """Sentences on what the hashes show about the test data of the runs."""
    same_split = [experiment for experiment in experiments if "split" not in experiment.varied]
    n = sum(len(select_completed(experiment)) for experiment in same_split)
    which = f"all {n} runs" if len(same_split) == len(experiments) else f"all {n} runs that do not vary the split"
    match evaluation_agreement(experiments):
        case "equal" if not _are_examples(same_split):
            yield f"Same inputs: {which} called the model with the same in their first evaluation, by a hash of it."
        case "equal":
            yield f"Same split: {which} were tested on the same examples, by {_hash_of(same_split)}."
        case "differ":
            hashed = _hash_of(same_split)
            yield f"Not the same split: not {which} were tested on the same data, by {hashed}. {_cure(same_split)}"
        case "undecided":
            yield (
                f"That {which} were tested on the same examples is not verified: what the model was called with "
                "differs between runs, and nothing shows whether that are examples or what the model computed itself."
            )
        case "not seen" if n:
            yield f"That {which} were tested on the same examples is not verified: the evaluation data were not seen."
    for experiment in experiments:
        if "split" in experiment.varied:
            yield _of_varied(experiment)


def _are_examples(experiments: Sequence[Experiment]) -> bool:
    """Whether each run has a hash that is known to be of examples."""
    return all(
        any(event.evidence != "inputs" for event in run.evaluation)
        for each in experiments
        for run in select_completed(each)
    )


def _of_varied(experiment: Experiment) -> str:
    """Sentences on the test data of a variant that varies the split."""
    runs = select_completed(experiment)
    name, n = experiment.variant, count(len(runs), "run")
    if len(runs) < 2:
        return f"{name} varies the seeds of {VARIES}; whether other examples are tested takes 2 completed runs to see."
    match agreement([run.evaluation for run in runs]):
        case "differ":
            return f"{name} varied which examples were tested: not the same in {n}, by {_hash_of([experiment])}."
        case "equal":
            return f"{name} did not vary which examples were tested: the same in {n}, by {_hash_of([experiment])}."
        case "undecided":
            seen = "what the model was called with differs, and nothing shows whether that are examples"
        case _:
            seen = "the evaluation data were not seen"
    return f"{name} varies the seeds of {VARIES}; that other examples were tested is not verified: {seen}."


def _hash_of(experiments: Sequence[Experiment]) -> str:
    return hash_words(
        [event for experiment in experiments for run in select_completed(experiment) for event in run.evaluation]
    )


def hash_words(hashes: Sequence[EvaluationData]) -> str:
    """Words for what was hashed: the data of an evaluation, or named arrays."""
    arrays = list(dict.fromkeys(digest.framework for digest in hashes if digest.evidence == "names"))
    if arrays and all(digest.evidence == "names" for digest in hashes):
        return f"a hash of {'; '.join(arrays)} as training began"
    return "a hash of the evaluation data"


def _cure(experiments: Sequence[Experiment]) -> str:
    varied = {stream for experiment in experiments for stream in experiment.varied}
    return cure(
        varied, [event for experiment in experiments for run in select_completed(experiment) for event in run.drawn]
    )


def cure(varied: Collection[str], drawn: Sequence[DrawEvent]) -> str:
    """Advice on how to test all runs on the same data: the recorded draws behind the split, and how to hold it.

    Args:
        varied: streams and factors that vary.
        drawn: draws outside of the main loop.
    """
    suspects = [event for event in dict.fromkeys(drawn) if event.stream in varied]
    streams = list(dict.fromkeys(event.stream for event in suspects)) or ["other"]
    rest = [stream for stream in ALGORITHM if stream not in streams and stream in varied]
    rest += [factor for factor, sign in (("hash", "hash"), ("impl", "kernels")) if sign in varied]
    holding = f"hold {' and '.join(streams)}{'' if suspects else ', if they are drawn from it'}"
    return f"{_places(suspects)}Read the data from files, or {holding}: --variants {'+'.join(rest) or 'control'}."


def _draw_places(events: Sequence[DrawEvent]) -> str:
    """The sentence `Drawn before the main loop: numpy.random.rand (data.py:9, other). `."""
    if not events:
        return ""
    draws = [f"{event.call} ({event.file}:{event.line}, {event.stream})" for event in events]
    return f"Drawn outside of the main loop, in streams that vary: {first_few(draws, MOST_PLACES)}. "


def evaluation_warnings(experiments: Sequence[Experiment], labels: Sequence[str]) -> list[str]:
    """Runs that were not tested on the same examples although the split was not varied."""
    within = [
        (experiment, label)
        for experiment, label in zip(experiments, labels, strict=True)
        if "split" not in experiment.varied
        and agreement([run.evaluation for run in select_completed(experiment)]) == "differ"
    ]
    if within:
        names = ", ".join(label for _, label in within)
        sentence = f"The runs of {names} were not tested on the same data, which is part of the spread."
        return [f"{sentence} {_cure([experiment for experiment, _ in within])}"]
    if evaluation_agreement(experiments) == "differ":
        sentence = f"{', '.join(labels)} were not tested on the same data, by a hash of it"
        return [f"{sentence}: other examples, or the same prepared differently. Give all the same test set."]
    return []
