"""What runs leave behind beside scores, as a report shows it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StabilityView:
    """Disagreement of predictions, distance and similarity of weights; `no_stability` says why there is none."""

    no_stability: str
