"""The plan: variants and a number of runs become specs. The same plan gives the same specs, so more runs only add."""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType

from deviate.errors import InputError
from deviate.model import Snapshot, Spec
from deviate.replay.variants import HASH_SEED, find_variant, seed_set

OFFLINE: Mapping[str, str] = MappingProxyType({
    "WANDB_MODE": "offline",
    "NEPTUNE_MODE": "offline",
    "CLEARML_OFFLINE_MODE": "1",
    "SWANLAB_MODE": "offline",
})  # fmt: skip
"""Variables that keep a tracker from publishing and still let it write its files.

Source: the reference pages on environment variables of wandb, neptune, clearml and swanlab.
"""


def plan(
    snapshot: Snapshot,
    *,
    command: Sequence[str],
    cwd: str,
    variant: str,
    runs: int,
    seed: int,
    environment: Sequence[tuple[str, str]] = (),
) -> tuple[Spec, ...]:
    """One spec per replicate, in order.

    Args:
        cwd: working folder of the command, relative to the project root.
        seed: the experiment seed.
        environment: variables that the user sets for every run; they go before ours.

    Raises:
        InputError: the variant is unknown, there is no command, or the number of runs is below 1.
    """
    chosen = find_variant(variant)
    if not command:
        raise InputError("there is no command to run", "name a script, or a command after --")
    if runs < 1:
        raise InputError(f"{runs} runs cannot be run", "ask for at least one: --runs 5")
    offline = OFFLINE if chosen.are_trackers_offline else {}
    specs: list[Spec] = []
    for replicate in range(runs):
        seeds = seed_set(chosen, seed, replicate)
        controls = {**offline, **({"PYTHONHASHSEED": str(dict(seeds)[HASH_SEED])} if HASH_SEED in dict(seeds) else {})}
        specs.append(
            Spec(
                sources_hash=snapshot.sources_hash,
                command=tuple(command),
                cwd=str(PurePosixPath(cwd)),
                variant=variant,
                replicate=replicate,
                seeds=seeds,
                environment=tuple(sorted({**controls, **dict(environment)}.items())),
            )
        )
    return tuple(specs)
