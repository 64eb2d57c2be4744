"""Families of comparisons: adjusted p-values by Holm's method, and which comparisons belong together."""

from collections.abc import Sequence
from typing import Literal

from deviate.model import Comparison, Estimate, Unavailable
from deviate.stats.compare import refine_p, with_adjusted_p
from deviate.stats.estimates.sample import count

Family = Literal["primary", "quality", "outside"]
"""`outside`: time and other metrics, apart from the others: they do not make the correction for quality stricter."""


def adjust(
    pairs: Sequence[Sequence[Comparison]], *, confidence: float, has_looks: bool = False
) -> tuple[tuple[tuple[Comparison, ...], ...], str]:
    """Correct `p_adjusted` in each family over its metrics and over all candidates, and decide the verdicts anew.

    Where the Monte-Carlo error of a p leaves open whether it is below alpha once adjusted, it is computed anew from
    more arrangements.

    Returns:
        The comparisons of each candidate after correction, and the sentence that names the families.
    """
    members: dict[Family, list[Comparison]] = {"primary": [], "quality": [], "outside": []}
    for comparisons in pairs:
        for comparison in comparisons:
            members[_family(comparison)].append(comparison)
    adjusted = {name: iter(_adjust_family(family, confidence, has_looks=has_looks)) for name, family in members.items()}
    return tuple(tuple(next(adjusted[_family(c)]) for c in comparisons) for comparisons in pairs), _label(members)


def _adjust_family(family: Sequence[Comparison], confidence: float, *, has_looks: bool) -> list[Comparison]:
    p_values, upper = holm([c.p_adjusted for c in family]), holm([c.p_upper for c in family])
    if not has_looks and any(_is_open(p, most, confidence) for p, most in zip(p_values, upper, strict=True)):
        family = [
            refine_p(c) if _is_open(p, most, confidence) else c
            for c, p, most in zip(family, p_values, upper, strict=True)
        ]
        p_values, upper = holm([c.p_adjusted for c in family]), holm([c.p_upper for c in family])
    return [
        with_adjusted_p(c, p, most, confidence=confidence, n_family=len(family), has_looks=has_looks)
        for c, p, most in zip(family, p_values, upper, strict=True)
    ]


def _is_open(p_adjusted: Estimate, p_upper: Estimate, confidence: float) -> bool:
    if isinstance(p_adjusted, Unavailable) or isinstance(p_upper, Unavailable):
        return False
    # Below alpha within the error on either side: three errors above p decide, so three below it matter as well.
    return p_upper >= 1 - confidence > 2 * p_adjusted - p_upper


def holm(p_values: Sequence[Estimate]) -> list[Estimate]:
    """Adjusted p-values in the same order; one without a test keeps its reason and counts in the family as p = 1.

    Computed here, because `statsmodels` collects garbage in every call, which costs a tenth of a second.
    Source: Holm (1979).
    """
    values = [1.0 if isinstance(p, Unavailable) else p for p in p_values]
    corrected, floor = [1.0] * len(values), 0.0
    for place, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        floor = max(floor, (len(values) - place) * values[index])
        corrected[index] = min(1.0, floor)
    return [p if isinstance(p, Unavailable) else q for p, q in zip(p_values, corrected, strict=True)]


def _family(comparison: Comparison) -> Family:
    if comparison.metric.is_primary:
        return "primary"
    return "quality" if comparison.metric.role == "quality" else "outside"


def _label(members: dict[Family, list[Comparison]]) -> str:
    has_primary = bool(members["primary"])
    names: dict[Family, str] = {
        "primary": "primary metric",
        "quality": "secondary quality metric" if has_primary else "quality metric",
        "outside": "time or other metric",
    }
    parts = []
    for family, comparisons in members.items():
        if not comparisons:
            continue
        if family == "primary" and len(comparisons) == 1:
            parts.append("primary metric: not adjusted")
            continue
        n_metrics = len({comparison.metric.name for comparison in comparisons})
        over = count(n_metrics, names[family]) if family != "primary" else "primary metric"
        parts.append(f"{over}: Holm, family of {len(comparisons)}")
    return "; ".join(parts)
