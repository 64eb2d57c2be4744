"""Merges the analyses of the scripts of one run: the training script and those that follow it in the work copy."""

import dataclasses
import itertools
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from deviate.analysis.analyze import analyze
from deviate.model.analysis import Analysis, Loop, Metric, Site

UNITED = ("seeds", "outputs", "files", "notices", "hazards", "side_effects", "reporting")
"""What a joined analysis has of all scripts, equal ones once."""


def analyze_together(
    scripts: Sequence[Path], root: Path, *, train: str | None = None, is_whole: bool = False
) -> Analysis:
    """Find what the scripts of one run report, in the order in which they run.

    Args:
        train: the training script relative to the root; by default the first one that has a main loop.
        is_whole: as in `analyze`.

    Raises:
        InputError: a script is missing, outside the project, or no Python.
    """
    analyses = [analyze(script, root, is_whole=is_whole) for script in scripts]
    analyses.sort(
        key=lambda analysis: (
            train is None or PurePosixPath(train).as_posix() != analysis.script,
            analysis.main_loop is None,
        )
    )
    return join(analyses)


def join(analyses: Sequence[Analysis]) -> Analysis:
    """Merge analyses: sites, loops and metrics of the others are added to the first under new ids and names.

    The main loop is that of the first script. A site that several scripts share is tapped once, and is one metric.
    """
    joined, *rest = analyses
    for other in rest:
        joined = _with(joined, other)
    return joined


def _with(first: Analysis, other: Analysis) -> Analysis:
    sites = {_place(site): site for site in first.sites}
    loops = {(loop.file, loop.span): loop for loop in first.loops}
    reasons = {(loop.file, loop.span): loop.evidence for loop in other.loops}  # of loops that the first does not reach
    own_loops = [
        loop if loop.evidence else dataclasses.replace(loop, evidence=reasons.get((loop.file, loop.span), ()))
        for loop in first.loops
    ]
    site_ids: dict[int, int] = {}
    new_sites: list[Site] = []
    next_site, next_loop, next_metric = (
        itertools.count(1 + _last(items)) for items in (first.sites, first.loops, first.metrics)
    )
    for site in other.sites:
        site_there = sites.get(_place(site))
        if site_there is None:
            site_there = dataclasses.replace(site, id=next(next_site))
            new_sites.append(site_there)
        site_ids[site.id] = site_there.id
    new_loops: list[Loop] = [
        dataclasses.replace(loop, id=next(next_loop), is_main=False)
        for loop in other.loops
        if (loop.file, loop.span) not in loops
    ]
    measured = {metric.site for metric in first.metrics}
    names = {metric.name for metric in first.metrics}
    new_metrics: list[Metric] = []
    for metric in other.metrics:
        at = None if metric.site is None else site_ids[metric.site]
        if at is not None and at in measured:
            continue
        name = _free(metric.name, names, PurePosixPath(other.script).stem)
        names.add(name)
        new_metrics.append(dataclasses.replace(metric, id=next(next_metric), name=name, site=at))
    rejected = [
        dataclasses.replace(item, site=None if item.site is None else site_ids[item.site]) for item in other.rejected
    ]
    reached = {metric.site for metric in (*first.metrics, *new_metrics)}
    unreached = {metric.site: metric for metric in first.unreached}
    for metric in other.unreached:
        if metric.site is not None:
            unreached.setdefault(site_ids[metric.site], dataclasses.replace(metric, site=site_ids[metric.site]))
    united: dict[str, Any] = {
        name: tuple(dict.fromkeys((*getattr(first, name), *getattr(other, name)))) for name in UNITED
    }
    return dataclasses.replace(
        first,
        sites=(*first.sites, *new_sites),
        loops=(*own_loops, *new_loops),
        metrics=(*first.metrics, *new_metrics),
        rejected=(*first.rejected, *(item for item in rejected if item not in first.rejected)),
        unreached=tuple(metric for site, metric in unreached.items() if site not in reached),
        **united,
    )


def _place(site: Site) -> tuple[object, ...]:
    return site.file, site.span, site.form, site.fields


def _last(items: Sequence[Site] | Sequence[Loop] | Sequence[Metric]) -> int:
    return max((item.id for item in items), default=-1)


def _free(name: str, names: set[str], script: str) -> str:
    """The first free one of: the name, the name prefixed with the script's, the name numbered."""
    if name not in names:
        return name
    prefixed = name if name.startswith(f"{script}_") else f"{script}_{name}"
    numbered = (f"{prefixed}_{number}" for number in itertools.count(2))
    return next(candidate for candidate in itertools.chain((prefixed,), numbered) if candidate not in names)
