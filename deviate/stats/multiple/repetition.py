"""Repeated tries: other candidates of a baseline, and other experiments that try the same thing."""

from collections.abc import Sequence

from deviate.model import NOT_ASKED, Estimate, Experiment, PairFindings, Unavailable
from deviate.stats.estimates.sample import count, first_of
from deviate.stats.multiple.family import holm

N_NAMED = 5
"""Number of experiments that one sentence names; it counts the rest."""


def repetition_warnings(
    experiments: Sequence[Experiment], pairs: Sequence[PairFindings], labels: Sequence[str], *, confidence: float
) -> list[str]:
    """Warnings about recorded tries outside this comparison, as each was a chance to look better.

    The verdict stays that of this comparison: only the author knows which tries belong together.

    Args:
        experiments: the baseline and its candidates; labels: their names in the report; pairs: one per candidate.
    """
    return [
        *_candidates_before(experiments, pairs, labels[0], alpha=1 - confidence),
        *_experiments_alike(experiments, labels),
    ]


def _candidates_before(
    experiments: Sequence[Experiment], pairs: Sequence[PairFindings], label: str, *, alpha: float
) -> list[str]:
    present = {(experiment.name, experiment.variant, experiment.created) for experiment in experiments[1:]}
    past = [earlier for earlier in experiments[0].past_comparisons if earlier.key not in present]
    if not past:
        return []
    tests = [pair.headline.deciding_test if pair.headline else NOT_ASKED for pair in pairs]
    p_now: list[Estimate] = [test if isinstance(test, Unavailable) else test.p_value for test in tests]
    p_before: list[Estimate] = [NOT_ASKED if earlier.p is None else earlier.p for earlier in past]
    adjusted = [
        f"{_p_text(p)} for {pair.candidate}{'' if p < alpha else ', not below alpha'}"
        for pair, p in zip(pairs, holm([*p_now, *p_before]), strict=False)
        if not isinstance(p, Unavailable)
    ]
    names = list(dict.fromkeys(earlier.candidate for earlier in past))
    sentence = f"{label} was compared with {count(len(past), 'more candidate')} on record: {first_of(names, N_NAMED)}."
    return [f"{sentence} Holm over all {len(p_now) + len(p_before)}: {'; '.join(adjusted)}." if adjusted else sentence]


def _experiments_alike(experiments: Sequence[Experiment], labels: Sequence[str]) -> list[str]:
    compared = {experiment.name for experiment in experiments}
    warnings = []
    for experiment, label in zip(experiments, labels, strict=True):
        not_compared = [name for name in experiment.siblings if name not in compared]
        if not_compared:
            number = f"{label} is one of {len(not_compared) + 1} experiments of the same command on the same code"
            warnings.append(
                f"{number} (others: {first_of(not_compared, N_NAMED)}). Which of them counts must not depend on their "
                "results: say that there are several, or compare each."
            )
    return warnings


def _p_text(p: float) -> str:
    return f"p = {p:.3f}".replace("0.", ".") if p >= 0.001 else "p < .001"
