"""Where two runs that should be equal part: traces as recorded, and what comparing them found."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

Rung = Literal["metrics", "steps", "modules", "operations"]
"""How closely two runs are looked at. `metrics`: every reported value, and the loss of every step; `steps`: also
batches, weights, gradients and random states of every step; `modules`: also what each module gives and gets back;
`operations`: also every operation."""
RUNGS: tuple[Rung, ...] = get_args(Rung)
"""In order; the level of a trace is the place of its rung, from 1."""
Phase = Literal["initial", "random", "order", "data", "forward", "loss", "backward", "update", "metric", "program"]
"""What differs first. `initial`: the weights before the first step; `random`: the state of a random generator;
`order`: the same examples in another order; `data`: what the examples are; `metric`: a reported value alone;
`program`: one run did what the other did not."""
PHASES: tuple[Phase, ...] = get_args(Phase)
"""In the order in which they come within a step."""
MADE: tuple[Phase, ...] = ("initial", "random", "order", "data")
"""What is made before the passes of a step begin."""
Kind = Literal[
    "state", "batch", "weights", "forward", "loss", "backward", "gradient", "update", "module", "module-gradient",
    "operation",
]  # fmt: skip
"""Kinds of the records of a trace, as docs/reference/traces.md defines them."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the user's program.

    Attributes:
        text: of the line, without what stands around it; empty where it could not be read.
        around: the lines before it, the line itself and those after it, as they stand in the file; empty where they
            were not read. from_line: number of the first of them.
    """

    file: str
    line: int
    text: str = ""
    around: tuple[str, ...] = ()
    from_line: int = 0


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """One thing that a process computed.

    Attributes:
        step: updates of the weights that were complete before it.
        main_step: step of the main loop, None outside of it.
        ordinal: how many records of this kind and name stand before it in its step.
        digest: checksum of type, shape and bytes; None where it is not to be compared.
        form: type and shape, such as "float32[512,10]".
        place: in the user's program; None where nothing led there.
        more: what else is known: `module`, the path of the module that ran; `value`, of a loss; `rows`, checksums of
            the rows of a batch; `reads`, "uninitialised" where an operation read memory that nothing had written.
    """

    step: int
    main_step: int | None
    kind: str
    name: str
    ordinal: int
    digest: int | None
    form: str = ""
    place: Place | None = None
    more: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trace:
    """The trace of one process.

    Attributes:
        rank: of the process among those that train together, 0 where it is alone.
        level: place of its rung in RUNGS, from 1.
        first, until: first step at that level, and the first one after; None where it goes to the end.
        n_steps: complete updates.
        seconds: at which each step ended, since the trace began.
        costs: level to (seconds of a step with it, seconds of a step without, number of steps).
        is_whole: whether the process ended in good order.
        n_damaged: lines of its file that could not be read.
        pid: number of the process.
        ends: framework to the highest level of which it shows anything, and why none above, in words.
    """

    rank: int
    level: int
    first: int
    until: int | None
    records: Sequence[TraceRecord]
    n_steps: int
    seconds: tuple[float, ...] = ()
    costs: dict[int, tuple[float, float, int]] = field(default_factory=dict)
    is_whole: bool = True
    n_damaged: int = 0
    pid: int = 0
    ends: dict[str, tuple[int, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ulps:
    """How far apart two arrays are, in units in the last place of their type.

    Attributes:
        most: largest distance of two elements; 0 where only signs of zero or bits of NaN differ; None where an element
            is finite in one run alone, or where the numbers are no floats.
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


GONE = ("its process", "no process")
"""What `Difference.instead` begins with where the other run's process had ended already, or left no trace."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first thing that is not the same in two runs, as far as one rung shows it.

    Attributes:
        rung: on which it was found.
        step, main_step, kind, name, ordinal, form, place: as in TraceRecord; of metrics, `step` is None outside of
            all updates and `name` that of the metric.
        module: path of the module that ran, empty outside of all modules or where nobody knows.
        values: what both runs reported, of a metric or a loss.
        only_in: 1 or 2 where the record is in that run alone (the program went another way); None where both have it.
        instead: what the other run did there, as text; empty where both have it.
        ulps: size of the difference; None where it was not measured.
        n_equal: records before it that are equal.
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
    place: Place | None = None
    values: tuple[float, float] | None = None
    only_in: Literal[1, 2] | None = None
    instead: str = ""
    ulps: Ulps | None = None
    n_equal: int = 0
    more: dict[str, object] = field(default_factory=dict)

    @property
    def is_other_gone(self) -> bool:
        """Whether the other run did nothing there because its process had ended, or left no trace."""
        return self.instead.startswith(GONE)


@dataclass(frozen=True, slots=True)
class RungFindings:
    """One rung of the ladder, as it was climbed.

    Attributes:
        n_runs: that were carried out for it; 0 where records sufficed.
        n_steps: updates that both runs completed, and that were compared.
        n_compared: what was compared on it, in its own units: values, records.
        first, until: the window of steps that was traced at it; `until` None for all.
        forecast: time of a step over that of a step without the rung, as measured before it began; None where it was
            not.
        cost: the same as it was then, None where it is not known.
        wall_time_s: of its runs.
        difference: None where both runs are equal on it.
        by_rank: the first difference of each rank that has one, where there are several.
        why_not: why the ladder ends before this rung, in words; empty where it was climbed.
    """

    rung: Rung
    n_runs: int = 0
    n_steps: int = 0
    n_compared: int = 0
    first: int = 0
    until: int | None = None
    forecast: float | None = None
    cost: float | None = None
    wall_time_s: float = 0.0
    difference: Difference | None = None
    by_rank: tuple[Difference, ...] = ()
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Growth:
    """How one reported quantity grows apart.

    Attributes:
        steps: updates (of a loss), or steps of the main loop (of a metric): see `unit`.
        differences: absolute, in units of the quantity.
        ulps: in units in the last place, of single or of double precision as `form` says.
        first, second: the values themselves.
    """

    name: str
    unit: Literal["update", "main-loop step"]
    steps: tuple[int, ...]
    differences: tuple[float, ...]
    ulps: tuple[int | None, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]
    form: str = "float64"


Certainty = Literal["certain", "likely", "possible"]
"""`certain`: what was found leaves no other explanation that we know; `likely`: what differs first is known to do so
for this cause; `possible`: the program has the cause, and nothing found tells it from others."""


@dataclass(frozen=True, slots=True)
class Switch:
    """What deviate itself can do against a cause: run under another variant, or with other levels and variables.

    Attributes:
        flags: the same as a user would give it, such as "--variant control".
        variant: name of the variant, built in or a combination; empty where it stays the same.
        levels: of factors, beyond those of that variant, as in `Variant.controls`.
        environment: variables that are set.
    """

    flags: str
    variant: str = ""
    levels: tuple[tuple[str, str], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Cause:
    """A likely cause.

    Attributes:
        id: its name in docs/reference/causes.md.
        title: in a few words.
        why: what was found that points to it.
        cure: what to do, in words; code to copy follows on lines of its own.
        switch: None where only the program can be changed.
        places: in the user's program.
        source: where it is documented.
    """

    id: str
    title: str
    why: str
    cure: str
    switch: Switch | None = None
    places: tuple[Place, ...] = ()
    source: str = ""
    certainty: Certainty = "possible"

    @property
    def is_certain(self) -> bool:
        return self.certainty == "certain"


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The runs again, with a switch.

    Attributes:
        is_equal: None where the runs could not be compared.
        n_steps: updates over which they were.
        what: what is equal, or what still differs, in words.
    """

    cause: str
    flags: str
    is_equal: bool | None
    n_steps: int
    what: str
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class DivergenceFindings:
    """Where two runs part.

    Attributes:
        name: of the experiment, or of both runs where they were on record.
        runs: what the two are called, such as ("run 1", "run 2"), or two interpreters.
        is_equal: None where nothing could be compared.
        tolerance_ulps: what is still taken for equal; 0 for bitwise.
        what: what was compared, such as "metrics, losses, weights".
        n_steps: updates that both completed.
        n_metrics, n_values: reported quantities of quality, and values of them.
        weights: of the ends of both runs.
        rungs: in order, those that were climbed and the first one that could not be.
        growth: the loss or the primary metric first.
        ranks: how many processes trained together.
        causes: the likeliest first.
        notes: what limits the answer, a sentence each.
        flags: of the call beside script and variant that the runs depend on, such as ("--env", "A=1"); none of those
            that only choose what is told.
    """

    name: str
    command: tuple[str, ...]
    variant: str
    runs: tuple[str, str]
    is_equal: bool | None
    what: str
    n_steps: int
    n_metrics: int = 0
    n_values: int = 0
    weights: Literal["equal", "differ", "not reached"] = "not reached"
    tolerance_ulps: int = 0
    rungs: tuple[RungFindings, ...] = ()
    growth: tuple[Growth, ...] = ()
    ranks: int = 1
    causes: tuple[Cause, ...] = ()
    confirmations: tuple[Confirmation, ...] = ()
    notes: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def first(self) -> Difference | None:
        """The difference on the lowest rung that was reached; None where there is none.

        Where the program took another way there before any pass had begun, its phase is what a rung above found to be
        different: `program` would hide that it was the order, or the data.
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
