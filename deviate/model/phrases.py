"""Reasons, methods and notes as values: a kind, and the numbers and names that its text needs. All texts are here."""

import enum
import string
from typing import Any, Self

from deviate.model.estimates import level_text
from deviate.model.texts import count


class _Format(string.Formatter):
    """Takes a noun for a number (`{:run}` is `2 runs`), a separator for a tuple (`{:, }`), digits of a p (`{:p2}`)."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, tuple):
            return format_spec.join(map(str, value))
        if format_spec in ("p2", "p3"):
            return f"{value:.{format_spec[1]}g}"
        if format_spec == "level":
            return level_text(value)
        is_noun = len(format_spec) > 1 and format_spec[0].isalpha()
        text = count(value, format_spec) if is_noun else str(super().format_field(value, format_spec))
        return text.replace("-", "\N{MINUS SIGN}") if format_spec.endswith("f") else text


class Phrase(str):
    """A text as outputs show it; code goes by its kind, and by the values in it."""

    __slots__ = ("kind", "values")
    kind: "Wording"
    values: tuple[object, ...]

    def __new__(cls, kind: "Wording", *values: object) -> Self:
        phrase = super().__new__(cls, _Format().vformat(kind.value, values, {}))
        phrase.kind, phrase.values = kind, values
        return phrase

    def __getnewargs__(self) -> tuple[Any, ...]:  # for copies, and pickles
        return (self.kind, *self.values)


class Wording(enum.StrEnum):
    """Kinds of phrases, each with its text. One without braces is used as it is, another is called with the values."""

    def __call__(self, *values: object) -> Phrase:
        return Phrase(self, *values)

    @property
    def kind(self) -> "Wording":
        return self


class Reason(Wording):
    """Why there is no figure, or no verdict."""

    OF = "{}: {}"
    """A reason that holds for one side, or one variant."""
    # No runs, or too few.
    TOO_FEW = "needs {0:{1}}, has {2}"
    TOO_FEW_EACH = "needs {0:{1}} in each, has {2} and {3}"
    TOO_FEW_IN_ONE = "needs {0:{1}} in each, one has {2}"
    WARM_UP = "needs {:completed run} of each: the first warms up"
    SINGLE_RUN = "1 run: spread unknown"
    NO_RUN = "no completed run"
    NO_RUN_OF = "no completed run (0/{})"
    NO_SCORE = "no score"
    NO_SCORE_OF = "no run has a score (0/{})"
    NONE_ENDED = "no run ended"
    NONE_FAILED = "no run failed"
    ALL_FAILED = "every run failed"
    NO_PAIRS = "no pairs: {} and {:run}"
    TOO_MANY = "no bootstrap above {:run}"
    # How a run ended that has no score.
    NEVER_REPORTED = "never reported"
    NOT_FINITE = "NaN or infinite"
    """A value that the score would be made of; the sentence names value and step."""
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    SILENT = "the guest never reported"
    DIVERGED = "diverged"
    # No spread.
    NO_SPREAD = "no spread"
    NO_SPREAD_IN = "no spread in {} of {}"
    EQUAL = "all {} values equal"
    BELOW_RESOLUTION = "spread below resolution ({:.1e})"
    IDENTICAL = "identical"
    """All scores of both sides are one number, or both scores of every pair are equal."""
    CONSTANT_DIFFERENCE = "constant difference, no spread observed"
    """Nothing can be tested: each side, or each pair, shows one number alone."""
    UNCHANGED = "nothing has changed"
    """Runs with the same seeds gave the same scores on both sides."""
    EQUALLY_FAR = "all values equally far from their {}"
    NOT_RESAMPLED = "resampling shows no spread"
    ONE_RUN_SPREADS = "the spread depends on a single run"
    # Values that a figure is not defined for.
    NO_NUMBER = "NaN or infinite value among the scores"
    NOT_POSITIVE = "not defined: a value at or below 0"
    NEAR_ZERO = "not defined: mean near 0"
    TOO_EXTREME = "too extreme to state"
    A_MILLION = "more than a million runs"
    TIMES_VARY = "the times vary too much for an interval of their ratio"
    ALL_OR_NONE = "all predictions right or all wrong in every run"
    EXAMPLES_UNKNOWN = "number of test examples unknown: set n_examples in deviate.toml"
    NOT_WHOLE = (
        "{:.7g}{} is no whole number of the {} evaluated examples: perhaps a mean over batches of different sizes, "
        "or of other data; set n_examples in deviate.toml"
    )
    # What a question needs beside scores.
    NO_MARGIN = "no margin was given"
    NO_TARGET = "no target was given"
    NO_DIRECTION = "the metric has no direction: set direction in deviate.toml"
    TARGETS_DIFFER = "the targets differ: {:g} and {:g}"
    NO_CURVE = "not reported in the main loop"
    SHORT_CURVE = "fewer than two steps that every run reported"
    NO_TIMES = "times were not recorded"
    FEW_REACHED = "too few of the runs reached it"
    REACHED_TOGETHER = "all runs reached it at the same time"
    INCOMPLETE_TASKS = "not every experiment has a value on every task"
    BY_RANKS = "ranks are compared by the critical difference"
    SCORES_UNKNOWN = "their scores are not known"
    # Variants.
    REFERENCE = "reference"
    NO_REFERENCE = "no reference variant"
    CONFIGURATION = "configuration, not noise"
    NEEDS_VARIANTS = "needs the variants {}, algo and impl"
    NOTHING_VARIES = "nothing varies here"
    NO_PART = "no part of {}"
    NOT_VARIED = "{:, } not varied in {}"
    NOT_ROUTED = "some draws are not routed to streams"
    OTHER_LEFT_OUT = "other varies and is left out"
    # Verdicts.
    NO_VERDICT = "no verdict"
    NO_LEVEL = "too few runs for a p below this level"
    SMALLEST_P = "the smallest possible p of so few runs is {:p2}, not below {:p2}"
    UNFAIR = "{} among completed runs, but {} of {:run} of {} and {} of {} of {} failed"
    """A word that the failed runs of a side take away."""
    PENDING = "{:, } have ended"
    UNPLANNED = "not valid: {:unplanned look}"
    LOOKS_DIFFER = "the declared looks differ, {: v }"
    NO_LOOK = "no look is declared at {: and } runs"
    NO_CONSTANTS = "no constants for looks at more than two experiments, or several tasks"
    # Which side is steadier.
    CONTAINS_ONE = "the {:level} interval of the SD ratio contains 1"
    NO_ROBUST_TEST = "the {:level} interval of the SD ratio excludes 1, but there is no robust test: {}"
    ROBUST_OPEN = "the {:level} interval of the SD ratio excludes 1, but the Brown-Forsythe test does not agree"
    EXCLUDES_ONE = "the {:level} interval of the SD ratio excludes 1, and the Brown-Forsythe test agrees"


FAILURES = frozenset({Reason.CRASHED, Reason.TIMED_OUT, Reason.SILENT, Reason.DIVERGED})
"""Ends of runs that give no score."""


class Method(Wording):
    """Names of tests, and of the ways to an interval."""

    WELCH_T = "Welch t"
    PAIRED_T = "Paired t"
    STUDENT_T = "Student t"
    PERMUTATION_T = "Permutation t"
    SIGN_FLIPS = "Sign flips"
    MANN_WHITNEY = "Mann-Whitney U"
    WILCOXON = "Wilcoxon signed-rank"
    ANOVA = "ANOVA F"
    WELCH_ANOVA = "Welch F"
    KRUSKAL_WALLIS = "Kruskal-Wallis H"
    DUNNETT_T = "Dunnett t"
    FRIEDMAN = "Friedman chi-square"
    OF_PAIRS = "paired t"
    BOTH = "Welch and permutation"
    BOTH_OF_PAIRS = "paired t and sign flips"
    CHI_SQUARE_OF_SD = "chi-square, of the SD"
    CHI_SQUARE_OF_CV = "chi-square, mean taken as known"
    RECOVERY = "variance recovery from chi-square"
    NONCENTRAL_T = "noncentral t"
    NONCENTRAL_T_OF_D = "noncentral t, of d"
    BRUNNER_MUNZEL = "Brunner-Munzel, logit scale"
    ONE_SIDED = "one-sided bound at complete separation"
    F = "F, normal theory"
    BCA = "BCa bootstrap"
    PERCENTILE = "percentile bootstrap"
    EXPANDED = "stratified bootstrap, expanded percentile, {} resamples"
    BROOKMEYER_CROWLEY = "Brookmeyer-Crowley, log-log scale"
    DUNNETT = "Dunnett, simultaneous"
    SIMULTANEOUS = "{}, simultaneous over {:pair} (Bonferroni)"
    REPEATED = "{}, repeated at look {} of {}"
    BAND = "simultaneous over {:step}, Welch t with the correlation of neighbouring steps"
    NO_BAND = "no band: {}"


class Note(Wording):
    """Remarks on a figure."""

    LISTED = "{:, }"
    REMARKS = "{:; }"
    OF = "{}: {}"
    # How p was computed.
    ONE_SIDED = "one-sided"
    EXACT_PERMUTATION = "exact permutation"
    PERMUTATION = "permutation, {} resamples"
    NORMAL = "normal approximation, continuity corrected"
    NORMAL_THEORY = "normal theory, {} and {} df"
    EQUAL_VARIANCES = "equal variances assumed"
    FAMILY_OF = "family of {}"
    SEPARATION = "complete separation, 0 of {} pairs against"
    WITHIN_SIDES = "{} ties within a side"
    TIES = "{} ties"
    ZEROS = "{:zero}"
    LEFT_OUT = "{:run} without a score left out"
    # Families.
    PRIMARY = "primary metric"
    QUALITY = "{:quality metric}"
    SECONDARY = "{:secondary quality metric}"
    OUTSIDE = "{:time or other metric}"
    NOT_ADJUSTED = "{}: not adjusted"
    HOLM = "{}: Holm, family of {}"
    # Scores, spread and curves.
    EXPLORATORY = "exploratory"
    FEW_RUNS = "{:run}: too few for a verdict (needs {})"
    HEAVY_TAILS = "heavy tails ({:, }): the interval of the SD is not reliable"
    KURTOSIS = "excess kurtosis {:.1f}"
    SD_OF_MADS = "SD {:.1f} times the MAD"
    BY_PRECISION = "number of runs decided by precision, ±{} ({})"
    NOT_REACHED = "not reached"
    WITHOUT_INTERVAL = "no interval: {}"
    UNDER_COVERAGE = "its {:level} interval covers slightly less than its level"
    WITHIN_RATIO = "the {0:level} interval lies within 1/{1:g} … {1:g} (normal scores only)"
    PAIRING_COST = "pairing cost power: the correlation of the pairs is {:.2f}"
    CENSORED = "{:failed run} counted as not reached when last observed (replicate {:, })"
    NO_UPPER_END = "no upper end: {}"
    SELECTED_STEPS = "compared at {} of {} steps, equally spaced"
    FLAT_STEPS = "{:step} without spread not judged"
    WHOLE_RUNS = "wall time of whole runs, start-up included"
    WARM_UP = "first replicate of each left out as warm-up"
    # Looks.
    ENDED = "{} of {} runs of {}"
    CRITICAL = "critical p at look {} of {}: {:p3}"
    PLAN = "{:, } ({})"
    LOOK = (
        "look {} of {}, declared at {:, } runs ({} spending): critical p {:p3}, repeated {:level} intervals, "
        "adjusted p are repeated p-values"
    )
    WAITS = "{}: no verdict until all have"
    NO_INTERVAL = "{}: no interval until all have"
    WITHHELD = "{}: verdict withheld"
    WITHHELD_P = "p-values {}; verdict withheld"
    WITHHELD_UNTIL = "{}: verdict withheld until {} of each"
    WITHHELD_SINCE = "{}: verdict withheld, the last look was at {}"
    NOT_COUNTED = "looks not counted in"
    # Tasks.
    NO_VALUE = "{} left out: no score in {:, }"
    ALL_EQUAL = "{} left out of the aggregates: all scores are equal"
    ASSUMED_DIRECTION = "direction of {} unknown: higher is assumed to be better"
    UNEQUAL_RUNS = "tasks differ in their number of runs: those with more have more weight in the IQM"
    P_WITHHELD = "p-values withheld: {}"
    NOT_SCALED = "none: all tasks are scored from 0 to {:g}, higher is better"
    SCALED = "per task from 0, the worst, to 1, the best score of any run compared here, so values depend on these runs"
    LOWER_IS_BETTER = "lower is better in {:, }"


def listed(*parts: str) -> str:
    """The parts that are not empty, with commas between."""
    return Note.LISTED(tuple(filter(None, parts)))


def remarks(*parts: str) -> str:
    """The parts that are not empty, with semicolons between."""
    return Note.REMARKS(tuple(filter(None, parts)))


def parts_of(text: str) -> tuple[str, ...]:
    """The parts that `listed` or `remarks` joined, each a phrase where it was one; any other text alone."""
    if isinstance(text, Phrase) and text.kind in (Note.LISTED, Note.REMARKS):
        (joined,) = text.values
        return tuple(part for one in joined for part in parts_of(one)) if isinstance(joined, tuple) else ()
    return (text,) if text else ()


def kind_of(text: str) -> Wording | None:
    """The kind of a phrase; None of any other text."""
    return getattr(text, "kind", None)
