"""Specs of runs, and runs, of an experiment that is no more than a snapshot and a command."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from deviate.model.plan import Selection, Settings, Snapshot, Spec, Variant
from deviate.records.plans import Plan, VariantPlan
from deviate.replay.execute import Listeners, execute_orders
from deviate.replay.executors.local import LocalExecutor
from deviate.replay.experiments import specs_of
from deviate.replay.protocol import Order, Outcome, RunUpdate


def plan(
    snapshot: Snapshot, *, command: Sequence[str], cwd: str, variant: Variant, runs: int, seed: int, **more: Any
) -> list[Spec]:
    """One spec per replicate; what else a plan has is in `more`."""
    sources, variants = snapshot.sources_hash, (VariantPlan(variant.name, runs, variant),)
    return specs_of(Plan("x", 0.0, snapshot.root, tuple(command), cwd, seed, sources, variants, Selection(()), **more))


def execute(
    specs: Sequence[Spec],
    snapshot: Snapshot,
    folder: Path,
    *,
    jobs: int = 1,
    timeout: float | None = None,
    retries: int = 1,
    on_update: Callable[[RunUpdate], None] = lambda _: None,
) -> tuple[Outcome, ...]:
    """Run what is not on record of one experiment, on this machine; gives the outcomes in the order of the specs."""
    assert snapshot.folder.parent == folder
    settings = Settings(jobs=jobs, timeout_s=timeout, retries=retries)
    orders = [Order(folder, spec) for spec in specs]
    outcomes = execute_orders(orders, LocalExecutor(settings), settings, Listeners(on_update))
    return tuple(outcomes[order] for order in orders)
