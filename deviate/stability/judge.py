"""Computes how similar runs are from captured outputs and weights; files are only read if there are any."""

from collections.abc import Sequence

import numpy as np

from deviate.errors import InputError
from deviate.model.records import Experiment
from deviate.model.stability import StabilityFindings
from deviate.stability.captures.collect import captured_of
from deviate.stability.captures.groups import read_groups, refuse_unknown, with_groups
from deviate.stability.measures import findings


def stability(
    experiments: Sequence[Experiment],
    *,
    confidence: float,
    analysis_seed: int,
    groups: Sequence[str] = (),
    weak: tuple[str, float] | None = None,
    metric: str | None = None,
) -> StabilityFindings:
    """All stability findings that records allow.

    Args:
        groups: as `--groups` says it. weak: as `--weak-below` does. metric: the primary one, where the user named it.

    Raises:
        InputError: groups fit no set, or no experiment has the metric of `weak`.
    """
    requested_groups = read_groups(groups)
    captured = [captured_of(experiment) for experiment in experiments]
    if groups and not any(capture.sets for capture in captured):
        reasons = [reason for capture in captured for reason in capture.reasons]
        raise InputError(
            f"--groups {groups[0]}: no predictions were captured",
            reasons[0] if reasons else "run with --capture predictions, under another --name",
        )
    labels = [f"{experiment.name}:{experiment.variant}" for experiment in experiments]
    captured = [with_groups(capture, requested_groups, label) for capture, label in zip(captured, labels, strict=True)]
    refuse_unknown(captured, requested_groups)
    columns = (
        [*requested_groups.logged, *(name for table in requested_groups.tables for name in table.columns)]
        if groups
        else None
    )
    return findings.stability(
        captured,
        experiments,
        confidence=confidence,
        rng=np.random.default_rng(analysis_seed),
        columns=columns,
        weak=weak,
        convergence_metric=metric,
    )
