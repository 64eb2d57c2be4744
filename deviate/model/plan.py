"""What is to be run and read: the user's choice, the frozen project, variants and specs."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from deviate.model.analysis import Direction, Metric, Role

Stream = Literal["init", "shuffle", "augment", "dropout", "split", "other"]
"""What random numbers are drawn for. `split`: which examples train and which test. `other`: what no stream explains."""
Factor = Literal["hash", "kernels", "autotune", "precision", "threads", "onednn"]
"""What else may make runs differ: the hash seed of Python; nondeterministic kernels, the search for the fastest one,
reduced precision (TF32): the implementation factors; thread count and oneDNN: the configuration, which rounds
differently and is no noise."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The metrics the user wants, after `deviate.toml` was obeyed."""

    metrics: tuple["SelectedMetric", ...]


@dataclass(frozen=True, slots=True)
class SelectedMetric:
    """A metric and how the user wants it read.

    Attributes:
        aggregate: `last`, `best`, `mean`, `median`, `min`, `max` or `at:K` (K: main-loop step, from 0).
        margin: smallest difference that matters, in units of the metric; None when the user gave none.
    """

    name: str
    metric: Metric
    role: Role
    direction: Direction | None
    aggregate: str = "last"
    unit: str = ""
    is_primary: bool = False
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The frozen, instrumented project.

    Attributes:
        folder: the `snapshot/` folder of the experiment: `tree/` (the project as runs see it), `guest/` (goes on
            PYTHONPATH), `originals/` (text of instrumented files before), `manifest.json`.
        sources_hash: SHA-256 over the original bytes of every source file and the names of all files.
    """

    folder: Path
    root: Path
    sources_hash: str


@dataclass(frozen=True, slots=True)
class Variant:
    """One setting of every factor.

    Attributes:
        varied: streams that get another seed in each replicate, and factors that are free (`hash`: another in each).
        held: streams that get the same seed in every replicate, and factors that are held. What is in neither stays
            as the script has it.
        controls: what the guest does to factors, name to level: `kernels` "deterministic" or "default", `autotune`
            "off" or "default", `precision` "full" or "default", `threads` a number, `onednn` "on" or "off", `hash` a
            number; `one-bit` "flip"; `on-missing` "warn": go on where an operation has no deterministic version.
            "default" takes back what the script did to make a factor deterministic, not its settings for speed.
        perturbations: levels of the configuration, one after the other over the replicates.
        are_trackers_offline: N runs must not publish N copies.
    """

    name: str
    description: str
    varied: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    controls: tuple[tuple[str, str], ...] = ()
    perturbations: tuple[tuple[tuple[str, str], ...], ...] = ()
    are_trackers_offline: bool = True


@dataclass(frozen=True, slots=True)
class Spec:
    """One run, complete and immutable. Its hash names the run; which metrics are selected is no part of it.

    Attributes:
        cwd: working folder of the command, relative to the project root.
        seeds: the seed set: stream name to seed in [0, 2**32). Empty in `as-is`.
        environment: variables that are set for the child (controls and `--env`).
        controls: what the guest does to factors, as in `Variant`; for `one-bit` the seed of the choice.
    """

    sources_hash: str
    command: tuple[str, ...]
    cwd: str
    variant: str
    replicate: int
    seeds: tuple[tuple[str, int], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    controls: tuple[tuple[str, str], ...] = ()
