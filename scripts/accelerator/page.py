"""The page of results: the machine, what was proved with figures, and what was not, with the reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scripts.accelerator.catalogue import Check
from scripts.accelerator.machine import Machine
from scripts.accelerator.results import Result


@dataclass(frozen=True, slots=True)
class Call:
    """The call that a page describes.

    Attributes:
        command: as a user types it.
        commit: of the clone, with `, changed` where files differ from it.
    """

    date: str
    command: str
    commit: str
    wall_time_s: float
    budget_s: float


def write_page(call: Call, machine: Machine, checks: Sequence[Check], results: Mapping[str, Result]) -> str:
    """The page in Markdown. A check without a result has not been carried out yet."""
    of = {
        outcome: [(check, results[check.name]) for check in checks if _outcome(check, results) == outcome]
        for outcome in ("proved", "rehearsed", "not as claimed", "failed", "skipped")
    }
    lines = [f"# Accelerator checks, {call.date}{', rehearsed on a CPU' if machine.is_rehearsal else ''}", ""]
    lines += [_introduction(call, machine), "", *_facts(machine), "", "## Proved", ""]
    rows: list[tuple[str, ...]]
    if of["proved"]:
        lines += _table(("check", "claim", "figures", "time"), [_proved(*each) for each in of["proved"]])
    elif machine.is_rehearsal:
        lines += ["Nothing: this machine has no device."]
    else:
        lines += ["Nothing."]
    if of["not as claimed"]:
        rows = [
            (f"`{check.name}`", check.title, _text(result.reason), _figures(result))
            for check, result in of["not as claimed"]
        ]
        lines += ["", "## Not as claimed", "", *_table(("check", "claim", "what was seen instead", "figures"), rows)]
    wanting = [(check, result) for check, result in of["skipped"] if result.reason.startswith("needs ")]
    unproved = [_without_device(*each) for each in (*of["rehearsed"], *wanting)]
    lines += ["", "## Not proved for want of a device", ""]
    head = ("check", "claim", "why a CPU does not show it", "on this machine", "figures")
    lines += _table(head, unproved) if unproved else ["None."]
    rest = [each for each in (*of["failed"], *of["skipped"]) if each not in wanting]
    reasons = [(check, result.reason) for check, result in rest]
    reasons += [(check, "not carried out yet") for check in checks if check.name not in results]
    if reasons:
        rows = [(f"`{check.name}`", check.title, _text(reason)) for check, reason in reasons]
        lines += ["", "## Not carried out", "", *_table(("check", "claim", "why"), rows)]
    for check, result in (*of["not as claimed"], *of["failed"]):
        if result.evidence:
            lines += ["", f"### Output of `{check.name}`", "", "```text", result.evidence.rstrip(), "```"]
    return "\n".join(lines) + "\n"


def _outcome(check: Check, results: Mapping[str, Result]) -> str:
    return results[check.name].outcome if check.name in results else ""


def _introduction(call: Call, machine: Machine) -> str:
    stand_in = (
        "\n\nNo framework has a device here: a CPU stands for it, with smaller amounts. That shows that the checks can "
        "be carried out, and nothing about devices."
        if machine.is_rehearsal
        else ""
    )
    return (
        f"`{call.command}`, at commit {call.commit}: {call.wall_time_s / 60:.1f} of {call.budget_s / 60:.0f} minutes."
        + stand_in
    )


def _facts(machine: Machine) -> list[str]:
    rows = [(name, _text(value)) for name, value in machine.facts.items()]
    rows += [(framework, f"does not start: {_text(reason)}") for framework, reason in machine.failures.items()]
    return _table(("machine", ""), rows)


def _proved(check: Check, result: Result) -> tuple[str, ...]:
    return f"`{check.name}`", check.title, _figures(result), f"{result.wall_time_s:.0f} s"


def _without_device(check: Check, result: Result) -> tuple[str, ...]:
    is_rehearsed = result.outcome == "rehearsed"
    state = f"rehearsed in {result.wall_time_s:.0f} s" if is_rehearsed else _text(result.reason)
    return f"`{check.name}`", check.title, check.why, state, _figures(result)


def _figures(result: Result) -> str:
    return "<br>".join(map(_text, result.figures))


def _text(text: str) -> str:
    """Text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [
        f"| {' | '.join(head)} |",
        f"|{'---|' * len(head)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
