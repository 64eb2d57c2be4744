"""The values that cross the walls between rooms: frozen, typed, and without behaviour of their own.

analysis gives an `Analysis`; the user's choice makes it a `Selection`; instrument freezes a `Snapshot`;
replay fills run folders; records reads them back as an `Experiment`; stats judges and gives `Findings`.

Conventions: `file` is relative to the project root with forward slashes; lines count from 1, columns from 0 in
characters; times are in seconds, points in time in seconds since the epoch (UTC).
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Role = Literal["quality", "time", "other"]
Direction = Literal["max", "min"]
LoopKind = Literal["for", "while", "managed"]
TapForm = Literal["value", "shown", "format", "mapping", "call", "meter"]
"""How a value is tapped.

`value` wraps the expression; `shown` is an f-string field `{x=}` that prints its own text; `format` wraps the callee
`"...".format`, because the template itself takes attributes or items of its arguments; `mapping` wraps a mapping whose
items a template takes by key (`"…" % metrics`, `"…" % locals()`). Where no expression of the file stands for the value,
or none for its name, the callee is wrapped: `call` reads the arguments of a sink as they are bound (`**metrics`,
`*values`, names built at run time); `meter` reads, after `losses.update(…)`, what the meter itself will print."""

Status = Literal["completed", "diverged", "crashed", "timed_out", "lost", "cancelled", "silent"]
"""Outcome of a run. `diverged`: a quality metric ended NaN or infinite. `silent`: the guest never reported."""


# ---------------------------------------------------------------- analysis


@dataclass(frozen=True, slots=True)
class Place:
    """A line in a file of the project."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Span:
    """Where an expression stands in its file: from (line, column) up to and without (end_line, end_column)."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Site:
    """A place where a value is reported and can be tapped.

    Attributes:
        id: number of the site, unique in the snapshot; taps and events carry it.
        line: first line of the reporting statement (what the user sees).
        span: the expression that the tap wraps (for `format`, `call` and `meter`: the callee, up to and without the
            parenthesis).
        label: name of a variable in the same statement whose text tells metrics apart (`split` in
            `print(f"{split} acc {acc:.4f}")`), recorded beside the value; None when there is none.
        fields: what this site records. `format`: (replacement field, such as "a.avg"). `mapping`: (key). `call`: (key
            of the sink, then which of the items that it carries: "1" is one, "1:" that and all that follow, "1:-2" as
            in a slice). What `*values` and `**values` unpack are so many items in a run. `meter`: (names of attributes
            of the meter), of which the first that holds a number counts.
    """

    id: int
    file: str
    line: int
    span: Span
    expression: str
    sink: str
    form: TapForm = "value"
    label: str | None = None
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop whose steps are counted: the main loop, and every loop around a site or on the way to it.

    `span` is the iterable of a `for`, the condition of a `while`, the call of a managed loop (not rewritten).
    `evidence` says why it is the main loop, or may be.
    """

    id: int
    file: str
    line: int
    end_line: int
    kind: LoopKind
    variable: str | None
    span: Span
    is_main: bool
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Metric:
    """Something the script reports: a site and the way there.

    Attributes:
        site: id of its site; None for a metric of a managed loop, which is known by `expression` (its key) alone.
        path: call lines from the outermost frame of the project to the site, without the site's own line. Empty when
            the site has a single metric, which then takes the values of every path.
        label: value of the site's label variable, when that tells metrics apart.
        direction: whether a higher or a lower value is better; None when unknown.
        evidence: why it was taken for a metric, most telling reason first.
    """

    id: int
    name: str
    expression: str
    file: str
    line: int
    sink: str
    role: Role
    direction: Direction | None
    evidence: tuple[str, ...]
    site: int | None
    path: tuple[Place, ...] = ()
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """A value that the script reports and that is no metric, with the reason."""

    expression: str
    file: str
    line: int
    reason: str
    site: int | None = None


@dataclass(frozen=True, slots=True)
class SeedCall:
    """A call in the script that seeds a generator, as seen in the source."""

    call: str
    argument: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Analysis:
    """What is known of a script before it runs.

    Attributes:
        root: the project folder (git top level, or the folder of the command).
        script: the entry script, relative to root.
        metrics: in order of file and line, ids 0, 1, 2 …
        sites: every value that can be tapped, those of rejected candidates included, so that a metric deselected now
            can be shown later without running again.
        outputs: constant paths that the script writes (relative to the working folder): they start empty in each run.
        files: files that were read, the script first.
        notices: what could not be followed, a sentence each.
        alternatives: other loops that may be meant as the main loop, best first.
    """

    root: Path
    script: str
    main_loop: Loop | None
    loops: tuple[Loop, ...]
    metrics: tuple[Metric, ...]
    rejected: tuple[Rejected, ...]
    sites: tuple[Site, ...]
    seeds: tuple[SeedCall, ...] = ()
    outputs: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    alternatives: tuple[Loop, ...] = ()


# ---------------------------------------------------------------- selection


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


# ---------------------------------------------------------------- snapshot and plan


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
class Spec:
    """One run, complete and immutable. Its hash names the run; which metrics are selected is no part of it.

    Attributes:
        cwd: working folder of the command, relative to the project root.
        seeds: the seed set: stream name to seed in [0, 2**32). Empty in `as-is`.
        environment: variables that are set for the child (controls and `--env`).
    """

    sources_hash: str
    command: tuple[str, ...]
    cwd: str
    variant: str
    replicate: int
    seeds: tuple[tuple[str, int], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


# ---------------------------------------------------------------- records


@dataclass(frozen=True, slots=True)
class Series:
    """What one metric gave in one run: `values[i]` stood at main-loop step `steps[i]` (None: outside the main loop).

    Steps count from 0 and rise; within a step only the last value is kept.
    """

    steps: tuple[int | None, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class SeedEvent:
    """A seeding call that happened in a run: what the script asked for and what it got."""

    call: str
    value: str
    file: str
    line: int
    action: Literal["kept", "replaced"]


@dataclass(frozen=True, slots=True)
class Run:
    """One run as recorded. `series` maps metric names to what was recorded; a metric never reported is absent."""

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


@dataclass(frozen=True, slots=True)
class Experiment:
    """One command, one variant, its runs in order of replicate (planned but missing ones are not listed)."""

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


# ---------------------------------------------------------------- findings


@dataclass(frozen=True, slots=True)
class Unavailable:
    """The named answer to a degenerate question: a short reason, shown in place of the number."""

    reason: str


Estimate = float | Unavailable


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval; `method` names how it was computed, e.g. "Student t"."""

    low: float
    high: float
    confidence: float
    method: str


@dataclass(frozen=True, slots=True)
class Test:
    """A hypothesis test, two-sided. `df` is None where the test has none; `note` says how: exact, permutation, ties."""

    __test__ = False

    name: str
    statistic: float
    p_value: float
    df: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """The aggregate of one run."""

    replicate: int
    value: float


@dataclass(frozen=True, slots=True)
class Description:
    """One metric over the runs of one experiment.

    Attributes:
        scores: finite scores of the runs that count, in order of replicate; n is their number.
        n_runs: runs that ended (failures included, lost and cancelled ones not).
        missing: replicates that gave no score, each with the reason ("crashed", "NaN at the last step", …).
        sd: ddof 1. cv: sd / |mean|.
        note: what a reader must know: "all 5 values equal", "1 run: spread unknown", "no completed run (0/5)".
    """

    metric: SelectedMetric
    scores: tuple[Score, ...]
    n_runs: int
    missing: tuple[tuple[int, str], ...]
    mean: Estimate
    mean_interval: Interval | Unavailable
    sd: Estimate
    sd_interval: Interval | Unavailable
    cv: Estimate
    median: Estimate
    minimum: Estimate
    maximum: Estimate
    range: Estimate
    note: str = ""

    @property
    def n(self) -> int:
        return len(self.scores)


Word = Literal["better", "worse", "higher", "lower", "equivalent", "undecided", "identical"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer in one word, and why that one (the rule of statistics.md, 4, in a sentence)."""

    word: Word
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Candidate against baseline in one metric. All differences are candidate minus baseline.

    Attributes:
        difference_interval: Welch.
        p_adjusted: Welch p after Holm over the family of this report; equals welch.p_value for the primary metric.
        superiority: P(candidate > baseline) + P(equal) / 2; its interval is one-sided at complete separation.
        detectable: smallest difference these runs could have seen at 80 % power, in units of the metric.
    """

    metric: SelectedMetric
    candidate_metric: SelectedMetric
    baseline: Description
    candidate: Description
    difference: Estimate
    difference_interval: Interval | Unavailable
    welch: Test | Unavailable
    student: Test | Unavailable
    mann_whitney: Test | Unavailable
    p_adjusted: Estimate
    cohens_d: Estimate
    cohens_d_unweighted: Estimate
    hedges_g: Estimate
    hedges_g_interval: Interval | Unavailable
    superiority: Estimate
    brown_forsythe: Test | Unavailable
    sd_ratio: Estimate
    sd_ratio_interval: Interval | Unavailable
    detectable: Estimate
    verdict: Verdict
    superiority_interval: Interval | Unavailable = Unavailable("not computed")


@dataclass(frozen=True, slots=True)
class ExperimentFindings:
    """One experiment described: primary metric first, then by coefficient of variation, undefined last."""

    experiment: Experiment
    descriptions: tuple[Description, ...]


@dataclass(frozen=True, slots=True)
class PairFindings:
    """One candidate against the baseline.

    Attributes:
        comparisons: primary metric first, then in the order of the baseline's descriptions.
        headline: the comparison of the primary metric; None when no primary metric could be told.
        unmatched_baseline, unmatched_candidate: names of metrics that only one side has.
    """

    baseline: str
    candidate: str
    comparisons: tuple[Comparison, ...]
    headline: Comparison | None
    unmatched_baseline: tuple[str, ...]
    unmatched_candidate: tuple[str, ...]
    family: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything a report says, computed once.

    Attributes:
        experiments: the baseline first.
        pairs: one per candidate; empty for a single experiment.
        primary: name of the primary metric, None when it could not be told (then a warning says how to name one).
        warnings: sentences for the user, each with what to do.
    """

    experiments: tuple[ExperimentFindings, ...]
    pairs: tuple[PairFindings, ...]
    primary: str | None
    confidence: float
    analysis_seed: int
    warnings: tuple[str, ...] = ()
