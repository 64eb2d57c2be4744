"""The page of results: the machine, what was proved with figures, and what was not, with the reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scripts.accelerator.catalogue import Check
from scripts.accelerator.machine import Machine
from scripts.accelerator.results import Result

Pair = tuple[Check, Result]
WAITING = Result("skipped", reason="not carried out yet")


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
    pairs = [(check, results.get(check.name, WAITING)) for check in checks]
    proved = [pair for pair in pairs if pair[1].outcome == "proved"]
    contradicted = [pair for pair in pairs if pair[1].outcome == "not as claimed"]
    without_device = [pair for pair in pairs if pair[1].outcome == "rehearsed" or pair[1].reason.startswith("needs ")]
    others = [pair for pair in pairs if pair not in (*proved, *contradicted, *without_device)]
    nothing = "Nothing: this machine has no device." if machine.is_rehearsal else "Nothing."
    lines = [f"# Accelerator checks, {call.date}{', rehearsed on a CPU' if machine.is_rehearsal else ''}", ""]
    lines += [_introduction(call, machine), "", *_facts(machine)]
    lines += ["", "## Proved", "", *(_proved(proved) or [nothing])]
    if contradicted:
        lines += ["", "## Not as claimed", "", *_contradicted(contradicted)]
    lines += ["", "## Not proved for want of a device", "", *(_without_device(without_device) or ["None."])]
    if others:
        lines += ["", "## Not carried out", "", *_not_carried_out(others)]
    for check, result in pairs:
        if result.evidence:
            lines += ["", f"### Output of `{check.name}`", "", "```text", result.evidence.rstrip(), "```"]
    return "\n".join(lines) + "\n"


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


def _proved(pairs: Sequence[Pair]) -> list[str]:
    rows = [(*_claim(check), _figures(result), f"{result.wall_time_s:.0f} s") for check, result in pairs]
    return _table(("check", "claim", "figures", "time"), rows)


def _contradicted(pairs: Sequence[Pair]) -> list[str]:
    rows = [(*_claim(check), _text(result.reason), _figures(result)) for check, result in pairs]
    return _table(("check", "claim", "what was seen instead", "figures"), rows)


def _without_device(pairs: Sequence[Pair]) -> list[str]:
    rows = [(*_claim(check), check.why, _state(result), _figures(result)) for check, result in pairs]
    return _table(("check", "claim", "why a CPU does not show it", "on this machine", "figures"), rows)


def _not_carried_out(pairs: Sequence[Pair]) -> list[str]:
    return _table(("check", "claim", "why"), [(*_claim(check), _text(result.reason)) for check, result in pairs])


def _state(result: Result) -> str:
    is_rehearsed = result.outcome == "rehearsed"
    return f"rehearsed in {result.wall_time_s:.0f} s" if is_rehearsed else _text(result.reason)


def _claim(check: Check) -> tuple[str, str]:
    return f"`{check.name}`", check.title


def _figures(result: Result) -> str:
    return "<br>".join(map(_text, result.figures))


def _text(text: str) -> str:
    """Text for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table; none where there are no rows."""
    lines = [f"| {' | '.join(cells)} |" for cells in (head, *rows)]
    return [lines[0], f"|{'---|' * len(head)}", *lines[1:]] if rows else []
