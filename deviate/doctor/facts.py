"""Parses the facts that child processes wrote: truncated lines are dropped, and types are checked."""

import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from deviate.doctor.children import ChildResult


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of one child process.

    Attributes:
        faults: what was tried in vain, with the error.
        doing: what the child was about when it was last heard of.
    """

    values: Mapping[str, object] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)
    doing: str = "starting"

    @property
    def is_whole(self) -> bool:
        return self.values.get("is_done") is True

    def text(self, name: str) -> str:
        value = self.values.get(name)
        return value if isinstance(value, str) else ""

    def number(self, name: str) -> float | None:
        value = self.values.get(name)
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def count(self, name: str) -> int | None:
        value = self.number(name)
        return None if value is None else int(value)

    def is_true(self, name: str) -> bool:
        return self.values.get(name) is True

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.values.get(name)
        return tuple(str(item) for item in value) if isinstance(value, list) else ()

    def table(self, name: str) -> dict[str, object]:
        value = self.values.get(name)
        return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}

    def tables(self, name: str) -> list[dict[str, object]]:
        value = self.values.get(name)
        return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def read_facts(path: Path) -> Facts:
    """All complete lines of a file of facts; empty for a missing file."""
    values, faults, doing = dict[str, object](), dict[str, str](), "starting"
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []
    for line in lines:
        try:
            note = json.loads(line)
        except ValueError:
            continue
        if "doing" in note:
            doing = str(note["doing"])
        elif "fault" in note:
            faults[str(note["fact"])] = str(note["fault"])
        else:
            values[str(note["fact"])] = note.get("value")
    return Facts(values, faults, doing)


def describe_death(result: ChildResult, facts: Facts, timeout_s: float) -> str:
    """Why a child ended before it had answered, in one line; empty if it has answered."""
    if facts.text("import_fault"):
        return f"importing it failed: {facts.text('import_fault')}"
    if facts.is_whole:
        return ""
    if result.code is None:
        return f"it did not answer within {timeout_s:g} s, while {facts.doing}"
    last = [line.strip() for line in result.stderr.splitlines() if line.strip()][-1:]
    last_words = f" ({last[0][:200]})" if last else ""
    if result.code < 0:
        return f"{_signal_name(-result.code)} ended the process while {facts.doing}{last_words}"
    return f"the process ended with exit code {result.code} while {facts.doing}{last_words}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
