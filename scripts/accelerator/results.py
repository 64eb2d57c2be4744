"""What a check showed, and its place in a file between the processes."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

Outcome = Literal["proved", "rehearsed", "not as claimed", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of one check.

    Attributes:
        outcome: `rehearsed` is what passed on a CPU as the device, so that nothing is proved for a device; `failed` is
            a check that could not be carried out.
        figures: what was measured, a sentence or `quantity: value` each.
        reason: why the outcome is not `proved`; empty for that.
        evidence: output to read where a claim does not hold, or where a check failed.
        wall_time_s: of the check.
    """

    outcome: Outcome
    figures: tuple[str, ...] = ()
    reason: str = ""
    evidence: str = ""
    wall_time_s: float = 0.0


def write_results(path: Path, results: dict[str, Result]) -> None:
    """Write results by name of the check; a reader never sees half a file."""
    partial = path.with_name(path.name + ".part")
    partial.write_text(json.dumps({name: asdict(result) for name, result in results.items()}), encoding="utf-8")
    partial.replace(path)


def read_results(path: Path) -> dict[str, Result]:
    if not path.exists():
        return {}
    document = json.loads(path.read_text(encoding="utf-8"))
    return {name: Result(**{**fields, "figures": tuple(fields["figures"])}) for name, fields in document.items()}
