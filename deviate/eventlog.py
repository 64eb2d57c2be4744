"""The event format: what the guest writes into `events-<process>.jsonl` and records reads back.

Standard library only and Python 3.8, for this file travels into the user's process with the guest.

One event is one line of strict JSON: an array whose first item names its kind. Floats are written in their shortest
form that reads back to the same bits; NaN and infinities are the strings "nan", "inf", "-inf". A file has one writer,
grows only at its end, and may end in a torn line. Its name ends in CUT when the disk did not take all of it.

    ["start", schema, {facts}]               first line: pid, ppid, rank, python, time (seconds since the epoch)
    ["path", id, [[file, line], ...]]        a way to a site, outermost frame first, the site's own frame left out
    ["value", site, path, loops, seconds, value, label]
                                             loops: [loop, step, loop, step, ...], outermost first
    ["named", name, path, loops, seconds, value]
                                             a value that a managed framework or `deviate.log` reports by name
    ["step", loop, step, seconds]            the main loop begins its step
    ["seed", call, value, file, line, action]
                                             what the script asked for; action "replaced": by a seed of a stream;
                                             "kept": by this variant; "fixed": by every variant, for deviate does not
                                             vary what it seeds
    ["control", factor, call, value, file, line, action]
                                             action "set": by the guest; "overridden": a call of the script's that
                                             would have undone it, at that place
    ["draws", library, [stream, ...]]        last thing of all: the streams from which numbers were drawn
    ["drawn", call, stream, file, line]      a draw outside of the main loop: what for, and where the project asked
    ["uncontrolled", what, file, line]       drawn or chosen beyond all control (file may be "")
    ["operation", name, file, line]          used though it has no deterministic version
    ["weights", moment, framework, digest, n_parameters]
                                             SHA-256 of the weights; moment: "loop" (the main loop ended) or "exit"
    ["evaluation", framework, digest, n_examples, evidence]
                                             hash of the examples of the first evaluation, whatever their order;
                                             evidence that they are examples: "loader", "labels" (`evaluate`,
                                             `score`), "repeated" (the next evaluation was given the same), "names"
                                             (then `framework` is the names of the arrays), or none, "inputs"
    ["flip", framework, parameter, [index, ...], before, after]
                                             one bit of one weight, before the first training step
    ["artifact", kind, name, step, framework, file, n]
                                             a whole file below artifacts/; "predictions": name is that of the set, n
                                             its examples; "weights": name is the moment ("step", "loop", "exit"), n
                                             the arrays; "profile": name is the framework, n its
                                             kernels; step of the main loop, -1 outside of it
    ["not captured", kind, name, reason]     what was asked for and could not be kept
    ["write", path]                          the script wrote outside its work copy
    ["checkpoint", path, reason]             the run started from a file that an earlier training had left
    ["signal", number, file, line]           the process sends itself a signal (file may be "")
    ["error", where, message]                a fault of the guest, swallowed
    ["environment", {facts}]                 versions and devices, as late as they are known
    ["end", seconds, n_bytes]                the interpreter left in good order; so many bytes stand before this line

`seconds` are since the start event, to the millisecond; in runs that were imported "nan" where nobody knows. A label
is text or null.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False  # typing itself would add to the start-up time
if TYPE_CHECKING:
    from typing import Any

SCHEMA = 2
# 2026-11-21  1  first format.
# 2026-11-21  2  control, draws, uncontrolled, operation, weights, evaluation, flip; later n_bytes of end,
#                artifact, not captured.
# 2026-11-23  2  signal, drawn; fixed, an action of seed; evidence of evaluation, which older files lack.

WHOLE, CUT = ".jsonl", "-cut.jsonl"
"""How the name of an event file ends."""

BY_NAME = "its name says that it is the checkpoint of a training"
"""The reason of a checkpoint event that nothing but a name tells: who reads it may know better."""

NON_FINITE = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def number_text(value: float) -> str:
    """JSON text of a number: shortest repr that keeps all bits, non-finite ones as strings."""
    text = repr(value)
    if text in NON_FINITE:
        return '"' + text + '"'
    return text


def encode(kind: str, *items: object) -> str:
    """One event as a line with its newline. Slow and general; the guest writes its hot events by hand."""
    return json.dumps([kind, *items], default=str, allow_nan=False) + "\n"


def decode(line: str | bytes) -> list[Any]:
    """Read one line back. Raises ValueError for anything that is not a whole event."""
    event = json.loads(line)
    if not isinstance(event, list) or not event or not isinstance(event[0], str):
        raise ValueError("not an event")
    return event


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
