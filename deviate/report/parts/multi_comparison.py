"""Comparisons of three or more experiments as text: overall tests, all against the baseline, and all pairs."""

from collections.abc import Sequence

from deviate.model.comparisons import Contrast, ManyTable
from deviate.model.estimates import Unavailable
from deviate.model.findings import Findings
from deviate.report.document import Absent, Block, DocumentTable, Fact, Facts, Items, Quote, Section, TableRow, cell
from deviate.report.format import (
    clean,
    confidence_text,
    counted,
    difference_unit,
    name_text,
    p_text,
    sign_number,
    unit_head,
    with_unit,
)
from deviate.report.parts.compare import p_value_cell, places_of_difference, test_cell
from deviate.report.parts.describe import interval_cell, places_of_interval, signed_cell, unit_of

MOST_TABLES = 3
"""Metrics that a terminal shows, and a page unfolded, where none is primary."""
OMNIBUS = (
    ("Welch's analysis of variance, unequal variances", "F"),
    ("Analysis of variance, equal variances assumed", "F"),
    ("Kruskal–Wallis test of ranks", "H"),
)

NOTES = (
    "The overall tests say whether the experiments differ, and not which of them do: for that, see the comparisons.",
    "Dunnett assumes equal variances. Where spreads differ, prefer the table of all pairs, which does not assume that.",
    "Holm can reject what Bonferroni's interval leaves open: p can be below the level where the interval contains 0.",
)


def many_blocks(findings: Findings) -> tuple[Block, ...]:
    """A section per metric that three or more experiments report, in the order of the findings; how to read them."""
    sections = (_section(table, index, findings) for index, table in enumerate(findings.many))
    return (*sections, Items(NOTES, "footnotes"))


def many_lines(findings: Findings, labels: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Lines for a terminal on the primary metric, or on a few metrics if there is none."""
    primary = [table for table in findings.many if table.metric.name == findings.primary]
    tables = primary or findings.many[:MOST_TABLES]
    lines = [_lines(table, labels, findings) for table in tables]
    if not primary and (n_left := len(findings.many) - len(tables)):
        lines[-1] += (f"… and {counted(n_left, 'more metric')}: see the report, All experiments",)
    return tuple(lines)


def pair_matrix(
    caption: str, names: Sequence[str], contrasts: Sequence[Contrast], texts: Sequence[str]
) -> DocumentTable:
    """Texts of all pairs as a matrix: first experiment in rows, second in columns."""
    texts_of_pairs = {(contrast.one, contrast.other): text for contrast, text in zip(contrasts, texts, strict=True)}
    rows = tuple(
        TableRow(name_text(one), tuple(cell(texts_of_pairs.get((one, other), "")) for other in names[:-1]))
        for one in names[1:]
    )
    return DocumentTable(caption, ("", *(name_text(name) for name in names[:-1])), rows, kind="matrix")


def _section(table: ManyTable, index: int, findings: Findings) -> Section:
    name, unit = name_text(table.metric.shown), difference_unit(unit_of(table.metric))
    level = confidence_text(findings.confidence)
    baseline = name_text(table.names[0])
    contrasts = () if isinstance(table.dunnett, Unavailable) else table.dunnett
    tests = zip(OMNIBUS, (table.welch_anova, table.anova, table.kruskal_wallis), strict=True)
    sides = ", ".join(f"{clean(name)} {n}" for name, n in zip(table.names, table.n, strict=True))
    columns = ("Candidate", unit_head("difference", unit), f"{level} simultaneous CI", "p, adjusted")
    n_family = sum(not isinstance(contrast.interval, Unavailable) for contrast in contrasts)
    caption = f"{name}: each candidate − {baseline}; Dunnett, family of {n_family}, equal variances assumed"
    places = _places(table, findings)
    dunnett: Block = DocumentTable(caption, columns, tuple(_row(contrast, places) for contrast in contrasts))
    if not contrasts:
        refusal = table.dunnett
        dunnett = Absent(f"Not compared with {baseline}: {refusal.reason}." if isinstance(refusal, Unavailable) else "")
    matrix = pair_matrix(
        f"{name}: all pairs, row − column [{level} simultaneous CI of both tests, Bonferroni], "
        f"p of both tests, Holm over {len(table.pairs)} pairs",
        table.names,
        table.pairs,
        [contrast_text(pair, "", places) for pair in table.pairs],
    )
    is_primary = table.metric.name == findings.primary
    head = f"{name} over {len(table.names)} experiments (n: {sides}): {_differ(table)}"
    quote = f"{head}. {_against(table, places)} [{level} simultaneous CI, equal variances assumed]."
    facts = Facts(tuple(Fact(label, test_cell(test, letter)) for (label, letter), test in tests))
    is_folded = not is_primary and len(findings.many) > MOST_TABLES
    return Section(f"many-{index}", name, (Quote(quote), facts, dunnett, matrix), is_folded, is_primary)


def _places(table: ManyTable, findings: Findings) -> int | None:
    """Decimals of all differences in this metric, as the verdicts on it have them; None where none is rounded."""
    compared = [comparison for pair in findings.pairs for comparison in pair.comparisons]
    places = [places_of_difference(one) for one in compared if one.metric.name == table.metric.name]
    return max((place for place in places if place is not None), default=None)


def _lines(table: ManyTable, labels: Sequence[str], findings: Findings) -> tuple[str, ...]:
    absent = len(labels) - len(table.names)
    missing = f", {absent} did not report it" if absent else ""
    head = f"{name_text(table.metric.shown)} over {len(table.names)} experiments{missing}: {_differ(table)}"
    return head, _against(table, _places(table, findings))


def _differ(table: ManyTable) -> str:
    welch = test_cell(table.welch_anova, "F")
    return f"Welch's analysis of variance: none, {welch.text}" if isinstance(welch, Absent) else f"Welch {welch.text}"


def _against(table: ManyTable, places: int | None) -> str:
    unit, baseline = difference_unit(unit_of(table.metric)), name_text(table.names[0])
    if isinstance(table.dunnett, Unavailable):
        return f"Dunnett against {baseline}: none, {table.dunnett.reason}"
    texts = [f"{name_text(contrast.one)} {contrast_text(contrast, unit, places)}" for contrast in table.dunnett]
    return f"Dunnett against {baseline}: {'; '.join(texts) if texts else 'none, '}"


def contrast_text(contrast: Contrast, unit: str, places: int | None) -> str:
    """`+0.33 points [0.12 … 0.54], p = 0.004`, or the reasons why there is no such figure.

    Args:
        places: decimals; None for those that suit the interval.
    """
    places, p_value = places_of_interval(contrast.interval) if places is None else places, contrast.p_adjusted
    if isinstance(contrast.difference, Unavailable):
        return f"({contrast.difference.reason})"
    head = with_unit(sign_number(contrast.difference, places), unit)
    if isinstance(contrast.interval, Unavailable):
        return f"{head} ({contrast.interval.reason})"
    p_words = f"p {p_value.reason}" if isinstance(p_value, Unavailable) else p_text(p_value)
    return f"{head} [{interval_cell(contrast.interval, places).text}], {p_words}"


def _row(contrast: Contrast, places: int | None) -> TableRow:
    places = places_of_interval(contrast.interval) if places is None else places
    difference, interval = signed_cell(contrast.difference, places), interval_cell(contrast.interval, places)
    return TableRow(name_text(contrast.one), (difference, interval, p_value_cell(contrast.p_adjusted)))
