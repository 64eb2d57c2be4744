"""The designs with looks at equal steps that books print: an oracle of what spending functions give."""

import math

from scipy import optimize

from deviate.model.records import Spending
from deviate.stats.design.group_sequential import crossing


def classical_bounds(n_looks: int, alpha: float, shape: Spending) -> tuple[float, ...]:
    """Critical |z| at equally spaced looks: the same at each (Pocock), or falling with 1 / sqrt(k) (O'Brien, Fleming).

    Source: Pocock (1977); O'Brien & Fleming (1979).
    """
    fractions = [(k + 1) / n_looks for k in range(n_looks)]
    relative = [1.0 if shape == "pocock" else 1 / math.sqrt(fraction) for fraction in fractions]

    def excess(scale: float) -> float:
        return math.fsum(crossing(fractions, [scale * value for value in relative])) - alpha

    scale = float(optimize.brentq(excess, 0.1, 10.0, xtol=1e-12))
    return tuple(scale * value for value in relative)
