"""Computes the statistics registered with a label, for two samples."""

from collections.abc import Sequence

import numpy as np

from deviate.model import NOT_ASKED, FurtherFigure, Unavailable
from deviate.stats.registry import Statistic, labelled_statistics

Samples = tuple[Sequence[float], Sequence[float]]
"""Scores of the baseline and of the candidate."""


def compute_labelled(
    unpaired: Samples, paired: Samples | None, *, confidence: float, seed: int
) -> tuple[FurtherFigure, ...]:
    """Compute these statistics for two samples, the baseline first.

    Args:
        paired: scores of the pairs; None if runs are not paired: paired statistics are then skipped. seed: of the
            generator of each statistic that draws.
    """
    return tuple(
        _compute(statistic, paired if statistic.is_paired else unpaired, confidence, seed)
        for statistic in labelled_statistics()
    )


def _compute(statistic: Statistic, samples: Samples | None, confidence: float, seed: int) -> FurtherFigure:
    if samples is None:
        return FurtherFigure(statistic.name, NOT_ASKED)
    generator = {"rng": np.random.default_rng(seed)} if statistic.draws else {}
    try:
        value = statistic.function(*samples, **generator)
        around = NOT_ASKED if statistic.interval is None else statistic.interval(*samples, confidence=confidence)
    except Exception as error:  # noqa: BLE001  (a third party's statistic may raise what it likes; the others stand)
        return FurtherFigure(statistic.name, Unavailable(f"{type(error).__name__}: {error}"))
    return FurtherFigure(statistic.name, value, around)
