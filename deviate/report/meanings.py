"""What the words for quantities in a report mean, in one line each for a reader who is no statistician.

The page shows them where the pointer or the focus is. How each is computed stands in `docs/reference/numbers.md`.
"""

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

_CI = "Confidence interval: values that fit these runs. Of many such intervals, this share has the true value."

MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        # One side.
        "score": "One number for each run: the last, the best or another value of the metric, as the aggregate says.",
        "n": "Number of runs with a score. Steps and test examples do not count.",
        "mean ± SD": "Mean over runs, and the standard deviation: how far a single run typically lies from the mean.",
        "mean": "Average of the scores of all runs.",
        "SD": "Standard deviation: how far a single run typically lies from the mean of its side.",
        "CV": "Coefficient of variation: SD divided by the mean. It compares the spread of metrics of different size.",
        "median": "The score in the middle: half of the runs lie below it.",
        "range": "Lowest and highest value over runs.",
        "min … max": "Lowest and highest value over runs.",
        "standard error": "How far the mean of so many runs typically lies from the mean of all possible runs.",
        "quartiles": "A quarter of the runs lies below the first, three quarters below the last.",
        "MAD": "Typical distance from the median, on the scale of an SD; single outliers hardly change it.",
        "skewness": "Above 0, runs far from the rest lie on the high side; below 0, on the low side.",
        "excess kurtosis": "Above 0, there are more runs far from the rest than a normal distribution has.",
        "outliers": "Runs far from the rest. They are named and never left out.",
        "error of the test set": "How far the score would move with another test set of the same size.",
        "CI": _CI,
        "interval of": _CI,
        "interval": "Confidence interval of the difference: the differences that fit these runs.",
        # Two sides.
        "difference": "Candidate minus baseline, of the means over runs.",
        "baseline": "The side that the others are compared with. A difference is candidate minus baseline.",
        "verdict": "Better or worse: the interval excludes 0 and p is small. Equivalent: the interval lies within the "
        "margin. Otherwise undecided, which does not mean equal.",
        "p": "How often a difference as large as this one appears by chance if both sides are equally good.",
        "p (adj.: decides)": "How often a difference as large as this one appears by chance if both sides are equally "
        "good; in parentheses after correction for the number of comparisons, which decides.",
        "p, adjusted": "p after correction for the number of comparisons, of which some are small by chance.",
        "exact": "All ways to exchange the runs were counted; nothing was approximated.",
        "Hedges' g": "The difference in units of the SD of single runs, corrected for few runs: 1 is one SD.",
        "Cohen's d": "The difference in units of the SD of single runs: 1 is one SD.",
        "Glass's delta": "The difference in units of the SD of the baseline.",
        "P(candidate > baseline)": "Chance that one run of the candidate scores higher than one run of the baseline.",
        "Cliff's delta": "How often the candidate's run is the higher one, minus how often it is the lower one.",
        "SD ratio": "SD of the candidate over that of the baseline. Below 1 the candidate varies less from run to run.",
        "Welch": "t-test of a difference of means that lets both sides have different spread.",
        "Student's t-test": "t-test of a difference of means that takes both sides to have equal spread.",
        "permutation": "Test that exchanges runs between the sides and counts how often the difference is as large.",
        "paired t": "t-test of the mean difference between runs that share their seeds.",
        "sign flips": "Test that exchanges the sides within pairs and counts how often the difference is as large.",
        "Wilcoxon signed-rank": "Test of the ranks of the differences within pairs.",
        "pairs": "Runs of both sides that share their replicate, and so their seeds.",
        "correlation of": "How far runs of a pair go up and down together: 1 wholly, 0 not at all.",
        "U": "Mann-Whitney test of ranks: does one side tend to score higher, whatever the size of the differences?",
        "Kolmogorov–Smirnov": "Test of whether both sides have the same distribution of scores.",
        "V": "Wilcoxon's test of the ranks of the differences within pairs.",
        "Brown–Forsythe": "Test of whether both sides have equal spread.",
        "Levene": "Test of whether both sides have equal spread.",
        "verdict on spread": "Which side varies less from run to run.",
        "TOST": "Two one-sided tests: is the difference smaller than the margin in both directions?",
        "Bootstrap": "Interval from redrawing the recorded runs many times; a cross-check.",
        "not worse": "The candidate is worse by less than the margin, or better.",
        "margin": "The smallest difference that matters to you, as declared.",
        "detectable difference": "Smallest difference that so many runs find in 80% of cases (also called MDE).",
        "can detect a difference": "Smallest difference that so many runs find in 80% of cases (also called MDE).",
        "in SDs": "The same difference divided by the SD of single runs.",
        # Several sides, tasks, failures, curves.
        "simultaneous CI": "Confidence intervals that hold for all candidates at once.",
        "IQM": "Interquartile mean: the mean of the middle half of all scores.",
        "optimality gap": "How far scores lie below the target on average.",
        "P(better than baseline)": "Chance that a run scores higher than one of the baseline, averaged over tasks.",
        "mean rank": "Average place over tasks; 1 is best.",
        "share of variance": "How much of the squared spread remains when only this varies.",
        "k/N": "Completed runs of all that ended for reasons of their own.",
        "rate": "Share of runs that completed.",
        "Boschloo": "Exact test of whether both sides fail equally often.",
        "log-rank": "Test of whether one side reaches the target earlier.",
        "median step": "Step by which half of the runs have reached the target.",
        "first difference": "Where both first differ; for mean curves, where the band of the difference leaves 0.",
        "mean over the curve": "Difference of the curves, averaged over all steps.",
        "bitwise": "Equal in every byte of every recorded value.",
        # What models return.
        "churn": "Share of test examples on which two runs of the same side predict different classes.",
        "agreement with the majority": "Share of test examples on which a run predicts what most runs predict.",
        "unstable examples": "Share of test examples on which not all runs agree.",
        "linear CKA": "How similar the outputs of two runs are: 1 is equal up to rotation and scale.",
        "ECE": "Expected calibration error: how far confidence is from accuracy. 0 is best.",
        # Variants.
        "algo+impl": "Variant: training varies, seeds and kernels; the data are held.",
        "algo": "Variant: seeds free (weights, order, augmentation, dropout), kernels deterministic.",
        "impl": "Variant: seeds fixed, kernels free.",
        "control": "Variant: everything fixed. Its runs should be equal.",
        "as-is": "Variant: the script as it is, nothing fixed or seeded by deviate.",
        "one-bit": "Variant: everything fixed, but one bit of one weight.",
    }
)
"""By term. A term is explained where a text has it as whole words."""

_PATTERNS = MappingProxyType(
    {
        "n": r"n(?= =)|^n$|^n(?=, )",
        "p": r"p(?= [=<>])",
        "CI": r"[\d.]+ ?% CI|^CI$",
        "simultaneous CI": r"[\d.]+ ?% simultaneous CI",
        "interval": r"^interval$|(?<=: )interval$|[Ii]nterval(?= of the difference| for equivalence)",
        "interval of": r"[Ii]nterval(?= of (?!the difference))",
        "difference": r"^[Dd]ifference(?: \(.*\))?$|^Difference of means$",
        "verdict": r"^[Vv]erdict$|(?<=: )verdict$",
        "baseline": r"(?<=− )baseline$",
        "mean": r"^mean(?: \(.*\))?$",
        "rate": r"^rate$",
        "exact": r"(?<=\()exact(?=\))",
        "Hedges' g": r"Hedges' g|g(?= [−\d])",
        "U": r"U(?= =| with)|Mann–Whitney U",
        "Welch": r"Welch(?:'s t-test| t)?",
        "TOST": r"TOST|Two one-sided tests",
        "paired t": r"[Pp]aired t(?:-test)?",
        "permutation": r"[Pp]ermutation test|permutation(?= p)",
        "correlation of": r"[Cc]orrelation of (?:the |\d+ )pairs",
        "margin": r"^margin$",
        "pairs": r"^[Pp]airs$",
        "V": r"V(?= =)",
        "control": r"^control$",
        "impl": r"^impl$",
        "algo": r"^algo$",
        "score": r"^score$",
    }
)
"""Where a term itself would be found in the wrong places, or has other forms."""


def _pattern_of(term: str) -> str:
    first, rest = re.escape(term[0]), re.escape(term[1:])
    return _PATTERNS.get(term) or (f"[{term[0].upper()}{term[0].lower()}]{rest}" if len(term) > 3 else first + rest)


_TERMS = sorted(MEANINGS, key=len, reverse=True)
_ANY = re.compile("|".join(rf"(?<![\w+-])({_pattern_of(term)})(?![\w+-])" for term in _TERMS))


def explained(text: str) -> Iterator[tuple[str, str]]:
    """The text in pieces, each with the meaning of the term that it is; empty for what lies between terms.

    A term is explained once in a text.

    >>> [piece for piece, meaning in explained("SD ratio 0.95, p = 0.008 (exact), SD 0.2") if meaning]
    ['SD ratio', 'p', 'exact', 'SD']
    """
    begin, done = 0, set()
    for match in _ANY.finditer(text):
        term = _TERMS[(match.lastindex or 1) - 1]
        if term in done:
            continue
        done.add(term)
        if match.start() > begin:
            yield text[begin : match.start()], ""
        yield match[0], MEANINGS[term]
        begin = match.end()
    if begin < len(text):
        yield text[begin:], ""
