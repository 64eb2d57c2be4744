"""Statistics: scores in, findings out; knows no files, processes or templates."""

from typing import TYPE_CHECKING

from deviate.lazy import load_on_first_use

if TYPE_CHECKING:
    from deviate.stats.aggregate import aggregate_series as aggregate_series
    from deviate.stats.aggregate import check_aggregate as check_aggregate
    from deviate.stats.attainment import attainment as attainment
    from deviate.stats.attainment import compare_attainment as compare_attainment
    from deviate.stats.bootstrap import Resamples as Resamples
    from deviate.stats.bootstrap import difference_bootstrap as difference_bootstrap
    from deviate.stats.bootstrap import glass_delta_bootstrap as glass_delta_bootstrap
    from deviate.stats.bootstrap import mean_bootstrap as mean_bootstrap
    from deviate.stats.bootstrap import mean_percentile as mean_percentile
    from deviate.stats.bootstrap import median_bootstrap as median_bootstrap
    from deviate.stats.bootstrap import sd_bootstrap as sd_bootstrap
    from deviate.stats.bootstrap import sd_ratio_bootstrap as sd_ratio_bootstrap
    from deviate.stats.both import ask_both as ask_both
    from deviate.stats.both import both_interval as both_interval
    from deviate.stats.both import paired_both_interval as paired_both_interval
    from deviate.stats.both import permutation_test as permutation_test
    from deviate.stats.both import sign_flip_test as sign_flip_test
    from deviate.stats.compare import compare as compare
    from deviate.stats.curves import compare_curves as compare_curves
    from deviate.stats.describe import describe as describe
    from deviate.stats.describe import named_metric as named_metric
    from deviate.stats.design import SHOWN_RUNS as SHOWN_RUNS
    from deviate.stats.design import design as design
    from deviate.stats.design import equivalence_power as equivalence_power
    from deviate.stats.design import inflation as inflation
    from deviate.stats.design import power_of as power_of
    from deviate.stats.dunnett import dunnett as dunnett
    from deviate.stats.dunnett import dunnett_critical as dunnett_critical
    from deviate.stats.dunnett import dunnett_intervals as dunnett_intervals
    from deviate.stats.effect import cliffs_delta as cliffs_delta
    from deviate.stats.effect import cliffs_delta_interval as cliffs_delta_interval
    from deviate.stats.effect import cohens_d as cohens_d
    from deviate.stats.effect import cohens_d_unweighted as cohens_d_unweighted
    from deviate.stats.effect import glass_delta as glass_delta
    from deviate.stats.effect import hedges_correction as hedges_correction
    from deviate.stats.effect import hedges_g as hedges_g
    from deviate.stats.effect import hedges_g_interval as hedges_g_interval
    from deviate.stats.effect import sd_ratio as sd_ratio
    from deviate.stats.effect import sd_ratio_interval as sd_ratio_interval
    from deviate.stats.effect import superiority as superiority
    from deviate.stats.effect import superiority_interval as superiority_interval
    from deviate.stats.enough import Progress as Progress
    from deviate.stats.enough import check_target as check_target
    from deviate.stats.enough import is_settled as is_settled
    from deviate.stats.enough import next_look as next_look
    from deviate.stats.enough import progress as progress
    from deviate.stats.equivalence import equivalence as equivalence
    from deviate.stats.equivalence import paired_equivalence as paired_equivalence
    from deviate.stats.failures import compare_completion as compare_completion
    from deviate.stats.failures import completion as completion
    from deviate.stats.failures import rate_interval as rate_interval
    from deviate.stats.failures import rate_test as rate_test
    from deviate.stats.failures import worst_rank as worst_rank
    from deviate.stats.family import holm as holm
    from deviate.stats.intervals import mean_interval as mean_interval
    from deviate.stats.intervals import sd_interval as sd_interval
    from deviate.stats.intervals import standard_error as standard_error
    from deviate.stats.judge import judge as judge
    from deviate.stats.looks import Plan as Plan
    from deviate.stats.looks import at_look as at_look
    from deviate.stats.looks import parse_looks as parse_looks
    from deviate.stats.looks import repeated_p as repeated_p
    from deviate.stats.many import against_baseline as against_baseline
    from deviate.stats.many import all_pairs as all_pairs
    from deviate.stats.many import benjamini_hochberg as benjamini_hochberg
    from deviate.stats.many import compare_many as compare_many
    from deviate.stats.many import contrast_all as contrast_all
    from deviate.stats.noise import noise as noise
    from deviate.stats.omnibus import anova as anova
    from deviate.stats.omnibus import kruskal_wallis as kruskal_wallis
    from deviate.stats.omnibus import welch_anova as welch_anova
    from deviate.stats.overhead import overhead as overhead
    from deviate.stats.paired import correlation as correlation
    from deviate.stats.paired import mean_difference as mean_difference
    from deviate.stats.paired import paired_interval as paired_interval
    from deviate.stats.paired import paired_t as paired_t
    from deviate.stats.paired import pairing_warnings as pairing_warnings
    from deviate.stats.paired import wilcoxon as wilcoxon
    from deviate.stats.paired_ratio import paired_sd_ratio_bootstrap as paired_sd_ratio_bootstrap
    from deviate.stats.power import detectable_difference as detectable_difference
    from deviate.stats.power import detectable_effect as detectable_effect
    from deviate.stats.power import detectable_interval as detectable_interval
    from deviate.stats.power import detectable_paired as detectable_paired
    from deviate.stats.power import detectable_paired_effect as detectable_paired_effect
    from deviate.stats.power import detectable_paired_interval as detectable_paired_interval
    from deviate.stats.power import pairs_needed as pairs_needed
    from deviate.stats.power import runs_for_effect as runs_for_effect
    from deviate.stats.power import runs_needed as runs_needed
    from deviate.stats.precision import MIN_RUNS as MIN_RUNS
    from deviate.stats.precision import Target as Target
    from deviate.stats.precision import forecast as forecast
    from deviate.stats.precision import half_width as half_width
    from deviate.stats.precision import parse_target as parse_target
    from deviate.stats.precision import reached as reached
    from deviate.stats.proof import repeatability as repeatability
    from deviate.stats.published import Variability as Variability
    from deviate.stats.published import feasible_sd as feasible_sd
    from deviate.stats.published import is_quotient as is_quotient
    from deviate.stats.published import quotient_range as quotient_range
    from deviate.stats.published import variability_reduction as variability_reduction
    from deviate.stats.ranks import cliques as cliques
    from deviate.stats.ranks import critical_difference as critical_difference
    from deviate.stats.ranks import friedman as friedman
    from deviate.stats.ranks import mean_ranks as mean_ranks
    from deviate.stats.ranks import nemenyi as nemenyi
    from deviate.stats.relative import coefficient_of_variation as coefficient_of_variation
    from deviate.stats.relative import error_variation as error_variation
    from deviate.stats.relative import variation_interval as variation_interval
    from deviate.stats.robust import excess_kurtosis as excess_kurtosis
    from deviate.stats.robust import heavy_tails as heavy_tails
    from deviate.stats.robust import interquartile_range as interquartile_range
    from deviate.stats.robust import median_deviation as median_deviation
    from deviate.stats.robust import outliers as outliers
    from deviate.stats.robust import quartiles as quartiles
    from deviate.stats.robust import skewness as skewness
    from deviate.stats.sample import Summary as Summary
    from deviate.stats.sampling import sampling_error as sampling_error
    from deviate.stats.spread import brown_forsythe as brown_forsythe
    from deviate.stats.spread import decide_spread as decide_spread
    from deviate.stats.spread import f_test as f_test
    from deviate.stats.spread import levene as levene
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
    from deviate.stats.stratified import interquartile_mean as interquartile_mean
    from deviate.stats.stratified import interquartile_mean_interval as interquartile_mean_interval
    from deviate.stats.survival import kaplan_meier as kaplan_meier
    from deviate.stats.survival import log_rank as log_rank
    from deviate.stats.survival import survival_median as survival_median
    from deviate.stats.survival import survival_median_interval as survival_median_interval
    from deviate.stats.tasks import compare_tasks as compare_tasks
    from deviate.stats.two_sample import kolmogorov_smirnov as kolmogorov_smirnov
    from deviate.stats.two_sample import mann_whitney as mann_whitney
    from deviate.stats.two_sample import student as student
    from deviate.stats.two_sample import welch as welch
    from deviate.stats.two_sample import welch_interval as welch_interval
    from deviate.stats.variance import mean_ratio as mean_ratio
    from deviate.stats.variance import mean_ratio_interval as mean_ratio_interval
    from deviate.stats.variance import variance_excess as variance_excess
    from deviate.stats.variance import variance_excess_interval as variance_excess_interval
    from deviate.stats.variance import variance_share as variance_share
    from deviate.stats.variance import variance_share_interval as variance_share_interval

load_on_first_use(
    __name__,
    {
        "deviate.stats.aggregate": (
            "aggregate_series",
            "check_aggregate",
        ),
        "deviate.stats.attainment": (
            "attainment",
            "compare_attainment",
        ),
        "deviate.stats.bootstrap": (
            "Resamples",
            "difference_bootstrap",
            "glass_delta_bootstrap",
            "mean_bootstrap",
            "mean_percentile",
            "median_bootstrap",
            "sd_bootstrap",
            "sd_ratio_bootstrap",
        ),
        "deviate.stats.both": (
            "ask_both",
            "both_interval",
            "paired_both_interval",
            "permutation_test",
            "sign_flip_test",
        ),
        "deviate.stats.compare": ("compare",),
        "deviate.stats.curves": ("compare_curves",),
        "deviate.stats.describe": (
            "describe",
            "named_metric",
        ),
        "deviate.stats.design": (
            "SHOWN_RUNS",
            "design",
            "equivalence_power",
            "inflation",
            "power_of",
        ),
        "deviate.stats.dunnett": (
            "dunnett",
            "dunnett_critical",
            "dunnett_intervals",
        ),
        "deviate.stats.effect": (
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
        "deviate.stats.enough": (
            "Progress",
            "check_target",
            "is_settled",
            "next_look",
            "progress",
        ),
        "deviate.stats.equivalence": (
            "equivalence",
            "paired_equivalence",
        ),
        "deviate.stats.failures": (
            "compare_completion",
            "completion",
            "rate_interval",
            "rate_test",
            "worst_rank",
        ),
        "deviate.stats.family": ("holm",),
        "deviate.stats.intervals": (
            "mean_interval",
            "sd_interval",
            "standard_error",
        ),
        "deviate.stats.judge": ("judge",),
        "deviate.stats.looks": (
            "Plan",
            "at_look",
            "parse_looks",
            "repeated_p",
        ),
        "deviate.stats.many": (
            "against_baseline",
            "all_pairs",
            "benjamini_hochberg",
            "compare_many",
            "contrast_all",
        ),
        "deviate.stats.noise": ("noise",),
        "deviate.stats.omnibus": (
            "anova",
            "kruskal_wallis",
            "welch_anova",
        ),
        "deviate.stats.overhead": ("overhead",),
        "deviate.stats.paired": (
            "correlation",
            "mean_difference",
            "paired_interval",
            "paired_t",
            "pairing_warnings",
            "wilcoxon",
        ),
        "deviate.stats.paired_ratio": ("paired_sd_ratio_bootstrap",),
        "deviate.stats.power": (
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
        "deviate.stats.precision": (
            "MIN_RUNS",
            "Target",
            "forecast",
            "half_width",
            "parse_target",
            "reached",
        ),
        "deviate.stats.proof": ("repeatability",),
        "deviate.stats.published": (
            "Variability",
            "feasible_sd",
            "is_quotient",
            "quotient_range",
            "variability_reduction",
        ),
        "deviate.stats.ranks": (
            "cliques",
            "critical_difference",
            "friedman",
            "mean_ranks",
            "nemenyi",
        ),
        "deviate.stats.relative": (
            "coefficient_of_variation",
            "error_variation",
            "variation_interval",
        ),
        "deviate.stats.robust": (
            "excess_kurtosis",
            "heavy_tails",
            "interquartile_range",
            "median_deviation",
            "outliers",
            "quartiles",
            "skewness",
        ),
        "deviate.stats.sample": ("Summary",),
        "deviate.stats.sampling": ("sampling_error",),
        "deviate.stats.spread": (
            "brown_forsythe",
            "decide_spread",
            "f_test",
            "levene",
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
        "deviate.stats.stratified": (
            "interquartile_mean",
            "interquartile_mean_interval",
        ),
        "deviate.stats.survival": (
            "kaplan_meier",
            "log_rank",
            "survival_median",
            "survival_median_interval",
        ),
        "deviate.stats.tasks": ("compare_tasks",),
        "deviate.stats.two_sample": (
            "kolmogorov_smirnov",
            "mann_whitney",
            "student",
            "welch",
            "welch_interval",
        ),
        "deviate.stats.variance": (
            "mean_ratio",
            "mean_ratio_interval",
            "variance_excess",
            "variance_excess_interval",
            "variance_share",
            "variance_share_interval",
        ),
    },
)
