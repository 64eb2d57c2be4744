"""The user's request to `run`, and experiments that are ready to run."""

from dataclasses import dataclass, field
from pathlib import Path

from deviate.model import Settings, Snapshot, Spending, Variant
from deviate.model.plan import SweptValue
from deviate.records import Plan


@dataclass(frozen=True, slots=True)
class SampleSizeRule:
    """The declared rule by which runs are added to the first ones.

    Attributes:
        precision: until an interval is narrow enough, such as "test_acc ±0.5"; empty for a given number.
        least, most: runs per variant, where precision decides.
        looks: numbers of runs per variant at which experiments are compared; empty for the end alone.
        spending: how the error is spent on the looks.
    """

    precision: str = ""
    least: int = 0
    most: int = 0
    looks: tuple[int, ...] = ()
    spending: Spending = "obrien-fleming"

    @property
    def first(self) -> int:
        """Runs before the first look; 0 if none are declared."""
        return self.least or (self.looks[0] if self.looks else 0)


@dataclass(frozen=True, slots=True)
class Request:
    """The user's request to `run`, independent of the command.

    Attributes:
        runs: per variant, before any are added.
        environment: variables for every run, secrets left out.
        prepare: commands that run once in the frozen project before all runs.
        wrap: the beginning of a command that starts a container.
        n_threads: to how many threads each run is limited, None for no limit.
        sample_size: what decides whether runs are added.
        budget_s: seconds for all runs of this call, None for no limit.
        is_strict: add no runs in another environment than that of those on record.
        capture: what the runs are to keep beside their metrics, as in `Spec.capture`, as far as it was said.
        sweep: which value of which argument this is, where it is one of a sweep.
        needs_metrics: whether there is something to tell only where the script reports values.
    """

    runs: int
    variants: tuple[Variant, ...]
    name: str | None
    seed: int
    settings: Settings = field(default_factory=Settings)
    environment: tuple[tuple[str, str], ...] = ()
    prepare: tuple[tuple[str, ...], ...] = ()
    wrap: tuple[str, ...] = ()
    n_threads: int | None = None
    sample_size: SampleSizeRule = field(default_factory=SampleSizeRule)
    budget_s: float | None = None
    is_strict: bool = False
    capture: tuple[tuple[str, str], ...] = ()
    sweep: SweptValue | None = None
    needs_metrics: bool = True


@dataclass(frozen=True, slots=True)
class PreparedExperiment:
    """An experiment ready to run. `notes` tell the user what differs from the last time."""

    name: str
    folder: Path
    snapshot: Snapshot
    plan: Plan
    notes: tuple[str, ...] = ()
