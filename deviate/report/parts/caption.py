"""Captions of results tables: quantity, n, meaning of ±, test, correction, and type of interval."""

from collections.abc import Iterable, Sequence

from deviate.model import Description, Findings, Interval, Unavailable
from deviate.report.format import MINUS, clean, confidence_text, shorten_middle
from deviate.report.parts.metrics import aggregate_words
from deviate.report.parts.noise import is_study

LONGEST_NAME = 60
"""Characters of a name in a table: what follows leaves no room for the figures."""
MOST_NAMES = 3


def caption(
    findings: Findings,
    labels: Sequence[str],
    described: Sequence[Sequence[Description | None]],
    *,
    has_best: bool,
    has_n_column: bool = False,
) -> str:
    """Sentences above or below the table; `described` has the descriptions of each row.

    Args:
        has_n_column: n stands in a column of its own, and not in parentheses.
    """
    firsts = [next(description for description in row if description is not None) for row in described]
    whole = [description for row in described for description in row if description is not None]
    # For scores that were given directly, it is unknown how measurements were aggregated.
    recorded = [description.metric for description in firsts if description.metric.metric.sink != "scores"]
    aggregates = list(dict.fromkeys(aggregate_words(metric.aggregate) for metric in recorded))
    run_here = [
        item.experiment for item in findings.experiments if item.experiment.command and not item.experiment.imported
    ]
    names = dict.fromkeys(short(clean(experiment.variant)) for experiment in run_here)
    variants = f"; {'variant' if len(names) == 1 else 'variants'} {', '.join(names)}" if names else ""
    quantity = ", ".join(short(clean(description.metric.name)) for description in firsts)
    if not 0 < len(firsts) <= MOST_NAMES:
        quantity = f"{len(firsts)} metrics"
    scores = f" ({', '.join(aggregates)})" if aggregates else ""
    is_whole = all(description.n == description.n_runs for description in whole)
    n = "n" if is_whole else "n, or runs with a score out of those that ended,"
    of_runs = f"over runs (ddof 1), {n} in parentheses"
    if has_n_column or not findings.pairs:
        of_runs = f"over n runs (ddof 1{'' if is_whole else '; k/N: k gave a score of N that ended'})"
    whose = f"{', '.join(labels[1:])} against {labels[0]}" if findings.pairs else labels[0]
    if is_study(findings):
        whose = f"Variants of {short(clean(findings.experiments[0].experiment.name))}"
    sentences = [f"{whose}: {quantity}{scores}.", f"Mean ± SD {of_runs}{variants}."]
    if findings.pairs:
        sentences += _test_sentences(findings, labels[0])
    else:
        intervals = {
            "mean": [description.mean_interval for description in whole],
            "SD": [description.sd_interval for description in whole],
        }
        ways = [f"of the {name} by {way}" for name, some in intervals.items() if (way := _methods(some))]
        level_of = confidence_text(findings.confidence)
        sentences += [f"{level_of} intervals (CI) {', '.join(ways)}."] if ways else []
        sentences += ["CV is SD over |mean|. Described, not compared: no test."]
    if has_best:
        sentences.append("Bold: better than every other here, by adjusted p.")
    return " ".join(sentences)


def level(findings: Findings) -> str:
    """Confidence level of the intervals, `95% CI`; `CI` alone where they have different levels."""
    levels = dict.fromkeys(confidence_text(interval.confidence) for interval in _intervals(findings))
    return f"{next(iter(levels))} CI" if len(levels) == 1 else "CI"


def short(text: str) -> str:
    return shorten_middle(text, LONGEST_NAME)


def _test_sentences(findings: Findings, baseline: str) -> list[str]:
    comparisons = [comparison for pair in findings.pairs for comparison in pair.comparisons]
    if not comparisons:
        return ["No metric was reported on both sides."]
    intervals = _intervals(findings)
    levels = ", ".join(dict.fromkeys(confidence_text(interval.confidence) for interval in intervals))
    has_percent = any(comparison.metric.unit == "%" for comparison in comparisons)
    points = ", in points where the metric is in %" if has_percent else ""
    sentences = [f"Difference to {baseline} (candidate {MINUS} baseline{points})"]
    sentences[0] += f" with {levels} CI ({_methods(intervals)})." if intervals else "."
    tests = dict.fromkeys(
        "paired t-test and sign flips" if comparison.is_paired else "Welch's t-test and studentized permutation test"
        for comparison in comparisons
    )
    families = "; ".join(dict.fromkeys(pair.family for pair in findings.pairs if pair.family))
    families_text = f" ({families})" if families else ""
    sentences.append(f"p: two-sided, the larger of {'; of pairs '.join(tests)}{families_text}.")
    sentences += dict.fromkeys(
        f"{short(clean(pair.candidate))}: {pair.looks}." for pair in findings.pairs if pair.looks
    )
    return sentences


def _methods(intervals: Iterable[Interval | Unavailable]) -> str:
    return ", ".join(dict.fromkeys(interval.method for interval in intervals if isinstance(interval, Interval)))


def _intervals(findings: Findings) -> list[Interval]:
    intervals = [comparison.difference_interval for pair in findings.pairs for comparison in pair.comparisons]
    return [interval for interval in intervals if isinstance(interval, Interval)]
