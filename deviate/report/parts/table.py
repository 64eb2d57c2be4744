"""The results table: one row model for LaTeX, Markdown and other forms with one table of all results."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from deviate.model.comparisons import Comparison, Contrast, Description
from deviate.model.estimates import VERDICT_RUNS, Interval, Unavailable
from deviate.model.findings import Findings
from deviate.report.document import NOTHING, Absent, Cell, DocumentTable, Entry, Layout, TableRow, cell
from deviate.report.format import MINUS, clean, confidence_text, shorten_middle, unit_head
from deviate.report.numbers import ShownNumber, ends, share
from deviate.report.parts.compare import margin_words, metric_name, p_cells, places_of_difference, why_open
from deviate.report.parts.describe import cell_of, mean_cell, missing_text, n_pieces, places_of, range_cell, unit_of
from deviate.report.parts.metrics import aggregate_words, comparison_of, matched_rows
from deviate.report.parts.noise import is_study


class Footnotes:
    """Footnotes in order of first use; equal footnotes share a number."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def numbers(self, *texts: str) -> tuple[int, ...]:
        cleaned = dict.fromkeys(clean(text) for text in texts if text)
        self.texts += [text for text in cleaned if text not in self.texts]
        return tuple(sorted(self.texts.index(text) + 1 for text in cleaned))


def result_table(findings: Findings, labels: Sequence[str], *, layout: Layout | None = None) -> DocumentTable:
    """The results table; its caption has quantity, n, meaning of ±, test, correction and type of interval.

    Args:
        layout: None for wide where that is possible. Where it is not, wide is long.
    """
    notes, labels = Footnotes(), [short(label) for label in labels]
    rows_of = _results(matched_rows(findings))
    has_columns = len(findings.pairs) == 1 if findings.pairs else len(labels) == 1
    chosen = layout or "wide"
    chosen = "long" if chosen == "wide" and not has_columns else chosen
    build = _build_compared if findings.pairs else _build_described
    columns, second, rows = build(findings, labels, rows_of, notes, chosen)
    title = caption(
        findings,
        labels,
        rows_of,
        has_best=any(isinstance(entry, Cell) and entry.is_best for row in rows for entry in row.cells),
        has_n_column=not (findings.pairs and chosen == "wide"),
    )
    return DocumentTable(title, columns, tuple(rows), second_columns=second, footnotes=tuple(notes.texts))


Descriptions = list[Description | None]


def _results(rows: list[Descriptions]) -> list[Descriptions]:
    """Rows of results, without times, settings and counters; all where there is no result."""
    results = [row for row in rows if any(one is not None and one.metric.role == "quality" for one in row)]
    return results or rows


Built = tuple[tuple[str, ...], tuple[str, ...], list[TableRow]]


def _build_compared(
    findings: Findings, labels: Sequence[str], described_rows: Sequence[Descriptions], notes: Footnotes, layout: Layout
) -> Built:
    interval = f"[{level(findings)}]"
    compared = (comparison for pair in findings.pairs for comparison in pair.comparisons)
    p_head = "p" if all(p_cells(comparison)[1] is None for comparison in compared) else "p (adj.)"
    heads = tuple(head.format(interval, p_head) for head, _ in _COMPARED[layout])
    if layout == "wide":
        return ("metric", *labels, *heads), (), [_wide_row(findings, labels, row, notes) for row in described_rows]
    rows = [long_row for row in described_rows for long_row in _long_rows(findings, labels, row, notes, layout)]
    second = ("", "", "", interval, "", "") if layout == "stacked" else ()
    return ("experiment", "n", "mean ± SD", *heads), second, rows


def _wide_row(findings: Findings, labels: Sequence[str], row: Descriptions, notes: Footnotes) -> TableRow:
    comparisons = _comparisons(findings, row)
    best = best_of(findings, comparisons)
    means = [
        mean_with_n(description, label, notes, is_best=best == index)
        for index, (description, label) in enumerate(zip(row, labels, strict=True))
    ]
    cells = compare_cells(comparisons[0], notes)
    return TableRow(_metric_label(row, comparisons), (*means, *(cells[name] for _, name in _COMPARED["wide"])))


def _long_rows(
    findings: Findings, labels: Sequence[str], row: Descriptions, notes: Footnotes, layout: Layout
) -> Iterator[TableRow]:
    comparisons = _comparisons(findings, row)
    best, nothing = best_of(findings, comparisons), (EMPTY,) * len(_COMPARED[layout])
    yield TableRow(_metric_label(row, comparisons), (EMPTY, EMPTY, *nothing), is_heading=True)
    for index, (description, label) in enumerate(zip(row, labels, strict=True)):
        if description is None:
            missing = absent(f"not reported by {label}", notes)
            start: tuple[Entry, ...] = (missing, missing)
        else:
            start = (n_cell(description, notes), mean_of(description, notes, is_best=best == index))
        cells = compare_cells(comparisons[index - 1], notes) if index else {}
        compared = tuple(cells[name] for _, name in _COMPARED[layout]) if index else nothing
        yield TableRow(label, (*start, *compared), begins=False)
        if index and layout == "stacked":
            below = (EMPTY, EMPTY, cells["interval"], cells["p adjusted"], cells["within"])
            if any(isinstance(entry, Absent) or entry.pieces for entry in below):
                yield TableRow("", below, begins=False)


def _comparisons(findings: Findings, row: Descriptions) -> list[Comparison | None]:
    name = row[0].metric.name if row[0] is not None else None
    return [None if name is None else comparison_of(findings, index, name) for index in range(len(findings.pairs))]


def _build_described(
    _findings: Findings, labels: Sequence[str], described_rows: Sequence[Descriptions], notes: Footnotes, layout: Layout
) -> Built:
    has_variants = len(labels) > 1
    lines = _STACKED if layout == "stacked" else _DESCRIBED
    rows: list[TableRow] = []
    for row in described_rows:
        name = _metric_label(row, ())
        rows += [TableRow(name, (EMPTY,) * len(lines[0]), is_heading=True)] if has_variants else []
        for description, label in zip(row, labels, strict=True):
            if description is None:
                continue
            cells = {"": EMPTY, **describe_cells(description, notes)}
            for place, line in enumerate(lines):
                title = "" if place else label if has_variants else name
                begins = not place and not has_variants
                rows.append(TableRow(title, tuple(cells[key] for _, key in line), begins=begins))
    heads = [tuple(head for head, _ in line) for line in lines]
    second = ("", *heads[1]) if len(lines) > 1 else ()
    return ("variant" if has_variants else "metric", *heads[0]), second, rows


_FIGURES = (("difference {}", "difference and interval"), ("{1}", "p"), ("verdict", "verdict and margin"))
_COMPARED: dict[Layout, tuple[tuple[str, str], ...]] = {
    "wide": _FIGURES,
    "long": _FIGURES,
    "split": (("difference", "difference"), ("{}", "interval"), *_FIGURES[1:]),
    "stacked": (("difference", "difference"), ("{1}", "p alone"), ("verdict", "verdict")),
}
"""Columns of a comparison: heads, which take the level of the interval and the head of p, and names of cells."""
_DESCRIBED = (
    (
        *(("n", "n"), ("mean ± SD", "mean"), ("CI of mean", "mean interval")),
        *(("CI of SD", "SD interval"), ("CV", "CV"), ("range", "range")),
    ),
)
_STACKED = (
    (("n", "n"), ("mean ± SD", "mean"), ("CI of SD", "SD interval"), ("CV", "CV")),
    (("", ""), ("CI of mean", "mean interval"), ("range", "range"), ("", "")),
)
"""Columns of a description: of one line, and of two lines below each other."""


def _metric_label(row: Descriptions, comparisons: Sequence[Comparison | None]) -> str:
    first = next(description for description in row if description is not None)
    name = next(
        (metric_name(comparison) for comparison in comparisons if comparison is not None), clean(first.metric.name)
    )
    unit = short(unit_of(first.metric))
    return unit_head(short(name), unit)


# The caption: quantity, n, meaning of ±, test, correction, and type of interval.

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


# Cells: each value in one or two lines, with its footnotes.

EMPTY = cell()


def join_cells(first: Entry, second: Entry) -> Entry:
    """Two cells joined into one, with the footnotes of both."""
    marks = tuple(sorted({*first.marks, *second.marks}))
    if isinstance(second, Absent) or not second.pieces:
        return replace(first, marks=marks)
    if isinstance(first, Absent):
        return Cell((NOTHING, " ", *second.pieces), marks=marks)
    return replace(first, pieces=(*first.pieces, " ", *second.pieces), marks=marks)


def describe_cells(description: Description, notes: Footnotes) -> dict[str, Entry]:
    """The cells of one description by name."""
    places = places_of(description)
    mean_interval, sd_interval = (
        _bracket(interval, places, notes.numbers(interval.note))
        if isinstance(interval, Interval)
        else _mark(Absent(interval.reason), notes)
        for interval in (description.mean_interval, description.sd_interval)
    )
    return {
        "n": n_cell(description, notes),
        "mean": _mark(mean_cell(description), notes, description.note),
        "mean interval": mean_interval,
        "SD interval": sd_interval,
        "CV": _mark(cell_of(description.cv, share), notes),
        "range": _mark(range_cell(description), notes),
    }


def n_cell(description: Description, notes: Footnotes) -> Cell:
    return Cell(n_pieces(description, "/"), marks=notes.numbers(missing_text(description)))


def mean_of(description: Description, notes: Footnotes, *, is_best: bool) -> Entry:
    """Mean ± SD, for tables with a column of n."""
    mean = mean_cell(description)
    if isinstance(mean, Absent):
        return replace(mean, marks=notes.numbers(description.note or mean.reason))
    return replace(mean, is_best=is_best, marks=notes.numbers(description.note))


def mean_with_n(description: Description | None, label: str, notes: Footnotes, *, is_best: bool) -> Entry:
    """Mean ± SD, and n in parentheses."""
    if description is None:
        return absent(f"not reported by {label}", notes)
    mean, n = mean_of(description, notes, is_best=is_best), n_cell(description, notes)
    return join_cells(mean, replace(n, pieces=("(", *n.pieces, ")")))


def absent(reason: str, notes: Footnotes) -> Absent:
    return Absent(reason, marks=notes.numbers(reason))


def compare_cells(comparison: Comparison | None, notes: Footnotes) -> dict[str, Entry]:
    """The cells of one comparison by name; where a candidate did not report the metric, the verdict says so.

    Two that stand in one column are there as one too; `within` is the margin of an equivalence.
    """
    if comparison is None:
        nothing = Absent("not compared")
        cells: dict[str, Entry] = {"difference": nothing, "interval": EMPTY, "p alone": nothing, "p adjusted": EMPTY}
        cells |= {"verdict": cell("not compared"), "within": EMPTY}
    else:
        word, within = comparison.verdict.word, margin_words(comparison)
        difference, interval = _difference(comparison, notes)
        p_value, p_adjusted = p_cells(comparison)
        verdict = Cell((word,), marks=notes.numbers(why_open(comparison)))
        cells = {"difference": difference, "interval": interval, "p alone": _mark(p_value, notes)}
        cells |= {"p adjusted": EMPTY if p_adjusted is None else cell("(", *p_adjusted.pieces, ")")}
        cells |= {"verdict": verdict, "within": cell(within) if within else EMPTY}
    return cells | {
        "difference and interval": join_cells(cells["difference"], cells["interval"]),
        "p": join_cells(cells["p alone"], cells["p adjusted"]),
        "verdict and margin": join_cells(cells["verdict"], cells["within"]),
    }


def _difference(comparison: Comparison, notes: Footnotes) -> tuple[Entry, Entry]:
    """Difference with interval; the unit is stated with the metric."""
    difference, interval = comparison.difference, comparison.difference_interval
    if isinstance(difference, Unavailable):
        return Absent(difference.reason, marks=notes.numbers(difference.reason, comparison.note)), EMPTY
    places = places_of_difference(comparison)
    entry = cell(ShownNumber(difference, places, "signed"))
    if isinstance(interval, Unavailable):
        return replace(entry, marks=notes.numbers(interval.reason, comparison.note)), EMPTY
    return entry, _bracket(interval, places, notes.numbers(interval.note, comparison.note))


def _mark(entry: Entry, notes: Footnotes, note: str = "") -> Entry:
    reason = entry.reason if isinstance(entry, Absent) else ""
    return replace(entry, marks=notes.numbers(reason, note))


def _bracket(interval: Interval, places: int | None, marks: tuple[int, ...]) -> Cell:
    return Cell(("[", *ends(interval.low, interval.high, places), "]"), marks=marks)


# The best experiment in a metric: the one that is better than all others, not the one with the largest mean.


def best_of(findings: Findings, comparisons: Sequence[Comparison | None]) -> int | None:
    """Index of the experiment (0: baseline) that is better than all others in this metric; None if there is none.

    Args:
        comparisons: one per candidate; None where one did not report the metric.
    """
    if not comparisons or None in comparisons:
        return None
    words = [comparison.verdict.word for comparison in comparisons if comparison is not None]
    if all(word == "worse" for word in words):
        return 0
    better = [index for index, word in enumerate(words) if word == "better"]
    for index in better:
        rivals = [other for other in range(len(words)) if other != index]
        if all(_is_better(findings, comparisons, index, rival) for rival in rivals):
            return index + 1
    return None


def _is_better(findings: Findings, comparisons: Sequence[Comparison | None], one: int, other: int) -> bool:
    """Whether a candidate is better than another one, by the adjusted p of their contrast."""
    first, second = comparisons[one], comparisons[other]
    if first is None or second is None or min(first.candidate.n, second.candidate.n) < VERDICT_RUNS:
        return False
    table = next((table for table in findings.many if table.metric.name == first.metric.name), None)
    if (
        table is None
        or len(table.names) <= max(one, other) + 1
        or "withheld" in {comparison.verdict.word for comparison in (first, second)}
    ):
        return False
    names = table.names[one + 1], table.names[other + 1]
    for contrast in table.pairs:
        if {contrast.one, contrast.other} == set(names):
            sign = 1 if contrast.one == names[0] else -1
            return _excludes_zero(contrast, findings.confidence, sign if first.metric.direction == "max" else -sign)
    return False


def _excludes_zero(contrast: Contrast, confidence: float, sign: int) -> bool:
    interval, p_value = contrast.interval, contrast.p_adjusted
    if isinstance(p_value, Unavailable) or not isinstance(interval, Interval) or p_value >= 1 - confidence:
        return False
    return interval.low > 0 if sign > 0 else interval.high < 0
