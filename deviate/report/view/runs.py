"""Failures, and where the runs come from."""

from dataclasses import dataclass

from deviate.report.document import Entry, Fact
from deviate.report.view.changes import ChangesView


@dataclass(frozen=True, slots=True)
class FailureView:
    """A run that did not complete; `log` is empty for runs from elsewhere, which left none."""

    experiment: str
    run: str
    outcome: str
    reason: str
    log: str
    stderr: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in the table of runs and seed sets."""

    replicate: str
    outcome: str
    exit_code: str
    started: str
    wall_time: Entry
    seeds: str


@dataclass(frozen=True, slots=True)
class SeedCallRow:
    """A seeding call of the script: what it asked for and what became of it."""

    call: str
    place: str
    value: str
    action: str
    n_runs: str


@dataclass(frozen=True, slots=True)
class ControlRow:
    """A factor that was set, or a call of the script's that would have undone it."""

    factor: str
    call: str
    value: str
    place: str
    action: str
    n_runs: str


@dataclass(frozen=True, slots=True)
class FlipRow:
    """One flipped bit."""

    replicate: str
    parameter: str
    index: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class HashRow:
    """Hashes of the weights and of the evaluation data of one run, shortened."""

    replicate: str
    weights: str
    evaluation: str


@dataclass(frozen=True, slots=True)
class EnvironmentRow:
    """A fact about the environment; `differs` if not all runs found the same."""

    name: str
    value: str
    differs: bool


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the runs of one experiment come from; `no_…` says why a part is absent."""

    label: str
    facts: tuple[Fact, ...]
    changes: ChangesView
    runs: tuple[RunRow, ...]
    seed_calls: tuple[SeedCallRow, ...]
    no_seed_calls: str
    controls: tuple[ControlRow, ...]
    no_controls: str
    flips: tuple[FlipRow, ...]
    hashes: tuple[HashRow, ...]
    no_hashes: str
    environment: tuple[EnvironmentRow, ...]
    no_environment: str
