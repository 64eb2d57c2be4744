"""Command-line flags with which further runs of an experiment are like the recorded ones."""

import shlex
from collections.abc import Iterator

from deviate.records.plan import Plan, VariantPlan

WARNS = ("on-missing", "warn")
"""The level of a variant that goes on where an operation has no deterministic version."""


def flags_of(plan: Plan, variant: VariantPlan) -> Iterator[str]:
    """Flags as `deviate diverge` takes them, besides the command and the variant; empty for imported experiments.

    Devices, time limits and similar options do not change what a run computes, so they are not included.
    """
    if plan.imported:
        return
    for name, value in plan.environment:
        yield from ("--env", f"{name}={value}")
    for words in plan.prepare:
        yield from ("--prepare", shlex.join(words))
    if plan.wrap:
        yield from ("--wrap", shlex.join(plan.wrap))
    if plan.seed:
        yield from ("--seed", str(plan.seed))
    definition = variant.definition
    if definition is not None and not definition.are_trackers_offline:
        yield from ("--trackers", "as-is")
    if definition is not None and WARNS in definition.controls:
        yield "--warn-only"
