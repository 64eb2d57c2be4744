"""The plan of an experiment: what to run, how often, and which metrics to read."""

from dataclasses import dataclass, field
from pathlib import Path

from deviate.model import PastComparison, Selection, Settings, Spending, Variant
from deviate.model.plan import SweptValue
from deviate.records.schema import Change, Reported
from deviate.registry import Plugin


@dataclass(frozen=True, slots=True)
class VariantPlan:
    """A variant of the experiment and its number of runs.

    Attributes:
        definition: the whole variant as it was when the experiment took it up, so that a later edit of `deviate.toml`
            changes nothing that is on record; None in a plan of format 1, which has names only.
    """

    name: str
    n_runs: int
    definition: Variant | None = None

    @property
    def varied(self) -> tuple[str, ...]:
        """Streams and factors that vary between runs; empty where the record does not list them."""
        return self.definition.varied if self.definition else ()

    @property
    def held(self) -> tuple[str, ...]:
        """Streams and factors that are held fixed; empty where the record does not list them."""
        return self.definition.held if self.definition else ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What an experiment is to do, and what to read from it.

    Attributes:
        seed: the experiment seed, from which the seed set of each run follows.
        selection: the metrics as selected last; changing it needs no new runs.
        history: changes since the plan was made, oldest first.
        environment: variables that the user sets for every run; secrets are not among them.
        prepare: commands that ran once in the frozen project, before all runs; then: commands that follow each run.
        wrap: the beginning of a command that starts a container, empty for none.
        n_threads: to how many threads each run is limited, None for no limit.
        settings: as used last.
        looks: numbers of runs per variant at which the user means to compare, declared before the first run; `spending`
            is how the error is spent on them.
        precision: what decides the number of runs, such as "test_acc ±0.5"; empty where it was given.
        reported: when results were shown, with the number of runs that had been planned by then.
        past_comparisons: candidates that it was the baseline of, one entry for each.
        imported: sentences on what was read from elsewhere; empty where deviate runs the experiment.
        tasks: names of metrics that are one measure on several tasks or data sets.
        capture: what the runs keep beside their metrics, as in `Spec.capture`; empty for nothing.
        sweep: which value of which argument this is, where it is one of a sweep.
        streams, scores: as `STREAMS_NUMBER` and `SCORES_NUMBER` were when it began; None where deviate did not run it.
        plugins: sinks and adapters of other packages whose files lie in the snapshot.
    """

    name: str
    created: float
    root: Path
    command: tuple[str, ...]
    cwd: str
    seed: int
    sources_hash: str
    variants: tuple[VariantPlan, ...]
    selection: Selection
    jobs: int = 1
    history: tuple[Change, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    prepare: tuple[tuple[str, ...], ...] = ()
    then: tuple[tuple[str, ...], ...] = ()
    wrap: tuple[str, ...] = ()
    n_threads: int | None = None
    settings: Settings = field(default_factory=Settings)
    looks: tuple[int, ...] = ()
    spending: Spending = "obrien-fleming"
    precision: str = ""
    reported: tuple[Reported, ...] = ()
    past_comparisons: tuple[PastComparison, ...] = ()
    imported: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    capture: tuple[tuple[str, str], ...] = ()
    sweep: SweptValue | None = None
    streams: int | None = 1
    scores: int | None = 1
    plugins: tuple[Plugin, ...] = ()

    @property
    def n_runs(self) -> int:
        """The largest number of runs of any variant."""
        return max((variant.n_runs for variant in self.variants), default=0)

    @property
    def n_unplanned_looks(self) -> int:
        """How often runs were added after a comparison was shown, without a declared look."""
        if self.looks or self.precision:
            return 0
        return len({report.n_runs for report in self.reported if report.is_comparison and report.n_runs < self.n_runs})
