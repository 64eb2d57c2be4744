"""Results of an experiment beside numbers that somebody else published, such as those in the table of a paper."""

from dataclasses import dataclass

from deviate.model.comparisons import Verdict
from deviate.model.estimates import NOT_ASKED, Estimate, Interval, Unavailable


@dataclass(frozen=True, slots=True)
class PublishedResult:
    """A published result in one metric: the mean over runs, or the score of one run.

    Attributes:
        text: as the user gave it. source: where it was published; empty where the user did not say.
        metric: name of the metric of the experiment that it is compared with.
        n: number of runs. sd: over these runs, ddof 1, computed from what was published.
        assumption: what is not known of the spread, and how it was read; empty where everything is known.
        last_digit: unit of the last digit of the mean. is_percentage: whether it was given with a percent sign.
    """

    text: str
    source: str
    metric: str
    n: int
    mean: float
    sd: Estimate
    assumption: str
    last_digit: float
    is_percentage: bool


@dataclass(frozen=True, slots=True)
class PublishedComparison:
    """One metric of an experiment beside a published result; differences are the experiment minus what was published.

    Attributes:
        unit: of the metric, empty for none. direction: `max`, `min`, or null where none is known.
        aggregate: by which each run of the experiment has its score.
        scores: of the experiment, in order of replicate; n_runs counts runs that gave none too.
        sd: ddof 1. interval: of the difference, by Welch from number, mean and SD of both sides.
        margin: smallest difference that matters, null where none was given; margin_interval: the interval at twice the
            error level, which equivalence would compare with it.
    """

    published: PublishedResult
    unit: str
    direction: str | None
    aggregate: str
    scores: tuple[float, ...]
    n_runs: int
    mean: Estimate
    mean_interval: Interval | Unavailable
    sd: Estimate
    difference: Estimate
    interval: Interval | Unavailable
    hedges_g: Estimate
    hedges_g_interval: Interval | Unavailable
    sd_ratio: Estimate
    sd_ratio_interval: Interval | Unavailable
    verdict: Verdict
    margin: float | None = None
    margin_interval: Interval | Unavailable = NOT_ASKED

    @property
    def n(self) -> int:
        return len(self.scores)


@dataclass(frozen=True, slots=True)
class PublishedFindings:
    """An experiment beside published results.

    Attributes:
        comparisons: one per published result, in the order in which they were given.
        notes: what is to be known of the runs and of the published numbers.
    """

    experiment: str
    variant: str
    command: tuple[str, ...]
    confidence: float
    comparisons: tuple[PublishedComparison, ...]
    notes: tuple[str, ...]
