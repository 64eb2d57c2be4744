"""Where two runs that should match diverge: recorded traces, and the results of comparing them."""

from dataclasses import dataclass, field, replace
from typing import Literal, get_args

Rung = Literal["metrics", "steps", "modules", "operations"]
"""Level of detail of a comparison, called *level* in texts. `metrics`: every reported value, and the loss of every
step; `steps`: also batches, weights, gradients and random states of every step; `modules`: also the output and the
gradient of each module; `operations`: also every operation."""
RUNGS: tuple[Rung, ...] = get_args(Rung)
"""In order; the number of a level is its position here, from 1."""
Phase = Literal["initial", "random", "order", "data", "forward", "loss", "backward", "update", "metric", "program"]
"""What differs first. `initial`: the weights before the first step; `random`: the state of a random generator;
`order`: the same examples in another order; `data`: the examples themselves; `metric`: only a reported value;
`program`: one run executed something that the other did not."""
PHASES: tuple[Phase, ...] = get_args(Phase)
"""In their order within a step."""
MADE: tuple[Phase, ...] = ("initial", "random", "order", "data")
"""Phases before the forward pass of a step."""
COMPUTED: tuple[Phase, ...] = ("forward", "loss", "backward", "update", "metric")
"""Phases in which numbers that were equal are computed with, so that rounding can differ first."""
Unit = Literal["update", "main-loop step"]
"""What is counted: updates of the weights, or steps of the main loop where no framework reports any."""


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of the user's program.

    Attributes:
        text: of the line, without white space around it; empty if it could not be read.
        around: the lines before it, the line itself and the lines after it, as in the file; empty if they were not
            read. from_line: number of the first of them.
    """

    file: str
    line: int
    text: str = ""
    around: tuple[str, ...] = ()
    from_line: int = 0


VOLATILE = frozenset({"clock", "process-id", "entropy", "address"})
"""Sources whose values differ between any two runs, mostly without an effect."""


@dataclass(frozen=True, slots=True)
class InputDifference:
    """An input that differs between two runs.

    Attributes:
        source, call, place, step, main_step: as in InputEvent, of the first run that has it.
        shown: the value in both runs; empty in a run without it.
        only_in: 1 or 2 if only that run has it.
        is_upstream: whether it entered before the first difference of the runs.
    """

    source: str
    call: str
    place: CodeLine
    step: int
    main_step: int | None
    shown: tuple[str, str]
    rank: int = 0
    only_in: Literal[1, 2] | None = None
    is_upstream: bool = False

    @property
    def is_suspect(self) -> bool:
        """Whether it is likely to have made the runs differ; of what differs between any two runs only a test tells."""
        return self.is_upstream and self.source not in VOLATILE


@dataclass(frozen=True, slots=True)
class Ulps:
    """How far apart two arrays are, in units in the last place of their type.

    Attributes:
        most: largest distance of two elements; 0 if only signs of zero or bits of NaN differ; None if an element is
            finite in one run only, or if the numbers are no floats.
        n_different: elements that differ, of `n_elements`.
        largest: largest absolute difference; relative: that one over the larger of both magnitudes.
        form: type and shape.
    """

    most: int | None
    n_different: int
    n_elements: int
    largest: float
    relative: float
    form: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference of two runs, as one level shows it.

    Attributes:
        rung: the level that shows it.
        step, main_step, kind, name, ordinal, form, place: as in TraceRecord; of metrics, `step` is None outside of
            all updates and `name` that of the metric.
        module: path of the module that ran; empty outside of all modules or if unknown.
        values: the values of both runs, of a metric or a loss.
        only_in: 1 or 2 if only that run has the record (the program took a different path); None if both have it.
        instead: what the other run did there, as text; empty if both have it.
        is_other_gone: whether the other run did nothing there because its process had ended, or left no trace.
        ulps: size of the difference; None if it was not measured.
        n_equal: number of equal records before it.
    """

    rung: Rung
    phase: Phase
    step: int | None
    main_step: int | None
    kind: str
    name: str
    ordinal: int = 0
    rank: int = 0
    module: str = ""
    form: str = ""
    place: CodeLine | None = None
    values: tuple[float, float] | None = None
    only_in: Literal[1, 2] | None = None
    instead: str = ""
    ulps: Ulps | None = None
    n_equal: int = 0
    more: dict[str, object] = field(default_factory=dict)
    is_other_gone: bool = False


@dataclass(frozen=True, slots=True)
class RungFindings:
    """The comparison on one level.

    Attributes:
        n_runs: number of runs executed for it; 0 if records were enough.
        n_steps: updates that both runs completed, and that were compared.
        n_compared: number of compared values or records.
        first, until: the window of traced steps; `until` None for all.
        wall_time_s: of its runs.
        difference: None if both runs are equal on the level.
        by_rank: the first difference of each rank that has one; empty for one rank.
        why_not: why the search ends before this level, in words; empty if the level was compared.
    """

    rung: Rung
    n_runs: int = 0
    n_steps: int = 0
    n_compared: int = 0
    first: int = 0
    until: int | None = None
    wall_time_s: float = 0.0
    difference: Difference | None = None
    by_rank: tuple[Difference, ...] = ()
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Growth:
    """How the difference in one reported quantity grows.

    Attributes:
        steps: updates (of a loss), or steps of the main loop (of a metric): see `unit`.
        differences: absolute, in units of the quantity.
        first, second: the values themselves.
    """

    name: str
    unit: Unit
    steps: tuple[int, ...]
    differences: tuple[float, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]


Certainty = Literal["proved", "suspected"]
"""`proved`: runs that have the same of it are equal, and others are not; `suspected`: the evidence points to it."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A source of difference that made two runs differ, or may have.

    Attributes:
        id: its name in docs/reference/sources.md.
        title: what it is, in one sentence.
        why: the evidence for it.
        cure: what to do, in words; code to copy follows on separate lines.
        places: in the user's program.
        source: where it is documented.
    """

    id: str
    title: str
    why: str
    cure: str
    places: tuple[CodeLine, ...] = ()
    source: str = ""
    certainty: Certainty = "suspected"


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A test of a cause by further runs.

    Attributes:
        given: what both runs of the test had in common, in words.
        is_equal: whether they were equal up to the first difference and beyond it.
        n_steps: number of compared updates.
        what: what is equal, or what still differs, in words.
    """

    given: str
    is_equal: bool
    n_steps: int
    what: str


@dataclass(frozen=True, slots=True)
class DivergenceFindings:
    """Where two runs diverge.

    Attributes:
        name: of the experiment, or of both recorded runs.
        runs: names of the two runs, such as ("run 1", "run 2"), or two interpreters.
        is_equal: None if nothing could be compared.
        tolerance_ulps: differences up to this count as equal; 0 for bitwise.
        what: what was compared, such as "metrics, losses, weights".
        n_steps, unit: number of updates that both runs completed; of steps of the main loop where no framework is seen.
        n_metrics, n_values: number of compared metrics of quality, and of their values.
        weights: comparison of the final weights.
        rungs: levels in order, up to the first one that could not be compared.
        growth: the loss or the primary metric first.
        ranks: number of processes that trained together.
        inputs: inputs that differ, in the order in which they entered.
        causes: the likeliest first.
        notes: limits of the answer, a sentence each.
        flags: flags of the call that the runs depend on, apart from script and variant, such as ("--env", "A=1");
            none that only choose the output.
    """

    name: str = ""
    command: tuple[str, ...] = ()
    variant: str = ""
    is_equal: bool | None = None
    what: str = ""
    n_steps: int = 0
    runs: tuple[str, str] = ("run 0", "run 1")
    unit: Unit = "update"
    n_metrics: int = 0
    n_values: int = 0
    weights: Literal["equal", "differ", "not reached"] = "not reached"
    tolerance_ulps: int = 0
    rungs: tuple[RungFindings, ...] = ()
    growth: tuple[Growth, ...] = ()
    ranks: int = 1
    inputs: tuple[InputDifference, ...] = ()
    causes: tuple[Cause, ...] = ()
    confirmations: tuple[Confirmation, ...] = ()
    notes: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def first(self) -> Difference | None:
        """The difference on the most detailed level with one; None if there is none.

        If the program took a different path there before any pass had begun, the phase is that of the level above:
        `program` would hide a difference in the order or in the data.
        """
        differences = [rung.difference for rung in self.rungs if rung.difference is not None]
        if not differences:
            return None
        last = differences[-1]
        if last.phase != "program":
            return last
        above = [
            difference.phase for difference in differences if difference.step == last.step and difference.phase in MADE
        ]
        return replace(last, phase=above[-1]) if above else last
