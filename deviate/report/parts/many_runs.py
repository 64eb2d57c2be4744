"""How many runs a page shows one by one: beyond that it shows a part of them, and says of how many."""

from collections.abc import Sequence

from deviate.report.format import counted

MOST_ROWS = 1_000
"""Runs in a table with a row per run."""
MOST_FAILURES = 100
"""Failed runs whose output is shown."""
POINTS_ON_PAGE, FEWEST_POINTS, MOST_POINTS = 20_000, 200, 1_000
"""Points of all scores together, and of the scores of one group at least and at most."""
CURVES_ON_PAGE, FEWEST_CURVES = 5_000, 50
"""Curves of all figures together, and of one group at least."""


def points_per_group(n_groups: int) -> int:
    """Points that are drawn of each group at most."""
    return min(MOST_POINTS, max(FEWEST_POINTS, POINTS_ON_PAGE // max(1, n_groups)))


def curves_per_group(n_groups: int) -> int:
    """Curves that are drawn of each group at most."""
    return max(FEWEST_CURVES, CURVES_ON_PAGE // max(1, n_groups))


def by_rank(values: Sequence[float], n_most: int) -> tuple[float, ...]:
    """The values, or some of them in rising order: ranks are evenly spaced, from the lowest to the highest."""
    if len(values) <= n_most:
        return tuple(values)
    ordered = sorted(values)
    return tuple(ordered[place * (len(ordered) - 1) // (n_most - 1)] for place in range(n_most))


def drawn_points_note(n_most: int, sizes: Sequence[int]) -> str:
    """A sentence for the caption where points are left out; empty where all are drawn."""
    if max(sizes, default=0) <= n_most:
        return ""
    return f"At most {n_most:,} scores are drawn, evenly spaced by rank, with the lowest and the highest."


def rows_note(n: int) -> str:
    """What to add to the caption of a table with a row per run; empty where all runs have one."""
    return f", the first {MOST_ROWS:,} of {counted(n, 'run')}" if n > MOST_ROWS else ""
