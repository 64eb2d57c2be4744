"""Statistics: scores in, findings out; knows no files, processes or templates."""

from deviate.stats import summary
from deviate.stats.aggregate import aggregate_series, check_aggregate
from deviate.stats.attainment import attainment, compare_attainment
from deviate.stats.bootstrap import (
    Resamples,
    difference_bootstrap,
    glass_delta_bootstrap,
    mean_bootstrap,
    mean_percentile,
    median_bootstrap,
    sd_bootstrap,
    sd_ratio_bootstrap,
)
from deviate.stats.compare import compare
from deviate.stats.curves import compare_curves
from deviate.stats.describe import describe, named_metric
from deviate.stats.design import SHOWN_RUNS, design, equivalence_power, inflation, power_of
from deviate.stats.dunnett import dunnett, dunnett_critical, dunnett_intervals
from deviate.stats.effect import (
    cliffs_delta,
    cliffs_delta_interval,
    cohens_d,
    cohens_d_unweighted,
    glass_delta,
    hedges_correction,
    hedges_g,
    hedges_g_interval,
    sd_ratio,
    sd_ratio_interval,
    superiority,
    superiority_interval,
)
from deviate.stats.enough import Progress, check_target, is_settled, next_look, progress
from deviate.stats.equivalence import equivalence, paired_equivalence
from deviate.stats.failures import compare_completion, completion, rate_interval, rate_test, worst_rank
from deviate.stats.family import holm
from deviate.stats.intervals import mean_interval, sd_interval, standard_error
from deviate.stats.judge import judge
from deviate.stats.looks import Plan, at_look, parse_looks, repeated_p
from deviate.stats.many import against_baseline, all_pairs, benjamini_hochberg, compare_many, contrast_all
from deviate.stats.noise import noise
from deviate.stats.omnibus import anova, kruskal_wallis, welch_anova
from deviate.stats.overhead import overhead
from deviate.stats.paired import correlation, mean_difference, paired_interval, paired_t, pairing_warnings, wilcoxon
from deviate.stats.power import (
    detectable_difference,
    detectable_effect,
    detectable_interval,
    detectable_paired,
    detectable_paired_effect,
    detectable_paired_interval,
    pairs_needed,
    runs_for_effect,
    runs_needed,
)
from deviate.stats.precision import MIN_RUNS, Target, forecast, half_width, parse_target, reached
from deviate.stats.proof import repeatability
from deviate.stats.published import Variability, feasible_sd, is_quotient, quotient_range, variability_reduction
from deviate.stats.ranks import cliques, critical_difference, friedman, mean_ranks, nemenyi
from deviate.stats.relative import coefficient_of_variation, error_variation, variation_interval
from deviate.stats.robust import (
    excess_kurtosis,
    heavy_tails,
    interquartile_range,
    median_deviation,
    outliers,
    quartiles,
    skewness,
)
from deviate.stats.sample import Summary
from deviate.stats.sampling import sampling_error
from deviate.stats.spread import brown_forsythe, decide_spread, f_test, levene
from deviate.stats.stratified import interquartile_mean, interquartile_mean_interval
from deviate.stats.survival import kaplan_meier, log_rank, survival_median, survival_median_interval
from deviate.stats.tasks import compare_tasks
from deviate.stats.two_sample import (
    kolmogorov_smirnov,
    mann_whitney,
    permutation_test,
    student,
    welch,
    welch_interval,
)
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
    "SHOWN_RUNS",
    "Plan",
    "Progress",
    "Resamples",
    "Summary",
    "Target",
    "Variability",
    "against_baseline",
    "aggregate_series",
    "all_pairs",
    "anova",
    "at_look",
    "attainment",
    "benjamini_hochberg",
    "brown_forsythe",
    "check_aggregate",
    "check_target",
    "cliffs_delta",
    "cliffs_delta_interval",
    "cliques",
    "coefficient_of_variation",
    "cohens_d",
    "cohens_d_unweighted",
    "compare",
    "compare_attainment",
    "compare_completion",
    "compare_curves",
    "compare_many",
    "compare_tasks",
    "completion",
    "contrast_all",
    "correlation",
    "critical_difference",
    "decide_spread",
    "describe",
    "design",
    "detectable_difference",
    "detectable_effect",
    "detectable_interval",
    "detectable_paired",
    "detectable_paired_effect",
    "detectable_paired_interval",
    "difference_bootstrap",
    "dunnett",
    "dunnett_critical",
    "dunnett_intervals",
    "equivalence",
    "equivalence_power",
    "error_variation",
    "excess_kurtosis",
    "f_test",
    "feasible_sd",
    "forecast",
    "friedman",
    "glass_delta",
    "glass_delta_bootstrap",
    "half_width",
    "heavy_tails",
    "hedges_correction",
    "hedges_g",
    "hedges_g_interval",
    "holm",
    "inflation",
    "interquartile_mean",
    "interquartile_mean_interval",
    "interquartile_range",
    "is_quotient",
    "is_settled",
    "judge",
    "kaplan_meier",
    "kolmogorov_smirnov",
    "kruskal_wallis",
    "levene",
    "log_rank",
    "mann_whitney",
    "mean_bootstrap",
    "mean_difference",
    "mean_interval",
    "mean_percentile",
    "mean_ranks",
    "mean_ratio",
    "mean_ratio_interval",
    "median_bootstrap",
    "median_deviation",
    "named_metric",
    "nemenyi",
    "next_look",
    "noise",
    "outliers",
    "overhead",
    "paired_equivalence",
    "paired_interval",
    "paired_t",
    "pairing_warnings",
    "pairs_needed",
    "parse_looks",
    "parse_target",
    "permutation_test",
    "power_of",
    "progress",
    "quartiles",
    "quotient_range",
    "rate_interval",
    "rate_test",
    "reached",
    "repeatability",
    "repeated_p",
    "runs_for_effect",
    "runs_needed",
    "sampling_error",
    "sd_bootstrap",
    "sd_interval",
    "sd_ratio",
    "sd_ratio_bootstrap",
    "sd_ratio_interval",
    "skewness",
    "standard_error",
    "student",
    "summary",
    "superiority",
    "superiority_interval",
    "survival_median",
    "survival_median_interval",
    "variability_reduction",
    "variance_excess",
    "variance_excess_interval",
    "variance_share",
    "variance_share_interval",
    "variation_interval",
    "welch",
    "welch_anova",
    "welch_interval",
    "wilcoxon",
    "worst_rank",
]
