"""What is known of a script before it runs."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Literal

from deviate.model.places import place_text, with_cells

Role = Literal["quality", "time", "other"]
Direction = Literal["max", "min"]
TEXT_SINK = "text"
"""Sink of the metrics that `deviate.toml` names by the pattern of their text; their expression is the pattern."""
TEXT_SINKS = frozenset({
    "file", "jax", "logger", "logging", "logging.debug", "loguru", "print", "stdout", "structlog", "table",
})  # fmt: skip
"""Sinks of which a line shows the value; a tracker tells its own name. A progress bar is drawn over: of
its lines the log keeps the last, in one run and not in the next."""
TRACKERS = frozenset({
    "accelerate", "aim", "azureml", "chainer", "clearml", "comet", "dvclive", "graph-summary", "hypertune", "keras",
    "lightning", "logger", "metric-writer", "mlflow", "neptune", "nni", "optuna", "ray", "sacred", "swanlab", "tabular",
    "tensorboard", "tracker", "trackio", "transformers", "visdom", "wandb",
})  # fmt: skip
"""Sinks that keep one series for each tag, whichever statement reports it."""
REPORTED_OTHERWISE = frozenset({"csv", "json", "lightning", "pandas", "transformers"})
"""Sinks whose calls get no tap: in a run the guest records what comes of them, under the names that they give."""
LoopKind = Literal["for", "while", "managed"]
TapForm = Literal["value", "shown", "format", "mapping", "call", "meter"]
"""How a value is tapped.

`value` wraps the expression; `shown` is an f-string field `{x=}` that prints its own text; `format` wraps the callee
`"...".format`, because the template itself takes attributes or items of its arguments; `mapping` wraps a mapping whose
items a template takes by key (`"…" % metrics`, `"…" % locals()`). Where no expression of the file stands for the value,
or none for its name, the callee is wrapped: `call` reads the arguments of a tracker as they are bound (names built at
run time); `meter` reads, after `losses.update(…)`, what the meter itself will print."""


NAMED = "named in deviate.toml"
"""The evidence of a main loop that the user has chosen."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line in a file of the project."""

    file: str
    line: int

    def __str__(self) -> str:
        return place_text(self.file, self.line)


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
            of the sink, which of the items that it carries). `meter`: (names of attributes of the meter), of which the
            first that holds a number counts.
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

    @property
    def place(self) -> Place:
        return Place(self.file, self.line)


@dataclass(frozen=True, slots=True)
class LoopCounter:
    """How a script counts the steps of a loop in what it reports: from `first` on, by `stride`."""

    name: str
    first: int
    stride: int


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop whose steps are counted: the main loop, and every loop around a site or on the way to it.

    `span` is the iterable of a `for`, the condition of a `while`, the call of a managed loop (not rewritten).
    `evidence` says why it is the main loop, or may be. `counter` is None where the script reports none, or where it
    cannot be told before a run.
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
    counter: LoopCounter | None = None

    @property
    def place(self) -> Place:
        return Place(self.file, self.line)


@dataclass(frozen=True, slots=True)
class Metric:
    """Something the script reports: a site and the way there.

    Attributes:
        site: id of its site; None for a metric of a managed loop, which is known by `expression` (its key) alone.
        path: the last call lines on the way to the site, without the site's own line. The analysis leaves it empty:
            the one metric of a site takes the values of every path. The user may name one; runs show them.
        label: value of the site's label variable, or the key of an item of a mapping that the site reports; likewise.
        direction: whether a higher or a lower value is better; None when unknown.
        evidence: why it was taken for a metric, most telling reason first.
        words: what the run wrote around its values; empty where that is not known.
        over: the word by which the run counts trainings ("fold"), where each value is of another model.
        kin: the name that it would have alone; series of several trainings or parts share it.
        is_progress: whether it stands in lines that tell how far a pass through data has come.
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
    words: str = ""
    over: str = ""
    kin: str = ""
    is_progress: bool = False


class RejectionReason(Enum):
    """Why a reported value is no metric.

    Attributes:
        kind: heading of the values that are rejected for the same kind of reason.
        sentence: what a user reads; `{}` stands for the detail.
    """

    COUNTER = "counter", "counter: {}"
    LOOP_COUNTER = "counter", "counter of the loop at line {}"
    WHOLE_NUMBER = "counter", "counter: shown as a whole number"
    CALLED_COUNTER = "counter", 'counter: called "{}"'
    NAMED_COUNTER = "counter", "counter: named {}"
    SIZE = "size", "size: {}"
    SETTING = "setting", "setting: {}"
    LEARNING_RATE = "setting", "setting: learning rate"
    CALLED_SETTING = "setting", 'setting: called "{}"'
    CLOCK = "clock reading", "clock reading: {}"
    MEMORY = "memory", "memory: {}"
    TEXT = "name", "name: {}"
    TAG = "name", "name: part of the name"
    TEXT_NAME = "name", "name: called so in the script"
    KEY = "name", "name: key of a mapping"
    IN_WARNING = "warning", "in a message that warns"
    CONSTANT = "constant", "constant: {}"
    OBJECT = "object", "object: {}"
    TIME_LEFT = "estimate", "estimate: time left"
    IGNORED = "ignored", "ignored: a comment in the script says so"
    UNMARKED = (
        "nothing marks it as a measurement",
        "nothing marks it as a measurement: no telling word, no float format",
    )
    EARLY = (
        "reported before the main loop, or in a branch that never reaches it",
        "reported before the main loop, or in a branch that never reaches it",
    )
    NEVER_CALLED = "not reached", "not reached: its function is never called from the script"
    BEHIND_EXIT = "not reached", "not reached: it stands behind a statement that always leaves"

    def __init__(self, kind: str, sentence: str) -> None:
        self.kind = kind
        self.sentence = sentence


@dataclass(frozen=True, slots=True)
class Rejected:
    """A value that the script reports and that is no metric.

    Attributes:
        cause: why it is none; detail: what its sentence needs, such as a line or a name.
        site: where it is tapped all the same; None where it is not.
    """

    expression: str
    file: str
    line: int
    cause: RejectionReason
    detail: str = ""
    site: int | None = None

    @property
    def reason(self) -> str:
        """The sentence that says why it is no metric."""
        return with_cells(self.cause.sentence.format(self.detail), self.file)


@dataclass(frozen=True, slots=True)
class SeedCall:
    """A call in the script that seeds a generator, as seen in the source."""

    call: str
    argument: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Hazard:
    """A place in the source that can make runs differ, or draw what no variant controls.

    Attributes:
        name: its kind, such as `file-order`.
        code: the expression, on one line; message: what happens there, half a sentence.
        device: "gpu" if it happens on a GPU only.
    """

    name: str
    file: str
    line: int
    code: str
    message: str
    device: str = ""


SideEffectKind = Literal["tracker-id", "upload", "database", "absolute-path", "port"]


@dataclass(frozen=True, slots=True)
class SideEffect:
    """Something in the source that reaches beyond the work copy of a run, so that runs may get into each other's way.

    Attributes:
        kind: `tracker-id`: a run of a tracker that is named or resumed; `upload`: something is published or sent;
            `database`; `absolute-path`: a fixed path outside the work copy is written; `port`: a fixed one is opened.
        what: the call or the path, and the condition on which it depends where one stands around it.
    """

    kind: SideEffectKind
    what: str
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
        hazards: in source order; each kind once in a line.
        side_effects: likewise.
        unreached: the rejected values that are measurements, to which nothing leads from the main loop as far as the
            analysis sees; a run may show that something does.
        reporting: packages that the script imports and whose adapters record values by themselves.
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
    hazards: tuple[Hazard, ...] = ()
    side_effects: tuple[SideEffect, ...] = ()
    unreached: tuple[Metric, ...] = ()
    reporting: tuple[str, ...] = ()
