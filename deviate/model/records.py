"""What was recorded: runs, their measurements, what was captured beside them, and what happened in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from deviate.model.analysis import LoopCounter
from deviate.model.plan import PrimaryChoice, SelectedMetric, Stream

# What was captured of runs beside their metrics: outputs of evaluations and weights, as files and as arrays.

if TYPE_CHECKING:  # a command that only lists or shows waits for no NumPy
    import numpy as np
    import numpy.typing as npt

    FloatArray = npt.NDArray[np.floating]
    IntArray = npt.NDArray[np.integer]

OutputKind = Literal["logits", "log-probabilities", "probabilities", "labels", "values"]
"""What a model put out for an example: a score per class; a class alone; or numbers that are no scores of classes."""
Alignment = Literal["position", "input"]
"""How the examples of runs were put beside each other: by their order, which was the same, or by a hash of their input.
Examples with the same input count in the order in which they came."""


ArtifactKind = Literal["predictions", "weights", "profile"]


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that the guest kept.

    Attributes:
        name: of the evaluation set, or, of weights, the moment: "step", "loop" (the main loop ended) or "exit"; of a
            profile, the framework.
        step: of the main loop after or in which it was kept, None outside of it; the first one that was profiled.
        n: examples, arrays, or kernels.
        rank: of the process that kept it, None where it had none.
    """

    kind: ArtifactKind
    name: str
    step: int | None
    framework: str
    path: Path
    n: int
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class NotCaptured:
    """What was asked for and could not be kept.

    Attributes:
        kind: as in `Artifact`. name: of the evaluation set or the framework; None where nothing of the kind was seen.
    """

    kind: str
    name: str | None
    reason: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}" if self.name is None else f"{self.kind} of {self.name}: {self.reason}"


@dataclass(frozen=True, slots=True, eq=False)
class CapturedSet:
    """The outputs of several runs on one evaluation set, examples aligned. R runs, N examples, C classes.

    Attributes:
        step: of the main loop, None for the last evaluation of every run.
        replicates: of the runs, in rising order; all below has a first dimension R in this order unless it says else.
        outputs: (R, N, C) float, or (R, N) where the kind is "values"; None where the kind is "labels". A model with
            one output per example, a score of the second of two classes, has been given C = 2.
        labels: (R, N) predicted classes from 0, the first of the largest outputs; None where the kind is "values".
        truth: (N,) true classes, or true values; None where no run had them.
        columns: what was logged with the examples under a name of its own, such as groups; (N,) each.
        positions: (N,) place of each example in the order of the first run, from 0.
        notes: sentences on what was left out or taken for granted, for the reader.
        n_seen: examples of the first run before any was left out, None where that is not known.
    """

    name: str
    step: int | None
    replicates: tuple[int, ...]
    kind: OutputKind
    outputs: FloatArray | None
    labels: IntArray | None
    truth: npt.NDArray[np.generic] | None
    columns: Mapping[str, npt.NDArray[np.generic]]
    positions: IntArray
    alignment: Alignment
    notes: tuple[str, ...] = ()
    n_seen: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CapturedWeights:
    """The trainable weights of several runs at one moment: by name, each run's array.

    Attributes:
        step: of the main loop after which they were kept, None for the end.
        layers: name to (R, n) float64: the weights of that name, flat. Only names and shapes that all runs share.
    """

    step: int | None
    replicates: tuple[int, ...]
    layers: Mapping[str, npt.NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class Captured:
    """What was captured of one experiment's completed runs.

    Attributes:
        sets: the last evaluation of each set, in the order in which they came first in the first run.
        by_step: the same sets at steps of the main loop that all runs have, steps rising within a name.
        weights: at the end; None where none were kept. weights_by_step: steps rising.
        reasons: sentences, why something that was asked for is not there.
    """

    sets: tuple[CapturedSet, ...] = ()
    by_step: tuple[CapturedSet, ...] = ()
    weights: CapturedWeights | None = None
    weights_by_step: tuple[CapturedWeights, ...] = ()
    reasons: tuple[str, ...] = ()


Status = Literal["completed", "diverged", "crashed", "timed_out", "lost", "cancelled", "silent"]
"""Outcome of a run. `diverged`: a quality metric ended NaN or infinite. `silent`: the guest never reported."""
Spending = Literal["obrien-fleming", "pocock"]
"""How declared looks share the error: little at first and most at the last, or evenly."""


@dataclass(frozen=True, slots=True)
class Series:
    """What one metric gave in one run: `values[i]` stood at main-loop step `steps[i]` (None: outside the main loop).

    Steps count from 0 and never fall; several values within a step have the same one, in the order in which they were
    reported. Long series are not held in memory, so that what needs one number should not ask for all.

    Attributes:
        times: seconds since the start of the run at which each value was reported; empty where that is not known. Two
            series are equal if their values are: no two runs take the same time.
    """

    steps: Sequence[int | None]
    values: Sequence[float]
    times: Sequence[float] = field(default=(), compare=False)

    def iterate_places(self) -> Iterator[tuple[int | None, int]]:
        """The step of each value with its ordinal from 0 within the step, or among all values outside of the loop."""
        ordinal = n_outside = 0
        before: int | None = None
        for step in self.steps:
            if step is None:
                yield None, n_outside
                n_outside += 1
            else:
                ordinal = ordinal + 1 if step == before else 0
                before = step
                yield step, ordinal


@dataclass(frozen=True, slots=True)
class SeedEvent:
    """A seeding call that happened in a run: what the script asked for and what it got.

    Attributes:
        action: what became of the seed: `kept` in this variant; `replaced` by that of a stream; `fixed` in every
            variant, for deviate does not vary what it seeds.
    """

    call: str
    value: str
    file: str
    line: int
    action: Literal["kept", "replaced", "fixed"]


@dataclass(frozen=True, slots=True)
class ControlEvent:
    """A factor that was set in a run, or a call of the script that would have undone that (`overridden`)."""

    factor: str
    call: str
    value: str
    file: str
    line: int
    action: Literal["set", "overridden"]


@dataclass(frozen=True, slots=True)
class Weights:
    """The trained weights of a run as a hash.

    Attributes:
        moment: "loop" (the main loop ended) or "exit" (the process did).
        digest: SHA-256 over names, types, shapes and bytes, in order of the names.
    """

    moment: Literal["loop", "exit"]
    framework: str
    digest: str
    n_parameters: int


Evidence = Literal["loader", "labels", "repeated", "names", "inputs"]
"""What shows that the inputs of an evaluation are examples, and nothing that the model computed itself: a loader
yielded them; they were handed to `evaluate` or `score`; the next evaluation after further training was given the same;
the script calls them test data. Nothing shows it: `inputs`."""


@dataclass(frozen=True, slots=True)
class EvaluationData:
    """The examples of the first evaluation of a run as a hash that does not depend on their order.

    Attributes:
        framework: that ran the evaluation; the names of the arrays where the evidence is their names.
    """

    framework: str
    digest: str
    n_examples: int
    evidence: Evidence = "inputs"


@dataclass(frozen=True, slots=True)
class DrawEvent:
    """A call outside of the main loop that drew numbers, with the line of the project that asked for them."""

    call: str
    stream: Stream
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Flip:
    """The one bit of one weight that was flipped before the first training step."""

    framework: str
    parameter: str
    index: tuple[int, ...]
    before: float
    after: float


IMPORTED_AS = "imported as"
"""The fact, among those of its environment, that says what an imported run was called where it was found."""
TUNED = "tuned: "
"""How the sentence among those on an import begins that says in which search the configuration was chosen."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run as recorded. `series` maps metric names to what was recorded; a metric never reported is absent.

    Attributes:
        controls: factor to level, as asked for.
        control_events: what was done to the factors, and what of the script's was overridden.
        draws: library to the streams from which numbers were drawn; empty when the run was cut off.
        drawn: draws outside of the main loop whose values may be data, each line once.
        weights: in order of time; empty where no adapter could reach them.
        operations: operations without a deterministic version that were used all the same.
        uncontrolled: what was drawn or chosen beyond all control, a phrase each with its place.
        device: what the run computed on, such as `GPU 0`; empty where it was given nothing.
        n_sharing: most other runs of ours that shared this device, or the machine where there is none, at a time.
        attempt: number of the attempt that counts, from 1.
        artifacts: files with outputs and weights, in the order in which they were kept.
        not_captured: what was asked for and could not be kept, a sentence each.
        notes: those of the warnings that ask for nothing.
        trained_s: seconds from its start to the last training step; None where none was seen.
    """

    id: str
    replicate: int
    variant: str
    status: Status
    exit_code: int | None
    started: float
    wall_time_s: float
    folder: Path
    series: dict[str, Series]
    seeds: dict[str, int] = field(default_factory=dict)
    seed_events: tuple[SeedEvent, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    reason: str = ""
    stderr_tail: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    controls: dict[str, str] = field(default_factory=dict)
    control_events: tuple[ControlEvent, ...] = ()
    draws: dict[str, tuple[str, ...]] = field(default_factory=dict)
    drawn: tuple[DrawEvent, ...] = ()
    weights: tuple[Weights, ...] = ()
    evaluation: tuple[EvaluationData, ...] = ()
    flips: tuple[Flip, ...] = ()
    operations: tuple[str, ...] = ()
    uncontrolled: tuple[str, ...] = ()
    device: str = ""
    n_sharing: int = 0
    attempt: int = 1
    artifacts: tuple[Artifact, ...] = ()
    not_captured: tuple[NotCaptured, ...] = ()
    notes: tuple[str, ...] = ()
    trained_s: float | None = None

    @property
    def unrouted(self) -> tuple[str, ...]:
        """Phrases of `uncontrolled` on draws that belong to no stream: a variant may neither vary nor hold them."""
        return tuple(phrase for phrase in self.uncontrolled if phrase.startswith(UNROUTED))


UNROUTED = ("draws ", "random operations ", "random numbers ", "torch.set_rng_state ", "the device type ")
"""How the guest begins a phrase on draws that it does not route, or on a device whose draws it does not."""
SHARED = "share the tasks by chance"
"""What it says of draws in workers, which are held if each task sets a seed of its own."""


@dataclass(frozen=True, slots=True)
class Revision:
    """Where the project stood in git when it was frozen.

    Attributes:
        commit: None before the first one. branch: None where none was checked out.
        is_dirty: tracked files differed from the commit; `n_untracked` files were neither tracked nor ignored.
        untracked: names of the sources and texts among those files.
        diff: against the commit, secrets redacted; empty where nothing differed. is_cut: it is not all of it.
        file: where the whole diff is, below the folder of the experiment; empty where there is none.
    """

    commit: str | None
    branch: str | None
    is_dirty: bool
    n_untracked: int
    diff: str = ""
    is_cut: bool = False
    file: str = ""
    untracked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InjectedCode:
    """What was put into one file of the project, as lines of a unified diff without context, secrets redacted.

    Attributes:
        n_lines: lines of the file that differ from the user's. is_cut: `diff` does not show them all.
        original, instrumented: where both copies of the file are whole, below the folder of the experiment.
    """

    file: str
    n_lines: int
    diff: tuple[str, ...]
    is_cut: bool
    original: str
    instrumented: str


@dataclass(frozen=True, slots=True)
class PastComparison:
    """That an experiment was compared with a candidate, as the baseline, and what came of it last.

    Attributes:
        candidate, variant, created: the experiment; `created` is 0 where its results came from files.
        metric: the primary metric of the comparison, empty where there was none.
        p: the larger p of both tests, before any correction; None where no test was possible.
    """

    candidate: str
    variant: str
    created: float
    metric: str = ""
    p: float | None = None

    @property
    def key(self) -> tuple[str, str, float]:
        """What tells candidates apart: one that was made anew under its old name is another."""
        return self.candidate, self.variant, self.created


@dataclass(frozen=True, slots=True)
class Experiment:
    """One command, one variant, its runs in order of replicate (planned but missing ones are not listed).

    Attributes:
        varied, held: those of the variant, empty where the record does not tell.
        n_threads: to how many threads each run was limited, None where it was not.
        looks: numbers of runs per variant at which the user meant to compare, declared before the first run.
        spending: how these looks share the error.
        n_unplanned_looks: how often runs were added after results had been reported, without that being declared.
        n_pending: planned runs that have not ended, for which a verdict waits.
        is_cut_short: whether a budget or too many failures ended the plan before all its runs had ended.
        precision: what the number of runs was decided by, such as "test_acc ±0.5"; empty where it was given.
        imported: sentences on what was read from elsewhere, guessed or relabelled; empty where deviate ran it.
        tasks: names of metrics that are one measure on several tasks or data sets.
        revision: None where the project is in no repository, or the record does not tell.
        injected: a file each; empty where nothing was put into any, as in what was imported.
        flags: words under which further runs are like these, such as ("--env", "A=1").
        past_comparisons: those in which it was the baseline, one per candidate, the oldest first.
        counter: how the script counts the steps of the main loop in what it reports; None where it does not, or where
            the record does not tell.
        primary: the metric that decides, as it was chosen before the first run; None where none was.
        siblings: names of the other experiments of the same command on the same code, oldest first.
    """

    name: str
    variant: str
    command: tuple[str, ...]
    n_planned: int
    metrics: tuple[SelectedMetric, ...]
    runs: tuple[Run, ...]
    folder: Path | None = None
    created: float = 0.0
    sources_hash: str = ""
    root: str = ""
    jobs: int = 1
    warnings: tuple[str, ...] = ()
    varied: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    n_threads: int | None = None
    looks: tuple[int, ...] = ()
    spending: Spending = "obrien-fleming"
    n_unplanned_looks: int = 0
    precision: str = ""
    imported: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    revision: Revision | None = None
    injected: tuple[InjectedCode, ...] = ()
    flags: tuple[str, ...] = ()
    past_comparisons: tuple[PastComparison, ...] = ()
    siblings: tuple[str, ...] = ()
    counter: LoopCounter | None = None
    primary: PrimaryChoice | None = None
    notes: tuple[str, ...] = ()
    n_pending: int = 0
    is_cut_short: bool = False

    @property
    def tuned(self) -> str:
        """The search in which its configuration was chosen: "one of 12 configurations of sweep abc"; empty for none."""
        return search_of(self.imported)


def search_of(imported: Sequence[str]) -> str:
    """The search that one of the sentences on an import names; empty for none."""
    return next((note.removeprefix(TUNED) for note in imported if note.startswith(TUNED)), "")
