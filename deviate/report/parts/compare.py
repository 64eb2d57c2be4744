"""Comparisons as text: the verdict with its figures, and the sentence to paste."""

from deviate.model.comparisons import Comparison, Equivalence, Paired, SpreadVerdict
from deviate.model.estimates import Estimate, Interval, Test, Unavailable
from deviate.model.phrases import Note, Phrase, kind_of, parts_of
from deviate.model.published_results import PublishedComparison
from deviate.report.document import Absent, CandidateVerdict, Cell, Entry, Judgement, Tone, cell
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
    baseline, candidate = name_text(comparison.metric.name), name_text(comparison.candidate_metric.name)
    return baseline if baseline == candidate else f"{baseline} = {candidate}"


def judgement_of(comparison: Comparison) -> Judgement:
    places, (p_value, p_adjusted) = places_of_difference(comparison), p_cells(comparison)
    return Judgement(
        difference=difference_cell(comparison, places),
        interval=describe.interval_cell(comparison.difference_interval, places),
        p=p_value
        if p_adjusted is None or isinstance(p_value, Absent)
        else cell(*p_value.pieces, " (", *p_adjusted.pieces, ")", value=p_adjusted.value),
        word=verdict_word(comparison),
        tone=tone_of(comparison),
        remark=clean(comparison.note),
        method=comparison.difference_interval.method if isinstance(comparison.difference_interval, Interval) else "",
        obstacle=why_open(comparison),
        is_adjusted=p_adjusted is not None,
    )


def why_open(comparison: Comparison) -> str:
    """Why a row says `undecided` or `withheld`, in the words that stand beside it; empty for other verdicts."""
    if comparison.verdict.word not in ("undecided", "withheld"):
        return ""
    return CONTAINS_0 if is_plainly_open(comparison) else clean(verdict_reason(comparison))


def difference_cell(comparison: Comparison, places: int | None) -> Entry:
    return describe.signed_cell(comparison.difference, places, difference_unit(describe.unit_of(comparison.metric)))


def verdict_of(
    comparison: Comparison, baseline: str, candidate: str, setting: str, correction: str, scope: str
) -> CandidateVerdict:
    """The verdict on the primary metric.

    Args:
        setting: variant and aggregate, for the sentence to paste.
        correction: over what p was adjusted; empty where it is alone.
        scope: for what the result holds.
    """
    places = places_of_difference(comparison)
    change = difference_cell(comparison, places)
    return CandidateVerdict(
        candidate=candidate,
        baseline=baseline,
        word=verdict_word(comparison),
        tone=tone_of(comparison),
        metric=metric_name(comparison),
        change=change.text,
        interval=_bracket(comparison, places),
        effect=effect_text(comparison),
        tests=_tests(comparison),
        spread=_describe_spread(comparison),
        detectable=f"{detectable_sentence(comparison, runs_text(comparison))} {scope}",
        reason=reason_text(comparison),
        paste=_paste(comparison, baseline, candidate, setting, correction),
    )


def reason_text(comparison: Comparison) -> str:
    return "; ".join(filter(None, (clean(verdict_reason(comparison)), clean(comparison.note))))


def test_text(test: Test, letter: str) -> str:
    """`F(3, 17.8) = 20.02, p < .001` with the kind of p; only p if the statistic has no letter."""
    return text_of(test_pieces(test, letter))


def test_pieces(test: Test, letter: str) -> Pieces:
    note: Pieces = (f" ({test.note})",) if test.note else ()
    if not letter:
        return (*p_value(test.p_value), *note)
    df = [
        ShownNumber(value, 0 if value == round(value) else 1)
        for value in (test.df_between, test.df)
        if value is not None
    ]
    df_pieces = [piece for number in df for piece in (", ", number)][1:]
    value = ShownNumber(test.statistic, 0 if test.statistic == round(test.statistic) else 2)
    return (letter, *(["(", *df_pieces, ")"] if df else []), " = ", value, ", ", *p_value(test.p_value), *note)


def test_cell(test: Test | Unavailable, letter: str) -> Entry:
    """A test with its statistic, sorted by p."""
    if isinstance(test, Unavailable):
        return Absent(test.reason)
    return cell(*test_pieces(test, letter), value=test.p_value)


def p_cells(comparison: Comparison) -> tuple[Entry, Cell | None]:
    """The p that belongs to the interval, and the adjusted p, which decides; None where that is the same one."""
    test, adjusted = comparison.deciding_test, p_value_cell(comparison.p_adjusted)
    if isinstance(test, Unavailable) or isinstance(adjusted, Absent) or test.p_value == comparison.p_adjusted:
        return adjusted, None
    return p_value_cell(test.p_value), adjusted


def p_value_cell(p_value: Estimate) -> Entry:
    return describe.cell_of(p_value, lambda value: (ShownNumber(value, style="p"),))


def ratio_cell(estimate: Estimate, interval: Interval | Unavailable | None = None) -> Entry:
    if isinstance(estimate, Unavailable):
        return Absent(estimate.reason)
    return cell(ShownNumber(estimate, 2), *describe.bracket(interval, 2), value=estimate)


def level_and_method(interval: Interval | Unavailable) -> str:
    return (
        "no interval"
        if isinstance(interval, Unavailable)
        else (f"{confidence_text(interval.confidence)} CI, {interval.method}")
    )


def _bracket(comparison: Comparison, places: int | None) -> str:
    interval = comparison.difference_interval
    if isinstance(interval, Unavailable):
        return f"[no interval: {interval.reason}]"
    ends = describe.note_interval(between(interval.low, interval.high, places), interval)
    is_of_both = isinstance(comparison.both_tests[1], Test)
    method = "" if is_of_both else f", {interval.method} alone"  # fewer runs than the permutation test takes
    return f"[{confidence_text(interval.confidence)} CI {ends}{method}]"


def effect_text(comparison: Comparison | PublishedComparison) -> str:
    """`g 1.4 [0.2 … 2.6]`; empty without one."""
    if isinstance(comparison.hedges_g, Unavailable):
        return ""
    return f"g {ratio_cell(comparison.hedges_g, comparison.hedges_g_interval).text}"


def _tests(comparison: Comparison) -> tuple[str, ...]:
    parts: list[str] = []
    parts += both_texts(comparison)
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
    return (*parts, *equivalence_texts(comparison))


def both_texts(comparison: Comparison) -> list[str]:
    """`Welch t(7.8) = 0.41, p = .695` and `permutation p = .698 (exact)`.

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
    """`TOST p = .014 (margin ±0.2 points)`, and whether the candidate is not worse than that; empty without one."""
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
    why = ""
    if isinstance(verdict, SpreadVerdict) and isinstance(interval, Interval) and not interval.low <= 1 <= interval.high:
        why = f" ({verdict.reason})" if verdict.word == "undecided" else ""  # an interval without 1 looks decided
    elif isinstance(verdict, SpreadVerdict) and verdict.is_within:
        why = f" ({verdict.reason})"
    return f"SD ratio {ratio_cell(comparison.sd_ratio, interval).text}: {spread_word(comparison)}{why}"


def spread_word(comparison: Comparison) -> str:
    verdict = comparison.spread_verdict
    if isinstance(verdict, Unavailable):
        return "undecided"
    return verdict.word


def detectable_sentence(comparison: Comparison, runs: str) -> str:
    if isinstance(comparison.detectable, Unavailable):
        return f"What these {runs} can detect is not stated ({comparison.detectable.reason})."
    places, around = places_of_difference(comparison), comparison.detectable_interval
    size, unit = number(comparison.detectable, places), difference_unit(describe.unit_of(comparison.metric))
    of_sd = ""
    if isinstance(around, Interval):
        of_sd = f", {between(around.low, around.high, places)} for the CI of the SD"
    return f"These {runs} can detect a difference of {with_unit(size, unit)} (80% power{of_sd})."


def runs_text(comparison: Comparison) -> str:
    """`10 + 9 runs`, or `8 pairs`."""
    if isinstance(comparison.paired, Paired) and comparison.is_paired:
        return counted(comparison.paired.n, "pair")
    return f"{comparison.baseline.n} + {comparison.candidate.n} runs"


def _paste(comparison: Comparison, baseline: str, candidate: str, setting: str, correction: str) -> str:
    """The sentence to paste: the result, then how it was obtained."""
    places = places_of_difference(comparison)
    sides = f"{metric_name(comparison)} {_sides(comparison, baseline, candidate)}"
    if places is not None:
        sides += ", mean ± SD over runs"
    correction = correction or _counting_looks(comparison)
    reason = why_open(comparison)
    why = f" ({reason})" if reason not in ("", CONTAINS_0) else ""  # the interval stands beside it
    parts = (sides, _difference_text(comparison, places, correction), f"verdict: {verdict_word(comparison)}{why}")
    return f"{'; '.join(parts)}. {_methods(comparison, places, setting, correction)}".rstrip()


def _difference_text(comparison: Comparison, places: int | None, correction: str) -> str:
    """`difference +0.34, 95% CI −0.45 … 1.13, p = .370`; without p where none is valid."""
    difference = difference_cell(comparison, places)
    pairs = f" over {runs_text(comparison)}" if comparison.is_paired else ""
    figures = ["difference unknown" if isinstance(difference, Absent) else f"difference {difference.text}{pairs}"]
    interval, p_adjusted = comparison.difference_interval, comparison.p_adjusted
    if isinstance(interval, Interval):
        level, ends = confidence_text(interval.confidence), between(interval.low, interval.high, places)
        figures.append(describe.note_interval(f"{level} CI {ends}", interval))
    if comparison.verdict.word != "withheld" and not isinstance(p_adjusted, Unavailable):
        figures.append(f"{'adjusted ' if correction else ''}{p_text(p_adjusted)}")
    return ", ".join((*figures, *equivalence_texts(comparison)))


def _methods(comparison: Comparison, places: int | None, setting: str, correction: str) -> str:
    """What a reader has to know to repeat the figures; empty where there are none."""
    interval = comparison.difference_interval
    tests: list[str] = []
    if isinstance(comparison.deciding_test, Test):
        both = both_texts(comparison)
        larger = "the larger p decides" if len(both) > 1 else ""
        adjusted = f"p adjusted ({correction})" if correction else "p not adjusted"
        tests = [", ".join(filter(None, (" and ".join(both), larger, adjusted)))]
    parts = [
        setting,
        "SD with ddof 1" if places is not None else "",
        f"CI by {interval.method}" if isinstance(interval, Interval) else "",
        *tests,
        "" if isinstance(comparison.hedges_g, Unavailable) else f"Hedges' {effect_text(comparison)}",
    ]
    methods = "; ".join(filter(None, parts))
    return f"Methods: {methods}." if methods else ""


def _sides(comparison: Comparison, baseline: str, candidate: str) -> str:
    """Both sides in words: `was 93.7 ± 0.2 with new (8 of 10 runs; 2 crashed) and 93.4 ± 0.2 with base (n = 10)`."""
    unit = describe.unit_of(comparison.metric)
    sides = []
    for side, name in ((comparison.candidate, candidate), (comparison.baseline, baseline)):
        mean = describe.mean_cell(side, unit)
        sides.append(
            f"{'had' if isinstance(mean, Absent) else 'was'} {mean.text} with {name} ({describe.runs_of(side)})"
        )
    first, second = sides
    return f"{first} and {second.removeprefix(first[:4])}"


def _counting_looks(comparison: Comparison) -> str:
    """How p was corrected where it is that of no test; intervals state looks themselves."""
    test, p_adjusted = comparison.deciding_test, comparison.p_adjusted
    is_corrected = isinstance(test, Test) and not isinstance(p_adjusted, Unavailable) and p_adjusted != test.p_value
    return "counting the looks" if is_corrected else ""
