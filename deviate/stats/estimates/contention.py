"""Contention: times that were measured while other runs shared the device."""

from collections.abc import Iterable

from deviate.model import Run
from deviate.stats.estimates.sample import count


def contention(runs: Iterable[Run]) -> str:
    """The note `measured while up to 2 other runs shared the device`; empty if no run shared it."""
    sharing = [run for run in runs if run.n_sharing > 0]
    if not sharing:
        return ""
    shared = "device" if any(run.device for run in sharing) else "machine"
    return f"measured while up to {count(max(run.n_sharing for run in sharing), 'other run')} shared the {shared}"
