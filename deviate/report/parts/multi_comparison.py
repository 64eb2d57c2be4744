"""Three or more experiments as text: do they differ, each against the baseline, all against all."""

from collections.abc import Sequence

from deviate.model import Contrast, Findings, ManyTable, Unavailable
from deviate.report.document import Absent, Fact, Row, cell
from deviate.report.format import (
    clean,
    confidence_text,
    decimals,
    difference_unit,
    name_text,
    p_text,
    signed,
    with_unit,
)
from deviate.report.numbers import Number
from deviate.report.parts.compare import p_value_cell, test_cell
from deviate.report.parts.describe import cell_of, interval_cell, unit_of
from deviate.report.view import ManyView

OMNIBUS = (
    ("Welch's analysis of variance, unequal variances", "F"),
    ("Analysis of variance, equal variances assumed", "F"),
    ("Kruskal–Wallis test of ranks", "H"),
)


def many_views(findings: Findings, labels: Sequence[str]) -> tuple[ManyView, ...]:
    """One view per metric that three or more experiments report, in the order of the findings."""
    return tuple(_view(table, index, findings, labels) for index, table in enumerate(findings.many))


def pair_matrix(
    names: Sequence[str], contrasts: Sequence[Contrast], texts: Sequence[str]
) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    """Headers and rows of all pairs: the text of each where its first experiment meets its second."""
    found = {(it.one, it.other): text for it, text in zip(contrasts, texts, strict=True)}
    rows = tuple(
        Row(name_text(one), tuple(cell(found.get((one, other), "")) for other in names[:-1])) for one in names[1:]
    )
    return tuple(name_text(name) for name in names[:-1]), rows


def _view(table: ManyTable, index: int, findings: Findings, labels: Sequence[str]) -> ManyView:
    name, unit = name_text(table.metric.name), difference_unit(unit_of(table.metric))
    level = confidence_text(findings.confidence)
    baseline = name_text(table.names[0])
    contrasts = () if isinstance(table.dunnett, Unavailable) else table.dunnett
    no_dunnett = table.dunnett.reason if isinstance(table.dunnett, Unavailable) else ""
    tests = zip(OMNIBUS, (table.welch_anova, table.anova, table.kruskal_wallis), strict=True)
    headers, matrix = pair_matrix(table.names, table.pairs, [_pair_text(it) for it in table.pairs])
    told = [f"{name_text(it.one)} {contrast_text(it, unit)}" for it in contrasts]
    against = f"Dunnett against {baseline}: {'; '.join(told) if told else f'none, {no_dunnett}'}"
    welch = test_cell(table.welch_anova, "F")
    differ = (
        f"Welch {welch.text}" if not isinstance(welch, Absent) else f"Welch's analysis of variance: none, {welch.text}"
    )
    absent = len(labels) - len(table.names)
    sides = ", ".join(f"{clean(it)} {n}" for it, n in zip(table.names, table.n, strict=True))
    return ManyView(
        anchor=f"many-{index}",
        name=name,
        is_primary=table.metric.name == findings.primary,
        sentence=f"{name} over {len(table.names)} experiments (n: {sides}): {differ}. {against} "
        f"[{level} simultaneous CI, equal variances assumed].",
        lines=(
            f"{name} over {len(table.names)} experiments{f', {absent} did not report it' if absent else ''}: {differ}",
            against,
        ),
        omnibus=tuple(Fact(label, test_cell(test, letter)) for (label, letter), test in tests),
        dunnett_caption=f"{name}: each candidate − {baseline}; Dunnett, family of {_family(contrasts)}, "
        "equal variances assumed",
        dunnett_headers=(
            with_unit("difference", f"({unit})" if unit else ""),
            f"{level} simultaneous CI",
            "p, adjusted",
        ),
        dunnett=tuple(_row(it) for it in contrasts),
        no_dunnett=f"Not compared with {baseline}: {no_dunnett}." if no_dunnett else "",
        matrix_caption=f"{name}: all pairs, row − column [{level} simultaneous CI of both tests, Bonferroni], "
        f"p of both tests, Holm over {len(table.pairs)} pairs",
        matrix_headers=headers,
        matrix=matrix,
    )


def contrast_text(contrast: Contrast, unit: str) -> str:
    """`+0.33 points [0.12 … 0.54], p = .004`, or the reasons why there is no such figure."""
    places = _places(contrast)
    if isinstance(contrast.difference, Unavailable):
        return f"({contrast.difference.reason})"
    head = with_unit(signed(contrast.difference, places), unit)
    if isinstance(contrast.interval, Unavailable):
        return f"{head} ({contrast.interval.reason})"
    return f"{head} [{interval_cell(contrast.interval, places).text}], {_p_words(contrast)}"


def _pair_text(contrast: Contrast) -> str:
    return contrast_text(contrast, "")


def _row(contrast: Contrast) -> Row:
    places = _places(contrast)
    return Row(
        name_text(contrast.one),
        (
            cell_of(contrast.difference, lambda value: (Number(value, places, "signed"),)),
            interval_cell(contrast.interval, places),
            p_value_cell(contrast.p_adjusted),
        ),
    )


def _p_words(contrast: Contrast) -> str:
    p_value = contrast.p_adjusted
    return f"p {p_value.reason}" if isinstance(p_value, Unavailable) else p_text(p_value)


def _places(contrast: Contrast) -> int | None:
    """Decimals from a standard error, for which a quarter of the interval stands."""
    it = contrast.interval
    return None if isinstance(it, Unavailable) else decimals((it.high - it.low) / 4)


def _family(contrasts: Sequence[Contrast]) -> int:
    return sum(not isinstance(it.interval, Unavailable) for it in contrasts)
