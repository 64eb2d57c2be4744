"""Statistics: scores in, findings out; knows no files, processes or templates."""

from deviate.stats.aggregate import aggregate_series, check_aggregate
from deviate.stats.compare import compare
from deviate.stats.describe import coefficient_of_variation, describe, named_metric
from deviate.stats.effect import (
    cohens_d,
    cohens_d_unweighted,
    hedges_correction,
    hedges_g,
    hedges_g_interval,
    sd_ratio,
    sd_ratio_interval,
    superiority,
    superiority_interval,
)
from deviate.stats.enough import Progress, check_target, is_settled, next_look, progress
from deviate.stats.family import holm
from deviate.stats.intervals import mean_interval, sd_interval
from deviate.stats.judge import judge
from deviate.stats.looks import Plan, at_look, parse_looks, repeated_p
from deviate.stats.noise import noise
from deviate.stats.overhead import overhead
from deviate.stats.power import detectable_difference, detectable_effect, runs_for_effect, runs_needed
from deviate.stats.precision import MIN_RUNS, Target, forecast, half_width, parse_target, reached
from deviate.stats.proof import repeatability
from deviate.stats.two_sample import brown_forsythe, mann_whitney, student, welch, welch_interval
from deviate.stats.variance import (
    mean_ratio,
    mean_ratio_interval,
    variance_excess,
    variance_excess_interval,
    variance_share,
    variance_share_interval,
)

__all__ = [
    "MIN_RUNS",
    "Plan",
    "Progress",
    "Target",
    "aggregate_series",
    "at_look",
    "brown_forsythe",
    "check_aggregate",
    "check_target",
    "coefficient_of_variation",
    "cohens_d",
    "cohens_d_unweighted",
    "compare",
    "describe",
    "detectable_difference",
    "detectable_effect",
    "forecast",
    "half_width",
    "hedges_correction",
    "hedges_g",
    "hedges_g_interval",
    "holm",
    "is_settled",
    "judge",
    "mann_whitney",
    "mean_interval",
    "mean_ratio",
    "mean_ratio_interval",
    "named_metric",
    "next_look",
    "noise",
    "overhead",
    "parse_looks",
    "parse_target",
    "progress",
    "reached",
    "repeatability",
    "repeated_p",
    "runs_for_effect",
    "runs_needed",
    "sd_interval",
    "sd_ratio",
    "sd_ratio_interval",
    "student",
    "superiority",
    "superiority_interval",
    "variance_excess",
    "variance_excess_interval",
    "variance_share",
    "variance_share_interval",
    "welch",
    "welch_interval",
]
