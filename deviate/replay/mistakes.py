"""Failures that every further run would repeat, each with what helps: they end an experiment before its other runs."""

import re
from collections.abc import Iterable

from deviate.model.places import frame_of
from deviate.records.events import events_in, has_values
from deviate.records.layout import event_files, log_files
from deviate.records.read import stderr_tail
from deviate.replay.protocol import Outcome

MISTAKES = (
    (
        re.compile(r"ModuleNotFoundError: No module named '(?P<name>\w+)"),
        "install it for the interpreter of the runs (pip install {name}), or name another one with --python",
    ),
    (
        re.compile(r"(?:SyntaxError|IndentationError|TabError): "),
        "Python {python} cannot read it, though deviate can (syntax up to {newest}): name a newer one with --python",
    ),
    (
        re.compile(r"EOFError: EOF when reading a line"),
        "nobody can type anything in a repeated run: let the script take the value as an argument",
    ),
    (re.compile(r"(?:\S+: error|Error): "), "arguments of the script go after --, as in -- --epochs 5"),
)
"""Reasons for a crash that no seed changes, with the cure. The last is that of argument parsers (argparse, click)."""


def mistake_of(outcome: Outcome, earlier: Iterable[Outcome]) -> str:
    """Why further runs of this experiment would fail as this one did, and what helps; empty where a run completed.

    Any other exception counts once it came twice, with equal message and line, under different seeds and before the
    first value.
    """
    others = tuple(earlier)
    if outcome.status != "crashed" or any(other.status == "completed" for other in others):
        return ""
    for pattern, cure in MISTAKES:
        if match := pattern.match(outcome.reason):
            from deviate.analysis.resolve.source import NEWEST  # libcst, which a run that completes has no use for

            return f"{outcome.reason}: {cure.format(**match.groupdict(), python=_python(outcome), newest=NEWEST)}"
    place = _place(outcome)
    if not place or has_values(outcome.folder):
        return ""
    for other in others:
        is_same = (other.status, other.reason) == ("crashed", outcome.reason) and other.spec.seeds != outcome.spec.seeds
        if is_same and _place(other) == place and not has_values(other.folder):
            return f"{outcome.reason}: the same in two runs with different seeds, so correct the script"
    return ""


def _place(outcome: Outcome) -> tuple[str, int] | None:
    """File, as from the folder of the attempt, and line of the last frame."""
    frames = [frame for text in stderr_tail(log_files(outcome.folder)[1]) if (frame := frame_of(text))]
    if not frames:
        return None
    file, line = frames[-1]
    return file.rpartition(f"{outcome.folder.name}/")[2], line


def _python(outcome: Outcome) -> str:
    """The version of the Python of a run, as its guest told when it started; empty where it did not."""
    starts = (event for path in event_files(outcome.folder) for _, event in events_in(path, "start"))
    start = next(starts, None)
    return "" if start is None else str(start.facts.get("python", ""))
