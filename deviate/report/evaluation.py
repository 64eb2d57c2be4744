"""What reports say of the test data of runs: whether they were the same, by their hashes."""

from collections.abc import Iterator, Sequence

from deviate.model.records import Experiment
from deviate.model.texts import count
from deviate.series.repeatability import agreement, cure, evaluation_agreement, hash_words, select_completed

VARIES = "the division of the data"


def evaluation_statements(experiments: Sequence[Experiment]) -> Iterator[str]:
    """Sentences on what the hashes show about the test data of the runs."""
    same_split = [experiment for experiment in experiments if "split" not in experiment.varied]
    n = sum(len(select_completed(experiment)) for experiment in same_split)
    runs = f"{n} runs" if len(same_split) == len(experiments) else f"{n} runs that do not vary the split"
    which = f"all {runs}"
    match evaluation_agreement(experiments):
        case "equal" if not _are_examples(same_split):
            yield f"Same inputs: {which} called the model with the same inputs in the first evaluation, by hash."
        case "equal":
            yield f"Same split: {which} were tested on the same examples, by {_hash_of(same_split)}."
        case "differ":
            hashed = _hash_of(same_split)
            yield f"Not the same split: {runs} were tested on different data, by {hashed}. {_cure(same_split)}"
        case "undecided":
            yield (
                f"Not verified that {which} were tested on the same examples: the inputs of the model differ between "
                "runs, and nothing shows whether they are examples or outputs of the model itself."
            )
        case "not seen" if n:
            yield f"Not verified that {which} were tested on the same examples: the evaluation data were not observed."
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
        return f"{name} varies the seeds of {VARIES}; 2 completed runs will show whether the tested examples differ."
    match agreement([run.evaluation for run in runs]):
        case "differ":
            return f"{name} varied which examples were tested: not the same in {n}, by {_hash_of([experiment])}."
        case "equal":
            return f"{name} did not vary which examples were tested: the same in {n}, by {_hash_of([experiment])}."
        case "undecided":
            seen = "the inputs of the model differ, and nothing shows whether they are examples"
        case _:
            seen = "the evaluation data were not observed"
    return f"{name} varies the seeds of {VARIES}; not verified that the tested examples differ: {seen}."


def _hash_of(experiments: Sequence[Experiment]) -> str:
    return hash_words(
        [event for experiment in experiments for run in select_completed(experiment) for event in run.evaluation]
    )


def _cure(experiments: Sequence[Experiment]) -> str:
    varied = {stream for experiment in experiments for stream in experiment.varied}
    runs = [run for experiment in experiments for run in select_completed(experiment)]
    return cure(
        varied, [event for run in runs for event in run.drawn], [one for run in runs for one in run.uncontrolled]
    )


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
        return [f"{sentence}: different examples, or the same examples prepared differently. Use one test set for all."]
    return []
