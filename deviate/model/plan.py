"""What is to be run and read: the user's choice, the frozen project, variants and specs."""

from dataclasses import dataclass, field
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
    """The metrics the user wants, after `deviate.toml` was obeyed.

    Attributes:
        is_fixed: whether the file lists them: then nothing that a run shows is added to them.
        primary: the metric that decides: what the user named before the first run, or what that run announced; None
            until then, and where it reported no result.
        margin: of the primary metric, as the user gave it before the runs.
    """

    metrics: tuple["SelectedMetric", ...]
    is_fixed: bool = False
    primary: "PrimaryChoice | None" = None
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class PrimaryChoice:
    """The metric that decides, and why.

    Attributes:
        reason: half a sentence: what set it apart from the others, that it was declared.
        is_after_runs: whether the user named it after results were seen.
        others: names of the metrics that could have been meant, in the order in which they were reported.
    """

    name: str
    reason: str
    others: tuple[str, ...] = ()
    is_after_runs: bool = False


@dataclass(frozen=True, slots=True)
class SelectedMetric:
    """A metric and how the user wants it read.

    Attributes:
        aggregate: one of `last`, `best`, `mean`, `median`, `min`, `max`, `at:K` (K: main-loop step, from 0),
            `mean-last:K` (K: number of main-loop steps) and `at-best:METRIC`.
        margin: smallest difference that matters, in units of the metric; None when the user gave none.
        target: value whose attainment is timed, in units of the metric; None for none.
        n_examples: size of the test set behind an accuracy; None where nobody said.
        title: what reports call it; empty for its name.
    """

    name: str
    metric: Metric
    role: Role
    direction: Direction | None
    aggregate: str = "last"
    unit: str = ""
    is_primary: bool = False
    margin: float | None = None
    target: float | None = None
    n_examples: int | None = None
    title: str = ""

    @property
    def shown(self) -> str:
        """What reports call it; data have the name."""
        return self.title or self.name


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
        then: commands that follow in the same work copy, each once the one before has ended well.
        wrap: the beginning of a command that starts a container; it goes before each command of the run.
        capture: what the guest keeps beside the events: `predictions` and `weights` "on", `every` the number of
            main-loop steps between two captures (absent: the end alone), `limit` in bytes of one run, `tta` names of
            test-time augmentations with commas between, `profile` the steps of the main loop that are profiled, the
            first one and the first one after, as "1:11"; `trace` and what begins with it, which `deviate diverge` asks
            for: the level of a trace and its window, as docs/reference/traces.md has them. Empty: nothing.
        varied: the streams whose seeds differ between replicates. The seeds follow from it, so it is no part of the
            hash; the guest needs it to keep a division of the data that the script fixes by a seed, unless it varies.
        weights: places of draws before the training that are first values of weights, as in `Plan`; None where this run
            is to find them. They follow from the first run, so they are no part of the hash either.
    """

    sources_hash: str
    command: tuple[str, ...]
    cwd: str
    variant: str
    replicate: int
    seeds: tuple[tuple[str, int], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    controls: tuple[tuple[str, str], ...] = ()
    then: tuple[tuple[str, ...], ...] = ()
    wrap: tuple[str, ...] = ()
    capture: tuple[tuple[str, str], ...] = ()
    varied: tuple[str, ...] = field(default=(), compare=False)
    weights: tuple[str, ...] | None = field(default=(), compare=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """How runs are carried out. It may change from call to call: no part of a run's identity, and kept for `resume`.

    Attributes:
        executor: its name, `local`, `slurm`, `ray` or that of a plug-in; `options` are its own, as `partition=gpu`.
        jobs: runs at a time on one machine without GPUs.
        gpus: devices that runs are given, None where they are given none; `per_gpu` runs share one of them,
            `gpus_per_run` are for one run.
        timeout_s: after which a run is ended; `stall_timeout_s`: after which one without events and output is.
        retries: how often a lost run is started anew in one call.
        max_failures: with so many failed runs no further one is started; None for no limit.
        ignored_codes: exit codes that count as success.
        requeue: what a run that is started anew finds: a `fresh` work copy, or that of the attempt that was lost.
        keep: whose work copies stay: of no completed run, of those with the best and the worst score, or of all.
    """

    executor: str = "local"
    options: tuple[tuple[str, str], ...] = ()
    jobs: int = 1
    gpus: tuple[str, ...] | None = None
    per_gpu: int = 1
    gpus_per_run: int = 1
    timeout_s: float | None = None
    stall_timeout_s: float | None = None
    retries: int = 1
    max_failures: int | None = None
    ignored_codes: tuple[int, ...] = ()
    requeue: Literal["fresh", "continue"] = "fresh"
    keep: Literal["none", "best", "all"] = "all"


@dataclass(frozen=True, slots=True)
class SweptValue:
    """The place of an experiment in a sweep.

    Attributes:
        sweep: its name. argument: as the user wrote it: "--batch-size", "batch_size", "env:BATCH".
    """

    sweep: str
    argument: str
    value: str
