"""Comparisons as text: the verdict with its figures, and the sentence to paste."""

from collections.abc import Iterator
from dataclasses import dataclass

from deviate.model.comparisons import Comparison, Equivalence, Paired
from deviate.model.estimates import Estimate, Interval, Test, Unavailable
from deviate.model.phrases import Method, Note, Phrase, kind_of, parts_of
from deviate.model.published_results import PublishedComparison
from deviate.report.document import Absent, CandidateVerdict, Cell, Entry, Tone
from deviate.report.format import (
    between,
    clean,
    confidence_text,
    counted,
    decimals,
    difference_unit,
    name_text,
    number,
    p_text,
    percentage,
    plus,
    ratio,
    with_unit,
)
from deviate.report.numbers import Pieces, ShownNumber, p_value, text_of
from deviate.report.parts import describe
from deviate.report.verdicts import is_plainly_open, verdict_reason

TONES: dict[str, Tone] = {"better": "good", "worse": "bad"}


def places_of_difference(comparison: Comparison) -> int | None:
    """Decimals of both sides and of the difference, from the smallest standard error: of a side, or of the pairs.

    The standard error of paired differences is the difference divided by t; at t = 0 it follows from the interval.
    """
    places = [describe.places_of(side) for side in (comparison.baseline, comparison.candidate)]
    paired = comparison.paired
    if comparison.is_paired and isinstance(paired, Paired) and isinstance(paired.t_test, Test):
        if not isinstance(paired.difference, Unavailable) and paired.t_test.statistic:
            places.append(decimals(abs(paired.difference / paired.t_test.statistic)))
        elif isinstance(paired.interval, Interval):
            places.append(describe.places_of_interval(paired.interval))
    return max((place for place in places if place is not None), default=None)


CONTAINS_0 = "the interval contains 0"


def verdict_word(comparison: Comparison) -> str:
    within = margin_words(comparison)
    return f"{comparison.verdict.word} {within}" if within else comparison.verdict.word


def margin_words(comparison: Comparison) -> str:
    """`within 0.5 points` for verdicts of equivalence; empty for other verdicts."""
    margin = comparison.metric.margin
    if comparison.verdict.word != "equivalent" or margin is None:
        return ""
    return f"within {_margin_text(comparison, margin)}"


def tone_of(comparison: Comparison) -> Tone:
    return TONES.get(comparison.verdict.word, "neutral")


def metric_name(comparison: Comparison) -> str:
    """Name of the metric on both sides; they differ if the user matched two metrics."""
    sides = comparison.metric, comparison.candidate_metric
    if sides[0].name == sides[1].name:
        return name_text(sides[0].title or sides[1].shown)
    return " = ".join(dict.fromkeys(name_text(one.shown) for one in sides))


def why_open(comparison: Comparison) -> str:
    """Why a row says `undecided` or `withheld`, in the words that stand beside it; empty for other verdicts."""
    if comparison.verdict.word not in ("undecided", "withheld"):
        return ""
    return CONTAINS_0 if is_plainly_open(comparison) else clean(verdict_reason(comparison))


def difference_cell(comparison: Comparison, places: int | None) -> Entry:
    return describe.signed_cell(comparison.difference, places, difference_unit(describe.unit_of(comparison.metric)))


@dataclass(frozen=True, slots=True)
class Setting:
    """What a sentence says of how the scores came about.

    Attributes:
        aggregate: how the score of a run was computed; empty for scores that were given as such.
        runs: what the runs of both sides differ in, as a noun: `seed`, or `run` where that is not known.
        correction: over what p was adjusted; empty where it is alone.
        remarks: on the choice of metric and margin.
    """

    aggregate: str
    runs: str
    correction: str
    remarks: tuple[str, ...] = ()


def verdict_of(comparison: Comparison, baseline: str, candidate: str, setting: Setting) -> CandidateVerdict:
    """The verdict on the primary metric."""
    return CandidateVerdict(
        candidate=candidate,
        baseline=baseline,
        word=verdict_word(comparison),
        tone=tone_of(comparison),
        statement=f"{_relation(comparison, baseline, candidate)}: {_figures(comparison, baseline, candidate, setting)}",
        tests=_tests(comparison),
        spread=_describe_spread(comparison),
        detectable=detectable_sentence(comparison, runs_text(comparison)),
        reason=reason_text(comparison),
        paste=_paste(comparison, baseline, candidate, setting),
    )


def reason_text(comparison: Comparison) -> str:
    return "; ".join(filter(None, (clean(verdict_reason(comparison)), clean(comparison.note))))


def test_text(test: Test, letter: str) -> str:
    """`F(3, 17.8) = 20.02, p < 0.001` with the kind of p; only p if the statistic has no letter."""
    return text_of(test_pieces(test, letter))


def test_pieces(test: Test, letter: str) -> Pieces:
    note: Pieces = (f" ({test.note})",) if test.note else ()
    statistic = (*statistic_pieces(test, letter), ", ") if letter else ()
    return (*statistic, *p_value(test.p_value), *note)


def statistic_pieces(test: Test, letter: str) -> Pieces:
    """`F(3, 17.8) = 20.02`."""
    df = [
        ShownNumber(value, 0 if value == round(value) else 1)
        for value in (test.df_between, test.df)
        if value is not None
    ]
    df_pieces = [piece for number in df for piece in (", ", number)][1:]
    value = ShownNumber(test.statistic, 0 if test.statistic == round(test.statistic) else 2)
    return (letter, *(["(", *df_pieces, ")"] if df else []), " = ", value)


def test_cell(test: Test | Unavailable, letter: str) -> Entry:
    """A test with its statistic, sorted by p."""
    return describe.cell_of(test, lambda known: test_pieces(known, letter))


def p_cells(comparison: Comparison) -> tuple[Entry, Cell | None]:
    """The p that belongs to the interval, and the adjusted p, which decides; None where that is the same one."""
    test, adjusted = comparison.deciding_test, p_value_cell(comparison.p_adjusted)
    if isinstance(test, Unavailable) or isinstance(adjusted, Absent) or test.p_value == comparison.p_adjusted:
        return adjusted, None
    return p_value_cell(test.p_value), adjusted


def p_value_cell(p_value: Estimate) -> Entry:
    return describe.cell_of(p_value, lambda value: (ShownNumber(value, style="p"),))


def ratio_cell(estimate: Estimate, interval: Interval | Unavailable | None = None) -> Entry:
    return describe.cell_of(estimate, lambda value: (ShownNumber(value, 2), *describe.bracket(interval, 2)))


def level_and_method(interval: Interval | Unavailable) -> str:
    if isinstance(interval, Unavailable):
        return "no interval"
    return f"{confidence_text(interval.confidence)} CI, {interval.method}"


def effect_text(comparison: Comparison | PublishedComparison) -> str:
    """`Hedges' g 1.4 [0.2 … 2.6]`; empty without one."""
    if isinstance(comparison.hedges_g, Unavailable):
        return ""
    return f"Hedges' g {ratio_cell(comparison.hedges_g, comparison.hedges_g_interval).text}"


def _tests(comparison: Comparison) -> tuple[str, ...]:
    parts = both_texts(comparison)
    paired = comparison.paired
    if isinstance(paired, Paired) and comparison.is_paired:
        if isinstance(paired.wilcoxon, Test):
            parts.append(test_text(paired.wilcoxon, "V"))
        if not isinstance(paired.correlation, Unavailable):
            parts.append(f"correlation of {counted(paired.n, 'pair')} {ratio(paired.correlation)}")
    elif isinstance(comparison.mann_whitney, Test):
        parts.append(test_text(comparison.mann_whitney, "U"))
    if not isinstance(comparison.superiority, Unavailable):
        parts.append(f"P(candidate > baseline) {ratio(comparison.superiority)}")
    return (*parts, *equivalence_texts(comparison), *filter(None, [effect_text(comparison)]))


def both_texts(comparison: Comparison) -> list[str]:
    """`Welch t(7.8) = 0.41, p = 0.695` and `permutation p = 0.698 (exact)`.

    A verdict uses both tests, of which the one with the larger p decides.
    """
    t_test, permutation = comparison.both_tests
    texts = []
    if isinstance(t_test, Test):
        texts.append(f"{'paired' if comparison.is_paired else 'Welch'} {test_text(t_test, 't')}")
    if isinstance(permutation, Test):
        name = "sign flips" if comparison.is_paired else "permutation"
        note = ", ".join(map(_arrangements, parts_of(permutation.note)))
        texts.append(f"{name} {p_text(permutation.p_value)} ({note})")
    return texts


def _arrangements(note: str) -> str:
    """How many arrangements there were, beside the name of the test."""
    if isinstance(note, Phrase) and note.kind is Note.PERMUTATION:
        return f"{note.values[0]} resamples"
    return "exact" if kind_of(note) is Note.EXACT_PERMUTATION else note


def equivalence_texts(comparison: Comparison) -> tuple[str, ...]:
    """`TOST p = 0.014 (margin ±0.2 points)`, and whether the candidate is not worse than that; empty without one."""
    equivalence = comparison.equivalence
    if not isinstance(equivalence, Equivalence):
        return ()
    margin = _margin_text(comparison, equivalence.margin)
    how = (Note.ONE_SIDED, Note.EXACT_PERMUTATION, Note.PERMUTATION)
    marks = [note for note in parts_of(equivalence.above.note) if kind_of(note) not in how]
    texts = [f"TOST {p_text(equivalence.p_value)} ({', '.join((f'margin ±{margin}', *marks))})"]
    if equivalence.is_not_worse:
        level = confidence_text((1 + equivalence.interval.confidence) / 2)
        texts.append(f"not worse than by {margin} (one-sided {level})")
    return tuple(texts)


def _margin_text(comparison: Comparison, margin: float) -> str:
    return with_unit(number(margin, None), difference_unit(describe.unit_of(comparison.metric)))


def _describe_spread(comparison: Comparison) -> str:
    if isinstance(comparison.sd_ratio, Unavailable):
        return f"SD ratio: {comparison.sd_ratio.reason}"
    verdict, interval = comparison.spread_verdict, comparison.sd_ratio_interval
    ratio_text = ratio_cell(comparison.sd_ratio, interval).text
    if isinstance(verdict, Unavailable):
        return f"SD ratio {ratio_text}: undecided"
    excludes_1 = isinstance(interval, Interval) and not interval.low <= 1 <= interval.high
    # An interval without 1 looks decided.
    why = f" ({verdict.reason})" if (verdict.word == "undecided" if excludes_1 else verdict.is_within) else ""
    return f"SD ratio {ratio_text}: {verdict.word}{why}"


def detectable_sentence(comparison: Comparison, runs: str) -> str:
    if isinstance(comparison.detectable, Unavailable):
        return f"The detectable difference of these {runs} is unknown ({comparison.detectable.reason})."
    places, around = places_of_difference(comparison), comparison.detectable_interval
    size, unit = number(comparison.detectable, places), difference_unit(describe.unit_of(comparison.metric))
    of_sd = ""
    if isinstance(around, Interval):
        of_sd = f", {between(around.low, around.high, places)} over the CI of the SD"
    return f"These {runs} can detect a difference of {with_unit(size, unit)} (80% power{of_sd})."


def runs_text(comparison: Comparison) -> str:
    """`10 + 9 runs`, or `8 pairs`."""
    if isinstance(comparison.paired, Paired) and comparison.is_paired:
        return counted(comparison.paired.n, "pair")
    return f"{comparison.baseline.n} + {comparison.candidate.n} runs"


RELATIONS = {
    "better": "is better than",
    "worse": "is worse than",
    "higher": "is higher than",
    "lower": "is lower than",
    "equivalent": "is equivalent to",
    "identical": "is identical to",
}
"""Verdicts as verbs; there is none for those that decide nothing."""


def _relation(comparison: Comparison, baseline: str, candidate: str) -> str:
    """`mixup is better than base`; `mixup against base` where nothing is decided."""
    verb, within = RELATIONS.get(comparison.verdict.word, "against"), margin_words(comparison)
    return " ".join(filter(None, (candidate, verb, baseline, within)))


def _figures(comparison: Comparison, baseline: str, candidate: str, setting: Setting) -> str:
    """`acc +1.4 points (86.1 → 87.5 %, +1.6 % relative), 95% CI 0.6 to 2.2, p = 0.004, 10 seeds each`."""
    places = places_of_difference(comparison)
    difference, interval = difference_cell(comparison, places), comparison.difference_interval
    runs = _runs(comparison, setting.runs, (baseline, candidate))
    if isinstance(difference, Absent):
        return f"{metric_name(comparison)} unknown, {difference.reason}, {runs}"
    parts = [f"{metric_name(comparison)} {difference.text}{_means(comparison, places)}"]
    if isinstance(interval, Unavailable) and comparison.verdict.word != "identical":
        parts.append(f"no interval: {interval.reason}")
    return ", ".join((*parts, *_inference(comparison, places), runs))


def _means(comparison: Comparison, places: int | None) -> str:
    """` (86.1 → 87.5 %, +1.6 % relative)`, relative where both means are above 0; empty without means."""
    b, a = comparison.baseline.mean, comparison.candidate.mean
    if isinstance(b, Unavailable) or isinstance(a, Unavailable):
        return ""
    both = with_unit(f"{number(b, places)} → {number(a, places)}", describe.unit_of(comparison.metric))
    relative = f", {plus(a - b, percentage(a / b - 1))} relative" if min(a, b) > 0 and a != b else ""
    return f" ({both}{relative})"


def _inference(comparison: Comparison, places: int | None) -> Iterator[str]:
    """`95% CI 0.6 to 2.2`, and `p = 0.004, adjusted p = 0.008`; no p where none is valid."""
    interval, (own, adjusted) = comparison.difference_interval, p_cells(comparison)
    if isinstance(interval, Interval):
        tests, looks = interval.method, ""
        if isinstance(tests, Phrase) and tests.kind is Method.REPEATED:
            tests = str(tests.values[0])
            looks = interval.method.removeprefix(tests)
        is_of_both = isinstance(comparison.both_tests[1], Test)
        method = "" if is_of_both else f" by {tests} alone"  # fewer runs than the permutation test takes
        ends = f"{number(interval.low, places)} to {number(interval.high, places)}{method}"
        yield ", ".join(filter(None, (f"{confidence_text(interval.confidence)} CI {ends}{looks}", interval.note)))
    if isinstance(own, Cell) and own.value is not None and comparison.verdict.word != "withheld":
        yield p_text(own.value)
        if adjusted is not None and adjusted.value is not None:
            yield f"adjusted {p_text(adjusted.value)}"


def _runs(comparison: Comparison, noun: str, names: tuple[str, str]) -> str:
    """`10 seeds each`, `8 pairs`, or what each side has: `6 runs of base and 5 of 6 runs of new (1 crashed)`."""
    sides = comparison.baseline, comparison.candidate
    if isinstance(comparison.paired, Paired) and comparison.is_paired:
        return runs_text(comparison)
    if _is_one_n(comparison):
        return f"{counted(sides[0].n, noun)} each"
    endings = (f" ({text})" if (text := describe.endings_of(side)) else "" for side in sides)
    runs = [describe.runs_of(side, noun) for side in sides]
    return " and ".join(f"{text} of {name}{end}" for text, name, end in zip(runs, names, endings, strict=True))


def _is_one_n(comparison: Comparison) -> bool:
    """Whether every run of both sides has a score, and both have as many."""
    b, a = comparison.baseline, comparison.candidate
    return b.n == b.n_runs == a.n == a.n_runs


def _paste(comparison: Comparison, baseline: str, candidate: str, setting: Setting) -> str:
    """The result for a paper: both sides, then the difference with test and correction, then what a reviewer asks."""
    places, is_one_n = places_of_difference(comparison), _is_one_n(comparison)
    sides = [
        f"{describe.mean_text(side)} with {name}"
        + ("" if is_one_n else f" ({'; '.join(filter(None, (describe.runs_of(side), describe.endings_of(side))))})")
        for side, name in ((comparison.candidate, candidate), (comparison.baseline, baseline))
    ]
    spread = "mean ± SD" if places is not None else ""
    runs = f"{counted(comparison.baseline.n, setting.runs)} each" if is_one_n else ""
    scores = ", ".join(filter(None, (" over ".join(filter(None, (spread, runs))), setting.aggregate)))
    details = (f" ({scores})" if is_one_n else f"; {scores}") if scores else ""
    first = f"{metric_name(comparison)} was {' and '.join(sides)}{details}."
    why = why_open(comparison)
    open_text = f"The comparison is undecided: {why.removesuffix('?')}." if why not in ("", CONTAINS_0) else ""
    return " ".join(filter(None, (first, _difference_sentence(comparison, places, setting), open_text)))


def _test_names(comparison: Comparison) -> str:
    """`larger p of Welch t-test, t(7.8) = 0.41, and studentized permutation test`."""
    t_test, permutation = comparison.both_tests
    names = []
    if isinstance(t_test, Test):
        statistic = text_of(statistic_pieces(t_test, "t"))
        names.append(f"{'paired t-test' if comparison.is_paired else 'Welch t-test'}, {statistic}")
    if isinstance(permutation, Test):
        names.append("sign-flip test" if comparison.is_paired else "studentized permutation test")
    return f"larger p of {names[0]}, and {names[1]}" if len(names) > 1 else "".join(names)


def _difference_sentence(comparison: Comparison, places: int | None, setting: Setting) -> str:
    """The difference with its interval, p, tests and correction, then what a reviewer asks."""
    difference = difference_cell(comparison, places)
    if isinstance(difference, Absent):
        return "The difference is unknown."
    correction = setting.correction or _counting_looks(comparison)
    pairs = runs_text(comparison) if comparison.is_paired else ""
    parts = [
        ", ".join((*_inference(comparison, places), *filter(None, [pairs]))),
        "" if comparison.verdict.word == "withheld" else _test_names(comparison),
        f"adjusted: {correction}" if correction else "",
        effect_text(comparison),
        ", ".join(equivalence_texts(comparison)),
        *setting.remarks,
    ]
    details = "; ".join(filter(None, parts))
    return f"The difference was {difference.text}{f' ({details})' if details else ''}."


def _counting_looks(comparison: Comparison) -> str:
    """How p was corrected where it is that of no test; intervals state looks themselves."""
    test, p_adjusted = comparison.deciding_test, comparison.p_adjusted
    is_corrected = isinstance(test, Test) and not isinstance(p_adjusted, Unavailable) and p_adjusted != test.p_value
    return "counting the looks" if is_corrected else ""
