"""Families of comparisons: adjusted p-values by Holm's method, and which comparisons belong together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from deviate.model import Comparison, Estimate, Unavailable
from deviate.stats.compare import with_adjusted_p
from deviate.stats.sample import count

Family = Literal["primary", "quality", "outside"]
"""`outside`: time and other metrics, a family of their own, so that they cost the quality metrics nothing."""


@dataclass(frozen=True, slots=True)
class Adjusted:
    """Comparisons per candidate after correction, and the sentence that names the families."""

    pairs: tuple[tuple[Comparison, ...], ...]
    label: str


def adjust(pairs: Sequence[Sequence[Comparison]], *, confidence: float) -> Adjusted:
    """Correct `p_adjusted` in each family over its metrics and over all candidates, and decide the verdicts anew."""
    members: dict[Family, list[Comparison]] = {"primary": [], "quality": [], "outside": []}
    for comparisons in pairs:
        for comparison in comparisons:
            members[_family(comparison)].append(comparison)
    adjusted = {name: iter(holm([c.p_adjusted for c in family])) for name, family in members.items()}
    settled = tuple(
        tuple(with_adjusted_p(c, next(adjusted[_family(c)]), confidence=confidence) for c in comparisons)
        for comparisons in pairs
    )
    return Adjusted(settled, _label(members))


def holm(p_values: Sequence[Estimate]) -> list[Estimate]:
    """Adjusted p-values in the same order; one without a test keeps its reason and counts in the family as p = 1.

    Computed here, because `statsmodels` collects garbage in every call, which costs a tenth of a second.
    Source: Holm (1979).
    """
    known = [1.0 if isinstance(p, Unavailable) else p for p in p_values]
    corrected, floor = [1.0] * len(known), 0.0
    for place, index in enumerate(sorted(range(len(known)), key=known.__getitem__)):
        floor = max(floor, (len(known) - place) * known[index])
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
