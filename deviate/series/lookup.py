"""Metrics by the names that people type."""

import difflib
from collections.abc import Sequence

from deviate.errors import InputError


def require_metric(name: str, names: Sequence[str], *places: str, option: str = "") -> None:
    """Raises InputError for a metric that is not known; the hint names a near one, and all.

    Args:
        places: that have the metrics `names`, such as an experiment; none where any experiment may have them.
        option: of the command line, that named the metric.
    """
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=1)
    listed = ", ".join(names) or "none"
    hint = f"Did you mean {near[0]}? " if near else ""
    where = " or ".join(places) or "any experiment"
    raise InputError(
        f"There is no metric {name!r} in {where}{option and f' ({option})'}.", f"{hint}Its metrics are: {listed}."
    )
