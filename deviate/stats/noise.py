"""Sources of spread: every quality metric over the variants of one experiment."""

from collections.abc import Sequence

from deviate.model.comparisons import Description
from deviate.model.estimates import Score, Unavailable
from deviate.model.findings import ExperimentFindings, NoiseFindings, NoiseRow, NoiseTable, Study
from deviate.model.phrases import Reason
from deviate.model.plan import SelectedMetric
from deviate.series.study import BOTH, find_unrouted_draws, isolates, leaves_other_out, study_of
from deviate.stats.estimates import spread
from deviate.stats.estimates.effect import sd_ratio, sd_ratio_interval
from deviate.stats.estimates.one_sample import sd_interval, sd_of
from deviate.stats.estimates.overhead import overhead
from deviate.stats.estimates.sample import spread_refusal, too_few

RATIO_RUNS = 5
"""Minimum number of runs for a ratio of SDs."""


def noise(described: Sequence[ExperimentFindings], *, confidence: float = 0.95) -> NoiseFindings:
    """Spread per variant and metric, and proportions of the variance.

    Args:
        described: variants of one experiment; a single one has no tables, but a proof of its repeatability.
    """
    study = study_of(described)
    return NoiseFindings(
        study=study,
        tables=() if study.is_single else tuple(_table(study, metric, confidence) for metric in _metrics(study)),
        repeatability=study.proofs,
        control=study.control,
        absorption=tuple(absorption for absorption in study.absorbed if absorption is not None),
        overhead=overhead(study.experiments, confidence=confidence),
    )


def _metrics(study: Study) -> list[SelectedMetric]:
    by_name = {
        description.metric.name: description.metric
        for findings in study.described
        for description in findings.descriptions
        if description.n
    }
    return [metric for metric in by_name.values() if metric.role == "quality"]


def _table(study: Study, metric: SelectedMetric, confidence: float) -> NoiseTable:
    scores = {
        experiment.variant: _select_scores(study, index, metric) for index, experiment in enumerate(study.experiments)
    }
    three = [_values(scores[name]) for name in (BOTH, "algo", "impl") if name in scores]
    missing = Unavailable(Reason.NEEDS_VARIANTS(BOTH))
    return NoiseTable(
        metric=metric,
        reference=study.reference.variant if study.reference else None,
        rows=tuple(_row(study, index, scores, confidence) for index, _ in enumerate(study.experiments)),
        excess=spread.variance_excess(*three) if len(three) == 3 else missing,
        excess_interval=spread.variance_excess_interval(*three, confidence=confidence) if len(three) == 3 else missing,
    )


def _row(study: Study, index: int, scores: dict[str, tuple[Score, ...]], confidence: float) -> NoiseRow:
    experiment, kind = study.experiments[index], study.kinds[index]
    values = _values(scores[experiment.variant])
    whole = _values(scores[study.reference.variant]) if study.reference else []
    no_ratio = _no_ratio(study, index, values, whole)
    no_share = no_ratio or _no_share(study, index)
    is_isolated = None
    if isolates(experiment, kind) and find_unrouted_draws(study.experiments):
        is_isolated = False
    elif isolates(experiment, kind) and study.control != "absent":
        is_isolated = study.control == "intact"
    return NoiseRow(
        variant=experiment.variant,
        kind=kind,
        varied=experiment.varied,
        scores=scores[experiment.variant],
        sd=sd_of(values) if values else Unavailable(Reason.NO_SCORE),
        sd_interval=Unavailable(Reason.CONFIGURATION)
        if kind == "configuration"
        else sd_interval(values, confidence=confidence),
        ratio=no_ratio or sd_ratio(whole, values),
        ratio_interval=no_ratio or sd_ratio_interval(whole, values, confidence=confidence),
        share=no_share or spread.variance_share(whole, values),
        share_interval=no_share or spread.variance_share_interval(whole, values, confidence=confidence),
        is_isolated=is_isolated,
    )


def _select_scores(study: Study, index: int, metric: SelectedMetric) -> tuple[Score, ...]:
    """The scores behind the SD, without absorbed flips, which are a separate outcome and would bias it towards 0."""
    description = _description(study, index, metric)
    if description is None:
        return ()
    flips = study.absorbed[index]
    if flips is None:
        return description.scores
    flipped = {run.replicate for run in study.experiments[index].runs if run.flips} - set(flips.absorbed)
    return tuple(score for score in description.scores if score.replicate in flipped)


def _description(study: Study, index: int, metric: SelectedMetric) -> Description | None:
    return next(
        (description for description in study.described[index].descriptions if description.metric.name == metric.name),
        None,
    )


def _values(scores: Sequence[Score]) -> list[float]:
    return [score.value for score in scores]


def _no_ratio(study: Study, index: int, values: Sequence[float], whole: Sequence[float]) -> Unavailable | None:
    """Why the ratio of a variant's spread to that of the reference is not computed."""
    reference = study.reference
    if reference is None:
        return Unavailable(Reason.NO_REFERENCE)
    if study.experiments[index].variant == reference.variant:
        return Unavailable(Reason.REFERENCE)
    if study.kinds[index] == "configuration":
        return Unavailable(Reason.CONFIGURATION)
    if reason := too_few(RATIO_RUNS, len(whole), len(values)) or spread_refusal(values):
        return reason
    if reason := spread_refusal(whole):
        return Unavailable(Reason.OF(reference.variant, reason.reason))
    return None


def _no_share(study: Study, index: int) -> Unavailable | None:
    """Why a variant's variance is no part of the reference's."""
    experiment, kind, reference = study.experiments[index], study.kinds[index], study.reference
    if kind == "nothing":
        return Unavailable(Reason.NOTHING_VARIES)
    if reference is None:
        return Unavailable(Reason.NO_REFERENCE)
    if kind in {"script", "one-bit"} or not reference.varied:
        return Unavailable(Reason.NO_PART(reference.variant))
    if extra := tuple(factor for factor in experiment.varied if factor not in reference.varied):
        return Unavailable(Reason.NOT_VARIED(extra, reference.variant))
    if find_unrouted_draws(study.experiments):
        return Unavailable(Reason.NOT_ROUTED)
    if leaves_other_out(study, index):
        return Unavailable(Reason.OTHER_LEFT_OUT)
    return None
