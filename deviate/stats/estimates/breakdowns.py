"""Spread per class and sub-group, for metrics whose names show that they are one measure on several classes."""

import math
from collections.abc import Sequence

from deviate.model import (
    Breakdown,
    BreakdownPart,
    Description,
    Estimate,
    ExperimentFindings,
    Unavailable,
)
from deviate.stats.estimates.class_names import class_names
from deviate.stats.estimates.effect import sd_ratio
from deviate.stats.estimates.largest import mean_largest_sd

NO_WHOLE = Unavailable("no metric over all of them was reported")


def breakdowns(described: Sequence[ExperimentFindings]) -> tuple[Breakdown, ...]:
    """Per-class metrics of every experiment; metrics declared as tasks are no classes."""
    return tuple(breakdown for index, findings in enumerate(described) for breakdown in _of_experiment(findings, index))


def _of_experiment(findings: ExperimentFindings, index: int) -> list[Breakdown]:
    tasks = findings.experiment.tasks
    places = {metric.name: place for place, metric in enumerate(findings.experiment.metrics)}
    alike: dict[tuple[object, ...], list[Description]] = {}
    for description in sorted(findings.descriptions, key=lambda findings: places.get(findings.metric.name, 0)):
        metric = description.metric
        if metric.role == "quality" and metric.name not in tasks:
            alike.setdefault((metric.direction, metric.unit, metric.aggregate), []).append(description)
    breakdowns = []
    for descriptions in alike.values():
        by_name = {description.metric.name: description for description in descriptions}
        for names in class_names(list(by_name)):
            whole = by_name[names.whole] if names.whole is not None else None
            parts = [_part(by_name[name], part, whole) for name, part in names.parts]
            breakdowns.append(
                Breakdown(
                    experiment=index,
                    pattern=names.pattern,
                    unit=descriptions[0].metric.unit,
                    whole=names.whole,
                    whole_sd=whole.sd if whole else NO_WHOLE,
                    parts=tuple(sorted(parts, key=_width)),
                    expected_largest=expected_largest(parts),
                )
            )
    return breakdowns


def _part(description: Description, part: str, whole: Description | None) -> BreakdownPart:
    return BreakdownPart(
        metric=description.metric.name,
        part=part,
        scores=tuple(description.values),
        mean=description.mean,
        sd=description.sd,
        sd_interval=description.sd_interval,
        range=description.range,
        ratio=_ratio(description, whole),
    )


def _ratio(description: Description, whole: Description | None) -> Estimate:
    """SD over that of the whole, from unrounded SDs. No interval: part and whole share their examples."""
    if whole is None:
        return NO_WHOLE
    return sd_ratio(whole.values, description.values)


def _width(part: BreakdownPart) -> tuple[bool, float]:
    """Sort key: widest first, those without SD last."""
    return (True, 0.0) if isinstance(part.sd, Unavailable) else (False, -part.sd)


def expected_largest(parts: Sequence[BreakdownPart]) -> Estimate:
    """Expected SD of the widest class if all had the same true SD: their root mean square.

    Scores of a part are taken as normal, parts as independent of each other.
    Source: mean of the largest of C independent chi variates over the root of their degrees of freedom.
    """
    sds = [part.sd for part in parts if not isinstance(part.sd, Unavailable)]
    sizes = {part.n for part in parts}
    if len(sds) < len(parts) or len(sizes) > 1:
        return Unavailable("not all have an SD from as many runs")
    common = math.hypot(*sds) / math.sqrt(len(sds))
    if common == 0:
        return Unavailable("no spread")
    return common * mean_largest_sd([1.0] * len(parts), sizes.pop())
