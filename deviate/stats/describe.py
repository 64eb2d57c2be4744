"""Describes one metric over the runs of one experiment: level, spread and missing scores."""

import statistics
from collections.abc import Sequence
from dataclasses import replace

from deviate.model.analysis import Direction, Metric, Role
from deviate.model.comparisons import Description
from deviate.model.estimates import VERDICT_RUNS, Estimate, Score, Unavailable
from deviate.model.phrases import FAILURES, Note, Reason, remarks
from deviate.model.plan import SelectedMetric
from deviate.model.records import Experiment, Run, Series
from deviate.series.remarks import contention, non_finite_note
from deviate.series.score import aggregate_series, score_of
from deviate.stats.design.precision import precision_note, target_of
from deviate.stats.estimates import bootstrap, one_sample
from deviate.stats.estimates.sample import Values, moments, spread_refusal
from deviate.stats.estimates.sampling import examples_of, sampling_error

NO_RESULT = {"crashed": Reason.CRASHED, "timed_out": Reason.TIMED_OUT, "silent": Reason.SILENT}
NOT_COUNTED = ("lost", "cancelled")
"""Outcomes of runs that ended for external reasons: the runs are repeated and not counted."""


def describe(
    values: Values,
    *,
    name: str = "value",
    direction: Direction | None = None,
    confidence: float = 0.95,
    rng: bootstrap.Source | None = None,
) -> Description:
    """Describe the scores of runs, one value per run; values that are not finite are listed as missing.

    Args:
        rng: resamples the runs for the intervals that are cross-checks; without it there are none.
    """
    series = [Series((None,), (float(value),)) for value in values]
    outcomes = [(replicate, aggregate_series(one, "last")) for replicate, one in enumerate(series)]
    return _describe(named_metric(name, direction=direction), outcomes, confidence, (), rng)


def describe_runs(
    experiment: Experiment,
    metric: SelectedMetric,
    *,
    metrics: Sequence[SelectedMetric] | None = None,
    confidence: float = 0.95,
    rng: bootstrap.Source | None = None,
) -> Description:
    """Describe one metric of an experiment after its aggregate; only completed runs give a score.

    Args:
        metrics: all of the experiment, for the aggregate `at-best:METRIC`; None for those that it has.
        rng: resamples the runs for the intervals that are cross-checks; without it there are none. `Resamples` instead
            of a generator are shared by all metrics.
    """
    counted = [run for run in experiment.runs if run.status not in NOT_COUNTED]
    outcomes = [(run.replicate, _score(run, metric, metrics or experiment.metrics)) for run in counted]
    described = _describe(metric, outcomes, confidence, counted, rng)
    scored = {score.replicate for score in described.scores}
    notes = [described.note, non_finite_note(counted, metric.name)]
    if metric.role == "time":
        notes.append(contention(run for run in counted if run.replicate in scored))
    target = target_of(experiment)
    if target is not None and target.metric == metric.name:
        notes.append(precision_note(described.values, target, confidence))
    return replace(described, note=remarks(*notes))


def named_metric(
    name: str, *, direction: Direction | None = None, role: Role = "quality", margin: float | None = None
) -> SelectedMetric:
    """A metric that no script reports: scores typed in, imported or simulated."""
    source = Metric(0, name, name, "", 0, "array", role, direction, (), None)
    return SelectedMetric(name, source, role, direction, margin=margin)


def _score(run: Run, metric: SelectedMetric, metrics: Sequence[SelectedMetric]) -> Estimate:
    if run.status in NO_RESULT:
        return Unavailable(NO_RESULT[run.status])
    score = score_of(run.series, metric, metrics)
    if run.status == "diverged":
        reason = Reason.OF(Reason.DIVERGED, score.reason) if isinstance(score, Unavailable) else Reason.DIVERGED
        return Unavailable(reason, Reason.DIVERGED)
    return score


def _describe(
    metric: SelectedMetric,
    outcomes: list[tuple[int, Estimate]],
    confidence: float,
    runs: Sequence[Run],
    rng: bootstrap.Source | None,
) -> Description:
    scores = tuple(Score(replicate, value) for replicate, value in outcomes if not isinstance(value, Unavailable))
    absences = [(replicate, value) for replicate, value in outcomes if isinstance(value, Unavailable)]
    kinds = tuple(absence.kind for _, absence in absences)
    values = [score.value for score in scores]
    absent = Unavailable(Reason.NO_SCORE)
    single = one_sample.SINGLE_RUN if len(values) == 1 else absent
    several = len(values) > 1
    described = Description(
        metric=metric,
        scores=scores,
        n_runs=len(outcomes),
        missing=tuple((replicate, absence.reason) for replicate, absence in absences),
        missing_kinds=kinds,
        mean=moments(values).mean if values else absent,
        mean_interval=one_sample.mean_interval(values, confidence=confidence) if several else single,
        sd=moments(values).sd if several else single,
        sd_interval=one_sample.sd_interval(values, confidence=confidence) if several else single,
        cv=one_sample.coefficient_of_variation(values) if several else single,
        median=float(statistics.median(values)) if values else absent,
        minimum=min(values) if values else absent,
        maximum=max(values) if values else absent,
        range=max(values) - min(values) if several else single,
        note=_note(values, len(outcomes), kinds),
        se=one_sample.standard_error(values) if several else single,
        cv_interval=one_sample.variation_interval(values, confidence=confidence) if several else single,
        error_cv=one_sample.error_variation(values, metric) if several else single,
        quartiles=one_sample.quartiles(values) if several else single,
        iqr=one_sample.interquartile_range(values) if several else single,
        mad=one_sample.median_deviation(values) if several else single,
        skewness=one_sample.skewness(values) if several else single,
        kurtosis=one_sample.excess_kurtosis(values) if several else single,
        outliers=tuple(scores[place].replicate for place in one_sample.outliers(values)),
        tails=one_sample.tails_text(values),
    )
    return _with_sampling(_add_bootstraps(described, values, confidence, rng) if rng is not None else described, runs)


def _add_bootstraps(
    described: Description, values: list[float], confidence: float, rng: bootstrap.Source
) -> Description:
    resamples = rng if isinstance(rng, bootstrap.Resamples) else bootstrap.Resamples(rng)
    return replace(
        described,
        mean_bootstrap=bootstrap.mean_bootstrap(values, rng=resamples, confidence=confidence),
        mean_percentile=bootstrap.mean_percentile(values, rng=resamples, confidence=confidence),
        sd_bootstrap=bootstrap.sd_bootstrap(values, rng=resamples, confidence=confidence),
        median_bootstrap=bootstrap.median_bootstrap(values, rng=resamples, confidence=confidence),
    )


def _with_sampling(described: Description, runs: Sequence[Run]) -> Description:
    values = described.values
    scored = {score.replicate for score in described.scores}
    counted = [run for run in runs if run.replicate in scored]
    n_examples = examples_of(described.metric, values, counted)
    error = sampling_error(values, described.metric, n_examples, counted)
    return replace(described, n_examples=n_examples, sampling_se=error)


def _note(values: list[float], n_runs: int, missing: Sequence[str | None]) -> str:
    n = len(values)
    if n == 0:
        return (Reason.NO_RUN_OF if FAILURES.issuperset(missing) else Reason.NO_SCORE_OF)(n_runs)
    if n == 1:
        return Reason.SINGLE_RUN
    flat = spread_refusal(values)
    return remarks(flat.reason if flat else "", Note.FEW_RUNS(n, VERDICT_RUNS) if n < VERDICT_RUNS else "")
