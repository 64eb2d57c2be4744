"""Statistics: scores in, findings out; knows no files, processes or templates."""

from typing import TYPE_CHECKING

from deviate.base import load_on_first_use

if TYPE_CHECKING:
    from deviate.stats.check import check_completion as check_completion
    from deviate.stats.check import check_control as check_control
    from deviate.stats.check import check_metrics as check_metrics
    from deviate.stats.compare import compare as compare
    from deviate.stats.describe import describe as describe
    from deviate.stats.describe import named_metric as named_metric
    from deviate.stats.design.design import SHOWN_RUNS as SHOWN_RUNS
    from deviate.stats.design.design import design as design
    from deviate.stats.design.design import equivalence_power as equivalence_power
    from deviate.stats.design.design import inflation as inflation
    from deviate.stats.design.design import power_of as power_of
    from deviate.stats.design.group_sequential import SpendingPlan as SpendingPlan
    from deviate.stats.design.group_sequential import at_look as at_look
    from deviate.stats.design.group_sequential import parse_looks as parse_looks
    from deviate.stats.design.group_sequential import repeated_p as repeated_p
    from deviate.stats.design.power import detectable_difference as detectable_difference
    from deviate.stats.design.power import detectable_effect as detectable_effect
    from deviate.stats.design.power import detectable_interval as detectable_interval
    from deviate.stats.design.power import detectable_paired as detectable_paired
    from deviate.stats.design.power import detectable_paired_effect as detectable_paired_effect
    from deviate.stats.design.power import detectable_paired_interval as detectable_paired_interval
    from deviate.stats.design.power import pairs_needed as pairs_needed
    from deviate.stats.design.power import runs_for_effect as runs_for_effect
    from deviate.stats.design.power import runs_needed as runs_needed
    from deviate.stats.design.precision import MIN_RUNS as MIN_RUNS
    from deviate.stats.design.precision import Target as Target
    from deviate.stats.design.precision import forecast as forecast
    from deviate.stats.design.precision import half_width as half_width
    from deviate.stats.design.precision import parse_target as parse_target
    from deviate.stats.design.precision import reached as reached
    from deviate.stats.estimates.aggregate import aggregate_series as aggregate_series
    from deviate.stats.estimates.aggregate import check_aggregate as check_aggregate
    from deviate.stats.estimates.bootstrap import Resamples as Resamples
    from deviate.stats.estimates.bootstrap import difference_bootstrap as difference_bootstrap
    from deviate.stats.estimates.bootstrap import glass_delta_bootstrap as glass_delta_bootstrap
    from deviate.stats.estimates.bootstrap import mean_bootstrap as mean_bootstrap
    from deviate.stats.estimates.bootstrap import mean_percentile as mean_percentile
    from deviate.stats.estimates.bootstrap import median_bootstrap as median_bootstrap
    from deviate.stats.estimates.bootstrap import sd_bootstrap as sd_bootstrap
    from deviate.stats.estimates.bootstrap import sd_ratio_bootstrap as sd_ratio_bootstrap
    from deviate.stats.estimates.cost import cost as cost
    from deviate.stats.estimates.effect import cliffs_delta as cliffs_delta
    from deviate.stats.estimates.effect import cliffs_delta_interval as cliffs_delta_interval
    from deviate.stats.estimates.effect import cohens_d as cohens_d
    from deviate.stats.estimates.effect import cohens_d_unweighted as cohens_d_unweighted
    from deviate.stats.estimates.effect import glass_delta as glass_delta
    from deviate.stats.estimates.effect import hedges_correction as hedges_correction
    from deviate.stats.estimates.effect import hedges_g as hedges_g
    from deviate.stats.estimates.effect import hedges_g_interval as hedges_g_interval
    from deviate.stats.estimates.effect import sd_ratio as sd_ratio
    from deviate.stats.estimates.effect import sd_ratio_interval as sd_ratio_interval
    from deviate.stats.estimates.effect import superiority as superiority
    from deviate.stats.estimates.effect import superiority_interval as superiority_interval
    from deviate.stats.estimates.evaluation import cure as cure
    from deviate.stats.estimates.evaluation import hash_words as hash_words
    from deviate.stats.estimates.intervals import mean_interval as mean_interval
    from deviate.stats.estimates.intervals import sd_interval as sd_interval
    from deviate.stats.estimates.intervals import standard_error as standard_error
    from deviate.stats.estimates.overhead import overhead as overhead
    from deviate.stats.estimates.paired_ratio import paired_sd_ratio_bootstrap as paired_sd_ratio_bootstrap
    from deviate.stats.estimates.proof import agreement as agreement
    from deviate.stats.estimates.proof import repeatability as repeatability
    from deviate.stats.estimates.proof import weights_agreement as weights_agreement
    from deviate.stats.estimates.relative import coefficient_of_variation as coefficient_of_variation
    from deviate.stats.estimates.relative import error_variation as error_variation
    from deviate.stats.estimates.relative import variation_interval as variation_interval
    from deviate.stats.estimates.robust import excess_kurtosis as excess_kurtosis
    from deviate.stats.estimates.robust import heavy_tails as heavy_tails
    from deviate.stats.estimates.robust import interquartile_range as interquartile_range
    from deviate.stats.estimates.robust import median_deviation as median_deviation
    from deviate.stats.estimates.robust import outliers as outliers
    from deviate.stats.estimates.robust import quartiles as quartiles
    from deviate.stats.estimates.robust import skewness as skewness
    from deviate.stats.estimates.sample import Summary as Summary
    from deviate.stats.estimates.sample import moments as moments
    from deviate.stats.estimates.sampling import is_accuracy as is_accuracy
    from deviate.stats.estimates.sampling import sampling_error as sampling_error
    from deviate.stats.estimates.sampling import whole_of as whole_of
    from deviate.stats.estimates.spread import brown_forsythe as brown_forsythe
    from deviate.stats.estimates.spread import decide_spread as decide_spread
    from deviate.stats.estimates.spread import f_test as f_test
    from deviate.stats.estimates.spread import levene as levene
    from deviate.stats.estimates.stratified import interquartile_mean as interquartile_mean
    from deviate.stats.estimates.stratified import interquartile_mean_interval as interquartile_mean_interval
    from deviate.stats.estimates.variance import mean_ratio as mean_ratio
    from deviate.stats.estimates.variance import mean_ratio_interval as mean_ratio_interval
    from deviate.stats.estimates.variance import variance_excess as variance_excess
    from deviate.stats.estimates.variance import variance_excess_interval as variance_excess_interval
    from deviate.stats.estimates.variance import variance_share as variance_share
    from deviate.stats.estimates.variance import variance_share_interval as variance_share_interval
    from deviate.stats.judge import judge as judge
    from deviate.stats.multiple.dunnett import dunnett as dunnett
    from deviate.stats.multiple.dunnett import dunnett_critical as dunnett_critical
    from deviate.stats.multiple.dunnett import dunnett_intervals as dunnett_intervals
    from deviate.stats.multiple.family import holm as holm
    from deviate.stats.multiple.many import against_baseline as against_baseline
    from deviate.stats.multiple.many import all_pairs as all_pairs
    from deviate.stats.multiple.many import benjamini_hochberg as benjamini_hochberg
    from deviate.stats.multiple.many import compare_many as compare_many
    from deviate.stats.multiple.many import contrast_all as contrast_all
    from deviate.stats.multiple.ranks import cliques as cliques
    from deviate.stats.multiple.ranks import critical_difference as critical_difference
    from deviate.stats.multiple.ranks import friedman as friedman
    from deviate.stats.multiple.ranks import mean_ranks as mean_ranks
    from deviate.stats.multiple.ranks import nemenyi as nemenyi
    from deviate.stats.multiple.tasks import compare_tasks as compare_tasks
    from deviate.stats.noise import noise as noise
    from deviate.stats.primary import find_primary as find_primary
    from deviate.stats.primary import require_metric as require_metric
    from deviate.stats.published import Variability as Variability
    from deviate.stats.published import feasible_sd as feasible_sd
    from deviate.stats.published import is_quotient as is_quotient
    from deviate.stats.published import quotient_range as quotient_range
    from deviate.stats.published import variability_reduction as variability_reduction
    from deviate.stats.registry import STATISTICS as STATISTICS
    from deviate.stats.registry import Statistic as Statistic
    from deviate.stats.registry import labelled_statistics as labelled_statistics
    from deviate.stats.registry import statistic as statistic
    from deviate.stats.stability import calibration_error as calibration_error
    from deviate.stats.stability import difference_over_pairs as difference_over_pairs
    from deviate.stats.stability import disagreement as disagreement
    from deviate.stats.stability import ensemble_deltas as ensemble_deltas
    from deviate.stats.stability import linear_cka as linear_cka
    from deviate.stats.stability import mean_largest_range as mean_largest_range
    from deviate.stats.stability import mean_largest_sd as mean_largest_sd
    from deviate.stats.stability import normalised_distances as normalised_distances
    from deviate.stats.stability import over_pairs as over_pairs
    from deviate.stats.stability import pearson as pearson
    from deviate.stats.stability import relative_range as relative_range
    from deviate.stats.stability import spearman as spearman
    from deviate.stats.stability import stability as stability
    from deviate.stats.stability.figures import mean_of as mean_of
    from deviate.stats.stability.figures import range_of as range_of
    from deviate.stats.stability.figures import sd_of as sd_of
    from deviate.stats.stopping_rule import Progress as Progress
    from deviate.stats.stopping_rule import check_target as check_target
    from deviate.stats.stopping_rule import is_settled as is_settled
    from deviate.stats.stopping_rule import next_look as next_look
    from deviate.stats.stopping_rule import progress as progress
    from deviate.stats.tests.attainment import attainment as attainment
    from deviate.stats.tests.attainment import compare_attainment as compare_attainment
    from deviate.stats.tests.both import ask_both as ask_both
    from deviate.stats.tests.both import both_interval as both_interval
    from deviate.stats.tests.both import paired_both_interval as paired_both_interval
    from deviate.stats.tests.both import permutation_test as permutation_test
    from deviate.stats.tests.both import sign_flip_test as sign_flip_test
    from deviate.stats.tests.curves import compare_curves as compare_curves
    from deviate.stats.tests.equivalence import equivalence as equivalence
    from deviate.stats.tests.equivalence import paired_equivalence as paired_equivalence
    from deviate.stats.tests.failures import compare_completion as compare_completion
    from deviate.stats.tests.failures import completion as completion
    from deviate.stats.tests.failures import rate_interval as rate_interval
    from deviate.stats.tests.failures import rate_test as rate_test
    from deviate.stats.tests.failures import worst_rank as worst_rank
    from deviate.stats.tests.omnibus import anova as anova
    from deviate.stats.tests.omnibus import kruskal_wallis as kruskal_wallis
    from deviate.stats.tests.omnibus import welch_anova as welch_anova
    from deviate.stats.tests.paired import correlation as correlation
    from deviate.stats.tests.paired import mean_difference as mean_difference
    from deviate.stats.tests.paired import paired_interval as paired_interval
    from deviate.stats.tests.paired import paired_t as paired_t
    from deviate.stats.tests.paired import pairing_warnings as pairing_warnings
    from deviate.stats.tests.paired import wilcoxon as wilcoxon
    from deviate.stats.tests.survival import kaplan_meier as kaplan_meier
    from deviate.stats.tests.survival import log_rank as log_rank
    from deviate.stats.tests.survival import survival_median as survival_median
    from deviate.stats.tests.survival import survival_median_interval as survival_median_interval
    from deviate.stats.tests.two_sample import kolmogorov_smirnov as kolmogorov_smirnov
    from deviate.stats.tests.two_sample import mann_whitney as mann_whitney
    from deviate.stats.tests.two_sample import student as student
    from deviate.stats.tests.two_sample import welch as welch
    from deviate.stats.tests.two_sample import welch_interval as welch_interval

load_on_first_use(
    __name__,
    {
        "deviate.stats.check": (
            "check_completion",
            "check_control",
            "check_metrics",
        ),
        "deviate.stats.compare": ("compare",),
        "deviate.stats.describe": (
            "describe",
            "named_metric",
        ),
        "deviate.stats.design.design": (
            "SHOWN_RUNS",
            "design",
            "equivalence_power",
            "inflation",
            "power_of",
        ),
        "deviate.stats.design.group_sequential": (
            "SpendingPlan",
            "at_look",
            "parse_looks",
            "repeated_p",
        ),
        "deviate.stats.design.power": (
            "detectable_difference",
            "detectable_effect",
            "detectable_interval",
            "detectable_paired",
            "detectable_paired_effect",
            "detectable_paired_interval",
            "pairs_needed",
            "runs_for_effect",
            "runs_needed",
        ),
        "deviate.stats.design.precision": (
            "MIN_RUNS",
            "Target",
            "forecast",
            "half_width",
            "parse_target",
            "reached",
        ),
        "deviate.stats.estimates.aggregate": (
            "aggregate_series",
            "check_aggregate",
        ),
        "deviate.stats.estimates.bootstrap": (
            "Resamples",
            "difference_bootstrap",
            "glass_delta_bootstrap",
            "mean_bootstrap",
            "mean_percentile",
            "median_bootstrap",
            "sd_bootstrap",
            "sd_ratio_bootstrap",
        ),
        "deviate.stats.estimates.cost": ("cost",),
        "deviate.stats.estimates.effect": (
            "cliffs_delta",
            "cliffs_delta_interval",
            "cohens_d",
            "cohens_d_unweighted",
            "glass_delta",
            "hedges_correction",
            "hedges_g",
            "hedges_g_interval",
            "sd_ratio",
            "sd_ratio_interval",
            "superiority",
            "superiority_interval",
        ),
        "deviate.stats.estimates.evaluation": (
            "cure",
            "hash_words",
        ),
        "deviate.stats.estimates.intervals": (
            "mean_interval",
            "sd_interval",
            "standard_error",
        ),
        "deviate.stats.estimates.overhead": ("overhead",),
        "deviate.stats.estimates.paired_ratio": ("paired_sd_ratio_bootstrap",),
        "deviate.stats.estimates.proof": (
            "agreement",
            "repeatability",
            "weights_agreement",
        ),
        "deviate.stats.estimates.relative": (
            "coefficient_of_variation",
            "error_variation",
            "variation_interval",
        ),
        "deviate.stats.estimates.robust": (
            "excess_kurtosis",
            "heavy_tails",
            "interquartile_range",
            "median_deviation",
            "outliers",
            "quartiles",
            "skewness",
        ),
        "deviate.stats.estimates.sample": (
            "Summary",
            "moments",
        ),
        "deviate.stats.estimates.sampling": (
            "is_accuracy",
            "sampling_error",
            "whole_of",
        ),
        "deviate.stats.estimates.spread": (
            "brown_forsythe",
            "decide_spread",
            "f_test",
            "levene",
        ),
        "deviate.stats.estimates.stratified": (
            "interquartile_mean",
            "interquartile_mean_interval",
        ),
        "deviate.stats.estimates.variance": (
            "mean_ratio",
            "mean_ratio_interval",
            "variance_excess",
            "variance_excess_interval",
            "variance_share",
            "variance_share_interval",
        ),
        "deviate.stats.judge": ("judge",),
        "deviate.stats.multiple.dunnett": (
            "dunnett",
            "dunnett_critical",
            "dunnett_intervals",
        ),
        "deviate.stats.multiple.family": ("holm",),
        "deviate.stats.multiple.many": (
            "against_baseline",
            "all_pairs",
            "benjamini_hochberg",
            "compare_many",
            "contrast_all",
        ),
        "deviate.stats.multiple.ranks": (
            "cliques",
            "critical_difference",
            "friedman",
            "mean_ranks",
            "nemenyi",
        ),
        "deviate.stats.multiple.tasks": ("compare_tasks",),
        "deviate.stats.noise": ("noise",),
        "deviate.stats.primary": (
            "find_primary",
            "require_metric",
        ),
        "deviate.stats.published": (
            "Variability",
            "feasible_sd",
            "is_quotient",
            "quotient_range",
            "variability_reduction",
        ),
        "deviate.stats.registry": (
            "STATISTICS",
            "Statistic",
            "labelled_statistics",
            "statistic",
        ),
        "deviate.stats.stability": (
            "calibration_error",
            "difference_over_pairs",
            "disagreement",
            "ensemble_deltas",
            "linear_cka",
            "mean_largest_range",
            "mean_largest_sd",
            "normalised_distances",
            "over_pairs",
            "pearson",
            "relative_range",
            "spearman",
            "stability",
        ),
        "deviate.stats.stability.figures": (
            "mean_of",
            "range_of",
            "sd_of",
        ),
        "deviate.stats.stopping_rule": (
            "Progress",
            "check_target",
            "is_settled",
            "next_look",
            "progress",
        ),
        "deviate.stats.tests.attainment": (
            "attainment",
            "compare_attainment",
        ),
        "deviate.stats.tests.both": (
            "ask_both",
            "both_interval",
            "paired_both_interval",
            "permutation_test",
            "sign_flip_test",
        ),
        "deviate.stats.tests.curves": ("compare_curves",),
        "deviate.stats.tests.equivalence": (
            "equivalence",
            "paired_equivalence",
        ),
        "deviate.stats.tests.failures": (
            "compare_completion",
            "completion",
            "rate_interval",
            "rate_test",
            "worst_rank",
        ),
        "deviate.stats.tests.omnibus": (
            "anova",
            "kruskal_wallis",
            "welch_anova",
        ),
        "deviate.stats.tests.paired": (
            "correlation",
            "mean_difference",
            "paired_interval",
            "paired_t",
            "pairing_warnings",
            "wilcoxon",
        ),
        "deviate.stats.tests.survival": (
            "kaplan_meier",
            "log_rank",
            "survival_median",
            "survival_median_interval",
        ),
        "deviate.stats.tests.two_sample": (
            "kolmogorov_smirnov",
            "mann_whitney",
            "student",
            "welch",
            "welch_interval",
        ),
    },
)
