"""How long runs take to converge, and spreads with and without runs that are weak: from their scores and times."""

from dataclasses import dataclass

from deviate.model.estimates import Estimate


@dataclass(frozen=True, slots=True)
class ConvergenceRow:
    """Time and steps of each run to convergence by one criterion.

    Attributes:
        criterion: in words, as "within 1% of the best val_acc".
        steps: of the main loop, from 1, one per run in order of replicate; None where a run did not get there.
        seconds: since the start of the run, alike.
        seconds_relative_range, steps_relative_range: (max - min) / min over the runs that got there.
        scores: what the metric whose convergence it is was then, alike; None too where it was not reported until then.
    """

    criterion: str
    steps: tuple[int | None, ...]
    seconds: tuple[float | None, ...]
    seconds_range: Estimate
    seconds_mean: Estimate
    seconds_sd: Estimate
    seconds_relative_range: Estimate
    steps_relative_range: Estimate
    scores: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Convergence:
    """How long the runs of one experiment take, and to converge.

    Attributes:
        metric: whose convergence it is. step_seconds: mean seconds of a main-loop step, one per run.
        step_seconds_sd: over runs, ddof 1.
    """

    experiment: int
    metric: str
    replicates: tuple[int, ...]
    step_seconds: tuple[float, ...]
    step_seconds_mean: Estimate
    step_seconds_sd: Estimate
    step_seconds_relative_range: Estimate
    rows: tuple[ConvergenceRow, ...]


@dataclass(frozen=True, slots=True)
class WeakModels:
    """The same spread of one metric with and without the runs beyond a value that was named.

    Attributes:
        experiment: index among the experiments of the findings.
        rule: in words. excluded: replicates.
        range_all, sd_all: of all runs, in units of the metric, ddof 1. range_kept, sd_kept: without the excluded ones.
    """

    experiment: int
    metric: str
    rule: str
    excluded: tuple[int, ...]
    range_all: Estimate
    sd_all: Estimate
    range_kept: Estimate
    sd_kept: Estimate
