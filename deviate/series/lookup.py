"""Metrics by the names that people type."""

import difflib
from collections.abc import Sequence

from deviate.errors import InputError


def require_metric(name: str, names: Sequence[str], where: str) -> None:
    """Raises InputError for a metric that is not known there; the hint names a near one, and all."""
    if name in names:
        return
    near = difflib.get_close_matches(name, names, n=1)
    listed = ", ".join(names) or "none"
    hint = f"Did you mean {near[0]}? " if near else ""
    raise InputError(f"There is no metric {name!r} in {where}.", f"{hint}Its metrics are: {listed}.")
