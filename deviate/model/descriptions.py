"""One experiment described: a metric over its runs, how many of them completed, when they reached a target."""

from dataclasses import dataclass

from deviate.model.estimates import NOT_ASKED, Estimate, Interval, Reason, Score, Unavailable
from deviate.model.plan import SelectedMetric


@dataclass(frozen=True, slots=True)
class Completion:
    """How many runs completed. `n_runs` counts every run that ended for reasons of its own.

    Attributes:
        interval: Clopper-Pearson, of the rate.
        outcomes: number of runs by outcome, completed first: (("completed", 9), ("diverged", 1)).
    """

    n_completed: int
    n_runs: int
    rate: Estimate
    interval: Interval | Unavailable
    outcomes: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Attainment:
    """When the runs reached a target value of a metric; a run that ended before is right-censored there.

    Attributes:
        target: in units of the metric.
        steps: per run (replicate, main-loop steps done when the target was reached or the run ended, whether it was
            reached); steps count from 1.
        seconds: the same in seconds since the start of the run; empty where times are not on record.
        median_steps, median_seconds: Kaplan-Meier median; unavailable where fewer than half of the runs got there.
        survival: Kaplan-Meier curve over steps, (step, share of runs that are not there yet), beginning at (0, 1).
        note: what a reader must know: which failed runs are taken as not there yet when last seen.
    """

    target: float
    n_reached: int
    steps: tuple[tuple[int, int, bool], ...]
    seconds: tuple[tuple[int, float, bool], ...]
    median_steps: Estimate
    median_steps_interval: Interval | Unavailable
    median_seconds: Estimate
    median_seconds_interval: Interval | Unavailable
    survival: tuple[tuple[int, float], ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Description:
    """One metric over the runs of one experiment.

    Attributes:
        scores: finite scores of the runs that count, in order of replicate; n is their number.
        n_runs: runs that ended (failures included, lost and cancelled ones not).
        missing: replicates that gave no score, each with the reason ("crashed", "NaN at the last step", …).
        sd: ddof 1. cv: sd / |mean|; cv_interval is that of the SD over |mean|. error_cv: sd / (1 - mean) of an
            accuracy above one half, whose own CV says little near 1 (100 in place of 1 where it is in percent).
        se: of the mean. iqr: third less first quartile. mad: median absolute deviation from the median, scaled to the
            SD of normal scores. skewness: Fisher-Pearson, bias-corrected; kurtosis: excess, bias-corrected.
        outliers: replicates whose score is farther from the median than 3.5 MADs.
        tails: a warning that the interval of the SD does not hold, for the tails are heavy; empty where they are not.
        mean_bootstrap, mean_percentile, sd_bootstrap, median_bootstrap: cross-checks by resampling runs, BCa but for
            the percentile ones, labelled as such.
        n_examples: of the test set, where known. sampling_se: of an accuracy, from these examples: no number of runs
            reduces it.
        attainment: when the runs reached the target, where one was given.
        rounding_se: the smallest standard error of the mean among the sides that are compared in this metric, which
            decides the decimals of all of them; None where nothing is compared.
        missing_kinds: of the reasons in `missing`, in their order.
        note: what a reader must know: "all 5 values equal", "1 run: spread unknown", "no completed run (0/5)".
    """

    metric: SelectedMetric
    scores: tuple[Score, ...]
    n_runs: int
    missing: tuple[tuple[int, str], ...]
    mean: Estimate
    mean_interval: Interval | Unavailable
    sd: Estimate
    sd_interval: Interval | Unavailable
    cv: Estimate
    median: Estimate
    minimum: Estimate
    maximum: Estimate
    range: Estimate
    note: str = ""
    se: Estimate = NOT_ASKED
    cv_interval: Interval | Unavailable = NOT_ASKED
    error_cv: Estimate = NOT_ASKED
    quartiles: tuple[float, float] | Unavailable = NOT_ASKED
    iqr: Estimate = NOT_ASKED
    mad: Estimate = NOT_ASKED
    skewness: Estimate = NOT_ASKED
    kurtosis: Estimate = NOT_ASKED
    outliers: tuple[int, ...] = ()
    tails: str = ""
    mean_bootstrap: Interval | Unavailable = NOT_ASKED
    mean_percentile: Interval | Unavailable = NOT_ASKED
    sd_bootstrap: Interval | Unavailable = NOT_ASKED
    median_bootstrap: Interval | Unavailable = NOT_ASKED
    n_examples: int | None = None
    sampling_se: Estimate = NOT_ASKED
    attainment: Attainment | Unavailable = NOT_ASKED
    rounding_se: float | None = None
    missing_kinds: tuple[Reason | None, ...] = ()

    @property
    def n(self) -> int:
        return len(self.scores)

    @property
    def values(self) -> list[float]:
        """The scores without their replicates."""
        return [score.value for score in self.scores]
