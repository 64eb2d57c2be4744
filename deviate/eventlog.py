"""The event format: what the guest writes into `events-<process>.jsonl` and records reads back.

Standard library only and Python 3.8, for this file travels into the user's process with the guest.

One event is one line of strict JSON: an array of the name of its kind and the fields of that kind, which are declared
below. A value, of which there are millions, is its fields alone: only its line begins with a number. Floats are written
in their shortest form that reads back to the same bits; NaN and infinities are the strings "nan", "inf", "-inf". A file
has one writer, grows only at its end, and may end in a torn line. Its name ends in CUT when the disk did not take all
of it.

`seconds` are since the start event, to the millisecond; in runs that were imported "nan" where nobody knows. `file` and
`line` are a place in the project; a file of "" is none.
"""

from __future__ import annotations

import json
from operator import itemgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, NamedTuple
else:

    class NamedTuple(tuple):
        """`typing.NamedTuple`, as far as events need it: each process of the user's makes these classes as it starts.

        With `collections.namedtuple` that takes five times as long, and importing typing adds some milliseconds.
        """

        __slots__ = ()

        def __init_subclass__(cls):
            cls._fields = tuple(cls.__annotations__)
            cls._defaults = tuple(vars(cls)[name] for name in cls._fields if name in vars(cls))
            for index, name in enumerate(cls._fields):
                setattr(cls, name, property(itemgetter(index)))

        def __new__(cls, *items):
            n_missing = len(cls._fields) - len(items)
            if not 0 <= n_missing <= len(cls._defaults):
                raise TypeError("%s has %d fields, not %d" % (cls.__name__, len(cls._fields), len(items)))
            return tuple.__new__(cls, items + cls._defaults[len(cls._defaults) - n_missing :])


SCHEMA = 1

WHOLE, CUT = ".jsonl", "-cut.jsonl"
"""How the name of an event file ends."""

BY_NAME = "its name says that it is the checkpoint of a training"
"""The reason of a checkpoint event that nothing but a name tells: who reads it may know better."""

NON_FINITE = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


class StartEntry(NamedTuple):
    """The first line; the facts are pid, ppid, rank, python, time (seconds since the epoch) and others."""

    schema: int
    facts: dict[str, Any]


class RankEntry(NamedTuple):
    """This process is one of several that compute together, which became known after its start; the last one counts."""

    rank: int
    n_ranks: int


class PathEntry(NamedTuple):
    """A way to a site: the calls, outermost frame first, each a file and a line; the site's own frame is left out."""

    id: int
    calls: list[tuple[str, int]]


class ValueEntry(NamedTuple):
    """A value at a site; `loops` is [loop, step, loop, step, …], outermost first.

    The guest writes this kind, `named` and `step` by hand, for they are the hot ones.

    label: distinguishes several values of one site: its label variable's value, or the key of an item.
    """

    site: int
    path: int
    loops: list[int]
    seconds: float | str
    value: float | str
    label: str | None = None


class NamedEntry(NamedTuple):
    """A value that a managed framework or `deviate.log` reports by name."""

    name: str
    path: int
    loops: list[int]
    seconds: float | str
    value: float | str


class StepEntry(NamedTuple):
    """The main loop begins its step."""

    loop: int
    step: int
    seconds: float


class SeedEntry(NamedTuple):
    """What the script asked for, and what became of it.

    action: "replaced" by a seed of a stream; "kept" by this variant; "fixed" by every variant, for deviate does not
    vary what it seeds.
    """

    call: str
    value: str
    file: str
    line: int
    action: str


class ControlEntry(NamedTuple):
    """A factor is controlled. action: "set" by the guest; "overridden": a call of the script's would have undone it."""

    factor: str
    call: str
    value: str
    file: str
    line: int
    action: str


class DrawsEntry(NamedTuple):
    """The last thing of all: the streams from which numbers of a library were drawn."""

    library: str
    streams: list[str]


class DrawnEntry(NamedTuple):
    """A draw outside of the main loop: what for, and where the project asked."""

    call: str
    stream: str
    file: str
    line: int


class UncontrolledEntry(NamedTuple):
    """Something was drawn or chosen beyond all control."""

    what: str
    file: str
    line: int


class ChanceEntry(NamedTuple):
    """A seed or number that begins by chance, where the run has the control `entropy`.

    `what` is "drawn" of a place of the project that asked the operating system, or of a library (`name`) whose shared
    generator was drawn from before anything seeded it; "first" of the line that drew first from that generator;
    "without seed" of what takes NumPy's because it has no seed of its own.
    """

    what: str
    name: str
    file: str
    line: int


class OperationEntry(NamedTuple):
    """An operation was used though it has no deterministic version."""

    name: str
    file: str
    line: int


class WeightsEntry(NamedTuple):
    """SHA-256 of the weights. moment: "loop" (the main loop ended) or "exit"."""

    moment: str
    framework: str
    digest: str
    n_parameters: int


class EvaluationEntry(NamedTuple):
    """Hash of the examples of the first evaluation, whatever their order.

    evidence that they are examples: "loader", "labels" (`evaluate`, `score`), "repeated" (the next evaluation was given
    the same), "names" (then `framework` is the names of the arrays), or none, "inputs".
    """

    framework: str
    digest: str
    n_examples: int
    evidence: str


class FlipEntry(NamedTuple):
    """One bit of one weight was flipped, before the first training step."""

    framework: str
    parameter: str
    indices: list[int]
    before: float | str
    after: float | str


class ArtifactEntry(NamedTuple):
    """A whole file below artifacts/.

    Of "predictions" the name is that of the set, and n its examples; of "weights" the name is the moment ("step",
    "loop", "exit"), and n the arrays; of a "profile" the name is the framework, and n its kernels. The step is of the
    main loop, -1 outside of it.
    """

    kind: str
    name: str
    step: int
    framework: str
    file: str
    n: int


class NotCapturedEntry(NamedTuple):
    """What was asked for and could not be kept."""

    kind: str
    name: str
    reason: str


class WriteEntry(NamedTuple):
    """The script wrote outside its work copy."""

    path: str


class CheckpointEntry(NamedTuple):
    """The run started from a file that an earlier training had left."""

    path: str
    reason: str


class OldModelEntry(NamedTuple):
    """The run reads a model that existed before it, other than to start from it: the path, and where it is read."""

    path: str
    file: str = ""
    line: int = 0


class FirstValueEntry(NamedTuple):
    """What was drawn at a place before the training are first values of weights: training has changed them.

    place: file and line of the project's frames, from the one that draws outwards, as `net.py:3<train.py:9`.
    """

    place: str


class SignalEntry(NamedTuple):
    """The process sends itself a signal."""

    number: int
    file: str
    line: int


class ErrorEntry(NamedTuple):
    """A fault of the guest, swallowed."""

    where: str
    message: str


class EnvironmentEntry(NamedTuple):
    """Versions and devices, as late as they are known."""

    facts: dict[str, Any]


class LoopsEntry(NamedTuple):
    """How the loops of the project ran in this process, in the order in which they first began.

    rows: [loop, the loop in which it first began or null, times entered, steps over all times, steps in which weights
    that had existed before have changed, seconds, steps in which a model began to be trained that had not been trained
    in an earlier one]. Of the steps only the first ones of each time are compared for changes; -1 where no weights or
    no training were seen.
    """

    rows: list[tuple[int, int | None, int, int, int, float, int]]


class TrainedEntry(NamedTuple):
    """When the last training step seen in this process ended, and how many optimizers or estimators were trained.

    Written once, before `end`, where any was seen.
    """

    seconds: float
    n_models: int


class EndEntry(NamedTuple):
    """The interpreter exited normally; `n_bytes` is the size of the file before this line."""

    seconds: float
    n_bytes: int


KINDS: dict[str, Callable[..., tuple[Any, ...]]] = {
    "start": StartEntry,
    "rank": RankEntry,
    "path": PathEntry,
    "value": ValueEntry,
    "named": NamedEntry,
    "step": StepEntry,
    "seed": SeedEntry,
    "control": ControlEntry,
    "draws": DrawsEntry,
    "drawn": DrawnEntry,
    "uncontrolled": UncontrolledEntry,
    "chance": ChanceEntry,
    "operation": OperationEntry,
    "weights": WeightsEntry,
    "evaluation": EvaluationEntry,
    "flip": FlipEntry,
    "artifact": ArtifactEntry,
    "not captured": NotCapturedEntry,
    "write": WriteEntry,
    "checkpoint": CheckpointEntry,
    "old model": OldModelEntry,
    "first value": FirstValueEntry,
    "signal": SignalEntry,
    "error": ErrorEntry,
    "environment": EnvironmentEntry,
    "loops": LoopsEntry,
    "trained": TrainedEntry,
    "end": EndEntry,
}


def number_text(value: float) -> str:
    """JSON text of a number: shortest repr that keeps all bits, non-finite ones as strings."""
    text = repr(value)
    if text in NON_FINITE:
        return '"' + text + '"'
    return text


def encode(kind: str, *items: object) -> str:
    """One event as a line with its newline. Slow and general; the guest writes its hot events by hand.

    Raises:
        LookupError: there is no such kind.
        TypeError: it has another number of fields.
    """
    event = event_of(kind, *items)
    words = list(event) if kind == "value" else [kind, *event]
    return json.dumps(words, default=str, allow_nan=False) + "\n"


def event_of(kind: str, *items: Any) -> tuple[Any, ...]:
    """An event from the name of its kind and its fields. Raises as `encode` does."""
    return KINDS[kind](*items)


def line_starts(kind: str) -> tuple[bytes, ...]:
    """How the lines of a kind may begin."""
    return tuple(b"[%d" % digit for digit in range(10)) if kind == "value" else (('["%s",' % kind).encode(),)


def fields_of(line: str | bytes) -> tuple[str, list[Any]]:
    """The name of the kind of a line, and its fields. Raises ValueError, TypeError or LookupError for no event."""
    words = json.loads(line)
    return ("value", words) if type(words[0]) is int else (words[0], words[1:])


def decode(line: str | bytes) -> tuple[Any, ...]:
    """Read one line back. Raises ValueError for anything that is not a whole event of a kind that is known here."""
    try:
        kind, fields = fields_of(line)
        return event_of(kind, *fields)
    except (TypeError, LookupError):
        raise ValueError("not an event") from None


def number(value: object) -> float:
    """A recorded value as int or float. Raises ValueError for anything else."""
    if isinstance(value, str):
        try:
            return NON_FINITE[value]
        except KeyError:
            raise ValueError("not a number: %r" % value) from None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("not a number: %r" % (value,))  # noqa: TRY004  (what a file holds is a value, not a type)
    return value
