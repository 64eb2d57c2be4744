"""Variants: which factors vary between runs and which are held, and the seeds that follow."""

import hashlib
import json
from dataclasses import dataclass

from deviate.errors import InputError

STREAMS = ("init", "shuffle", "augment", "dropout", "split", "other")
"""What random numbers are drawn for."""
HASH_SEED = "python-hash"
"""The seed of Python's string hash, a factor of its own: it decides the order of sets."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One setting of every factor.

    Attributes:
        varied: streams that get another seed in each replicate.
        held: streams that get the same seed in every replicate. What is in neither stays as the script has it.
        are_trackers_offline: N runs must not publish N copies.
    """

    name: str
    description: str
    varied: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    are_trackers_offline: bool = True


AS_IS = Variant("as-is", "nothing is touched: the script's own seeds and defaults", are_trackers_offline=False)
ALGO_IMPL = Variant(
    "algo+impl",
    "a seed set of its own for each run; kernels and threads as they are",
    varied=(*(stream for stream in STREAMS if stream != "split"), HASH_SEED),
    held=("split",),  # runs that are compared must be tested on the same data
)

VARIANTS = {variant.name: variant for variant in (AS_IS, ALGO_IMPL)}


def find_variant(name: str) -> Variant:
    """The built-in variant of this name.

    Raises:
        InputError: there is none; the hint lists those that are there.
    """
    if name not in VARIANTS:
        raise InputError(f"no variant named {name!r}", f"known variants: {', '.join(VARIANTS)}")
    return VARIANTS[name]


def seed_set(variant: Variant, seed: int, replicate: int) -> tuple[tuple[str, int], ...]:
    """The seeds of one run: (stream, seed), empty when the variant touches none.

    They do not depend on the variant: a stream that varies in two variants has the same seeds in both, so that runs
    of different variants and experiments pair.
    """
    chosen = [(stream, derive_seed(seed, stream, replicate)) for stream in variant.varied]
    chosen += [(stream, derive_seed(seed, stream, None)) for stream in variant.held]
    return tuple(sorted(chosen))


def derive_seed(seed: int, stream: str, replicate: int | None) -> int:
    """A seed in [0, 2**32) for one stream; the replicate is None where the stream is held.

    SHA-256, so that neighbouring seeds and replicates share nothing, and the same on every machine and every Python.
    """
    text = json.dumps(["deviate", seed, stream, replicate])
    return int.from_bytes(hashlib.sha256(text.encode("ascii")).digest()[:4], "big")
