"""Repeatability: whether runs that should match are bitwise equal, and where they diverge."""

import itertools
import struct
from collections.abc import Collection, Sequence

from deviate.model.estimates import value_text
from deviate.model.findings import Absorption, Agreement, Parting, Repeatability, WeightsAgreement
from deviate.model.places import place_text
from deviate.model.records import DrawEvent, EvaluationData, Experiment, Run, Series
from deviate.model.texts import count, first_few

Place = tuple[bool, int, int]
"""(False, step of the main loop, ordinal within it), or (True, 0, ordinal) outside it; the first difference is searched
in this order."""


def repeatability(experiment: Experiment) -> Repeatability:
    """Compare the completed runs of one variant in quality metrics, step by step, and in final weights.

    Floats are compared by their bits, so 0.0 and -0.0 differ; NaN equals NaN, as its bit pattern has no meaning. A
    metric or step that one run lacks is a difference. Metrics of other roles, such as clock readings, are ignored.
    """
    runs = select_completed(experiment)
    names = quality_names(experiment)
    is_comparable = len(runs) > 1 and (bool(names) or weights_agreement(runs) != "not reached")
    parting = first_parting(runs, names)
    weights = weights_agreement(runs)
    return Repeatability(
        variant=experiment.variant,
        n=len(runs),
        is_equal=(parting is None and weights != "differ") if is_comparable else None,
        n_metrics=len(names),
        parting=parting,
        weights=weights,
        evaluation=evaluation_agreement([experiment]),
    )


def equal_words(proof: Repeatability) -> str:
    """`5 runs bitwise equal`, and what could not be compared."""
    left_out = "" if proof.weights == "equal" else " in metrics"
    if not proof.n_metrics:
        left_out = " in final weights, no quality metric reported"
    return f"{count(proof.n, 'run')} bitwise equal{left_out}"


def where(proof: Repeatability) -> str:
    """Where the runs of a variant part, with the values to their last bit."""
    parting = proof.parting
    if parting is None:
        return "final weights differ"
    step = "outside the main loop" if parting.step is None else f"at main-loop step {parting.step}"
    one, other = (
        f"{'nothing' if value is None else value_text(value)} in replicate {replicate}"
        for value, replicate in zip(parting.values, parting.replicates, strict=True)
    )
    return f"{parting.metric} differs {step}: {one}, {other}"


def select_completed(experiment: Experiment) -> list[Run]:
    return [run for run in experiment.runs if run.status == "completed"]


def quality_names(experiment: Experiment) -> list[str]:
    """Quality metrics that at least one completed run reported, in the order of the experiment."""
    reported = {name for run in select_completed(experiment) for name in run.series}
    return [metric.name for metric in experiment.metrics if metric.role == "quality" and metric.name in reported]


def first_parting(runs: Sequence[Run], names: Sequence[str]) -> Parting | None:
    """The first divergence: smallest step, then first metric; values outside the main loop come last."""
    if len(runs) < 2:
        return None
    first, *later = runs
    parting: tuple[Place, int, Run] | None = None
    for (order, name), other in itertools.product(enumerate(names), later):
        place = _difference(first.series.get(name), other.series.get(name))
        if place is not None and (parting is None or (place, order) < parting[:2]):
            parting = (place, order, other)
    if parting is None:
        return None
    place, order, other = parting
    name = names[order]
    values = (values_by_place(first.series.get(name)).get(place), values_by_place(other.series.get(name)).get(place))
    step = None if place[0] else place[1]
    return Parting(name, step, (first.replicate, other.replicate), values)


def weights_agreement(runs: Sequence[Run]) -> WeightsAgreement:
    """Compare the weights of each framework at the latest phase that all runs have; "not reached" if there is none."""
    if not runs:
        return "not reached"
    digests = [_digests(run) for run in runs]
    common = set(digests[0]).intersection(*digests[1:])
    latest = {framework: moment for framework, moment in digests[0] if (framework, moment) in common}
    if not latest:
        return "not reached"
    return "equal" if all(len({by_place[key] for by_place in digests}) == 1 for key in latest.items()) else "differ"


def evaluation_agreement(experiments: Sequence[Experiment]) -> Agreement:
    """Whether the completed runs were tested on the same examples; those that vary the split are left out.

    Hashes of different frameworks are not comparable: only frameworks that all runs used count. Different inputs mean
    different examples only if the record shows that they are examples; otherwise the answer is "undecided".
    """
    return agreement(
        [
            run.evaluation
            for experiment in experiments
            if "split" not in experiment.varied
            for run in select_completed(experiment)
        ]
    )


def agreement(evaluations: Sequence[Sequence[EvaluationData]]) -> Agreement:
    """Whether these evaluation data are the same examples in all runs, whatever the runs vary."""
    if not evaluations:
        return "not seen"
    common = set.intersection(*({item.framework for item in run} for run in evaluations))
    if not common:
        return "not seen"
    differing = []
    for framework in common:
        runs = [[item for item in run if item.framework == framework] for run in evaluations]
        if len({tuple(sorted((item.digest, item.n_examples) for item in run)) for run in runs}) > 1:
            differing.append(all(item.evidence != "inputs" for run in runs for item in run))
    if not differing:
        return "equal"
    return "differ" if any(differing) else "undecided"


def absorption(flipped: Experiment, control: Experiment | None) -> Absorption:
    """Which flips of single bits left metrics and final weights as they were.

    Without repeatable runs of `control`, runs with different flips and equal outcomes count as absorbed: everything
    else is held, so the common outcome of several flips is that without a flip.
    """
    runs = select_completed(flipped)
    names = quality_names(flipped)
    candidates = [run for run in runs if run.flips]
    outcome = select_completed(control)[0] if control is not None and repeatability(control).is_equal else None
    if outcome is not None:
        alike = [run for run in candidates if first_parting([run, outcome], names) is None]
        agreement_by_replicate = {run.replicate: weights_agreement([run, outcome]) for run in alike}
        absorbed = [run for run in alike if agreement_by_replicate[run.replicate] == "equal"]
        n_unknown = sum(agreed == "not reached" for agreed in agreement_by_replicate.values())
    else:
        largest = max(_groups(candidates, names), key=len, default=[])
        absorbed = largest if len({run.flips for run in largest}) > 1 else []
        n_unknown = sum(not run.weights for run in candidates)
    return Absorption(
        variant=flipped.variant,
        n_runs=len(runs),
        n_flipped=len(candidates),
        absorbed=tuple(run.replicate for run in absorbed),
        n_unknown=n_unknown,
        against=control.variant if control is not None and outcome is not None else None,
    )


def _groups(runs: Sequence[Run], names: Sequence[str]) -> list[list[Run]]:
    """Groups of runs with bitwise equal outcomes."""
    groups: list[list[Run]] = []
    for run in runs:
        group = next((group for group in groups if _is_same(run, group[0], names)), None)
        if group is None:
            groups.append([run])
        else:
            group.append(run)
    return groups


def _is_same(one: Run, other: Run, names: Sequence[str]) -> bool:
    return weights_agreement([one, other]) == "equal" and first_parting([one, other], names) is None


def _digests(run: Run) -> dict[tuple[str, str], tuple[tuple[str, int], ...]]:
    """(framework, phase) to weight hashes, in order of time; several models may end in one phase."""
    digests: dict[tuple[str, str], tuple[tuple[str, int], ...]] = {}
    for weight in run.weights:
        key = (weight.framework, weight.moment)
        digests[key] = (*digests.pop(key, ()), (weight.digest, weight.n_parameters))
    return digests


def _difference(one: Series | None, other: Series | None) -> Place | None:
    """The first place at which two series differ, in the main loop if possible."""
    if one is not None and other is not None and one.steps == other.steps and _bits(one) == _bits(other):
        return None
    mine, theirs = values_by_place(one), values_by_place(other)
    places = sorted(mine.keys() | theirs.keys())
    return next((at for at in places if _bit(mine.get(at)) != _bit(theirs.get(at))), None)


def values_by_place(series: Series | None) -> dict[Place, float]:
    """The values of a series by their places; none of no series."""
    if series is None:
        return {}
    places = ((step is None, 0 if step is None else step, ordinal) for step, ordinal in series.iterate_places())
    return dict(zip(places, series.values, strict=True))


def _bits(series: Series) -> bytes:
    import numpy as np  # words on a check are imported by verbs that compare nothing

    return np.asarray(series.values, dtype="<f8").tobytes()


def _bit(value: float | None) -> bytes | None:
    if value is None:
        return None
    return b"nan" if value != value else struct.pack("<d", value)  # noqa: PLR0124  (NaN alone differs from itself)


# Whether runs were tested on the same data, by its hashes, and what to do if they were not.

ALGORITHM = ("init", "shuffle", "augment", "dropout", "other")
"""The streams that `algo` varies."""
MOST_PLACES = 3


def hash_words(hashes: Sequence[EvaluationData]) -> str:
    """Words for what was hashed: the data of an evaluation, or named arrays."""
    arrays = list(dict.fromkeys(digest.framework for digest in hashes if digest.evidence == "names"))
    if arrays and all(digest.evidence == "names" for digest in hashes):
        return f"a hash of {'; '.join(arrays)} at the start of training"
    return "a hash of the evaluation data"


def cure(varied: Collection[str], drawn: Sequence[DrawEvent], uncontrolled: Sequence[str]) -> str:
    """Advice on how to test all runs on the same data: the recorded draws behind the split, and how to hold it.

    Args:
        varied: streams and factors that vary.
        drawn: draws outside of the main loop.
        uncontrolled: what was drawn beyond all control, a phrase each with its place.
    """
    suspects = [event for event in dict.fromkeys(drawn) if event.stream in varied]
    if not suspects:
        beyond = first_few(list(dict.fromkeys(uncontrolled)), MOST_PLACES)
        seen = (
            f"Beyond control: {beyond}." if beyond else "Look for other seeds, draws in threads and the order of sets."
        )
        return f"No draw that a variant holds explains it. {seen} Or read the data from files."
    streams = list(dict.fromkeys(event.stream for event in suspects))
    rest = [stream for stream in ALGORITHM if stream not in streams and stream in varied]
    rest += [factor for factor, sign in (("hash", "hash"), ("impl", "kernels")) if sign in varied]
    holding = f"hold {' and '.join(streams)}: --variants {'+'.join(rest) or 'control'}"
    return f"{_draw_places(suspects)}Read the data from files, or {holding}."


def _draw_places(events: Sequence[DrawEvent]) -> str:
    """The sentence `Drawn before the main loop: numpy.random.rand (data.py:9, other). `."""
    draws = [f"{event.call} ({place_text(event.file, event.line)}, {event.stream})" for event in events]
    return f"Drawn outside of the main loop, in streams that vary: {first_few(draws, MOST_PLACES)}. "
